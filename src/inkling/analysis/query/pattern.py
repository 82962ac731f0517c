"""Regular patterns over one probable stream: the automaton that reads the events of each key.

A key has at most one event at a time, so in every world the events of a key have a total order, and the automaton of
any regular pattern shows where matches end. Times without an event leave the state of the automaton as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from inkling.analysis.joint_conditions import joint_conditions
from inkling.analysis.query.normal_form import streams_obstacle
from inkling.analysis.query.query import Query, QuerySource, QueryVariable, Subgoal, SubgoalColumn
from inkling.analysis.regular import expression_of, is_regular
from inkling.analysis.row_conditions import exclusive_pairs
from inkling.analysis.verdict import Verdict
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.guards import N_BITS, Guard
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.automata.policies import without
from inkling.automata.prefixes import distinguishing
from inkling.automata.regex import Concat, Counting, Epsilon, Regex, RegexPattern, Symbol, at_most
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of
from inkling.model.uncertainty import ProbableValue

MOST_STATES = 2048
"""The largest automaton: the forward pass keeps a probability per state, and beyond this sampled worlds cost less."""

MOST_RUNS = 1 << 16
"""The most states of runs times states of the automaton, which CONSUME RESTART keeps to know where matches began."""


@dataclass(frozen=True, slots=True)
class PatternAutomaton:
    """The automaton of a pattern, and the conditions on a row that are the bits of its symbols."""

    compiled: CompiledPattern
    dfa: Dfa
    conditions: tuple[e.Expr, ...]


@dataclass(frozen=True, slots=True)
class RegularPattern:
    """A regular pattern over one stream: the stream as a query of one subgoal, and the automaton."""

    query: Query
    automaton: PatternAutomaton


def regular_pattern_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[RegularPattern | None]:
    """The automaton of an event over one probable stream, per key; None, and why, where there is none."""
    plain = replace(event, restart=False)  # automata support CONSUME RESTART
    why = streams_obstacle(plain, _in_order_of_key(program)) or next(_obstacles(event, program), None)
    if why is not None:
        return Verdict(None, why)
    automaton = automaton_of(event)
    if automaton is None:
        return Verdict(None, "the automaton would have too many states")
    query = _query(event, program, automaton.conditions)
    return Verdict(RegularPattern(query, automaton), "an automaton reads the events of each key")


def forecastable(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Query | None]:
    """The stream of a forecast that needs only the distribution over automaton states; None, and why, for others."""
    forecast = p.forecast_of(event)
    if forecast.learns or forecast.watches:
        return Verdict(None, "models can be learned from and tested on certain events only")
    plain = replace(event, forecast=None, restart=False)
    why = streams_obstacle(plain, _in_order_of_key(program)) or next(_by_key(event, program), None)
    if why is not None:
        return Verdict(None, why)
    stream = program.stream(event.sources[0])
    assert stream is not None
    if forecast.by is not None and forecast.by.name not in stream.schema.key:
        return Verdict(
            None, f"`{forecast.by.name}`, which distinguishes models, is not in the KEY of {stream.schema.name}"
        )
    return Verdict(_query(event, program, ()), "the probability of each automaton state and model context is tracked")


def _in_order_of_key(program: p.ProgramPlan) -> p.ProgramPlan:
    """The program without ORDER BY a key column: all alternatives of a key have the same value there."""

    def plain(stream: p.StreamPlan) -> p.StreamPlan:
        schema = stream.schema
        return replace(stream, schema=replace(schema, order_by=None)) if schema.order_by in schema.key else stream

    return replace(program, streams=tuple(map(plain, program.streams)))


def as_certain(event: p.EventPlan, program: p.ProgramPlan) -> p.ProgramPlan:
    """A program of one event over its stream as each world has it: certain, the events of a key ordered by time."""
    stream = program.stream(event.sources[0])
    assert stream is not None
    ordered = replace(stream, schema=replace(stream.schema, uncertainty=None, order_by=stream.schema.start))
    return p.ProgramPlan((ordered,), program.tables, (event,), program.ticks_only, program.rules)


def _obstacles(event: p.EventPlan, program: p.ProgramPlan) -> Iterator[str]:
    yield from _by_key(event, program)
    keys = {output.expr.column for output in event.head if isinstance(output.expr, e.KeyColumn)}
    if keys != {column.name for column in event.partition}:
        yield "results do not show their key"
    if any(isinstance(part, _OF_MATCHES) for output in event.returns for part in e.walk(output.expr)):
        yield "results show values that differ between matches"


_OF_MATCHES = e.ColumnOf | e.ListColumn | e.TimeOf | e.IdOf | e.Aggregate | e.FactColumn


def _by_key(event: p.EventPlan, program: p.ProgramPlan) -> Iterator[str]:
    if len(event.sources) != 1:
        yield "the event reads several streams, whose simultaneous events have no order"
        return
    stream = program.stream(event.sources[0])
    if stream is None or not isinstance(stream.schema.uncertainty, ProbableValue):
        yield "no stream of the event has a PROBABILITY"
        return
    if {column.name for column in event.partition} != set(stream.schema.key):
        yield f"the event is not PARTITION BY the KEY of {stream.schema.name}"
    alone = replace(event, per=p.Per.END)
    verdict = is_regular(alone, as_certain(alone, program))
    if not verdict.conclusion:
        yield verdict.reason


def _query(event: p.EventPlan, program: p.ProgramPlan, conditions: tuple[e.Expr, ...]) -> Query:
    """The stream as a query of one subgoal, whose candidates are the events that the automaton reads."""
    stream = program.stream(event.sources[0])
    assert stream is not None
    assert isinstance(stream.schema.uncertainty, ProbableValue)
    schema = stream.schema
    variables = tuple(QueryVariable(one.name, frozenset({SubgoalColumn(0, one.name)})) for one in event.partition)
    subgoal = Subgoal(e.ROW, schema.name, accepts=conditions, kept=frozenset(schema.key))
    source = QuerySource(schema.name, schema.key, markov=bool(stream.schema.uncertainty.given))
    return Query((subgoal,), variables, frozenset(one.name for one in variables), {schema.name: source}, event.per)


@dataclass(slots=True)
class _PredicateBits:
    """Numbers the conditions of leaves; the number of a condition is its bit in symbols."""

    numbers: dict[e.Expr, int] = field(default_factory=dict)

    def taken(self, leaf: p.Leaf) -> Regex:
        return self._symbol(leaf.slot, leaf.demands)

    def candidate(self, leaf: p.Leaf) -> Regex | None:
        return self._symbol(leaf.slot, leaf.conditions) if leaf.checks else None

    def _symbol(self, slot: int, conditions: tuple[e.Expr, ...]) -> Regex:
        asked = [on_row(part) for one in conditions for part in e.conjuncts(one)]
        return Symbol(Guard(bits=frozenset(self.numbers.setdefault(one, len(self.numbers)) for one in asked)), slot)


def on_row(condition: e.Expr) -> e.Expr:
    """A condition on one event, rewritten to read a row of its stream."""
    match condition:
        case e.ColumnOf() | e.TimeOf() | e.IdOf():
            return replace(condition, slot=e.ROW)
        case e.KeyColumn(column=column, type=kind):
            return e.ColumnOf(e.ROW, column, kind)
        case _:
            return e.rebuilt(condition, on_row)


def automaton_of(event: p.EventPlan) -> PatternAutomaton | None:
    """The automaton of a regular event over one stream; None where the automaton is too large."""
    conditions = {on_row(part) for leaf in p.leaves(event.pattern) for one in leaf.demands for part in e.conjuncts(one)}
    return _compiled(event) if len(conditions) <= N_BITS else None


@lru_cache(maxsize=64)
def _compiled(event: p.EventPlan) -> PatternAutomaton | None:
    spelling = _PredicateBits()
    regex = expression_of(event, spelling)
    numbered = {number: condition for condition, number in spelling.numbers.items()}
    exclusive, joint = exclusive_pairs(numbered), joint_conditions(numbered)
    try:
        pattern = RegexPattern(regex, Counting.RESTART if event.restart else Counting.OVERLAP)
        compiled = CompiledPattern.of(pattern, 1, exclusive=exclusive, joint=joint, max_states=MOST_STATES)
        dfa = compiled.dfa(max_states=MOST_STATES)
    except (TooManyStates, TooManySymbols):
        return None
    if event.restart and dfa.n_states * compiled.nfa.n_states > MOST_RUNS:
        return None
    return PatternAutomaton(compiled, dfa, tuple(spelling.numbers))


@lru_cache(maxsize=64)
def with_open_prefixes(event: p.EventPlan, automaton: PatternAutomaton) -> PatternAutomaton:
    """The automaton with states that say which first parts of a match wait; the same where these would be too many."""
    prefixes = (
        open_prefix(event, automaton, disjunct, reached)
        for disjunct in disjuncts_of(event)
        if isinstance(disjunct.whole, p.Sequence)
        for reached in range(1, len(disjunct.parts))
    )
    compiled = automaton.compiled
    try:
        compiled, dfa = distinguishing(compiled, automaton.dfa, prefixes, MOST_STATES)
    except (TooManyStates, TooManySymbols):
        return automaton
    is_large = event.restart and dfa.n_states * compiled.nfa.n_states > MOST_RUNS
    return automaton if is_large else replace(automaton, compiled=compiled, dfa=dfa)


def open_prefix(event: p.EventPlan, automaton: PatternAutomaton, disjunct: Disjunct, reached: int) -> Regex:
    """The words after which the first parts of a sequence wait for the next one (`inkling.meaning.open_matches`)."""
    bits = _PredicateBits({condition: number for number, condition in enumerate(automaton.conditions)})

    def expression(pattern: p.Pattern) -> Regex:
        return expression_of(replace(event, pattern=pattern, within=None), bits)

    assert isinstance(disjunct.whole, p.Sequence)
    following = disjunct.parts[reached : reached + 1]
    closing = [expression(one.pattern) for one in disjunct.absences_after(reached)]
    if disjunct.whole.policy is p.Policy.NEXT and following and isinstance(following[0], p.Leaf):
        closing.append(expression(following[0]))
    is_strict = disjunct.whole.policy is p.Policy.STRICT and bool(following)
    since = Epsilon() if is_strict else without(closing)
    regex: Regex = Concat((expression(disjunct.upto_with_absences(reached)), since))
    for limit in disjunct.limits:
        if isinstance(limit, p.EventCount):  # one more event has to fit in
            regex = at_most(regex, max(limit.count - 1, 1))
    return regex
