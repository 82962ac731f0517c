"""Which engine answers an event over probable streams exactly, without possible worlds, if one can.

Engines are tried in this order: the Markov chain of a regular query, the automaton of any other regular pattern, a safe
plan, and at last sets of partial matches, which answer every query but may have to be sampled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeGuard

from inkling.analysis.query import plans
from inkling.analysis.query.normal_form import NO_ALTERNATIVES, query_of, streams_obstacle
from inkling.analysis.query.query import Query
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.uncertainty import ProbableValue

if TYPE_CHECKING:
    from inkling.analysis.query.pattern import PatternAutomaton


TOO_MANY_WAYS = "too many combinations of conditions for an automaton; use fewer parts"


class Engine(Enum):
    """The algorithm that computes the answers; the values are shown by `explain`."""

    CHAINS = "chains of automaton states"
    AUTOMATON = "the automaton of a regular pattern"
    FORECAST = "a forecast on a belief"
    SAFE = "a safe plan"
    UNIVERSAL = "sets of partial matches"


@dataclass(frozen=True, slots=True)
class Strategy:
    """A query, its class and its engine; groundings by the values of `variables` are independent of each other."""

    query: Query
    classified: plans.Classified
    plan: plans.SafePlan | plans.NoSafePlan
    engine: Engine
    variables: tuple[str, ...]  # of the head, then those projected outermost
    reason: str
    automaton: PatternAutomaton | None = None

    @property
    def head(self) -> tuple[str, ...]:
        return tuple(name for name in self.variables if name in self.query.head)

    @property
    def is_combined(self) -> bool:
        """Whether a result combines several groundings: the head does not show all variables."""
        return len(self.head) < len(self.variables)


def strategy_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Strategy | None]:
    """The strategy of an event; None, and why, where the event needs possible worlds."""
    if not _reads_alternatives(event, program):
        return Verdict(None, streams_obstacle(event, program) or NO_ALTERNATIVES)
    if event.forecast is not None:
        return _of_forecast(event, program)
    asked = _of_query(event, program)
    if asked.conclusion is not None and asked.conclusion.engine is Engine.CHAINS:
        return asked
    regular = _of_pattern(event, program)
    return asked if regular is None else Verdict(regular, regular.reason)


def _reads_alternatives(event: p.EventPlan, program: p.ProgramPlan) -> bool:
    streams = (program.stream(name) for name in event.sources)
    return any(one is not None and isinstance(one.schema.uncertainty, ProbableValue) for one in streams)


def _of_pattern(event: p.EventPlan, program: p.ProgramPlan) -> Strategy | None:
    """The strategy of a regular pattern over one stream, if the event has one."""
    from inkling.analysis.query.pattern import regular_pattern_of  # whose automata need NumPy

    found = regular_pattern_of(event, program)
    if found.conclusion is None:
        return None
    return _of_automaton(found.conclusion.query, Engine.AUTOMATON, found.reason, found.conclusion.automaton)


def _of_forecast(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Strategy | None]:
    from inkling.analysis.query.pattern import forecastable

    found = forecastable(event, program)
    if found.conclusion is None:
        return Verdict(None, found.reason)
    return Verdict(_of_automaton(found.conclusion, Engine.FORECAST, found.reason), found.reason)


def _of_automaton(query: Query, engine: Engine, reason: str, automaton: PatternAutomaton | None = None) -> Strategy:
    """The strategy of a query that one automaton answers for all values of its variables."""
    variables = tuple(one.name for one in query.variables)
    classified, plan = plans.Classified(plans.QueryClass.REGULAR, reason), plans.RegPlan(1, frozenset(variables))
    return Strategy(query, classified, plan, engine, variables, reason, automaton)


def _of_query(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Strategy | None]:
    asked = query_of(event, program)
    query = asked.conclusion
    if query is None:
        return Verdict(None, asked.reason)
    for output in (*event.head, *event.returns):
        shown_time = next((part.column for part in e.walk(output.expr) if _is_time(part, program)), None)
        if shown_time is not None:
            return Verdict(
                None, f"results show the time `{shown_time}`; with PER END, use `end`, the time of the last part"
            )
    for name in sorted(query.head):
        why = plans.obstacle(query, query.variable(name), len(query.subgoals))
        if why is not None:
            return Verdict(None, f"results show {name}, but {why}")
    classified, plan = plans.class_of(query), plans.plan_of(query)
    return Verdict(_strategy(query, classified, plan), classified.reason)


def _is_time(part: e.Expr, program: p.ProgramPlan) -> TypeGuard[e.ColumnOf]:
    return isinstance(part, e.ColumnOf) and any(part.column == one.schema.start for one in program.streams)


def _strategy(query: Query, classified: plans.Classified, plan: plans.SafePlan | plans.NoSafePlan) -> Strategy:
    head = sorted(query.head)
    if isinstance(plan, plans.NoSafePlan):
        variables = (*head, *sorted(plan.env - query.head))
        return Strategy(query, classified, plan, Engine.UNIVERSAL, variables, plan.reason)
    projected, inner = [], plan
    while isinstance(inner, plans.ProjectPlan):
        projected.append(inner.variable)
        inner = inner.child
    variables = (*head, *projected)
    from inkling.analysis.query.chain_automaton import fits  # whose automata need NumPy

    leaf: plans.SafePlan = inner
    while not isinstance(leaf, plans.RegPlan):
        leaf = leaf.child
    if not fits(query, leaf.n_subgoals, leaf.env):
        return Strategy(query, classified, plan, Engine.UNIVERSAL, variables, TOO_MANY_WAYS)
    if not isinstance(inner, plans.RegPlan):
        together = unbounded(query, inner, frozenset(variables), within=query.per is p.Per.VALUES)
        if together is not None:
            return Strategy(query, classified, plan, Engine.UNIVERSAL, variables, together)
        return Strategy(query, classified, plan, Engine.SAFE, variables, "operators combine independent parts")
    several = several_chained(query, frozenset(variables)) or _agreeing_at_first(query, frozenset(variables))
    if several is not None:
        return Strategy(query, classified, plan, Engine.UNIVERSAL, variables, several)
    return Strategy(query, classified, plan, Engine.CHAINS, variables, "one automaton per value of the variables")


def several_chained(query: Query, variables: frozenset[str]) -> str | None:
    """Why one grounding may read several Markovian streams, whose joint value would be the state; None if it cannot."""
    bound = [one for one in query.variables if one.name in variables]
    streams: set[tuple[object, ...]] = set()
    for number, subgoal in enumerate(query.subgoals):
        source = query.source(number)
        if not source.markov:
            continue
        key: list[object] = [source.name]
        for column in source.key:
            names = [one.name for one in bound if column in one.columns_in(number)]
            constant = subgoal.constants.get(column)
            if constant is None and not names:
                return f"part {number + 1} reads several values of `{column}` of {source.name}, {ONE_BY_ONE}"
            key.append(min(names) if names else ("=", constant.value if constant else None))
        streams.add(tuple(key))
    return "parts read several keys together, whose events depend on the past" if len(streams) > 1 else None


def _agreeing_at_first(query: Query, variables: frozenset[str]) -> str | None:
    """Why an automaton cannot compare the events of a Kleene plus in first position; None if it need not."""
    first = query.subgoals[0]
    known = {column for one in query.variables if one.name in variables for column in one.columns_in(0)}
    if not first.repeated or first.kept <= known:
        return None
    return f"the pattern begins with a repetition whose events must have the same `{min(first.kept - known)}`"


ONE_BY_ONE = "whose events depend on the past; PARTITION BY the KEY, or select one value by a constant"


def unbounded(query: Query, plan: plans.SafePlan, env: frozenset[str], *, within: bool) -> str | None:
    """Why an operator of a safe plan may read any number of Markovian streams together; None if it cannot.

    `within` says that the operator above asks for probabilities of intervals, not of single times.
    """
    match plan:
        case plans.RegPlan(n_subgoals=n):
            return _any_key(query, range(n), env)
        case plans.ProjectPlan(variable=name, child=child):
            return unbounded(query, child, env | {name}, within=within)
        case plans.SeqPlan(child=child, subgoal=number):
            # the streams of a last subgoal that is no Kleene plus need not be joined (see `SeqManyOperator`)
            mine = _any_key(query, (number,), env) if within or query.subgoals[number].repeated else None
            return mine or unbounded(query, child, env, within=True)
        case plans.LastWinsPlan(child=child) | plans.GroupSeqPlan(child=child):
            return unbounded(query, child, env, within=within)


def is_one_stream(query: Query, number: int, env: frozenset[str]) -> bool:
    """Whether fixed values of variables leave a subgoal one key of its stream."""
    return _open_column(query, number, env) is None


def _any_key(query: Query, subgoals: Iterable[int], env: frozenset[str]) -> str | None:
    for number in subgoals:
        source, column = query.source(number), _open_column(query, number, env)
        if source.markov and column is not None:
            return f"part {number + 1} reads several values of `{column}` of {source.name}, {ONE_BY_ONE}"
    return None


def _open_column(query: Query, number: int, env: frozenset[str]) -> str | None:
    known = set(query.subgoals[number].constants)
    for name in env:
        known |= query.variable(name).columns_in(number)
    return next((column for column in query.source(number).key if column not in known), None)
