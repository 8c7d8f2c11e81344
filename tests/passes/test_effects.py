"""Effects: what operators read and write, when they only claim, and when any order of visits gives one fixpoint."""

from __future__ import annotations

import pytest
from choices_programs import EVERY, looping, once

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import (
    any_order_obstacle,
    effects,
    fixed_claim,
    is_fixpoint_loop,
    only_claims,
)
from vgraph.compiler.ir.text import parse_program
from vgraph.compiler.ir.trees import walk

CLAIM = "claim level[dst] from -1:i32 with level[src] {\n}"


def the_apply(program: ir.Program) -> ir.EdgeApply:
    return next(n for n in walk(program) if isinstance(n, ir.EdgeApply))


def operator(body: str) -> ir.Operator:
    return parse_program(looping(body)).operators[0]


@pytest.mark.parametrize(
    ("body", "only"),
    [
        (CLAIM, True),
        (f"if flag[dst] {{\n{CLAIM}\n}}", True),
        (f"if flag[dst] {{\nif flag[src] {{\n{CLAIM}\n}}\n}}", True),
        (f"{CLAIM}\ndist[dst] min= dist[src]", False),
        (f"dist[dst] min= dist[src]\n{CLAIM}", False),
        (f"{CLAIM}\n{CLAIM}", False),
        (f"if flag[dst] {{\n{CLAIM}\n}}\ndist[dst] min= dist[src]", False),
        (f"if flag[dst] {{\n{CLAIM}\n}} else {{\ndist[dst] min= dist[src]\n}}", False),
        (f"if flag[dst] {{\n{CLAIM}\ndist[dst] min= dist[src]\n}}", False),
        ("dist[dst] min= dist[src]", False),
    ],
)
def test_after_a_claim_nothing_may_happen(body: str, only: bool) -> None:
    assert only_claims(operator(body).body) is only
    if not only:
        assert fixed_claim(operator(body)) is None


@pytest.mark.parametrize(
    ("expected", "fixed"),
    [("-1:i32", True), ("first[dst]", True), ("weight[edge]", False), ("first[src]", False)],
)
def test_a_claim_is_looked_at_once_where_all_arcs_expect_the_same(expected: str, fixed: bool) -> None:
    claim = fixed_claim(operator(f"if flag[dst] {{\n{CLAIM.replace('-1:i32', expected)}\n}}"))
    assert (claim is not None) is fixed


def test_effects_tell_every_access() -> None:
    body = """\
if (flag[src] and (weight[edge] > @visits_seen)) {
  dist[dst] min= (dist[src] + level[dst])
}
claim first[dst] from -1:i32 with 0:i32 {
  level[dst] = 7:i32
  total[dst] += 1.0:f64
}
@visits += 1:i64
""".replace("@visits_seen", "cast<i32>(@visits)")
    assert effects(operator(body)).describe() == (
        "visit: reads dst.level, edge.weight, src.dist, src.flag\n"
        "  writes dst.dist (monotone, min), dst.first (claiming, claim), dst.level (claiming, claim),"
        " dst.total (accumulating, +)\n"
        "  reads globals visits\n"
        "  reduces globals visits"
    )
    assert [r.prop for r in effects(operator(body)).stale_reads] == ["dist"]
    assert effects(operator(body)).written == {"dist", "first", "level", "total"}


def test_effects_of_a_vertex_operator_tell_its_own_vertex_from_neighbors() -> None:
    body = """\
for (u, e) in in(v) {
  dist[v] min= (dist[u] + weight[e])
  claim level[u] from -1:i32 with 0:i32 {
    first[u] = 1:i32
    first[v] = 2:i32
  }
}
flag[v] = true
"""
    found = effects(parse_program(once(body, args="v")).operators[0])
    assert found.describe() == (
        "visit: reads edge.weight, neighbor.dist\n"
        "  writes neighbor.first (claiming, claim), neighbor.level (claiming, claim), v.dist (monotone, min),"
        " v.first (owned, =), v.flag (owned, =)"
    )
    assert [(r.prop, r.role.value) for r in found.stale_reads] == [("dist", "neighbor")]


def test_a_read_of_a_set_while_it_is_united_is_not_stale() -> None:
    program = parse_program(EVERY["components"])
    found = effects(program.operators[0])
    assert found.describe() == (
        "join: reads dst.component, src.component\n  writes dst.component (merging, union)"
    )
    assert not found.stale_reads


def obstacle(body: str, **changes: str) -> str | None:
    program = parse_program(looping(body, **changes))
    found = any_order_obstacle(program, the_apply(program))
    return None if found is None else found[0]


FALLS = "the value written may fall when the value read rises"
LOCAL = "a local depends on an updated property in a way that may not be monotone"


