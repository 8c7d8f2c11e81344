"""`dataclass` as in the standard library, declared ten times as fast.

The standard library compiles up to six functions for each class; a process that compiles a program declares 250
classes, which took a seventh of its time. Here only `__init__` is compiled, when it is first asked for, and the other
functions are shared by all.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, field, fields
from dataclasses import dataclass as declare
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, kw_only=False):
        """As `dataclasses.dataclass` with the same options."""

        def made(cls):
            shared = {}
            if frozen:
                shared |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
            if eq:
                shared |= {"__eq__": _equal, "__hash__": _hash if frozen else None}
            if repr:
                shared["__repr__"] = _repr
            own = {name for name in ("__eq__", "__hash__", "__repr__") if vars(cls).get(name) is not None}
            cls.__doc__ = cls.__doc__ or cls.__name__  # or the standard library writes one, in a millisecond
            declare(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
            if "__init__" not in vars(cls):
                cls.__init__ = _Init(cls, frozen)
            for name in shared.keys() - own:
                setattr(cls, name, shared[name])
            return cls

        return made if cls is None else made(cls)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class Record:
    """Base of a family of dataclasses: each class below it is one."""

    compared: ClassVar[bool] = False
    """Whether instances compare by their fields; else each is only equal to itself."""

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        dataclass(eq=cls.compared)(cls)


class _Init:
    """A constructor that has not been asked for yet, as most classes' are in most processes."""

    def __init__(self, cls: type[Any], frozen: bool) -> None:
        self.cls, self.frozen = cls, frozen

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        made = _init(self.cls, self.frozen)
        self.cls.__init__ = made
        return made.__get__(instance, owner)


def _init(cls: type[Any], frozen: bool) -> Any:
    """The constructor; that of a frozen class goes round its `__setattr__`."""
    scope: dict[str, Any] = {"MISSING": MISSING}
    positional: list[str] = []
    named: list[str] = []
    puts: list[str] = []
    for f in fields(cls):
        value = f.name
        if f.default_factory is not MISSING:
            scope[f"_{f.name}"] = f.default_factory
            value = f"_{f.name}() if {f.name} is MISSING else {f.name}" if f.init else f"_{f.name}()"
        if f.init:
            default = ""
            if f.default_factory is not MISSING:
                default = "=MISSING"
            elif f.default is not MISSING:
                scope[f"_{f.name}"] = f.default
                default = f"=_{f.name}"
            (named if f.kw_only else positional).append(f.name + default)
        elif f.default_factory is MISSING:
            continue  # the class has its default, if there is one
        puts.append(f"given_[{f.name!r}] = {value}" if frozen else f"self.{f.name} = {value}")
    if frozen and puts:
        puts.insert(0, "given_ = self.__dict__")
    if hasattr(cls, "__post_init__"):
        puts.append("self.__post_init__()")
    words = ["self", *positional, *(["*", *named] if named else [])]
    exec(f"def __init__({', '.join(words)}): {'; '.join(puts) or 'pass'}", scope)
    scope["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return scope["__init__"]


@cache
def _compared(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    names = [f.name for f in fields(cls) if f.compare]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def parts(self: Any) -> tuple[Any, ...]:
    """What counts in a comparison: the values of all fields but those that say they do not."""
    cls: Any = type(self)
    return _compared(cls)(self)


def _equal(self: Any, other: object) -> Any:
    if self is other:
        return True
    return parts(self) == parts(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(parts(self))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def is_frozen(cls: type[Any]) -> bool:
    """Whether instances of a dataclass, of any maker, cannot be changed."""
    params = getattr(cls, "__dataclass_params__", None)
    return bool(params and params.frozen) or getattr(cls, "__setattr__", None) is _refuse_set
