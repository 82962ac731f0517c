"""The scalar functions of the language: their types, and their values on plain Python values.

Shapes are well-known text; Shapely is imported when the first shape is read, because most programs have none.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from inkling.logical import terms
from inkling.model.event import Value
from inkling.model.types import Type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MAX_SHAPES = 4096
"""Size of the cache of parsed shapes."""


@lru_cache(maxsize=MAX_SHAPES)
def shape_of(text: str) -> Any:
    """The parsed and prepared shape of a text; None if the text is no shape."""
    import shapely

    found = shapely.from_wkt(text, on_invalid="ignore")
    if found is not None:
        shapely.prepare(found)
    return found


def contains(text: str, x: float, y: float) -> bool | None:
    """Whether a position lies inside a shape; its border is not inside."""
    import shapely

    found = shape_of(text)
    return None if found is None else bool(shapely.contains_xy(found, x, y))


def distance_to(text: str, x: float, y: float) -> float | None:
    """The distance of a position from a shape, in the unit of the coordinates; 0 inside and on the border."""
    import shapely

    found = shape_of(text)
    if found is None:
        return None
    distance = float(shapely.distance(found, shapely.points(x, y)))
    return None if math.isnan(distance) else distance


def all_contain(shapes: NDArray[Any], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    import numpy as np
    import shapely

    return np.asarray(shapely.contains_xy(shapes, x, y))


def all_distances(shapes: NDArray[Any], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np
    import shapely

    with np.errstate(invalid="ignore"):  # where a coordinate is missing
        return np.asarray(shapely.distance(shapes, shapely.points(x, y)))


EARTH_RADIUS_M = 6_371_000.0


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function; null in any argument gives null."""

    name: str
    parameters: tuple[Type, ...]
    result: Type
    meaning: Callable[..., Value]
    variadic: bool = False  # the last parameter may be given several times
    n_optional: int = 0  # of the last parameters, which may be left out


