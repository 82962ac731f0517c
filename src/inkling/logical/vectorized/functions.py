"""The scalar functions of the language over columns."""

from __future__ import annotations

import math
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from inkling.logical.functions import EARTH_RADIUS_M, FUNCTIONS
from inkling.logical.vectorized.arithmetic import combine
from inkling.logical.vectorized.datum import Datum, as_double, finite
from inkling.model.types import Type

ZERO = pa.scalar(0.0)
TWO = pa.scalar(2.0)
DEGREE = pa.scalar(math.pi / 180.0)
TURN = pa.scalar(360.0)


def call(name: str, args: list[Datum]) -> Datum:
    """Value of a function; doubles are what its numeric parameters read."""
    wants_text = FUNCTIONS[name].parameters[0] is Type.STRING
    given = args if wants_text else [as_double(arg) for arg in args]
    result = MEANINGS[name](*given)
    return finite(result) if FUNCTIONS[name].result is Type.DOUBLE else result


def _floor(number: Datum) -> Datum:
    return pc.add(pc.floor(number), ZERO)  # adding zero leaves no negative zero


def _ceil(number: Datum) -> Datum:
    return pc.add(pc.ceil(number), ZERO)


def _least(*numbers: Datum) -> Datum:
    return pc.min_element_wise(*numbers, skip_nulls=False)


def _greatest(*numbers: Datum) -> Datum:
    return pc.max_element_wise(*numbers, skip_nulls=False)


def _haversine(lat1: Datum, lon1: Datum, lat2: Datum, lon2: Datum) -> Datum:
    phi1, phi2 = pc.multiply(lat1, DEGREE), pc.multiply(lat2, DEGREE)
    half_phi = pc.divide(pc.subtract(phi2, phi1), TWO)
    half_lambda = pc.divide(pc.multiply(pc.subtract(lon2, lon1), DEGREE), TWO)
    across = pc.multiply(pc.multiply(pc.cos(phi1), pc.cos(phi2)), pc.power(pc.sin(half_lambda), TWO))
    chord = pc.add(pc.power(pc.sin(half_phi), TWO), across)
    angle = pc.asin(pc.sqrt(_least(pa.scalar(1.0), chord)))
    return pc.multiply(pa.scalar(2.0 * EARTH_RADIUS_M), angle)


def _angle_difference(left: Datum, right: Datum) -> Datum:
    turned = combine("%", pc.abs(pc.subtract(left, right)), TURN)
    return _least(turned, pc.subtract(TURN, turned))


def _divided_by(divisor: float) -> Callable[[Datum], Datum]:
    return lambda number: pc.divide(number, pa.scalar(divisor))


def _by_spelling(fast: Callable[[Datum], Datum], exact: Callable[[str], str]) -> Callable[[Datum], Datum]:
    """Change of case: Arrow's own for ASCII; elsewhere a letter may become two, which only Python's does."""

    def changed(text: Datum) -> Datum:
        if isinstance(text, pa.Scalar):
            return pa.scalar(None if text.as_py() is None else exact(text.as_py()), pa.string())
        if pc.all(pc.string_is_ascii(text)).as_py() is not False:
            return fast(text)
        spellings = text.dictionary_encode()
        letters = [exact(spelling) for spelling in spellings.dictionary.to_pylist()]
        return pa.array(letters, pa.string()).take(spellings.indices)

    return changed


def _length(text: Datum) -> Datum:
    return pc.cast(pc.utf8_length(text), pa.int64())


def _concat(*parts: Datum) -> Datum:
    return pc.binary_join_element_wise(*parts, pa.scalar(""))


MEANINGS: dict[str, Callable[..., Datum]] = {
    "abs": pc.abs,
    "sqrt": pc.sqrt,
    "exp": pc.exp,
    "ln": pc.ln,
    "sin": pc.sin,
    "cos": pc.cos,
    "floor": _floor,
    "ceil": _ceil,
    "pow": pc.power,
    "least": _least,
    "greatest": _greatest,
    "haversine": _haversine,
    "angle_difference": _angle_difference,
    "seconds": _divided_by(1e6),
    "minutes": _divided_by(60e6),
    "hours": _divided_by(3600e6),
    "lower": _by_spelling(pc.utf8_lower, str.lower),
    "upper": _by_spelling(pc.utf8_upper, str.upper),
    "length": _length,
    "concat": _concat,
}
