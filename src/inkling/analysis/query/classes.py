"""The class of a query: regular, extended regular, safe or unsafe, with what makes it so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from inkling.analysis.query.query import Query, QueryVariable


class QueryClass(Enum):
    REGULAR = "regular"
    EXTENDED = "extended regular"
    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Classified:
    kind: QueryClass
    reason: str


def class_of(query: Query) -> Classified:
    """By the conditions that every predicate looks at one event, and that shared variables fill the query."""
    n = len(query.stages)
    for number, stage in enumerate(query.stages):
        if stage.joins or stage.across:
            return Classified(QueryClass.UNSAFE, f"a condition of part {number + 1} compares it with other events")
    shared = [one for one in query.variables if query.is_shared(one, n)]
    if not shared:
        return Classified(QueryClass.REGULAR, "every condition looks at one event, and no value is shared")
    names = ", ".join(one.name for one in shared)
    if all(is_independent(query, one, n) for one in shared):
        return Classified(QueryClass.EXTENDED, f"the values of {names} distinguish independent keys of every part")
    for one in shared:
        fills = max(one.stages) + 1
        if not is_independent(query, one, fills):
            return Classified(QueryClass.UNSAFE, f"{one.name} is shared, but {obstacle(query, one, fills)}")
    return Classified(QueryClass.SAFE, f"each of {names} is a key of all parts up to the last that has it")


def is_independent(query: Query, variable: QueryVariable, n_stages: int) -> bool:
    """Whether different values of a variable make the first stages look at different, independent keys."""
    return obstacle(query, variable, n_stages) is None


def obstacle(query: Query, variable: QueryVariable, n_stages: int) -> str | None:
    """What keeps apart values of a variable from being independent in the first stages."""
    in_keys: list[frozenset[str]] = []
    for number in range(n_stages):
        stage, source = query.stages[number], query.source(number)
        columns = variable.columns_in(number)
        if not columns:
            return f"part {number + 1} ({stage.source}) does not have it"
        keys = frozenset(column for column in columns if source.is_key(column))
        if not keys:
            return f"`{min(columns)}` of {stage.source} is no KEY column"
        in_keys.append(keys)
    for one in range(n_stages):
        for other in range(one + 1, n_stages):
            name = query.stages[one].source
            if name == query.stages[other].source and not in_keys[one] & in_keys[other]:
                return f"parts {one + 1} and {other + 1} have it in different KEY columns of {name}"
    return None
