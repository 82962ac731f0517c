"""Events and worlds as Python objects, as the definition of results uses them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.model.time import Instant

Value = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on `[start, end]`; `source` names the stream or the event rule it comes from."""

    source: str
    ids: tuple[Value, ...]  # its id, or the ids that a derived event depends on
    start: Instant
    end: Instant
    values: Mapping[str, Value] = field(hash=False)
    rank: tuple[object, ...] = ()  # order of simultaneous events in listings; no result depends on it

    @property
    def position(self) -> tuple[object, ...]:
        """The sort key of the rows of a stream."""
        return (self.end, self.start, self.source, self.rank)

    @property
    def listed(self) -> tuple[object, ...]:
        """The sort key of the canonical order of a world."""
        return (self.end.listed, self.start.listed, self.source, self.rank)


@dataclass(frozen=True, slots=True)
class World:
    """A certain stream: every event that happened."""

    events: tuple[Event, ...]
    resets: tuple[Event, ...] = ()  # rows that reset their key; no events
    empty: tuple[Event, ...] = ()  # rows that name a key without events; no events

    def of(self, *sources: str) -> tuple[Event, ...]:
        """The events of the named sources, in canonical order."""
        return _in_order(self.events, sources)

    def keys_of(self, *sources: str) -> tuple[Event, ...]:
        """The events of the named sources and the rows that name keys without events, in canonical order."""
        return _in_order((*self.events, *self.empty), sources)

    def resets_of(self, *sources: str) -> tuple[Event, ...]:
        """The resets of the named streams, in canonical order."""
        return _in_order(self.resets, sources)


def _in_order(events: tuple[Event, ...], sources: tuple[str, ...]) -> tuple[Event, ...]:
    chosen = [event for event in events if event.source in sources]
    return tuple(sorted(chosen, key=lambda event: event.listed))
