"""C++ for types, constants and names."""

from __future__ import annotations

import math
import struct
from typing import Final

from vgraph.compiler.types import EID, VID, Kind, Packed, Scalar, Target, Type, Vector, element_of

_WORDS: Final = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const "
    "constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or "
    "or_eq private protected public register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "union unsigned using virtual void volatile wchar_t while xor xor_eq "
    "Pack Word ordered in_order u128 "
    "a args board control first lanes place piece team vg vid eid visit whole begin end u8 u32 u64 i32 i64 f16 f32 f64 "
    "warp lane add sub mul min max to sum each splat fixed relaxed reduce claim copy swap append get power negate "
    "absolute pause now arrive acquire every members math Thread Warp Block Team Slot Sum Product Min Max Or And "
    "hub_turn log Log range shift_left shift_right floor_div floor_mod combine exchange open degree rounds "
    "threadIdx blockIdx blockDim gridDim main NULL INFINITY NAN signbit exp log sqrt pow floor ceil abs fabs fmod y0 "
    "Args y1 j0 j1 yn jn gamma erf index time clock printf malloc free assert fail renew note forget retry element "
    "ALL Atomic BLOCK PROBES BitsOf Board Buckets COUNTERS Control Element FEW Frontier Hubs Lanes Limits List Nothing "
    "Nth Ordered RESIDENT Range SOME STOP TURNS Tile Vec WARPS WordOf add_together advance atomic_extreme "
    "atomic_reduce bit_cast by_arcs by_bins by_block by_pieces by_search by_split by_warp cas_bits claim_alone clear "
    "clear_bitmap clear_list clear_queue clz copysign ctz few_arcs fill_words infinity is_inf is_nan is_neighbor "
    "is_signed lanes_below lookup mod next_not_below next_place not_a_number num_arcs_of num_threads num_warps "
    "num_words philox pool pool_bytes popcount put_relaxed round_up set_all set_bits set_single share_of share_warp "
    "shuffle shuffle_xor stretch thread_number tile to_bitmap to_queue warp_number warp_reduce warp_width wide_cas "
    "wide_relaxed with_element workers_of write_queue "
    "fill_elements copy_elements find view swap_arrays BATCH FEW_RESIDENT DeltaRow sum_row "
    "ACTIVE Absent add_to Four GRAB LATE NEUTRAL Plain STEP PartSlices Sixteen Slices TASK TESTED ahead by_slices "
    "fetch streamed walk_chunks "
    "Arcs EIGHT Eight Quads HeadArcs Heads rotated "
    "Marks Shelf Stretch TOGETHER by_marked count empty_counts is_sum open_shelf "
    "AT_A_TIME by_line in_stages stale "
    "LocalCounts LocalQueue Row by_hops early fetch_arcs go_on held local_counts local_queue row_of "
    "try_claim try_extreme BOX BOXES Boxes Outbox Settling append_all "
    "sending settle settling "
    "Kept NO_KEY ROW SWEEPS TileVisit Tiles by_pulled_tiles by_tiles improve improve_far owned seen "
    "take_lock give_lock "
    "Channel Mail Peers Route STALLED WAYS Way TO_ALL TO_EACH TO_GHOSTS TO_OWNERS TO_TURNS acquire_system all_to_all "
    "channel kind_of mail reserve sizes_in note_arrival put_far put_out Desk meet_around take wait_for_host "
    "thread_from_last Few few_at first_few OF_FEW CREW_BLOCKS CLUSTERS VG_CLUSTER look_ahead view_down warm by_few "
    "does_nothing meet_cluster into_slot is_extreme "
    "PART PARTS add_and_see by_cascade take_on "
    "Cell Chunk Deal Plan bits_at by_plan by_steps move_chunk peek put_share share shared_element sum_shares "
    "with_shared_element over_steps one_by_one "
)
_RESERVED: Final = frozenset(_WORDS.split())
"""Identifiers with a meaning in C++, in CUDA, or in our headers."""


