"""Safe plans: a tree of operators that answers a query exactly, or the reason why there is none.

The operators are those of the probabilistic stream algebra (Lahar, section 3.3.1), compiled by the algorithm of section
3.3.2. `RegPlan` is a regular query. `ProjectPlan` combines independent values of a variable. `SeqPlan` appends a
subgoal whose streams are not those of the subgoals before. `LastWinsPlan` and `GroupSeqPlan` are not in the paper: they
append a subgoal that reads streams of the subgoals before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from inkling.analysis.query.classes import is_independent, obstacle
from inkling.analysis.query.query import Query, QueryVariable
from inkling.logical.plan import Per


class PlanObstacle(Enum):
    """Why no tree of operators answers a query."""

    NONLOCAL = "a condition compares several events"
    JOIN_VAR = "parts share a value that is no key of all parts before"
    KLEENE_VAR = "a repetition keeps a value that the parts before it do not share"
    INNER_REJECT = "a part in the middle takes events only to reject them"
    OVERLAP = "parts share streams in a way that leaves them dependent"


@dataclass(frozen=True, slots=True)
class RegPlan:
    """The first stages as an automaton over what happens at each time, for fixed values of the variables in `env`."""

    n_stages: int
    env: frozenset[str]


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    """Any value of the variable; the values are independent of each other."""

    variable: str
    child: SafePlan


@dataclass(frozen=True, slots=True)
class SeqPlan:
    """The next stage, whose streams are not those of the stages before."""

    child: SafePlan
    stage: int


@dataclass(frozen=True, slots=True)
class LastWinsPlan:
    """The last stage; every event that the stage before accepts is a candidate of it, so only the latest counts."""

    child: SafePlan
    stage: int


@dataclass(frozen=True, slots=True)
class GroupSeqPlan:
    """The last stage, on streams of the stages before: everything is counted per value of the projected variables."""

    child: SafePlan
    stage: int


SafePlan = RegPlan | ProjectPlan | SeqPlan | LastWinsPlan | GroupSeqPlan


@dataclass(frozen=True, slots=True)
class NoSafePlan:
    obstacle: PlanObstacle
    reason: str
    env: frozenset[str]  # variables whose values could be distinguished first


def plan_of(query: Query) -> SafePlan | NoSafePlan:
    """The plan for given values of the head's variables."""
    # whether it is ever satisfied is like another part that follows: points in time are not enough
    return _plan(query, len(query.stages), query.head, is_top=query.per is not Per.VALUES)


def _plan(query: Query, n: int, env: frozenset[str], *, is_top: bool) -> SafePlan | NoSafePlan:
    for number, stage in enumerate(query.stages[:n]):
        if stage.joins or stage.across:
            why_not = f"a condition of part {number + 1} ({stage.source}) reads other events as well"
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
    stage = query.stages[last]
    for one in open_ones:
        if last in one.stages and any(before < last for before in one.stages):
            why = obstacle(query, one, last + 1)
            why_not = f"part {last + 1} ({stage.source}) shares {one.name} with parts before it, but {why}"
            return NoSafePlan(PlanObstacle.JOIN_VAR, why_not, env)
        if last in one.stages and stage.repeated:
            why_not = f"all events of the repetition in part {last + 1} ({stage.source}) have the same {one.name}"
            return NoSafePlan(PlanObstacle.KLEENE_VAR, why_not, env)
    if stage.can_reject and not is_top:
        then = "other parts follow" if last + 1 < len(query.stages) else "what is asked is whether it ever holds"
        why_not = f"part {last + 1} ({stage.source}) has a condition after the fact, and {then}"
        return NoSafePlan(PlanObstacle.INNER_REJECT, why_not, env)
    if not any(_overlap(query, before, last) for before in range(last)):
        child = _plan(query, last, env, is_top=False)
        return replace(child, env=env) if isinstance(child, NoSafePlan) else SeqPlan(child, last)
    if is_top and not stage.repeated and not query.source(last).markov and _covers(query, last, env):
        child = _plan(query, last, env, is_top=True)
        return replace(child, env=env) if isinstance(child, NoSafePlan) else LastWinsPlan(child, last)
    child = _plan(query, last, env, is_top=False)
    if isinstance(child, NoSafePlan):
        return replace(child, env=env)
    if is_top and _is_projected_chain(child) and not (stage.repeated and stage.can_reject):
        return GroupSeqPlan(child, last)
    why_not = f"part {last + 1} reads keys of {stage.source} that parts before it read as well"
    return NoSafePlan(PlanObstacle.OVERLAP, why_not, env)


def _is_projected_chain(plan: SafePlan) -> bool:
    while isinstance(plan, ProjectPlan):
        plan = plan.child
    return isinstance(plan, RegPlan)


def _overlap(query: Query, one: int, other: int) -> bool:
    """Whether some key of an uncertain stream can have events of both stages."""
    source = query.source(one)
    if source.name != query.stages[other].source or source.certain:
        return False
    return not any(_differ(query, column, one, other) for column in source.key)


def _differ(query: Query, column: str, one: int, other: int) -> bool:
    left, right = query.stages[one].constants.get(column), query.stages[other].constants.get(column)
    return left is not None and right is not None and left.value != right.value


def _covers(query: Query, last: int, env: frozenset[str]) -> bool:
    """Whether every event that the stage before the last accepts is a candidate of the last."""
    before, stage = query.stages[last - 1], query.stages[last]
    if before.source != stage.source:
        return False
    known = {_of_row(one, before.slot) for one in (*before.filters, *before.accepts)}
    if not {_of_row(one, stage.slot) for one in stage.filters} <= known:
        return False
    mine = [one for one in query.variables if last in one.stages and one.name in env]
    return all(one.columns_in(last) <= one.columns_in(last - 1) for one in mine)


def _of_row(condition: object, slot: int) -> str:
    """A condition on one event, whatever the slot is called."""
    return repr(condition).replace(f"slot={slot},", "slot=@,")
