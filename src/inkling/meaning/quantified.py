"""The definition of relations between segments: ALL, SOME or AT LEAST k segments of a key are related to another's.

Busany et al. (SimpMatch), section 2.2: queries over interval relations.

A left segment qualifies if enough right segments are related to it, and the relation holds if enough left segments
qualify. With ON SAME, and with conditions that read segments of both sides, a left segment is compared only with the
right segments that agree with it, and ALL on the right means all of those. With WITHIN, two segments are related only
if they last at most so long together. ALL over no segments is true, AT LEAST 1 over none is false; but only keys that
occur are compared.

With TIMEOUT (`model.lost_keys`), a key ends: its last event is at most so long after its last row. So if related
segments intersect, and both sides ask for at least one segment, keys of which one ended before the other began are not
related.

Nothing here is optimized; it is written to be read beside the language reference.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from inkling.logical import plan as p
from inkling.logical.patterns.allen import relation_holds
from inkling.meaning.lost_worlds import CLOSING, OPENING
from inkling.model.event import Event, Value
from inkling.model.schema import Column
from inkling.model.time import Instant


@dataclass(frozen=True, slots=True)
class Segment:
    """An interval of a key: one event, or two events that open and close it."""

    start: Instant
    end: Instant
    events: tuple[Event, ...]

    def value(self, column: str) -> Value:
        """The value of its opening event, or of its closing one if null."""
        return next((event.values[column] for event in self.events if event.values[column] is not None), None)


@dataclass(frozen=True, slots=True)
class KeySegments:
    """A key, all events of it, and the segments that count."""

    key: tuple[Value, ...]
    events: tuple[Event, ...]
    segments: tuple[Segment, ...]

    @property
    def counted(self) -> tuple[Event, ...]:
        """The events of its segments; all of them where it has no segment."""
        return tuple(event for one in self.segments for event in one.events) or self.events

    @property
    def start(self) -> int:
        """The start of the first segment, or of the first event if there is no segment."""
        return min(one.start.time for one in self.segments or self.events)

    @property
    def end(self) -> int:
        return max(one.end.time for one in self.segments or self.events)


def keys_of(operand: p.Operand, events: Iterable[Event], passes: Callable[[Event], bool]) -> list[KeySegments]:
    """Every key of the operand's stream that occurs; `events` stand in canonical order."""
    by_key: dict[tuple[Value, ...], list[Event]] = {}
    for event in events:
        if event.source in operand.leaf.sources:
            by_key.setdefault(tuple(event.values[column.name] for column in operand.key), []).append(event)
    return [
        KeySegments(key, tuple(some), tuple(one for one in _segments(operand.pairing, some) if passes(one.events[0])))
        for key, some in by_key.items()
    ]


Comparable = Callable[[Segment, Segment], bool]
"""Whether a left and a right segment satisfy the conditions that read both."""


def qualifying(
    pattern: p.Quantified,
    left: KeySegments,
    right: KeySegments,
    longest: int | None = None,
    comparable: Comparable = lambda one, other: True,
) -> tuple[Segment, ...] | None:
    """The left segments that qualify, or None when they are not as many as asked for.

    Related segments last at most `longest` together, from the first start to the last end.
    """
    chosen = tuple(one for one in left.segments if _qualifies(pattern, one, right, longest, comparable))
    return chosen if _enough(len(chosen), pattern.left.least, len(left.segments)) else None


def quantities(pattern: p.Quantified, n_chosen: int) -> Iterable[int | None]:
    """The numbers that are asked about one by one and are reached; None when there is only one question."""
    least, most = pattern.left.least, pattern.left.most
    if least is None or most is None:
        return (None,)
    return range(least, min(most, n_chosen) + 1)


def _qualifies(
    pattern: p.Quantified, one: Segment, right: KeySegments, longest: int | None, comparable: Comparable
) -> bool:
    others = [other for other in right.segments if _are_same(pattern.same, one, other) and comparable(one, other)]
    related = [
        other
        for other in others
        if any(relation_holds(name, one.start, one.end, other.start, other.end) for name in pattern.relations)
        and (longest is None or _length(one, other) <= longest)
    ]
    return _enough(len(related), pattern.right.least, len(others))


def _length(one: Segment, other: Segment) -> int:
    """The time from the first start to the last end of two segments."""
    return max(one.end.time, other.end.time) - min(one.start.time, other.start.time)


def _are_same(same: Column | None, one: Segment, other: Segment) -> bool:
    """ON SAME: both have the value, and it is one."""
    if same is None:
        return True
    value = one.value(same.name)
    return value is not None and value == other.value(same.name)


def _enough(count: int, least: int | None, total: int) -> bool:
    return count == total if least is None else count >= least


def _segments(pairing: p.Pairing | None, events: list[Event]) -> Iterator[Segment]:
    """The segments of one key; an event that closes follows right after the one that opened."""
    if pairing is None:
        yield from (Segment(event.start, event.end, (event,)) for event in events)
        return
    in_order = sorted(events, key=lambda event: (event.end.time, _number(pairing, event)))
    turns = [_opens(pairing, event, place) for place, event in enumerate(in_order)]
    for (opening, opens), (closing, opens_again) in pairwise(zip(in_order, turns, strict=True)):
        if opens is True and opens_again is False:
            yield Segment(opening.start, closing.end, (opening, closing))


def _number(pairing: p.Pairing, event: Event) -> int:
    number = None if pairing.number is None else event.values[pairing.number.name]
    return number if isinstance(number, int) else 0


def _opens(pairing: p.Pairing, event: Event, place: int) -> bool | None:
    """Whether an event opens a segment or closes one; None when its role is no known word."""
    if pairing.number is not None:
        return _number(pairing, event) % 2 == 1
    if pairing.role is None:
        return place % 2 == 0
    role = str(event.values[pairing.role.name]).lower()
    return True if role in OPENING else False if role in CLOSING else None
