"""The IR: one node family for all three levels, each node with the span of the user's text it came from.

- *algorithm*: what the user wrote, typed; reductions recognised; operators apart from the driver loop.
- *scheduled*: the same, every apply carrying a resolved `ApplySchedule`.
- *kernel*: no operators and no applies left; explicit parallel loops, atomics, frontier pushes, collectives.

Each class declares its text, where it may stand and what its fields hold (`node.py`); printer, grammar, parser
(`forms.py`) and verifier (`verify.py`) follow from it. Expressions are pure except for the order in which they read
memory. All operands of an operation have the same type: the frontend inserts every cast.

Kernel level runs SPMD: every thread executes the whole body. Scalars of the driver loop (`Let`, `Assign`, globals)
are private copies with equal values everywhere. `ParFor`, `Single` and the frontier collectives are entered by all
threads together and end with a barrier; they have no barrier at their start (`insert-barriers` adds what is needed).
"""

from __future__ import annotations

from vgraph.compiler.ir.algorithm import (
    Acquire,
    Claim,
    EdgeApply,
    Emit,
    Fill,
    FillEach,
    FrontierCombine,
    FrontierCopy,
    FrontierKind,
    FrontierMark,
    FrontierSet,
    FrontierWhere,
    Leave,
    ListAppend,
    ListClear,
    ListGet,
    QueueFill,
    QueuePop,
    QueueUpdate,
    ReduceGlobalTuple,
    ReduceTuple,
    Union,
    VertexApply,
)
from vgraph.compiler.ir.domains import (
    BitmapMembers,
    Domain,
    Listed,
    Members,
    PartedSegments,
    PlannedArcs,
    Segments,
    SlicedSegments,
    Slices,
    SparseMembers,
    VertexWords,
    Vertices,
    members,
)
from vgraph.compiler.ir.expressions import (
    ArrayColumns,
    ArrayLength,
    Binary,
    BucketKey,
    Call,
    Cast,
    Compare,
    Const,
    Degree,
    Element,
    Field,
    FrontierSize,
    GlobalVar,
    GraphSize,
    HasNeighbor,
    InFrontier,
    Insert,
    ListSize,
    Load,
    Logical,
    Lookup,
    Neighbor,
    Pack,
    Piece,
    QueueLevel,
    QueueSize,
    ScratchLoad,
    Select,
    Share,
    Unary,
    Var,
)
from vgraph.compiler.ir.hubs import ForMarkedHubs, MarkedHubs, MarkHubs
from vgraph.compiler.ir.kernel import (
    WAYS,
    AllToAll,
    Alone,
    Barrier,
    BucketAdvance,
    BucketLoop,
    BucketPush,
    BucketsClear,
    CompareAndSwap,
    Exchange,
    Fold,
    FrontierClear,
    FrontierConvert,
    FrontierPush,
    FrontierSwap,
    Lanes,
    Lock,
    ParFor,
    Pipeline,
    Single,
    Take,
    Trace,
    Unlock,
)
from vgraph.compiler.ir.legality import ACCUMULATING, MONOTONE
from vgraph.compiler.ir.node import (
    Body,
    Expr,
    Layout,
    Node,
    Order,
    Orientation,
    Origin,
    Site,
    Stmt,
    node,
    written,
)
from vgraph.compiler.ir.program import (
    ARGUMENT_TYPES,
    BucketsDecl,
    Called,
    FrontierDecl,
    Global,
    Level,
    ListDecl,
    Operator,
    Param,
    Program,
    Property,
    QueueDecl,
    Result,
)
from vgraph.compiler.ir.statements import (
    Accumulate,
    Assign,
    Break,
    Continue,
    Fail,
    For,
    ForCommon,
    ForNeighbors,
    If,
    Let,
    Reduce,
    ReduceGlobal,
    ScratchClear,
    ScratchStore,
    SetGlobal,
    Store,
    While,
)
