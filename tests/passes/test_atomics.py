"""`insert-atomics` and `insert-barriers`: what threads may do to the same place, and what no thread may overtake."""

from __future__ import annotations

import pytest

from vgraph.compiler.abilities import CPU, CUDA
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.passes.insert_atomics import insert_atomics
from vgraph.compiler.passes.insert_barriers import insert_barriers

HEAD = """\
program p: kernel, ids 32, offsets 32
param source: vid
vertex x: i64 local
vertex y: i64 local
thread mine: i64 local
global @total: i64
frontier f sparse bitmap
frontier g sparse bitmap
list l
run {
"""
TAIL = "\n}\nreturn x\n"


def after(run, text, threads=0):
    """The lines of a driver loop after a pass."""
    lines = print_program(run(parse_program(HEAD + text + TAIL), Context(threads=threads))).splitlines()
    return [line.strip() for line in lines[lines.index("run {") + 1 : lines.index("return x") - 1]]


def marked(body, loop="parfor v in vertices", threads=0):
    """The lines of a parallel loop after `insert-atomics`."""
    return after(insert_atomics.run, f"{loop} {{\n{body}\n}}", threads)[1:-1]


NEAR = "for (u, e) in out(v) {{\n{}\n}}"


def near(body, loop="parfor v in vertices", threads=0):
    """The same of a loop over arcs in it."""
    return marked(NEAR.format(body), loop, threads)[1:-1]


@pytest.mark.parametrize("threads", [0, 2])
def test_what_only_the_loops_vertex_has_written_is_plain(threads):
    for line in ("x[v] = 1:i64", "x[v] += 1:i64", "x[v] += y[v]", "push f v sparse"):
        assert marked(line, threads=threads) == [line]
    assert near("x[v] += y[u]", threads=threads) == ["x[v] += y[u]"]


def test_what_is_written_at_other_vertices_is_atomic():
    assert near("x[u] += 1:i64") == ["atomic x[u] += 1:i64"]
    assert near("push f u sparse") == ["push f u sparse atomic"]
    # Also where the vertex itself writes it, and whoever reads it reads it relaxed.
    assert marked("x[v] += 1:i64\n" + NEAR.format("x[u] += y[v]"))[0] == "atomic x[v] += 1:i64"
    assert near("x[u] min= x[v]") == ["atomic x[u] min= relaxed x[v]"]
    assert near("x[u] min= y[v]") == ["atomic x[u] min= y[v]"]


def test_what_is_read_at_other_vertices_while_it_is_written_is_relaxed():
    assert marked(f"let a: i64 = 0:i64\n{NEAR.format('a += x[u]')}\nx[v] = a") == [
        "let a: i64 = 0:i64",
        "for (u, e) in out(v) {",
        "a += relaxed x[u]",
        "}",
        "relaxed x[v] = a",
    ]


def test_stores_beside_swaps_of_others_are_relaxed_and_those_of_one_owner_are_not():
    claim = "let ok: bool = false\nok = cas x[u] from 0:i64 with 1:i64"
    lines = marked("x[v] = 2:i64\n" + NEAR.format(claim))
    assert lines[0] == "relaxed x[v] = 2:i64"
    assert any("atomic" in line for line in lines)
    assert marked("x[v] = 2:i64\n" + NEAR.format(claim.replace("x[u]", "y[u]")))[0] == "x[v] = 2:i64"


def test_a_cut_vertex_is_shared_but_by_whoever_has_all_its_arcs():
    cut = "parfor v in vertices cut out at 4:i64"
    assert marked("x[v] += 1:i64", cut) == ["atomic x[v] += 1:i64"]
    both = "if piece.whole() {\nx[v] += 1:i64\n} else {\nx[v] += 1:i64\n}"
    assert [line for line in marked(both, cut) if "+=" in line] == ["x[v] += 1:i64", "atomic x[v] += 1:i64"]
    others = both + "\n" + NEAR.format("x[u] += 1:i64")
    assert all("atomic" in line for line in marked(others, cut) if "+=" in line)


@pytest.mark.parametrize(
    ("loop", "alone"),
    [
        ("parfor v in vertices words", True),
        ("parfor v in bitmap g", True),
        ("parfor v in vertices", False),
        ("parfor v in sparse g", False),
        ("parfor v in vertices words by warp", False),
    ],
)
def test_words_of_bitmaps_belong_to_whoever_visits_their_vertices(loop, alone):
    assert marked("push f v bitmap", loop) == ["push f v bitmap" + ("" if alone else " atomic")]
    assert near("push f u bitmap", loop) == ["push f u bitmap atomic"]


def test_copies_of_threads_are_plain():
    assert near("mine[u] += mine[v]") == ["mine[u] += mine[v]"]


