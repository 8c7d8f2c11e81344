"""Our `dataclass` does what the standard library's does."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest

from vgraph import records
from vgraph.errors import VGraphError
from vgraph.tracebacks import public

BOTH = pytest.mark.parametrize("dataclass", [dataclasses.dataclass, records.dataclass])


@BOTH
def test_a_frozen_class(dataclass):
    @dataclass(frozen=True)
    class Base:
        x: int
        values: list[int] = field(default_factory=list)

    @dataclass(frozen=True)
    class Derived(Base):
        self_: str = "s"
        place: object = field(default=None, kw_only=True, compare=False, repr=False)

    d = Derived(1, [2], place=7)
    assert repr(d).endswith(".Derived(x=1, values=[2], self_='s')")
    assert [f.name for f in fields(d)] == ["x", "values", "self_", "place"]
    assert Derived.__match_args__ == ("x", "values", "self_")
    assert Base(1) == Base(1, [])
    assert Base(1).values is not Base(1).values
    assert d == replace(d, place=8)
    assert d != replace(d, x=2)
    assert d != Base(1, [2])
    assert d != 1
    assert hash(replace(d, values=(2,))) == hash(Derived(1, (2,)))
    assert d.place == 7
    for change in (lambda: setattr(d, "x", 2), lambda: delattr(d, "x")):
        with pytest.raises(FrozenInstanceError, match="field 'x'"):
            change()
    with pytest.raises(TypeError, match=r"Derived.__init__\(\) takes from 2 to 4"):
        Derived(1, [2], "s", 7)
    with pytest.raises(TypeError, match=r"Derived.__init__\(\) missing 1 required positional argument: 'x'"):
        Derived()
    assert records.is_frozen(Derived)


@BOTH
def test_a_class_that_changes(dataclass):
    @dataclass
    class Counter:
        count: int = 0
        twice: int = field(init=False)
        seen: dict[int, int] = field(init=False, default_factory=dict)

        def __post_init__(self) -> None:
            self.twice = 2 * self.count

    made = Counter(3)
    made.count = 4
    assert (made.count, made.twice, made.seen) == (4, 6, {})
    assert Counter.__hash__ is None
    assert Counter(1) == Counter(1)
    assert list(inspect.signature(Counter).parameters) == ["count"]
    assert not records.is_frozen(Counter)


@BOTH
def test_what_a_class_defines_itself_stays(dataclass):
    @dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

        def __repr__(self) -> str:
            return "own"

    @dataclass(eq=False, repr=False)
    class Identity:
        x: float

    assert Own(1) == Own(2)
    assert hash(Own(1)) == 5
    assert repr(Own(1)) == "own"
    assert Identity(1) != Identity(1)
    assert len({Identity(1), Identity(1)}) == 2
    assert "object at" in repr(Identity(1))
    nan = float("nan")
    compared = dataclass(type("C", (), {"__annotations__": {"x": float}}))
    assert compared(nan) == compared(nan)  # as tuples compare: what is the same is equal


@BOTH
def test_all_fields_by_name(dataclass):
    @dataclass(frozen=True, kw_only=True)
    class Named:
        x: int
        y: int = 2

    assert (Named(x=1).x, Named(x=1).y) == (1, 2)
    with pytest.raises(TypeError, match="positional"):
        Named(1)


@pytest.mark.parametrize("compared", [True, False])
def test_a_family(compared):
    class Base(records.Record):
        x: int

    Base.compared = compared

    class Derived(Base):
        y: str = "y"

    assert repr(Derived(1)).endswith(".Derived(x=1, y='y')")
    assert (Derived(1) == Derived(1, "y")) is compared
    assert Derived(1) != Derived(2)


def test_a_constructor_is_compiled_when_it_is_asked_for(monkeypatch):
    compiled = []
    make = records._init
    monkeypatch.setattr(
        records, "_init", lambda cls, frozen: compiled.append(cls.__name__) or make(cls, frozen)
    )

    @records.dataclass
    class Base:
        x: int = 0

    @records.dataclass
    class Derived(Base):
        y: int = 1

    class Plain(Base):
        pass

    assert compiled == []
    assert Derived(2, 3).x == 2
    assert Derived(y=4).y == 4
    assert compiled == ["Derived"]
    assert Plain(5).x == 5
    assert list(inspect.signature(Base).parameters) == ["x"]
    assert compiled == ["Derived", "Base"]


def test_a_public_record_keeps_our_frames_out_of_what_its_constructor_raises():
    @public
    @records.dataclass
    class Bad:
        x: int

        def __post_init__(self):
            raise VGraphError("bad")

    assert Bad.__init__.__wrapped__
    assert list(inspect.signature(Bad).parameters) == ["x"]
