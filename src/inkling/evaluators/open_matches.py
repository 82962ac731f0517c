"""Open matches: partial matches that may still be completed, as users see them (`inkling.meaning.open_matches`)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations

import pyarrow as pa

from inkling.errors import NotSupportedYet
from inkling.logical.patterns.disjuncts import Disjunct
from inkling.logical.printing.text import PartTexts
from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.results import EXACT, in_time


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """A partial match that waits for its next part, or for the rest of AND, with times on the clock of the streams.

    Over uncertain streams, `probability` is that of the worlds in which the match is open; times are the earliest
    start, the latest end and the latest limit in any of these worlds.
    """

    reached: int  # parts that have happened
    parts: int  # of how many
    awaits: str
    start: int | None  # None, as `end`, where the state does not say it
    end: int | None
    latest: int | None  # the time by which it must be complete, if there is a limit
    lineage: tuple[object, ...]
    probability: float = 1.0
    method: str = EXACT
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Begun:
    """A partial match in one world."""

    way: int  # the number of the disjunct of the pattern
    reached: int
    parts: int
    awaits: str
    start: int
    end: int
    latest: int | None
    world: object  # None over certain streams
    lineage: tuple[object, ...]


def opened(begun: Iterable[Begun]) -> list[OpenMatch]:
    """Open matches over certain streams, oldest first."""
    return in_order(
        [OpenMatch(one.reached, one.parts, one.awaits, one.start, one.end, one.latest, one.lineage) for one in begun]
    )


def in_order(found: list[OpenMatch]) -> list[OpenMatch]:
    """Oldest first; those without a start at the end."""

    def place(one: OpenMatch) -> tuple[int, int, int]:
        start = FOREVER if one.start is None else one.start
        return start, start if one.end is None else one.end, -one.reached

    return sorted(found, key=place)


def awaits(disjunct: Disjunct, texts: PartTexts, reached: int) -> str:
    """What the first parts wait for, in the words of the event."""
    following = disjunct.parts[reached : reached + 1] or disjunct.absences_after(reached)
    return " and ".join(map(texts.part, following))


MOST_ITEMS = 8
"""Of AND: open matches are looked for in every choice of items."""


def choices(event: str, disjunct: Disjunct) -> list[tuple[int, ...]]:
    """The items of AND that may have happened while others have not."""
    n = len(disjunct.parts)
    if n > MOST_ITEMS:
        raise not_kept(event, f"AND has more than {MOST_ITEMS} items, any of which may have happened")
    return [some for n_happened in range(1, n) for some in combinations(range(n), n_happened)]


def awaits_others(disjunct: Disjunct, texts: PartTexts, happened: Collection[int]) -> str:
    """What some items of AND wait for, in the words of the event."""
    return " and ".join(texts.part(one) for place, one in enumerate(disjunct.parts) if place not in happened)


def not_kept(event: str, why: str) -> NotSupportedYet:
    """The error for an event whose state does not hold partial matches."""
    return NotSupportedYet.of(
        "INK0428",
        f"open matches of `{event}` are not supported yet",
        notes=(why,),
        helps=("run `inkling why` over the rows so far",),
    )


def open_table(found: list[OpenMatch], clock: Clock) -> pa.Table:
    """Open matches as a table, with times of the clock."""
    times = {
        name: in_time(pa.array([getattr(one, name) for one in found], pa.int64()), clock)
        for name in ("start", "end", "latest")
    }
    return pa.table(
        {
            "reached": pa.array([one.reached for one in found], pa.int64()),
            "parts": pa.array([one.parts for one in found], pa.int64()),
            "awaits": pa.array([one.awaits for one in found], pa.string()),
            **times,
            "probability": pa.array([one.probability for one in found], pa.float64()),
            "method": pa.array([one.method for one in found], pa.string()),
            "error": pa.array([one.error for one in found], pa.float64()),
            "lineage": pa.array([list(one.lineage) for one in found], _lineage_type(found)),
        }
    )


def _lineage_type(found: list[OpenMatch]) -> pa.DataType:
    are_texts = any(isinstance(one, str) for match in found for one in match.lineage)
    return pa.list_(pa.string() if are_texts else pa.int64())
