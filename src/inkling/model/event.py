"""One event and one world: what happened, when, with which attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.model.time import Instant

Value = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on `[start, end]`; `source` names the stream or the event rule it comes from."""

    source: str
    ids: tuple[Value, ...]  # its own id, or for a derived event the ids it depends on
    start: Instant
    end: Instant
    values: Mapping[str, Value] = field(hash=False)
    rank: tuple[object, ...] = ()  # breaks ties of simultaneous events in listings, never in meaning

    @property
    def position(self) -> tuple[object, ...]:
        """Where the event stands in the canonical order of a world."""
        return (self.end, self.start, self.source, self.rank)


@dataclass(frozen=True, slots=True)
class World:
    """A certain stream: every event that happened."""

    events: tuple[Event, ...]
    resets: tuple[Event, ...] = ()  # rows that are no events: what their key did before does not count after them
    empty: tuple[Event, ...] = ()  # rows that are no events: they only name keys that have none

    def of(self, *sources: str) -> tuple[Event, ...]:
        """The events of the named sources, in canonical order."""
        return _in_order(self.events, sources)

    def keys_of(self, *sources: str) -> tuple[Event, ...]:
        """The events of the named sources, and rows of keys that have none, in canonical order."""
        return _in_order((*self.events, *self.empty), sources)

    def resets_of(self, *sources: str) -> tuple[Event, ...]:
        """The resets of the named streams, in canonical order."""
        return _in_order(self.resets, sources)


def _in_order(events: tuple[Event, ...], sources: tuple[str, ...]) -> tuple[Event, ...]:
    chosen = [event for event in events if event.source in sources]
    return tuple(sorted(chosen, key=lambda event: event.position))
