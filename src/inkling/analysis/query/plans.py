"""Classes of queries, and safe plans: a tree of operators that answers a query exactly, or why there is none.

The classes are those of Lahar: regular (section 3.1), extended regular (3.2), safe (3.3), or unsafe.

The operators are those of the probabilistic stream algebra (Lahar, section 3.3.1), compiled by the algorithm of section
3.3.2. `RegPlan` is a regular query. `ProjectPlan` combines independent values of a variable. `SeqPlan` appends a
subgoal whose streams are not those of the subgoals before. `LastWinsPlan` and `GroupSeqPlan` are not in the paper: they
append a subgoal that reads streams of the subgoals before. For example, with x in the key of both R and S:

    R(x); S(x); T(y)    →  SeqPlan(ProjectPlan("x", RegPlan(2, {"x"})), subgoal=2)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from inkling.analysis.query.query import Query, QueryVariable
from inkling.logical.plan import Per


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
    """The class (Lahar, sections 3.1 to 3.3): all predicates local, and the query independent on shared variables."""
    n = len(query.subgoals)
    for number, subgoal in enumerate(query.subgoals):
        if subgoal.joins or subgoal.across:
            return Classified(QueryClass.UNSAFE, f"a condition of part {number + 1} compares it with other events")
    shared = [one for one in query.variables if query.is_shared(one, n)]
    if not shared:
        return Classified(QueryClass.REGULAR, "every condition reads one event, and no value is shared")
    names = ", ".join(one.name for one in shared)
    if all(is_independent(query, one, n) for one in shared):
        return Classified(QueryClass.EXTENDED, f"the values of {names} distinguish independent keys of every part")
    for one in shared:
        fills = max(one.subgoals) + 1
        if not is_independent(query, one, fills):
            return Classified(QueryClass.UNSAFE, f"{one.name} is shared, but {obstacle(query, one, fills)}")
    return Classified(QueryClass.SAFE, f"each of {names} is a key of every part up to the last one that uses it")


def is_independent(query: Query, variable: QueryVariable, n_subgoals: int) -> bool:
    """Whether the first subgoals are syntactically independent on a variable (Lahar, section 3.2).

    Different values of the variable then select disjoint, hence independent streams in all of these subgoals.
    """
    return obstacle(query, variable, n_subgoals) is None


def obstacle(query: Query, variable: QueryVariable, n_subgoals: int) -> str | None:
    """Why the first subgoals are not syntactically independent on a variable; None where they are."""
    in_keys: list[set[str]] = []
    for number in range(n_subgoals):
        subgoal = query.subgoals[number]
        columns = variable.columns_in(number)
        if not columns:
            return f"part {number + 1} ({subgoal.source}) does not use it"
        keys = query.key_columns(variable, number)
        if not keys:
            return f"`{min(columns)}` of {subgoal.source} is not a KEY column"
        in_keys.append(keys)
    for one in range(n_subgoals):
        for other in range(one + 1, n_subgoals):
            name = query.subgoals[one].source
            if name == query.subgoals[other].source and not in_keys[one] & in_keys[other]:
                return f"parts {one + 1} and {other + 1} use it in different KEY columns of {name}"
    return None


class PlanObstacle(Enum):
    """Why no safe plan answers a query."""

    NONLOCAL = "a condition compares several events"
    JOIN_VAR = "parts share a value that is not a key of all earlier parts"
    KLEENE_VAR = "a repetition needs equal values that earlier parts do not share"
    INNER_REJECT = "a part before the last one can reject its event"
    OVERLAP = "parts depend on each other through shared streams"


@dataclass(frozen=True, slots=True)
class RegPlan:
    """A regular query: the first subgoals as one automaton, for fixed values of the variables in `env`."""

    n_subgoals: int
    env: frozenset[str]


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    """Independent projection (π): the child is satisfied for at least one value of the variable."""

    variable: str
    child: SafePlan


@dataclass(frozen=True, slots=True)
class SeqPlan:
    """Sequencing (seq): the child and then a subgoal that reads none of the child's streams."""

    child: SafePlan
    subgoal: int


@dataclass(frozen=True, slots=True)
class LastWinsPlan:
    """A last subgoal for which every event that the subgoal before accepts is a candidate.

    A match must then continue from the latest candidate, so one number is enough as state.
    """

    child: SafePlan
    subgoal: int


@dataclass(frozen=True, slots=True)
class GroupSeqPlan:
    """A last subgoal that reads streams of the child: a sum over the time of its latest candidate, per grounding."""

    child: SafePlan
    subgoal: int


SafePlan = RegPlan | ProjectPlan | SeqPlan | LastWinsPlan | GroupSeqPlan


@dataclass(frozen=True, slots=True)
class NoSafePlan:
    obstacle: PlanObstacle
    reason: str
    env: frozenset[str]  # variables whose values could be distinguished first


