"""Which patterns over imprecise times are partial orders of single events, and what they demand of the times.

Nested sequences under ANY, AND, OR and limits on the time between events do not depend on events outside of a match.
Each alternative of OR is a partial order: some events before others, some within a window, and some differences of
times limited. So the probability of a match is a sum over the ticks of its own events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.rewrites.everywhere import everywhere

MOST_EVENTS = 10
"""The most events of one alternative."""

MOST_ALTERNATIVES = 32

Moving = Mapping[str, frozenset[str]]
"""By stream, its columns that hold the imprecise time of an event."""


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """`later - earlier <= value`, or `<` if strict: times of places; without a place, 0 stands for its time.

    The value is a sum of signed expressions that read no imprecise time.
    """

    later: int | None
    earlier: int | None
    value: tuple[tuple[int, e.Expr], ...]
    strict: bool


@dataclass(frozen=True, slots=True)
class PartialOrder:
    """Single events as the places of a match, in the order of its lineage, and what must hold of them."""

    slots: tuple[int, ...]
    before: frozenset[tuple[int, int]] = frozenset()  # the first place happens before the second
    windows: tuple[tuple[frozenset[int], p.Window], ...] = ()  # places that lie within a window
    limits: tuple[TimeLimit, ...] = ()
    conditions: tuple[e.Expr, ...] = ()  # of HAVING, that read no imprecise time


@dataclass(frozen=True, slots=True)
class PartialOrders:
    """The alternatives of a pattern of single events that nothing else can prevent."""

    alternatives: tuple[PartialOrder, ...]
    within: p.Window | None
    overlap: bool  # whether two alternatives can have the same events

    @property
    def depends_on_others(self) -> bool:
        return False

    @property
    def looks_before(self) -> bool:
        """Whether an event of a match can happen before the event in its first place."""
        return any((0, place) not in one.before for one in self.alternatives for place in range(1, len(one.slots)))


@dataclass(frozen=True, slots=True)
class _Draft:
    """An alternative of a part, with conditions on times that are not resolved yet."""

    slots: tuple[int, ...]
    before: frozenset[tuple[int, int]] = frozenset()
    windows: tuple[tuple[frozenset[int], p.Window], ...] = ()
    conditions: tuple[e.Expr, ...] = ()
    spans: tuple[tuple[int, _Span], ...] = ()  # of named nested patterns, by slot
    first: int | None = None  # the place that surely happens first, and last
    last: int | None = None

    def moved(self, by: int) -> _Draft:
        return _Draft(
            self.slots,
            frozenset((one + by, other + by) for one, other in self.before),
            tuple((frozenset(place + by for place in places), limit) for places, limit in self.windows),
            self.conditions,
            tuple((slot, span.moved(by)) for slot, span in self.spans),
            None if self.first is None else self.first + by,
            None if self.last is None else self.last + by,
        )


@dataclass(frozen=True, slots=True)
class _Span:
    """The places of an event or a named nested pattern, and which of them surely happen first and last."""

    places: tuple[int, ...]
    first: int | None
    last: int | None

    def moved(self, by: int) -> _Span:
        return _Span(
            tuple(place + by for place in self.places),
            None if self.first is None else self.first + by,
            None if self.last is None else self.last + by,
        )


class NoOrderError(Exception):
    """Why a pattern is no partial order of single events."""


def orders_of(event: p.EventPlan, moving: Moving) -> PartialOrders:
    """The alternatives of an event; `NoOrderError` with the reason where there are none."""
    if isinstance(event.within, p.EventCount):
        raise NoOrderError("the number of EVENTS between two events depends on the world")
    found = []
    for draft in _drafts(with_times_apart(event, moving).pattern):
        if event.within is not None:
            draft = replace(draft, windows=(*draft.windows, (frozenset(range(len(draft.slots))), event.within)))
        draft = replace(draft, conditions=(*draft.conditions, *_conjuncts(event.having)))
        if (order := _resolved(draft, event, moving)) is not None:
            found.append(order)
    return PartialOrders(tuple(found), event.within, _overlap(found, event))


def reads_time(event: p.EventPlan, moving: Moving, expr: e.Expr) -> bool:
    """Whether an expression reads the imprecise time of an event."""
    return any(_is_time(event, moving, part) for part in e.walk(expr))


def with_times_apart(event: p.EventPlan, moving: Moving) -> p.EventPlan:
    """The event with every condition of a leaf that reads an imprecise time in a HAVING around this leaf."""

    def apart(pattern: p.Pattern) -> p.Pattern:
        if not isinstance(pattern, p.Leaf):
            return pattern
        every = _conjuncts(pattern.conditions)
        timed = tuple(one for one in every if reads_time(event, moving, one))
        if not timed:
            return pattern
        return p.Narrowed(replace(pattern, conditions=tuple(one for one in every if one not in timed)), None, timed)

    return replace(event, pattern=everywhere(event.pattern, apart))


def _conjuncts(conditions: Iterable[e.Expr]) -> tuple[e.Expr, ...]:
    return tuple(part for condition in conditions for part in e.conjuncts(condition))


def _drafts(pattern: p.Part) -> list[_Draft]:
    match pattern:
        case p.Leaf(slot=slot, atoms=(), checks=()):
            return [_Draft((slot,), spans=((slot, _Span((0,), 0, 0)),), first=0, last=0)]
        case p.Sequence(policy=policy, parts=parts):
            if policy is not p.Policy.ANY and len(parts) > 1:
                raise NoOrderError("NEXT or STRICT within the pattern depends on other events")
            return _together([_drafts(part) for part in parts], in_sequence=True)
        case p.Conjunction(items=items):
            return _together([_drafts(item) for item in items], in_sequence=False)
        case p.Disjunction(items=items):
            return _few([draft for item in items for draft in _drafts(item)])
        case p.Narrowed(pattern=inner, within=within, having=having, slot=slot):
            if isinstance(within, p.EventCount):
                raise NoOrderError("the number of EVENTS between two events depends on the world")
            return [_narrowed(draft, within, _conjuncts(having), slot) for draft in _drafts(inner)]
        case _:
            what = _NAMES.get(type(pattern), "an operator")
            raise NoOrderError(f"{what} in the pattern depends on more than order")


_NAMES: dict[type, str] = {
    p.Leaf: "a table or CHECK",
    p.Absent: "NOT",
    p.Deadline: "AFTER",
    p.Repetition: "a repetition",
    p.Related: "an Allen relation",
    p.LeftJoin: "OPTIONAL",
    p.Parallel: "PAR",
}


def _narrowed(draft: _Draft, within: p.Window | None, having: tuple[e.Expr, ...], slot: int | None) -> _Draft:
    places = tuple(range(len(draft.slots)))
    windows = draft.windows if within is None else (*draft.windows, (frozenset(places), within))
    spans = draft.spans if slot is None else (*draft.spans, (slot, _Span(places, draft.first, draft.last)))
    return replace(draft, windows=windows, conditions=(*draft.conditions, *having), spans=spans)


def _together(parts: list[list[_Draft]], *, in_sequence: bool) -> list[_Draft]:
    n = 1
    for part in parts:
        n *= len(part)
    if n > MOST_ALTERNATIVES:
        raise NoOrderError(f"it has more than {MOST_ALTERNATIVES} alternatives")
    return _few([_joined(chosen, in_sequence=in_sequence) for chosen in product(*parts)])


def _few(drafts: list[_Draft]) -> list[_Draft]:
    if len(drafts) > MOST_ALTERNATIVES:
        raise NoOrderError(f"it has more than {MOST_ALTERNATIVES} alternatives")
    if any(len(one.slots) > MOST_EVENTS for one in drafts):
        raise NoOrderError(f"a match has more than {MOST_EVENTS} events")
    return drafts


def _joined(parts: tuple[_Draft, ...], *, in_sequence: bool) -> _Draft:
    placed: list[_Draft] = []
    n = 0
    for part in parts:
        placed.append(part.moved(n))
        n += len(part.slots)
    before = {pair for part in placed for pair in part.before}
    if in_sequence:
        bounds = [0]
        for part in parts:
            bounds.append(bounds[-1] + len(part.slots))
        before |= {
            (one, other)
            for number in range(1, len(parts))
            for one in range(bounds[number])
            for other in range(bounds[number], bounds[number + 1])
        }
    is_ordered = in_sequence or len(parts) == 1
    return _Draft(
        tuple(slot for part in parts for slot in part.slots),
        frozenset(before),
        tuple(window for part in placed for window in part.windows),
        tuple(condition for part in parts for condition in part.conditions),
        tuple(span for part in placed for span in part.spans),
        placed[0].first if is_ordered else None,
        placed[-1].last if is_ordered else None,
    )


def _overlap(orders: list[PartialOrder], event: p.EventPlan) -> bool:
    """Whether the same events, in the same order, can fill the places of two alternatives."""
    read = {leaf.slot: set(leaf.sources or event.scope) for leaf in p.leaves(event.pattern)}
    return any(
        len(one.slots) == len(other.slots)
        and all(read[mine] & read[its] for mine, its in zip(one.slots, other.slots, strict=True))
        for number, one in enumerate(orders)
        for other in orders[:number]
    )


_PLAIN = (e.Compare, e.Arithmetic, e.Negate, e.ColumnOf, e.TimeOf, e.Literal, e.SpanLiteral)
"""Expressions that are null if one of their parts is."""


def _resolved(draft: _Draft, event: p.EventPlan, moving: Moving) -> PartialOrder | None:
    """The partial order; None if a condition reads the time of an event that it does not have."""
    spans = dict(draft.spans)
    limits: list[TimeLimit] = []
    conditions: list[e.Expr] = []
    for condition in draft.conditions:
        if not reads_time(event, moving, condition):
            conditions.append(condition)
            continue
        if not e.slots_of(condition) <= spans.keys():
            if not all(isinstance(part, _PLAIN) for part in e.walk(condition)):
                raise NoOrderError("a condition on times may hold without an event that it reads")
            return None
        limits += _limits(condition, spans, lambda part: _is_time(event, moving, part))
    return PartialOrder(draft.slots, draft.before, draft.windows, tuple(limits), tuple(conditions))


def _is_time(event: p.EventPlan, moving: Moving, part: e.Expr) -> bool:
    match part:
        case e.TimeOf():
            return True
        case e.ColumnOf(slot=slot, column=column) | e.ListColumn(slot=slot, column=column):
            return _moves(event, moving, slot, column)
        case e.Aggregate(slot=slot, column=str() as column):
            return _moves(event, moving, slot, column)
        case _:
            return False


def _moves(event: p.EventPlan, moving: Moving, slot: int, column: str) -> bool:
    """Whether a column is an imprecise time; the columns of a plan that is ready to run end in their type."""
    plain = column.rsplit("|", 1)[0]
    return any(plain in moving.get(name, ()) for name in event.slots[slot].sources or event.scope)


_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _limits(condition: e.Expr, spans: Mapping[int, _Span], is_time) -> Iterator[TimeLimit]:  # type: ignore[no-untyped-def]
    """A comparison of a difference of times as limits on two times each."""
    unknown = NoOrderError("a condition reads times other than by comparing their difference")
    if not isinstance(condition, e.Compare) or condition.operator == "<>":
        raise unknown
    times: list[tuple[int, e.Expr]] = []
    values: list[tuple[int, e.Expr]] = []
    for sign, side in ((1, condition.left), (-1, condition.right)):
        for factor, term in _terms(side, sign):
            if is_time(term):
                times.append((factor, term))
            elif any(is_time(part) for part in e.walk(term)):
                raise unknown
            else:
                values.append((-factor, term))
    for operator in ("<=", ">=") if condition.operator == "=" else (condition.operator,):
        turn = 1 if operator in ("<", "<=") else -1
        plus = [term for sign, term in times if sign == turn]
        minus = [term for sign, term in times if sign != turn]
        if len(plus) > 1 or len(minus) > 1:
            raise unknown
        value = tuple((turn * sign, term) for sign, term in values)
        for later in _places(plus, spans, e.Edge.END):
            for earlier in _places(minus, spans, e.Edge.START):
                yield TimeLimit(later, earlier, value, operator in ("<", ">"))


def _terms(expr: e.Expr, sign: int) -> Iterator[tuple[int, e.Expr]]:
    match expr:
        case e.Arithmetic(operator="+", left=left, right=right):
            yield from _terms(left, sign)
            yield from _terms(right, sign)
        case e.Arithmetic(operator="-", left=left, right=right):
            yield from _terms(left, sign)
            yield from _terms(right, -sign)
        case e.Negate(item=item):
            yield from _terms(item, -sign)
        case _:
            yield sign, expr


def _places(terms: list[e.Expr], spans: Mapping[int, _Span], every: e.Edge) -> list[int | None]:
    """The places whose times are limited by a limit on a term: the last one of several is, if all of them are."""
    if not terms:
        return [None]
    (term,) = terms
    match term:
        case e.TimeOf(edge=edge, slot=slot):
            span = spans[slot]
        case e.ColumnOf(slot=slot):
            span, edge = spans[slot], every
        case _:
            raise NoOrderError("a condition aggregates times")
    sure = span.first if edge is e.Edge.START else span.last
    if sure is not None:
        return [sure]
    if edge is not every:
        raise NoOrderError("a condition reads the time of the first or last of several events in any order")
    return list(span.places)
