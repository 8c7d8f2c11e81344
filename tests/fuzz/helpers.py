"""Helpers of a random program: of any type, so that the same text is typed anew for each combination of arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vgraph.compiler.frontend.kinds import ValueKind, Weak, default, merge, operation, settled

from . import expressions as e
from .scope import F64, I64, U64, VID, Scope, Value

if TYPE_CHECKING:
    from .programs import Writer

Kinds = Callable[..., ValueKind | None]
"""The kind of a helper's result for the kinds of its arguments; None where it does not take them."""


def _op(op: str, a: ValueKind | None, b: ValueKind | None) -> ValueKind | None:
    found = operation(op, a, b) if a is not None and b is not None else None
    return found[1] if found else None


def _or(a: ValueKind | None, b: ValueKind | None) -> ValueKind | None:
    return merge(a, b) if a is not None and b is not None else None


def _mixed(p: ValueKind, q: ValueKind) -> ValueKind | None:
    return _op("-", _op("*", p, Weak.INT), q)


def _stepped(p: ValueKind, q: ValueKind) -> ValueKind | None:
    return _or(settled(p), _op("+", settled(p), q))


def _halved(p: ValueKind) -> ValueKind | None:
    whole = p is Weak.INT or (p is not Weak.FLOAT and default(p).is_integer)  # type: ignore[union-attr]
    return F64 if whole else _mixed(p, p)


@dataclass(frozen=True)
class Helper:
    """A helper. `takes` says what: n a number, i an integer, b a bool, v a vertex."""

    takes: str
    kind: Kinds
    text: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.text.split("(")[0].removeprefix("def ")


MIX = Helper("nn", _mixed, "def mix(p, q):\n    return p * 3 - q\n")
ALL = (
    MIX,
    Helper("i", lambda p: p, "def clip(p):\n    return min(max(p, 0), 100)\n"),
    Helper("i", lambda p: p, "def odd(p):\n    return (p & 1) if p > 0 else p\n"),
    Helper("n", lambda p: _op("+", p, I64), "def further(p):\n    return p + rounds\n"),
    Helper("n", _halved, "def half(p):\n    return mix(p, p) / 2\n"),
    Helper(
        "bnn", lambda c, p, q: merge(p, q), "def pick(c, p, q):\n    if c:\n        return p\n    return q\n"
    ),
    Helper(
        "nn",
        _stepped,
        """def stepped(p, q):
    total = p
    total += q
    if total > 3:
        total = total - 1
    return total
""",
    ),
    Helper(
        "nn",
        lambda p, q: _or(_or(Weak.INT, q), settled(p)),
        """def ladder(p, q):
    if p < 0:
        return 0
    elif p > q:
        return q
    else:
        t = p
    return t
""",
    ),
    Helper(
        "v",
        lambda u: I64,
        """def spread(u):
    total = 0
    for x in u.out_neighbors:
        total += x.out_degree
    return total
""",
    ),
)


NUMBA = {
    "stir": (
        "ii",
        I64,
        '@numba.njit("int64(int64, int64)")\ndef stir(p, q):\n    return p * p - q if p > q else q // (p + 1)\n',
    ),
    "squash": (
        "n",
        F64,
        '@numba.njit("float64(float64)")\ndef squash(p):\n    return p * 0.5 if p > 0 else p - 1.0\n',
    ),
}
"""Functions of Numba's, with signatures of their own."""


class Helpers:
    """The helpers of one program."""

    def __init__(self, w: Writer) -> None:
        self.known = w.r.sample(ALL, w.r.choice([0, 0, 1, 2, 3]))
        if any(h.name == "half" for h in self.known) and MIX not in self.known:
            self.known.append(MIX)
        self.numba = w.r.sample(list(NUMBA), 1) if w.chance(0.05) else []

    def __bool__(self) -> bool:
        return bool(self.known or self.numba)

    def text(self) -> str:
        """Their definitions."""
        numba = "".join(f"\n\n{NUMBA[name][2]}" for name in self.numba)
        head = "\nimport numba  # noqa: E402\n" if numba else ""
        return head + numba + "".join(f"\n\n@vg.function\n{h.text}" for h in self.known)

    def call(self, w: Writer, s: Scope, depth: int) -> Value | None:
        """A call of one of them."""
        if self.numba and (not self.known or w.chance(0.5)):
            return self.numba_call(w, s, depth)
        helper = w.r.choice(self.known)
        args: list[Value] = []
        for takes in helper.takes:
            if takes == "b":
                args.append(e.boolean(w, s, depth - 1))
            elif takes == "v":
                if not s.vertices or w.loops:
                    return None
                args.append(Value(w.r.choice([*s.vertices, *s.maybe]), VID))
            else:
                args.append((e.integer if takes == "i" else e.number)(w, s, depth - 1))
        if any(e._negative(a) or a.kind in (Weak.INF, U64) for a in args):
            return None  # a literal of the helper's own may not fit beside it
        kind = helper.kind(*(a.kind for a in args))
        return Value(f"{helper.name}({', '.join(a.text for a in args)})", kind) if kind is not None else None

    def numba_call(self, w: Writer, s: Scope, depth: int) -> Value | None:
        """A call of a function of Numba's, which takes what converts to its types without a loss."""
        name = w.r.choice(self.numba)
        takes, kind, _ = NUMBA[name]
        args = [(e.integer if t == "i" else e.number)(w, s, depth - 1) for t in takes]
        if any(a.kind in (U64, Weak.INF) for a in args):
            return None
        return Value(f"{name}({', '.join(a.text for a in args)})", kind)