def test_one_thread_meets_nobody():
    assert near("x[u] min= x[v]", threads=1) == ["x[u] min= x[v]"]
    assert near("push f u sparse atomic", threads=1) == ["push f u sparse"]


# --- barriers -------------------------------------------------------------------------------------------------

READ = "let a: i64 = x[source]"
WRITE = "parfor v in vertices {\nx[v] = 1:i64\n}"


def barriers(*lines, threads=0):
    """How many barriers there are, and the line behind each."""
    found = after(insert_barriers.run, "\n".join(lines), threads)
    return [found[i + 1] for i, line in enumerate(found) if line == "barrier"]


@pytest.mark.parametrize(
    ("read", "write", "needed"),
    [
        (READ, WRITE, True),
        (READ, WRITE.replace("x[v]", "y[v]"), False),
        (READ, WRITE.replace("=", "+="), True),
        (READ, "single {\nx[source] = 2:i64\n}", True),
        (READ, "parfor v in vertices {\nlet ok: bool = false\nok = cas x[v] from 0:i64 with 1:i64\n}", True),
        ("let a: i64 = size(f)", "parfor v in vertices {\npush f v sparse\n}", True),
        ("let a: i64 = size(f)", "clear f sparse", True),
        ("let a: i64 = size(f)", "clear g sparse", False),
        ("let a: i64 = size(f)", "swap f g", True),
        ("let a: i64 = size(g)", "swap f g", True),
        ("let a: i64 = size(f)", "f = copy g", True),
        ("let a: i64 = size(g)", "f = copy g", False),
        ("let a: i64 = size(f)", "f = empty", True),
        ("let a: i64 = size(f)", "convert f to bitmap", True),
        ("let a: i64 = count(l)", "append l f", True),
        ("let a: i64 = size(f)", "append l f", False),
        ("let a: i64 = count(l)", "clear l", True),
        (READ, "fold x += mine", True),
    ],
)
def test_nobody_writes_what_another_still_has_to_read(read, write, needed):
    assert bool(barriers(read, write)) == needed
    assert not barriers(read, write, threads=1)
    assert not barriers(write, read)
    # One is enough: the first barrier, or the end of what threads do together, is behind all that was read.
    assert len(barriers(read, write, write)) == needed
    assert not barriers(read, "parfor v in vertices {\ny[v] = 0:i64\n}", write)


SIZES = ("let a: i64 = size(f)", "let a: i64 = count(l)")


@pytest.mark.parametrize("write", ["clear f sparse", "swap f g", "convert f to bitmap", "clear l"])
def test_sizes_that_each_block_keeps_for_itself_need_no_barrier(write):
    lines = "\n".join([*SIZES, READ, write, WRITE])
    program = parse_program(HEAD + lines + TAIL)
    for abilities, count in ((CPU, 1), (CUDA, 0)):
        text = print_program(insert_barriers.run(program, Context(abilities=abilities)))
        assert text.count("barrier") == count
    after_it = print_program(
        insert_barriers.run(parse_program(HEAD + READ + "\n" + WRITE + TAIL), Context(abilities=CUDA))
    )
    assert "barrier" in after_it


def test_what_either_side_of_a_branch_reads_is_pending():
    write = WRITE
    for sides in ((READ, ""), ("", READ)):
        branch = "if (@total > 0:i64) {{\n{}\n}} else {{\n{}\n}}".format(*sides)
        assert len(barriers(branch, write)) == 1
    assert len(barriers("if (x[source] > 0:i64) {", write, "}")) == 1
    assert not barriers("if (@total > 0:i64) {", write, "}")


def test_what_a_loop_reads_is_pending_in_its_next_round_and_behind_it():
    assert len(barriers("while (@total > 0:i64) {", WRITE, READ, "}")) == 1
    assert len(barriers("while (x[source] > 0:i64) {", WRITE, "}")) == 1
    assert len(barriers("while (@total > 0:i64) {", READ, "}", WRITE)) == 1
    assert len(barriers("while (x[source] > 0:i64) {", "}", WRITE)) == 1
    assert len(barriers(READ, "while (@total > 0:i64) {", "}", WRITE)) == 1
    assert len(barriers(READ, "while (@total > 0:i64) {", WRITE, "}")) == 1
    assert len(barriers("for i in range(0:i64, x[source], 1:i64) {", "}", WRITE)) == 1


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_what_was_read_before_a_jump_is_pending_where_it_leads(jump):
    other = WRITE.replace("x[v]", "y[v]")
    body = ["while (@total > 0:i64) {", READ, "if (@total > 3:i64) {", jump, "}", other, "}"]
    assert len(barriers(*body, WRITE)) == 1
    again = ["while (@total > 0:i64) {", WRITE, READ, "if (@total > 3:i64) {", jump, "}", other, "}"]
    assert len(barriers(*again)) == 1
