"""The normal distribution: the number below which a given part of it lies (Wichura, algorithm AS 241, PPND16;
Applied Statistics 37, 1988). Of the sixteen digits that it gives the last one or two differ from device to device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

_Coefficients = tuple[tuple[float, ...], tuple[float, ...]]
"""Of the numerator and the denominator of a rational function, the highest power first."""

_MIDDLE: Final[_Coefficients] = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
        1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
        5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
_SIDE: Final[_Coefficients] = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
        3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
        6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0,
    ),
)  # fmt: skip
_END: Final[_Coefficients] = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
        2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
        1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip


class Steps(Protocol):
    """What numbers are computed with: numbers of Python's or expressions, which have `+`, `-`, `*` and `/`."""

    def call(self, function: str, x: Any) -> Any:
        """abs, log or sqrt."""

    def hold(self, x: Any) -> Any:
        """x, as something that may be used several times."""

    def choose(self, x: Any, bound: float, low: Callable[[], Any], high: Callable[[], Any]) -> Any:
        """`low()` where x is at most the bound, else `high()`."""


def quantile(q: Any, do: Steps) -> Any:
    """The number below which the part 1/2 + q of a standard normal distribution lies, for |q| < 1/2, which is held."""

    def middle() -> Any:
        return q * _ratio(_MIDDLE, do.hold(0.180625 - q * q))

    def outside() -> Any:
        r = do.hold(do.call("sqrt", 0.0 - do.call("log", 0.5 - size)))
        side, end = (lambda: _ratio(_SIDE, do.hold(r - 1.6))), (lambda: _ratio(_END, do.hold(r - 5.0)))
        return q / size * do.choose(r, 5.0, side, end)

    size = do.hold(do.call("abs", q))
    return do.choose(size, 0.425, middle, outside)


def _ratio(coefficients: _Coefficients, x: Any) -> Any:
    above, below = (_polynomial(c, x) for c in coefficients)
    return above / below


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    found, *rest = coefficients
    total: Any = found
    for c in rest:
        total = total * x + c
    return total
