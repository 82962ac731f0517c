"""The scalar functions of the language as Catalyst columns."""

import math
from collections.abc import Callable, Iterable
from operator import eq

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as fn

from inkling.logical.functions import EARTH_RADIUS_M, FUNCTIONS
from inkling.logical.vectorized.functions import AS_DOUBLES, MEANINGS
from inkling.model.types import Type

WHOLE_FROM = 2.0**52
"""Doubles of this size and above have no fraction."""


def call(name: str, args: Iterable[Column]) -> Column:
    """The value of a function; arguments of type DOUBLE and DURATION are cast to double."""
    kinds = FUNCTIONS[name].parameters
    is_double = [kind in AS_DOUBLES for kind in kinds]
    given = [arg.cast("double") if is_double[min(place, len(kinds) - 1)] else arg for place, arg in enumerate(args)]
    result = COLUMN_FORMS[name](*given)
    return finite(result) if FUNCTIONS[name].result is Type.DOUBLE else result


def finite(number: Column) -> Column:
    """The number, or null if it is infinite or NaN; a negative zero becomes zero.

    The remainder by infinity leaves every finite number as it is, and turns an infinity into NaN.
    """
    return fn.nanvl(number % fn.lit(math.inf), fn.lit(None).cast("double")) + fn.lit(0.0)


def _rounded(rounding: Callable[[Column], Column]) -> Callable[[Column], Column]:
    """Rounding to a double; Spark's own rounding gives a 64-bit integer, which overflows."""

    def rounded(number: Column) -> Column:
        return fn.when(fn.abs(number) < WHOLE_FROM, rounding(number).cast("double")).otherwise(number)

    return rounded


def _least(*numbers: Column) -> Column:
    """The least number, or null if any is null: the last one in descending order, in which nulls are last."""
    return fn.element_at(fn.sort_array(fn.array(*numbers), asc=False), len(numbers))


def _greatest(*numbers: Column) -> Column:
    return fn.element_at(fn.array_sort(fn.array(*numbers)), len(numbers))


def _haversine(lat1: Column, lon1: Column, lat2: Column, lon2: Column) -> Column:
    return _great_circle(lat1, lon1, lat2, lon2, fn.lit(EARTH_RADIUS_M))


def _great_circle(lat1: Column, lon1: Column, lat2: Column, lon2: Column, radius: Column) -> Column:
    degree, two = fn.lit(math.pi / 180.0), fn.lit(2.0)
    phi1, phi2 = lat1 * degree, lat2 * degree
    half_phi = (phi2 - phi1) / two
    half_lambda = (lon2 - lon1) * degree / two
    across = fn.cos(phi1) * fn.cos(phi2) * fn.pow(fn.sin(half_lambda), two)
    chord = finite(fn.pow(fn.sin(half_phi), two) + across)
    return two * radius * fn.asin(fn.sqrt(_least(fn.lit(1.0), chord)))


def _passing_distance(*args: Column) -> Column:
    lat, lon, heading, length, lat2, lon2 = args
    degree, two, radius = fn.lit(math.pi / 180.0), fn.lit(2.0), fn.lit(EARTH_RADIUS_M)
    phi1, phi2, turn = lat * degree, lat2 * degree, (lon2 - lon) * degree
    angle = _great_circle(lat, lon, lat2, lon2, fn.lit(1.0))
    north = fn.cos(phi1) * fn.sin(phi2) - fn.sin(phi1) * fn.cos(phi2) * fn.cos(turn)
    off = fn.atan2(fn.sin(turn) * fn.cos(phi2), north) - heading * degree
    across = fn.asin(_greatest(fn.lit(-1.0), _least(fn.lit(1.0), fn.sin(angle) * fn.sin(off))))
    around = fn.atan2(fn.sin(angle) * fn.cos(off), fn.cos(angle))
    along = fn.when(around < 0.0, around + fn.lit(2.0 * math.pi)).otherwise(around)
    end = _greatest(fn.lit(0.0), length) / radius
    half = fn.pow(fn.sin((along - end) / two), two)
    chord = finite(fn.pow(fn.sin(across / two), two) + fn.cos(across) * half)
    to_end = two * fn.asin(fn.sqrt(_least(fn.lit(1.0), chord)))
    return radius * fn.when(along <= end, fn.abs(across)).otherwise(_least(angle, to_end))


def _in_python(name: str) -> Callable[..., Column]:
    """A function without a form on the JVM, evaluated in Python over whole columns."""

    def answers(*args: Column) -> Column:
        def found(*columns: pa.Array) -> pa.Array:
            return MEANINGS[name](*columns)

        answer: Callable[..., Column] = fn.arrow_udf(found, RESULTS[FUNCTIONS[name].result])  # type: ignore[attr-defined]
        return answer(*args)

    return answers


RESULTS = {
    Type.BOOLEAN: "boolean",
    Type.INTEGER: "bigint",
    Type.DOUBLE: "double",
    Type.STRING: "string",
    Type.TERM: "string",
    Type.TIME: "bigint",
    Type.DURATION: "bigint",
}


def _angle_difference(left: Column, right: Column) -> Column:
    turned = fn.abs(left - right) % fn.lit(360.0)
    return _least(turned, fn.lit(360.0) - turned)


def _in_case(change: Callable[[Column], Column]) -> Callable[[Column], Column]:
    """A change of case; `concat` keeps Spark from rewriting `upper(lower(x))` as `upper(x)`, which may differ."""
    return lambda text: change(fn.concat(text, fn.lit("")))


def _divided_by(divisor: float) -> Callable[[Column], Column]:
    return lambda number: number / fn.lit(divisor)


COLUMN_FORMS: dict[str, Callable[..., Column]] = {
    "abs": fn.abs,
    "sqrt": fn.sqrt,
    "exp": fn.exp,
    "ln": fn.ln,
    "sin": fn.sin,
    "cos": fn.cos,
    "asin": fn.asin,
    "acos": fn.acos,
    "floor": _rounded(fn.floor),
    "ceil": _rounded(fn.ceil),
    "pow": fn.pow,
    "least": _least,
    "greatest": _greatest,
    "haversine": _haversine,
    "great_circle": _great_circle,
    "contains": _in_python("contains"),
    "distance_to": _in_python("distance_to"),
    "passing_distance": _passing_distance,
    "angle_difference": _angle_difference,
    "seconds": _divided_by(1e6),
    "minutes": _divided_by(60e6),
    "hours": _divided_by(3600e6),
    "lower": _in_case(fn.lower),
    "upper": _in_case(fn.upper),
    "length": lambda text: fn.length(text).cast("bigint"),
    "concat": fn.concat,
    "term": lambda term: term,
    "sameterm": eq,
}
COLUMN_FORMS |= {name: _in_python(name) for name in FUNCTIONS if name not in COLUMN_FORMS}