def haversine_m(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Great-circle distance in meters between two positions in degrees."""
    return great_circle(lat1, lon1, lat2, lon2, EARTH_RADIUS_M)


def great_circle(lat1: float, lon1: float, lat2: float, lon2: float, radius: float) -> float:
    """Great-circle distance on a sphere of any radius, in the unit of the radius."""
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half_phi = (phi2 - phi1) / 2.0
    half_lambda = math.radians(lon2 - lon1) / 2.0
    chord = math.sin(half_phi) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_lambda) ** 2
    return 2.0 * radius * math.asin(math.sqrt(min(1.0, chord)))


def passing_distance(lat: float, lon: float, heading: float, length: float, lat2: float, lon2: float) -> float:
    """The least distance in meters between a position and the first `length` meters of the great circle in a direction.

    In coordinates whose equator is that great circle, the position has a latitude, its cross-track distance, and a
    longitude, its along-track distance; the nearest point of the way is the foot, or else an end.
    """
    phi1, phi2, turn = math.radians(lat), math.radians(lat2), math.radians(lon2 - lon)
    angle = great_circle(lat, lon, lat2, lon2, 1.0)
    bearing = math.atan2(
        math.sin(turn) * math.cos(phi2),
        math.cos(phi1) * math.sin(phi2) - math.sin(phi1) * math.cos(phi2) * math.cos(turn),
    )
    off = bearing - math.radians(heading)
    across = math.asin(max(-1.0, min(1.0, math.sin(angle) * math.sin(off))))
    along = math.atan2(math.sin(angle) * math.cos(off), math.cos(angle))
    end = max(0.0, length) / EARTH_RADIUS_M
    if along < 0.0:
        along += 2.0 * math.pi
    if along <= end:
        return EARTH_RADIUS_M * abs(across)
    half = math.sin((along - end) / 2.0)
    chord = math.sin(across / 2.0) ** 2 + math.cos(across) * half**2
    return EARTH_RADIUS_M * min(angle, 2.0 * math.asin(math.sqrt(min(1.0, chord))))


def angle_difference(left: float, right: float) -> float:
    """Smallest angle in degrees between two directions, in [0, 180]."""
    turned = abs(left - right) % 360.0
    return min(turned, 360.0 - turned)


def _guarded(function: Callable[[float], float]) -> Callable[[float], float | None]:
    def meaning(value: float) -> float | None:
        try:
            result = function(value)
        except (ValueError, OverflowError):
            return None
        return None if math.isnan(result) or math.isinf(result) else result

    return meaning


def _power(base: float, exponent: float) -> float | None:
    try:
        result = base**exponent
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return None if isinstance(result, complex) else float(result)


B, D, N, S, T = Type.BOOLEAN, Type.DOUBLE, Type.INTEGER, Type.STRING, Type.DURATION
R, M = Type.TERM, Type.TIME

FUNCTIONS = {
    function.name: function
    for function in (
        Function("abs", (D,), D, abs),
        Function("sqrt", (D,), D, _guarded(math.sqrt)),
        Function("exp", (D,), D, _guarded(math.exp)),
        Function("ln", (D,), D, _guarded(math.log)),
        Function("sin", (D,), D, math.sin),
        Function("cos", (D,), D, math.cos),
        Function("asin", (D,), D, _guarded(math.asin)),
        Function("acos", (D,), D, _guarded(math.acos)),
        Function("floor", (D,), D, lambda x: float(math.floor(x))),
        Function("ceil", (D,), D, lambda x: float(math.ceil(x))),
        Function("pow", (D, D), D, _power),
        Function("least", (D, D), D, min, variadic=True),
        Function("greatest", (D, D), D, max, variadic=True),
        Function("haversine", (D, D, D, D), D, haversine_m),
        Function("great_circle", (D, D, D, D, D), D, great_circle),
        Function("contains", (S, D, D), B, contains),
        Function("distance_to", (S, D, D), D, distance_to),
        Function("passing_distance", (D, D, D, D, D, D), D, passing_distance),
        Function("angle_difference", (D, D), D, angle_difference),
        Function("seconds", (T,), D, lambda x: x / 1e6),
        Function("minutes", (T,), D, lambda x: x / 60e6),
        Function("hours", (T,), D, lambda x: x / 3600e6),
        Function("lower", (S,), S, str.lower),
        Function("upper", (S,), S, str.upper),
        Function("length", (S,), N, len),
        Function("concat", (S, S), S, lambda *parts: "".join(parts), variadic=True),
        Function("regex", (S, S, S), B, terms.regex, n_optional=1),
        Function("langmatches", (S, S), B, terms.language_matches),
        Function("iri", (S,), R, terms.make_iri),
        Function("literal", (S, S), R, terms.make_literal, n_optional=1),
        Function("typed", (S, S), R, terms.make_typed),
        Function("blank", (S,), R, terms.make_blank),
        Function("parsed_term", (S,), R, terms.parsed),
        Function("number", (R,), D, terms.number),
        Function("str", (R,), S, terms.text_of),
        Function("lang", (R,), S, terms.language_of),
        Function("datatype", (R,), R, terms.datatype_of),
        Function("isiri", (R,), B, terms.is_iri),
        Function("isblank", (R,), B, terms.is_blank),
        Function("isliteral", (R,), B, terms.is_literal),
        Function("isnumeric", (R,), B, terms.is_numeric),
        Function("isnan", (R,), B, terms.is_nan),
        Function("ebv", (R,), B, terms.effective_truth),
        Function("moment", (R,), M, terms.moment),
        Function("span", (R,), T, terms.span),
        Function("term", (R,), R, lambda term: term),
        Function("sameterm", (R, R), B, operator.eq),
        Function("term_plus", (R, R), R, terms.plus),
        Function("term_minus", (R, R), R, terms.minus),
        Function("term_times", (R, R), R, terms.times),
        Function("term_divided", (R, R), R, terms.divided),
        Function("term_negated", (R,), R, terms.negated),
        Function("term_cast", (R, S), R, terms.cast),
        Function("blank_of", (S, R), R, terms.make_blank_of, variadic=True),
        Function("order_kind", (R,), S, terms.order_kind),
        Function("term_value", (R,), S, terms.term_value),
        Function("unknown_value", (R,), N, terms.unknown_value),
        Function("string_term", (S,), R, terms.plain_literal),
        Function("integer_term", (N,), R, terms.of_integer),
        Function("double_term", (D,), R, terms.of_double),
        Function("boolean_term", (B,), R, terms.of_truth),
        Function("time_term", (M,), R, terms.of_moment),
        Function("duration_term", (T,), R, terms.of_span),
    )
}
"""By lower-case name. `seconds`, `minutes` and `hours` read a duration of a stream with timestamps; so do `moment`,
`span`, `time_term` and `duration_term`, whose times and durations are microseconds."""

OF_PLANS = frozenset(("order_kind", "term_value", "unknown_value"))
"""Functions that programs rarely call: `explain` shows comparisons of terms by them."""

TERM_OF = {S: "string_term", N: "integer_term", D: "double_term", B: "boolean_term", M: "time_term", T: "duration_term"}
"""The function that `term(x)` is for a value of each type."""


CHOICES = {"coalesce": "coalesce(x, y, …)", "if": "if(condition, x, y)"}
"""Functions of values of any type, and how they are called; a plan has `expr.Chosen` instead."""


def suggested(*, with_terms: bool) -> list[str]:
    """Names for messages; functions of terms only for programs with terms."""
    own = OF_PLANS | set(TERM_OF.values())
    return sorted(
        name
        for name, function in FUNCTIONS.items()
        if name not in own and (with_terms or R not in (*function.parameters, function.result))
    )


_WRITE_INSTEAD = {
    "round": "floor({0} + 0.5)",
    "trunc truncate int": "floor({0})",
    "ceiling": "ceil({0})",
    "power": "pow({0}, {1})",
    "mod": "{0} % {1}",
    "log": "ln({0})",
    "log10": "ln({0}) / ln(10)",
    "log2": "ln({0}) / ln(2)",
    "square": "{0} * {0}",
    "len char_length character_length strlen": "length({0})",
    "lcase tolower to_lower": "lower({0})",
    "ucase toupper to_upper": "upper({0})",
    "datediff date_diff timestampdiff timestamp_diff": "minutes(b.t - a.t)",
    "st_distance distance geo_distance": "haversine(lat1, lon1, lat2, lon2)",
    "st_contains st_within point_in_polygon": "contains(shape, x, y)",
    "mean average": "AVG({0})",
    "stdev std stddev_pop stddev_samp": "STDDEV({0})",
    "ifnull nvl": "coalesce({0}, {1})",
    "iff iif": "if({0}, {1}, {2})",
    "isnull is_null": "{0} IS NULL",
    "isnotnull": "{0} IS NOT NULL",
}
WRITE_INSTEAD = {name: written for names, written in _WRITE_INSTEAD.items() for name in names.split()}
"""Functions of other languages (lower case), and what to write instead; `{0}` and `{1}` stand for their arguments."""
