"""Functions in rules: which terms are calls, and the types of their arguments and values."""

D, S, B, N, T = "DOUBLE", "STRING", "BOOLEAN", "INTEGER", "DURATION"

RENAMED = {"min": "least", "max": "greatest"}
"""Functions that have another name in `.ink`."""

FUNCTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "abs": ((D,), D),
    "sqrt": ((D,), D),
    "exp": ((D,), D),
    "ln": ((D,), D),
    "sin": ((D,), D),
    "cos": ((D,), D),
    "asin": ((D,), D),
    "acos": ((D,), D),
    "floor": ((D,), D),
    "ceil": ((D,), D),
    "pow": ((D, D), D),
    "least": ((D, D), D),
    "greatest": ((D, D), D),
    "min": ((D, D), D),
    "max": ((D, D), D),
    "haversine": ((D, D, D, D), D),
    "great_circle": ((D, D, D, D, D), D),
    "passing_distance": ((D, D, D, D, D, D), D),
    "contains": ((S, D, D), B),
    "distance_to": ((S, D, D), D),
    "angle_difference": ((D, D), D),
    "seconds": ((T,), D),
    "minutes": ((T,), D),
    "hours": ((T,), D),
    "lower": ((S,), S),
    "upper": ((S,), S),
    "length": ((S,), N),
    "concat": ((S, S), S),
}


def parameter(name: str, place: int) -> str:
    """The type of an argument; the last one may be repeated."""
    types = FUNCTIONS[name][0]
    return types[min(place, len(types) - 1)]
