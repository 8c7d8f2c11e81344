"""The types of values, as the running program sees them: `vg.int32` is a function, too."""

from __future__ import annotations

from typing import Any

from vgraph.language.names import DType
from vgraph.reference.values import Number, convert, lift


class Cast(DType):
    """A dtype whose call converts as the language does."""

    def __call__(self, value: Any) -> Any:
        return Number(convert(lift(value), self.type))

    __hash__ = DType.__hash__


_CASTS: dict[DType, Cast] = {}


def cast_type(dtype: DType) -> Cast:
    """The dtype as the running program sees it; equal dtypes give one object."""
    if isinstance(dtype, Cast):
        return dtype
    return _CASTS.setdefault(dtype, Cast(dtype.name, dtype.type))
