"""The scalar functions of the language over columns."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.logical.functions import EARTH_RADIUS_M, FUNCTIONS, Function, all_contain, all_distances, shape_of
from inkling.logical.vectorized.datum import Datum, as_double, broadcast, combine, finite
from inkling.model.event import Value
from inkling.model.types import Type

TWO = pa.scalar(2.0)
DEGREE = pa.scalar(math.pi / 180.0)
TURN = pa.scalar(360.0)


def call(name: str, args: list[Datum]) -> Datum:
    """Value of a function; doubles are what its parameters of type DOUBLE and DURATION read."""
    kinds = FUNCTIONS[name].parameters
    given = [
        as_double(arg) if kind in AS_DOUBLES else arg
        for arg, kind in zip(args, kinds + kinds[-1:] * (len(args) - len(kinds)), strict=False)
    ]
    result = MEANINGS[name](*given)
    return finite(result) if FUNCTIONS[name].result is Type.DOUBLE else result


AS_DOUBLES = (Type.DOUBLE, Type.DURATION)

RESULTS = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.STRING: pa.string(),
    Type.TERM: pa.string(),
    Type.TIME: pa.int64(),
    Type.DURATION: pa.int64(),
}


def of_distinct(function: Function, *args: Datum) -> Datum:
    """The value of a function by its definition, once for each distinct combination of arguments."""
    kind = RESULTS[function.result]
    columns = [place for place, arg in enumerate(args) if isinstance(arg, pa.Array)]
    if not columns:
        return pa.scalar(_defined(function, [arg.as_py() for arg in args]), kind)
    encoded = [args[place].dictionary_encode() for place in columns]
    if len(encoded) == 1:
        (only,) = encoded
        distinct, codes = [only.dictionary.to_pylist()], only.indices
    else:
        rows, codes = _combinations(encoded)
        distinct = [one.take(rows).dictionary_decode().to_pylist() for one in encoded]
    given = [None if place in columns else arg.as_py() for place, arg in enumerate(args)]
    values = []
    for combination in zip(*distinct, strict=True):
        for place, value in zip(columns, combination, strict=True):
            given[place] = value
        values.append(_defined(function, given))
    return pa.array(values, kind).take(codes)


def _defined(function: Function, args: list[Value]) -> Value:
    return None if None in args else function.meaning(*args)


def _combinations(encoded: list[pa.DictionaryArray]) -> tuple[pa.Array, pa.Array]:
    """A row for each distinct combination of values, and the number of the combination in every row."""
    codes = np.zeros(len(encoded[0]), np.int64)
    for one in encoded:
        n_values = len(one.dictionary)
        found = one.indices.fill_null(n_values).to_numpy(zero_copy_only=False)
        # renumbered every time, so that products stay small
        codes = pa.array(codes * (n_values + 1) + found).dictionary_encode().indices.to_numpy()
        codes = codes.astype(np.int64)
    rows = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]
    return pa.array(rows), pa.array(codes)


def _least(*numbers: Datum) -> Datum:
    return pc.min_element_wise(*numbers, skip_nulls=False)


def _greatest(*numbers: Datum) -> Datum:
    return pc.max_element_wise(*numbers, skip_nulls=False)


def _haversine(lat1: Datum, lon1: Datum, lat2: Datum, lon2: Datum) -> Datum:
    return _great_circle(lat1, lon1, lat2, lon2, pa.scalar(EARTH_RADIUS_M))


def _great_circle(lat1: Datum, lon1: Datum, lat2: Datum, lon2: Datum, radius: Datum) -> Datum:
    phi1, phi2 = pc.multiply(lat1, DEGREE), pc.multiply(lat2, DEGREE)
    half_phi = pc.divide(pc.subtract(phi2, phi1), TWO)
    half_lambda = pc.divide(pc.multiply(pc.subtract(lon2, lon1), DEGREE), TWO)
    across = pc.multiply(pc.multiply(pc.cos(phi1), pc.cos(phi2)), pc.power(pc.sin(half_lambda), TWO))
    chord = pc.add(pc.power(pc.sin(half_phi), TWO), across)
    angle = pc.asin(pc.sqrt(_least(pa.scalar(1.0), chord)))
    return pc.multiply(pc.multiply(TWO, radius), angle)


def _passing_distance(*args: Datum) -> Datum:
    lat, lon, heading, length, lat2, lon2 = args
    phi1, phi2, turn = (pc.multiply(angle, DEGREE) for angle in (lat, lat2, pc.subtract(lon2, lon)))
    angle = _great_circle(lat, lon, lat2, lon2, pa.scalar(1.0))
    north = pc.subtract(
        pc.multiply(pc.cos(phi1), pc.sin(phi2)), pc.multiply(pc.multiply(pc.sin(phi1), pc.cos(phi2)), pc.cos(turn))
    )
    bearing = pc.atan2(pc.multiply(pc.sin(turn), pc.cos(phi2)), north)
    off = pc.subtract(bearing, pc.multiply(heading, DEGREE))
    across = pc.asin(_greatest(pa.scalar(-1.0), _least(pa.scalar(1.0), pc.multiply(pc.sin(angle), pc.sin(off)))))
    along = pc.atan2(pc.multiply(pc.sin(angle), pc.cos(off)), pc.cos(angle))
    along = pc.if_else(pc.less(along, 0.0), pc.add(along, 2.0 * math.pi), along)
    end = pc.divide(_greatest(pa.scalar(0.0), length), EARTH_RADIUS_M)
    half = pc.power(pc.sin(pc.divide(pc.subtract(along, end), TWO)), TWO)
    chord = pc.add(pc.power(pc.sin(pc.divide(across, TWO)), TWO), pc.multiply(pc.cos(across), half))
    to_end = pc.multiply(TWO, pc.asin(pc.sqrt(_least(pa.scalar(1.0), chord))))
    nearest = pc.if_else(pc.less_equal(along, end), pc.abs(across), _least(angle, to_end))
    return pc.multiply(nearest, EARTH_RADIUS_M)


def _of_shapes(answer: Callable[..., np.ndarray]) -> Callable[[Datum, Datum, Datum], Datum]:
    """A question about shapes and positions; every text is read once."""

    def answers(text: Datum, x: Datum, y: Datum) -> Datum:
        n_rows = max((len(datum) for datum in (text, x, y) if isinstance(datum, pa.Array)), default=1)
        spellings = broadcast(text, n_rows, pa.string()).dictionary_encode()
        known = np.array([*map(shape_of, spellings.dictionary.to_pylist()), None], dtype=object)
        places = spellings.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
        first, second = (broadcast(datum, n_rows, pa.float64()).to_numpy(zero_copy_only=False) for datum in (x, y))
        unread = np.array([shape is None for shape in known])
        missing = unread[places] | np.isnan(first) | np.isnan(second)
        found = pa.array(answer(known[places], first, second), mask=missing)
        scalars = not any(isinstance(datum, pa.Array) for datum in (text, x, y))
        return found[0] if scalars else found

    return answers


def _angle_difference(left: Datum, right: Datum) -> Datum:
    turned = combine("%", pc.abs(pc.subtract(left, right)), TURN)
    return _least(turned, pc.subtract(TURN, turned))


def _divided_by(divisor: float) -> Callable[[Datum], Datum]:
    return lambda number: pc.divide(number, pa.scalar(divisor))


def _by_spelling(fast: Callable[[Datum], Datum], exact: Callable[[str], str]) -> Callable[[Datum], Datum]:
    """Change of case: Arrow's own for ASCII; elsewhere one character may become two, which only Python's does."""

    def changed(text: Datum) -> Datum:
        if isinstance(text, pa.Scalar):
            return pa.scalar(None if text.as_py() is None else exact(text.as_py()), pa.string())
        if pc.all(pc.string_is_ascii(text)).as_py() is not False:
            return fast(text)
        spellings = text.dictionary_encode()
        texts = [exact(spelling) for spelling in spellings.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(spellings.indices)

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
    "asin": pc.asin,
    "acos": pc.acos,
    "floor": pc.floor,
    "ceil": pc.ceil,
    "pow": pc.power,
    "least": _least,
    "greatest": _greatest,
    "haversine": _haversine,
    "great_circle": _great_circle,
    "contains": _of_shapes(all_contain),
    "distance_to": _of_shapes(all_distances),
    "passing_distance": _passing_distance,
    "angle_difference": _angle_difference,
    "seconds": _divided_by(1e6),
    "minutes": _divided_by(60e6),
    "hours": _divided_by(3600e6),
    "lower": _by_spelling(pc.utf8_lower, str.lower),
    "upper": _by_spelling(pc.utf8_upper, str.upper),
    "length": _length,
    "concat": _concat,
    "term": lambda term: term,
    "sameterm": pc.equal,
}
MEANINGS |= {name: partial(of_distinct, function) for name, function in FUNCTIONS.items() if name not in MEANINGS}
