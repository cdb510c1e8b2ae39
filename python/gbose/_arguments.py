"""What callers give: arrays, options and whole numbers, checked before the C library sees them."""

from __future__ import annotations

from numbers import Real
from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import Error

Array = NDArray[np.float64]
Number = Union[bool, int, float, str]
FLOAT = np.dtype(np.float64)


def _numbers(a: Any, what: str) -> Array:
    """An array of objects as floats, if they are numbers: a text that reads like one is none."""
    for value in a.flat:
        if value is None or type(value).__name__ == "NAType":
            raise Error(f"{what}: numbers are missing, and a learner needs all of them; fill them in: frame.fillna(value)")
        if not isinstance(value, (Real, np.bool_)):
            raise TypeError(f"{what} must be numbers, not {type(value).__name__}")
    return np.asarray(a, FLOAT)


def as_doubles(x: ArrayLike, what: str, shape: Sequence[int | None]) -> Array:
    """`x` as a C-contiguous array of float64: itself if it is one, else a copy. None in `shape` is any length."""
    if isinstance(x, np.ma.MaskedArray) and np.any(x.mask):
        raise Error(f"{what}: numbers are masked, and a learner needs all of them; fill them in: x.filled(value)")
    try:
        a = np.asarray(x)
    except ValueError as error:
        uneven = "inhomogeneous" in str(error)
        raise Error(f"{what}: {'rows have different lengths' if uneven else error}") from None
    if a.dtype.kind == "O":  # a data frame with columns of several types, for example
        a = _numbers(a, what)
    if a.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be numbers, not of dtype {a.dtype}")
    if a.ndim != len(shape) or any(want not in (None, is_) for want, is_ in zip(shape, a.shape)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise Error(f"{what} must have the shape ({wanted}{',' if len(shape) == 1 else ''}), not {a.shape}")
    return np.require(a, FLOAT, ["C", "A"])


def within(number: int, limit: int, what: str) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise TypeError(f"{what} must be an int, not {type(number).__name__}")
    if not 0 <= number < limit:
        raise Error(f"{what} must be from 0 to {limit - 1}, not {number}")
    return int(number)


def option_text(name: str, value: Any) -> str:
    """The value of an option, as a spec has it."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if not isinstance(value, (str, Real)):
        kind = "None; leave it out for its default" if value is None else type(value).__name__
        raise TypeError(f"option {name.rstrip('_')} must be a number or a str, not {kind}")
    return str(value)


def make_spec(learner: str, options: dict[str, Any]) -> str:
    """A spec with further options at its end. A name that Python keeps for itself has a '_' behind it: lambda_."""
    given = [f"{name.rstrip('_')}={option_text(name, value)}" for name, value in options.items()]
    if not given:
        return learner
    return learner + ("," if ":" in learner else ":") + ",".join(given)