@pytest.mark.parametrize(
    ("value", "rises"),
    [
        ("dist[src]", True),
        ("(dist[src] + weight[edge])", True),
        ("(dist[src] - weight[edge])", True),
        ("(weight[edge] - dist[src])", False),
        ("min(dist[src], level[src])", True),
        ("max(dist[src], 3:i32)", True),
        ("(dist[src] * 2:i32)", False),
        ("(dist[src] | 1:i32)", False),
        ("(dist[src] << 1:i32)", False),
        ("neg(dist[src])", False),
        ("(level[src] * level[src])", True),
        ("cast<i32>(cast<i64>(dist[src]))", False),
        ("cast<i32>(min(max(cast<i64>(dist[src]), -2147483648:i64), 2147483647:i64))", True),
        ("cast<i32>(max(min(cast<i64>(dist[src]), 5:i64), -5:i64))", True),
        ("cast<i32>(min(cast<i64>(dist[src]), 2147483647:i64))", False),
        ("cast<i32>(max(cast<i64>(dist[src]), -2147483648:i64))", False),
        ("cast<i32>(min(max(cast<i64>(dist[src]), -2147483648:i64), 2147483648:i64))", False),
        ("cast<i32>(min(max(cast<i64>(dist[src]), -2147483649:i64), 2147483647:i64))", False),
        ("cast<i32>(min(max(cast<f64>(dist[src]), -5.0:f64), 5.0:f64))", False),
        ("cast<i32>(cast<u32>(dist[src]))", False),
        ("cast<i32>(cast<bool>(dist[src]))", False),
        ("select((dist[src] > 3:i32), 1:i32, 2:i32)", False),
    ],
)
def test_a_minimum_may_come_in_any_order_where_its_value_never_falls(value: str, rises: bool) -> None:
    assert obstacle(f"dist[dst] min= {value}") == (None if rises else FALLS)


@pytest.mark.parametrize(
    ("kinds", "keeps"),
    [
        (("i32", "i64"), True),
        (("u32", "u64"), True),
        (("u32", "i64"), True),
        (("u32", "i32"), False),
        (("i32", "u32"), False),
        (("i32", "u64"), False),
        (("i64", "i32"), False),
        (("f32", "f64"), True),
        (("f64", "f32"), False),
        (("i64", "f64"), True),
        (("u32", "f32"), True),
        (("bool", "u32"), True),
        (("bool", "i32"), True),
        (("bool", "f64"), True),
        (("f64", "i64"), False),
    ],
)
def test_a_change_of_type_may_come_in_between_where_it_keeps_the_order(
    kinds: tuple[str, str], keeps: bool
) -> None:
    old, new = kinds
    body = f"narrow[dst] min= other[src]\nwider[dst] min= cast<{new}>(narrow[src])"
    text = looping(body).replace(
        "edge weight",
        f"vertex narrow: {old} local\nvertex other: {old} local\nvertex wider: {new} local\nedge weight",
    )
    program = parse_program(text)
    found = any_order_obstacle(program, the_apply(program))
    assert (found and found[0]) == (None if keeps else FALLS)


