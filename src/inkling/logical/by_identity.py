"""Values of plan nodes that are asked for again and again, kept by the identity of the nodes.

Nodes are frozen, so that what follows from them does not change; hashing a node goes through everything below it.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MANY = 4096
"""With more values, all are forgotten; they hold the nodes they belong to."""


def by_identity(function: Callable[P, R]) -> Callable[P, R]:
    """The function, computed once for the same objects.

    >>> calls = []
    >>> length = by_identity(lambda items: calls.append(items) or len(items))
    >>> pair = (1, 2)
    >>> length(pair), length(pair), len(calls)
    (2, 2, 1)
    """
    kept: dict[tuple[int, ...], tuple[tuple[object, ...], R]] = {}

    @wraps(function)
    def found(*given: P.args, **named: P.kwargs) -> R:
        assert not named, "arguments have no names here"
        key = tuple(map(id, given))
        held = kept.get(key)
        if held is None:
            if len(kept) >= MANY:
                kept.clear()
            # with its arguments, so that no other object gets their identity
            held = kept[key] = given, function(*given, **named)
        return held[1]

    return found
