"""Whether a finite automaton recognizes an event, and the regular expression of its pattern over single events.

`SEQ STRICT(A a, B b+)` is the regular expression `A B B*` over the events of its scope.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Protocol

from inkling.analysis.policies import read_sources
from inkling.analysis.verdict import Verdict
from inkling.automata import policies
from inkling.automata.regex import Intersect, Regex, RegexComplement, Union, at_most
from inkling.logical import expr as e
from inkling.logical import plan as p

MAX_CONDITIONS = 64
"""Conditions on one event that an automaton can distinguish."""

MAX_TESTS = 14
"""Different tests of one stream's events; an automaton knows an event by which of them it passes."""

MAX_STEPS = 5_000
"""Largest number of events of a match after repetitions are unrolled; larger automata cost more than they save."""


def is_regular(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[bool]:
    """Whether the results of an event are the ends of words of a regular language over its totally ordered scope."""
    obstacle = (
        _obstacle_in_result(event)
        or _obstacle_in_scope(event, program)
        or _obstacle_in_windows(event)
        or _obstacle_in_size(event)
        or next((found for part in p.parts_of(event.pattern) if (found := _obstacle_in_part(part))), None)
    )
    if obstacle:
        return Verdict(False, obstacle)
    return Verdict(
        True, "every condition reads one event, the scope is totally ordered, results are distinguished by end"
    )


def ways_to_regular(event: p.EventPlan, program: p.ProgramPlan) -> Iterator[str]:
    """What to change so that an automaton recognizes an event, as far as that is known in general."""
    for source in read_sources(event):
        stream = program.stream(source)
        if stream is None:
            yield f"use streams in the pattern instead of the event `{source}`"
        elif not stream.schema.is_ordered and not stream.schema.is_interval:
            yield f"add `ORDER BY column` to `STREAM {source}`, with a column that distinguishes simultaneous events"
    if event.keep is not None:
        yield "leave KEEP FOR out"
    elif _obstacle_in_windows(event):
        yield "limit the pattern by `WITHIN n EVENTS` instead of a length of time"
    if event.having:
        yield "put the conditions of HAVING into the brackets of single events"
    leaves = list(p.leaves(event.pattern))
    if any(leaf.atoms for leaf in leaves):
        yield "use look-ups only as tests, not to supply values"
    if any(not is_local(condition, leaf.slot) for leaf in leaves for condition in leaf.demands):
        yield "compare an event with the one before it by `DERIVE column = PREV(column)`"


def _obstacle_in_result(event: p.EventPlan) -> str | None:
    if event.per is not p.Per.END:
        return f"PER {event.per.value} needs more than the end times of matches"
    if event.consumption is not None:
        return f"CONSUME {event.consumption.selection.value} consumes parts of matches"
    if event.having:
        return "HAVING reads whole matches"
    for output in event.head if event.forecast is None else ():
        if not isinstance(output.expr, e.KeyColumn | e.Literal):
            return f"`{output.name}` in the head depends on the match, not only on the key"
    return None


def _obstacle_in_scope(event: p.EventPlan, program: p.ProgramPlan) -> str | None:
    for source in read_sources(event):
        stream = program.stream(source)
        if stream is None:
            return f"{source} is a derived event, whose intervals may overlap"
        if stream.schema.is_interval:
            return f"events of {source} are intervals, which have no total order"
        if not stream.schema.is_ordered:
            return f"{source} has no ORDER BY, so simultaneous events have no order"
        if source not in event.scope:
            return f"{source} is outside the scope"
    return None


def _obstacle_in_windows(event: p.EventPlan) -> str | None:
    windows = [event.within, *(x.within for x in p.parts_of(event.pattern) if isinstance(x, p.Narrowed))]
    if event.keep is not None:
        return "KEEP FOR needs the times of partial matches"
    timed = [window for window in windows if window is not None and not isinstance(window, p.EventCount)]
    return "WITHIN a length of time needs the times of partial matches" if timed else None


def _obstacle_in_size(event: p.EventPlan) -> str | None:
    n_steps = _n_steps(event.pattern)
    return f"{n_steps} steps are more than {MAX_STEPS}" if n_steps > MAX_STEPS else None


def _n_steps(part: p.Part) -> int:
    match part:
        case p.Leaf():
            return 1
        case p.Sequence(parts=parts):
            return sum(map(_n_steps, parts))
        case p.Absent(pattern=inner):
            return _n_steps(inner)
        case p.Repetition(pattern=inner, low=low, high=high):
            return _n_steps(inner) * max(1, low, high or 0)
        case p.Deadline() | p.StreamStart():
            return 0
        case _:
            return sum(map(_n_steps, p.sub_patterns(part)))


def _obstacle_in_part(part: p.Part) -> str | None:
    match part:
        case p.Leaf(slot=slot, demands=demands, atoms=atoms):
            if atoms:
                return "a background table supplies values"
            for condition in demands:
                if not is_local(condition, slot):
                    return "a condition reads several events"
            return None
        case p.Quantified():
            return "segments of different keys are compared"
        case p.Sliding():
            return "a window moves with every event"
        case p.Conjunction() | p.Parallel() | p.Related():
            return "AND, PAR and Allen relations are not sequences"
        case p.Except(in_order=False):
            return "EXCEPT compares intervals"
        case p.LeftJoin():
            return "OPTIONAL compares intervals"
        case p.TimePoint():
            return "AT depends on the time"
        case p.Deadline():
            return "AFTER waits for a time"
        case p.StreamStart():
            return "AT START depends on all earlier events"
        case p.Sequence(parts=parts):
            edges = isinstance(parts[0], p.Absent) or isinstance(parts[-1], p.Absent)
            beside = any(
                isinstance(one, p.Absent) != isinstance(other, p.Absent)
                and any(isinstance(x, p.Repetition) and x.low == 0 for x in (one, other))
                for one, other in pairwise(parts)
            )
            return "NOT at the border of a sequence depends on time" if edges or beside else None
        case p.Repetition(eager=True):
            return "EAGER waits for another round and for the next part at the same time"
        case p.Repetition(maximal=True):
            return "MAXIMAL compares matches"
        case p.Narrowed(having=having, slot=slot):
            return "a nested pattern has a variable or a condition" if having or slot is not None else None
        case _:
            return None


def is_local(condition: e.Expr, slot: int) -> bool:
    """Whether a condition looks at the event in `slot` alone."""
    return all(
        not isinstance(part, e.ListColumn | e.Aggregate)
        and (not isinstance(part, e.FactColumn) or part.atom < 0)
        and (not isinstance(part, e.ColumnOf | e.TimeOf | e.IdOf) or part.slot == slot)
        for part in e.walk(condition)
    )


class Symbols(Protocol):
    """The symbols of a regular expression: which single events the leaves of a pattern take."""

    def taken(self, leaf: p.Leaf) -> Regex:
        """An event that a leaf takes."""

    def candidate(self, leaf: p.Leaf) -> Regex | None:
        """A successor that may fail a CHECK; None where the leaf has no CHECK."""


def expression_of(event: p.EventPlan, symbols: Symbols) -> Regex:
    """The words whose ends are the results of a regular event."""
    regex = _RegexTranslator(symbols).pattern(event.pattern, p.Policy.ANY)
    return at_most(regex, event.within.count) if isinstance(event.within, p.EventCount) else regex


class _RegexTranslator:
    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def pattern(self, pattern: p.Pattern, policy: p.Policy) -> Regex:
        match pattern:
            case p.Leaf():
                return self._symbols.taken(pattern)
            case p.Disjunction(items=items):
                return Union(tuple(self.pattern(item, policy) for item in items))
            case p.Narrowed(pattern=inner, within=within):
                regex = self.pattern(inner, policy)
                return at_most(regex, within.count) if isinstance(within, p.EventCount) else regex
            case p.Repetition():
                return self._sequence((pattern,), policy)
            case p.Sequence(policy=own, parts=parts):
                return self._sequence(parts, own)
            case p.OtherRun(pattern=inner):
                return RegexComplement(self.pattern(inner, p.Policy.STRICT))
            case p.Except(pattern=inner, other=other):
                return Intersect(self.pattern(inner, p.Policy.ANY), RegexComplement(self.pattern(other, p.Policy.ANY)))
            case p.Quantified() | p.Sliding() | p.TimePoint():
                raise AssertionError("no regular pattern")
            case p.Conjunction() | p.Parallel() | p.Related() | p.LeftJoin():
                raise AssertionError("no regular pattern")

    def _candidate(self, pattern: p.Pattern) -> Regex | None:
        return self._symbols.candidate(pattern) if isinstance(pattern, p.Leaf) else None

    def _sequence(self, parts: tuple[p.Part, ...], policy: p.Policy) -> Regex:
        components: list[policies.Component] = []
        absent: tuple[Regex, ...] = ()
        for part in parts:
            match part:
                case p.Absent(pattern=inner):
                    absent = (*absent, self.pattern(inner, p.Policy.ANY))
                    continue
                case p.Repetition(pattern=inner, low=low, high=high):
                    body = self.pattern(inner, policy)
                    components.append(policies.Component(body, low, high, absent, self._candidate(inner)))
                case p.Deadline() | p.StreamStart():
                    raise AssertionError("no regular pattern")
                case _:
                    body = self.pattern(part, policy)
                    components.append(policies.Component(body, absent_before=absent))
            absent = ()
        match policy:
            case p.Policy.ANY:
                return policies.any_(components)
            case p.Policy.NEXT:
                return policies.next_(components)
            case p.Policy.STRICT:
                return policies.strict(components)
