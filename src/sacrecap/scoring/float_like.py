"""Arithmetic for objects that represent one number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Real
from typing import Any


def _value(other: object) -> float | None:
    return float(other) if isinstance(other, (Real, FloatLike)) else None


def _compared(compare: Callable[[float, float], bool]) -> Callable[[FloatLike, object], bool]:
    def method(self: FloatLike, other: object) -> Any:
        value = _value(other)
        return NotImplemented if value is None else compare(float(self), value)

    return method


def _computed(compute: Callable[[float, float], float]) -> Callable[[FloatLike, float | FloatLike], float]:
    def method(self: FloatLike, other: object) -> Any:
        value = _value(other)
        return NotImplemented if value is None else compute(float(self), value)

    return method


def _turned(compute: Callable[[float, float], float]) -> Callable[[FloatLike, float | FloatLike], float]:
    return _computed(lambda own, other: compute(other, own))


class FloatLike:
    """Behaves as the float that `float(self)` gives: in formats, arithmetic, comparisons and rounding.

    Results of arithmetic are floats.
    """

    def __float__(self) -> float:
        raise NotImplementedError

    __eq__ = _compared(operator.eq)
    __lt__ = _compared(operator.lt)
    __le__ = _compared(operator.le)
    __gt__ = _compared(operator.gt)
    __ge__ = _compared(operator.ge)

    __add__ = _computed(operator.add)
    __radd__ = _turned(operator.add)
    __sub__ = _computed(operator.sub)
    __rsub__ = _turned(operator.sub)
    __mul__ = _computed(operator.mul)
    __rmul__ = _turned(operator.mul)
    __truediv__ = _computed(operator.truediv)
    __rtruediv__ = _turned(operator.truediv)

    def __hash__(self) -> int:
        return hash(float(self))

    def __bool__(self) -> bool:
        return float(self) != 0

    def __neg__(self) -> float:
        return -float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __int__(self) -> int:
        return int(float(self))

    def __format__(self, spec: str) -> str:
        """By a format of numbers; `f"{score}"` without any is the text of the object."""
        return format(float(self), spec) if spec else str(self)