WHOLE: Final = "// A block takes a multiprocessor, and all of its shared memory."
CREWED: Final = "// One cluster of blocks runs all of it."
WIDE: Final = "// Words of 128 bits are swapped in one step."
"""A line of kernels that only GPUs of compute capability 9.0 and later run."""


def type_name(t: Type) -> str:
    """`i32`, `vid`, `Vec<f32, 3>`."""
    if isinstance(t, Vector):
        return f"Vec<{type_name(t.element)}, {t.length}>"
    if isinstance(t, Packed):
        return f"{pack_name(t)}::Word"
    return t.name


def pack_name(t: Packed) -> str:
    """What packs and unpacks a word: `Pack<f64, vid>`."""
    return f"Pack<{', '.join(type_name(field) for field in t.fields)}>"


def plain_name(name: str) -> str:
    """An identifier that resembles `name`."""
    text = "".join(c if c.isascii() and c.isalnum() else "_" for c in name).strip("_") or "x"
    while "__" in text:
        text = text.replace("__", "_")
    return f"{text}_" if text in _RESERVED else f"x{text}" if text[0].isdigit() else text


class Names:
    """Identifiers for the names of a program: each kind of thing has its own names there, C++ has one space."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def of(self, kind: str, name: str) -> str:
        """The identifier of a thing, the same at each call."""
        key = (kind, name)
        if key not in self._known:
            plain = text = plain_name(name)
            number = 1
            while text in self._taken:
                number += 1
                text = f"{plain}_{number}"
            self._taken.add(text)
            self._known[key] = text
        return self._known[key]


def constant(value: float, t: Type, target: Target) -> str:
    """A literal; integers wrap, an infinity in an integer type is its extreme value."""
    if isinstance(t, Vector):
        return f"splat<{type_name(t)}>({constant(value, t.element, target)})"
    if t.kind is Kind.BOOL:
        return "true" if value else "false"
    if t.kind is Kind.FLOAT:
        return _real(float(value), t)
    return _integer(value, t, target)


def _real(value: float, t: Scalar) -> str:
    if math.isnan(value):
        return f"not_a_number<{t.name}>()"
    if t.bits == 32 and not math.isinf(value):
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            value = math.copysign(math.inf, value)
    if math.isinf(value):
        return f"Limits<{t.name}>::{'most' if value > 0 else 'least'}()"
    text = repr(value) + ("f" if t.bits == 32 else "")
    return f"({text})" if text.startswith("-") else text


_SUFFIX: Final = {("signed", 32): "", ("unsigned", 32): "u", ("signed", 64): "ll", ("unsigned", 64): "ull"}


def _integer(value: float, t: Scalar, target: Target) -> str:
    if isinstance(t, Packed):
        return f"Limits<{type_name(t)}>::{'most' if value > 0 else 'least'}()"
    bits = target.width(t)
    signed = t.kind is Kind.SIGNED
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if isinstance(value, int):
        number = value & ((1 << bits) - 1)
        number -= 1 << bits if number > high else 0
    elif math.isnan(value):
        number = 0
    else:
        number = int(max(low, min(high, value))) if not math.isinf(value) else high if value > 0 else low
    if t in (VID, EID) and number == high:
        return f"({t.name})-1"
    if signed and number in (low, high):
        return f"Limits<{t.name}>::{'least' if number == low else 'most'}()"
    text = f"{number}{_SUFFIX['signed' if signed else 'unsigned', bits]}"
    return f"({text})" if number < 0 else text


def is_signed(t: Type) -> bool:
    """True for signed integers."""
    return element_of(t).kind is Kind.SIGNED


def is_real(t: Type) -> bool:
    """True for floats."""
    return element_of(t).kind is Kind.FLOAT


def is_bool(t: Type) -> bool:
    """True for bools."""
    return element_of(t).kind is Kind.BOOL