@pytest.mark.parametrize(
    ("value", "rises"),
    [
        ("bits[src]", True),
        ("(bits[src] | cast<u32>(weight[edge]))", True),
        ("(bits[src] & 7:u32)", True),
        ("(bits[src] << 1:u32)", True),
        ("(bits[src] >> cast<u32>(weight[edge]))", True),
        ("(1:u32 << bits[src])", False),
        ("(bits[src] + 1:u32)", False),
        ("min(bits[src], 3:u32)", False),
        ("(bits[src] - 1:u32)", False),
        ("invert(bits[src])", False),
        ("cast<u32>(cast<i64>(bits[src]))", True),
        ("cast<u32>(cast<f64>(bits[src]))", False),
    ],
)
def test_bits_may_be_set_in_any_order_where_none_is_taken_back(value: str, rises: bool) -> None:
    text = looping(f"bits[dst] |= {value}").replace("edge weight", "vertex bits: u32 local\nedge weight")
    program = parse_program(text)
    found = any_order_obstacle(program, the_apply(program))
    assert (found and found[0]) == (None if rises else FALLS)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("dist[dst] min= dist[src]\n@visits += 1:i64",
         "`visits` is reduced into once per visit, and how many there are would vary"),
        ("total[dst] += total[src]",
         "`total` is written by an accumulating update, which must happen once per round"),
        (CLAIM, "`level` is claimed, and who is first would depend on when updates are seen"),
        ("dist[dst] min= dist[src]\nlevel[dst] max= 3:i32",
         "a reduction by max beside one by min: not all move in one direction"),
        ("if (dist[src] > 3:i32) {\ndist[dst] min= 3:i32\n}", "a condition depends on an updated property"),
        ("if (dist[src] < 3:i32) {\ndist[dst] min= dist[src]\n}", None),
        ("if (level[src] >= dist[src]) {\ndist[dst] min= 3:i32\n}", None),
        ("if not((dist[src] > 3:i32)) {\ndist[dst] min= 3:i32\n}", None),
        ("if not((cast<f64>(dist[src]) > 3.5:f64)) {\ndist[dst] min= 3:i32\n}", None),
        ("if (cast<f64>(dist[src]) < 3.5:f64) {\ndist[dst] min= 3:i32\n}",
         "a condition depends on an updated property"),  # NaN would close it again
        ("if not((dist[src] < 3:i32)) {\ndist[dst] min= 3:i32\n}", "a condition depends on an updated property"),
        ("if (level[src] <= dist[src]) {\ndist[dst] min= 3:i32\n}", "a condition depends on an updated property"),
        ("if (neg(dist[src]) < 3:i32) {\ndist[dst] min= 3:i32\n}", "a condition depends on an updated property"),
        ("if (dist[src] < dist[dst]) {\ndist[dst] min= 3:i32\n}", "a condition depends on an updated property"),
        ("if (dist[src] < 3:i32) {\ndist[dst] max= dist[src]\n}", "a condition depends on an updated property"),
        ("if (dist[src] > 3:i32) {\ndist[dst] max= dist[src]\n}", None),
        ("if (dist[src] < 3:i32) {\ndist[dst] min= 3:i32\n} else {\ndist[dst] min= 4:i32\n}",
         "a condition depends on an updated property"),
        ("let a: i32 = 0:i32\nif (dist[src] < 3:i32) {\na = 5:i32\n}\ndist[dst] min= a",
         "a condition depends on an updated property"),
        ("if (level[src] > 3:i32) {\ndist[dst] min= dist[src]\n}", None),
        ("if (dist[src] == dist[src]) {\ndist[dst] min= dist[src]\n}", None),
        ("if (dist[src] == level[src]) {\ndist[dst] min= dist[src]\n}",
         "a condition depends on an updated property"),
        ("while (dist[src] == dist[src]) {\ndist[dst] min= dist[src]\n}",
         "a condition depends on an updated property"),
        ("let a: i32 = (dist[src] + 1:i32)\ndist[dst] min= a", None),
        ("let a: i32 = (dist[src] + 1:i32)\nlevel[dst] min= neg(a)\ndist[dst] min= dist[src]", FALLS),
        ("let a: i32 = neg(dist[src])\ndist[dst] min= a", LOCAL),
        ("let a: i32 = level[src]\na = dist[src]\ndist[dst] min= a", None),
        ("let a: i32 = level[src]\na += dist[src]\ndist[dst] min= a", LOCAL),
        ("let a: i32 = level[src]\na += 2:i32\ndist[dst] min= (a + dist[src])", None),
        ("let a: i32 = 0:i32\nfor i in range(0:i64, 2:i64, 1:i64) {\ndist[dst] min= neg(a)\na = dist[src]\n}", FALLS),
        ("let a: i64 = 0:i64\na = cast<i64>(dist[src])\nfor i in range(0:i64, a, 1:i64) {\ndist[dst] min= 1:i32\n}",
         "a statement depends on an updated property"),
        ("dist[dst] min= level[cast<vid>(dist[src])]", FALLS),
    ],
)  # fmt: skip
def test_a_loop_that_may_run_in_any_order_only_raises_or_only_lowers(body: str, reason: str | None) -> None:
    assert obstacle(body) == reason


ROUNDS = "its rounds can be observed: it is not the whole body of a `while frontier:` loop"


def test_a_fixpoint_is_the_whole_loop_and_until_its_own_frontier_is_empty() -> None:
    text = looping("dist[dst] min= dist[src]")
    others = {
        "": None,
        "another statement": (
            "    frontier = edge_apply",
            "    fill level = 0:i32\n    frontier = edge_apply",
        ),
        "another end": ("size(frontier) > 0:i64", "size(frontier) > 1:i64"),
        "another question": ("size(frontier) > 0:i64", "size(frontier) >= 0:i64"),
        "no while": ("while (size(frontier) > 0:i64) {", "for i in range(0:i64, 9:i64, 1:i64) {"),
        "another frontier": ("size(frontier) > 0:i64", "size(other) > 0:i64"),
        "another result": ("    frontier = edge_apply", "    other = edge_apply"),
        "no result": ("    frontier = edge_apply", "    edge_apply"),
        "all arcs": ("edge_apply(visit, frontier)", "edge_apply(visit)"),
    }
    for name, change in others.items():
        changed = text.replace("frontier frontier\n", "frontier frontier\nfrontier other\n")
        if change is not None:
            assert change[0] in changed, name
            changed = changed.replace(*change)
        program = parse_program(changed)
        found = any_order_obstacle(program, the_apply(program))
        assert (found is None) == is_fixpoint_loop(program, the_apply(program)) == (change is None), name
        assert found is None or found[0] == ROUNDS
    unequal = parse_program(text.replace("size(frontier) > 0:i64", "size(frontier) != 0:i64"))
    assert is_fixpoint_loop(unequal, the_apply(unequal))
