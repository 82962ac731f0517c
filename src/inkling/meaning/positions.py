"""Where events stand in the canonical order, in which any two events of a world differ."""

from __future__ import annotations

from inkling.logical.instants import listed_at
from inkling.meaning.occurrences import Occurrence
from inkling.model.event import Event

Rank = tuple[object, ...]


def position(event: Event) -> Rank:
    return (listed_at(event.end), listed_at(event.start), event.source, event.rank)


def positions(found: Occurrence) -> Rank:
    """The positions of all events that an occurrence rests on."""
    return tuple(position(member.event) for member in found.lineage)


def slots_of(found: Occurrence) -> tuple[int, ...]:
    """The slots that these events fill."""
    return tuple(member.slot for member in found.lineage)