def plan_of(query: Query) -> SafePlan | NoSafePlan:
    """The safe plan for given values of the head's variables (Lahar, section 3.3.2, algorithm 1)."""
    # PER VALUES asks whether the query is ever satisfied: an interval, as a further subgoal would ask for
    return _plan(query, len(query.subgoals), query.head, is_top=query.per is not Per.VALUES)


def _plan(query: Query, n: int, env: frozenset[str], *, is_top: bool) -> SafePlan | NoSafePlan:
    for number, subgoal in enumerate(query.subgoals[:n]):
        if subgoal.joins or subgoal.across:
            why_not = f"a condition of part {number + 1} ({subgoal.source}) also reads other events"
            return NoSafePlan(PlanObstacle.NONLOCAL, why_not, env)
    open_ones = [one for one in query.variables if query.is_shared(one, n) and one.name not in env]
    if not open_ones:
        return RegPlan(n, env)
    for one in open_ones:
        if is_independent(query, one, n):
            child = _plan(query, n, env | {one.name}, is_top=is_top)
            return child if isinstance(child, NoSafePlan) else ProjectPlan(one.name, child)
    return _appended(query, n - 1, open_ones, env, is_top=is_top)


def _appended(
    query: Query, last: int, open_ones: list[QueryVariable], env: frozenset[str], *, is_top: bool
) -> SafePlan | NoSafePlan:
    subgoal = query.subgoals[last]
    for one in open_ones:
        if last in one.subgoals and any(before < last for before in one.subgoals):
            why = obstacle(query, one, last + 1)
            why_not = f"part {last + 1} ({subgoal.source}) shares {one.name} with earlier parts, but {why}"
            return NoSafePlan(PlanObstacle.JOIN_VAR, why_not, env)
        if last in one.subgoals and subgoal.repeated:
            why_not = f"all events of the repetition in part {last + 1} ({subgoal.source}) have the same {one.name}"
            return NoSafePlan(PlanObstacle.KLEENE_VAR, why_not, env)
    if subgoal.can_reject and not is_top:
        then = (
            "other parts follow"
            if last + 1 < len(query.subgoals)
            else "PER VALUES asks whether the pattern ever matches"
        )
        why_not = f"part {last + 1} ({subgoal.source}) has a HAVING or CHECK, and {then}"
        return NoSafePlan(PlanObstacle.INNER_REJECT, why_not, env)
    if not any(_overlap(query, before, last) for before in range(last)):
        child = _plan(query, last, env, is_top=False)
        return replace(child, env=env) if isinstance(child, NoSafePlan) else SeqPlan(child, last)
    if is_top and not subgoal.repeated and not query.source(last).markov and _covers(query, last, env):
        child = _plan(query, last, env, is_top=True)
        return replace(child, env=env) if isinstance(child, NoSafePlan) else LastWinsPlan(child, last)
    child = _plan(query, last, env, is_top=False)
    if isinstance(child, NoSafePlan):
        return replace(child, env=env)
    if is_top and _is_projected_chain(child) and not (subgoal.repeated and subgoal.can_reject):
        return GroupSeqPlan(child, last)
    why_not = f"part {last + 1} reads keys of {subgoal.source} that earlier parts read too"
    return NoSafePlan(PlanObstacle.OVERLAP, why_not, env)


def _is_projected_chain(plan: SafePlan) -> bool:
    while isinstance(plan, ProjectPlan):
        plan = plan.child
    return isinstance(plan, RegPlan)


def _overlap(query: Query, one: int, other: int) -> bool:
    """Whether some key of an uncertain stream can have events of both subgoals."""
    source = query.source(one)
    if source.name != query.subgoals[other].source or source.certain:
        return False
    return not any(_differ(query, column, one, other) for column in source.key)


def _differ(query: Query, column: str, one: int, other: int) -> bool:
    left, right = query.subgoals[one].constants.get(column), query.subgoals[other].constants.get(column)
    return left is not None and right is not None and left.value != right.value


def _covers(query: Query, last: int, env: frozenset[str]) -> bool:
    """Whether every event that the subgoal before accepts is a candidate of subgoal `last`."""
    before, subgoal = query.subgoals[last - 1], query.subgoals[last]
    if before.source != subgoal.source:
        return False
    known = {_of_row(one, before.slot) for one in (*before.filters, *before.accepts)}
    if not {_of_row(one, subgoal.slot) for one in subgoal.filters} <= known:
        return False
    mine = [one for one in query.variables if last in one.subgoals and one.name in env]
    return all(one.columns_in(last) <= one.columns_in(last - 1) for one in mine)


def _of_row(condition: object, slot: int) -> str:
    """A condition on one event as text that does not depend on its slot."""
    return repr(condition).replace(f"slot={slot},", "slot=@,")
