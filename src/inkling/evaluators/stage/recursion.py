"""Events of a stage that depend on each other: derived in rounds until a round finds nothing new.

The results are those of the minimal model of Anicic 2011, section 6.3; iterative rules are his section 7.3. A monotone
group is evaluated semi-naively, with the new results of the last round in each derivation.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.consumption.event import ConsumptionEvent
from inkling.evaluators.network.event import NetworkEvent, Newest
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch
from inkling.logical.recursion import MOST_ROUNDS, EventGroup, is_monotone, recursive_slots, without_end
from inkling.model.batch import EventBatch, Ints, MatchBatch, joined_matches
from inkling.model.keys import codes_of
from inkling.physical.plan import Stage

FIRST_ROUNDS = 10
MOST_STANDING = 200
"""The limit on consecutive rounds, after the first ones, that find only new values on known intervals."""

DerivedRows = Callable[[str, MatchBatch], tuple[pa.Table, Ints]]
"""Matches of an event as rows of all inputs that read it, and the codes of their keys."""


@dataclass(frozen=True, slots=True)
class Recursion:
    """Derives the matches of one group of events.

    In a monotone group, each round finds the matches that depend on matches of the last round. In other groups, a match
    ends later than all matches it depends on, so each round makes the matches of each key final that end next.
    """

    stage: Stage
    group: EventGroup
    evaluators: Mapping[str, NetworkEvent | ConsumptionEvent]
    derived_rows: DerivedRows

    def run(
        self, rows: pa.Table, codes: Ints, until: Mapping[str, int], visible: Callable[[str, EventBatch], EventBatch]
    ) -> dict[str, MatchBatch]:
        """All matches of the group, given the rows of everything else that it reads."""
        names = self.group.names
        monotone = all(is_monotone(event, names) for event in self.group.events)
        slots = {event.name: tuple(sorted(recursive_slots(event, names))) for event in self.group.events}
        n_keys = int(codes.max()) + 1 if len(codes) else 0
        rows = rows.append_column(r.DEPTH, pa.array(np.full(len(rows), -1)))
        seen: dict[str, list[MatchBatch]] = {name: [] for name in names}
        final = _FinalMatches(n_keys, names)
        n_standing = 0
        for round_ in count():
            batch = event_batch(self.stage, rows, codes)
            fresh: dict[str, MatchBatch] = {}
            for event in self.group.events:
                name = event.name
                newest = Newest(slots[name], round_ - 1) if monotone and round_ else None
                if newest is not None and not newest.slots:
                    continue
                evaluator = self.evaluators[name]
                if isinstance(evaluator, NetworkEvent):
                    found = evaluator.evaluate(visible(name, batch), n_keys, until[name], newest)
                else:
                    found = evaluator.evaluate(visible(name, batch), n_keys, until[name])
                fresh[name] = found.where(_unseen(found, seen[name])) if monotone else final.beyond(name, found)
            if not monotone:
                fresh = _ending_next(fresh, n_keys)
                final.add(fresh)
            elif round_ > FIRST_ROUNDS:
                n_standing = 0 if _has_new_interval(fresh, seen) else n_standing + 1
            for name, found in fresh.items():
                if len(found) or not seen[name]:
                    seen[name].append(found)
            if not any(len(found) for found in fresh.values()):
                return {name: replace(_joined(found), depth=None) for name, found in seen.items()}
            if monotone and (round_ >= MOST_ROUNDS or n_standing > MOST_STANDING):
                break
            rows, codes = self._with(fresh, rows, codes, round_ if monotone else None)
        raise without_end(names)

    def _with(
        self, fresh: Mapping[str, MatchBatch], rows: pa.Table, codes: Ints, depth: int | None
    ) -> tuple[pa.Table, Ints]:
        """The rows of keys with new matches, and the new matches as rows."""
        moved = np.zeros(int(codes.max()) + 1, bool)
        tables, all_codes = [], []
        for name, found in fresh.items():
            if not len(found):
                continue
            moved[found.key] = True
            assert found.depth is not None
            depths = np.full(len(found), depth) if depth is not None else found.depth
            for level in np.unique(depths):
                table, some_codes = self.derived_rows(name, found.where(depths == level))
                tables.append(table.append_column(r.DEPTH, pa.array(np.full(len(table), level))))
                all_codes.append(some_codes)
        if not moved.all():
            kept = moved[codes]
            rows, codes = rows.filter(pa.array(kept)), codes[kept]
        return pa.concat_tables([rows, *tables]), np.concatenate([codes, *all_codes])


def _joined(batches: list[MatchBatch]) -> MatchBatch:
    """The matches of all rounds; those of empty rounds have no places."""
    return joined_matches([batch for batch in batches if len(batch)] or batches[:1])


def _has_new_interval(fresh: Mapping[str, MatchBatch], seen: Mapping[str, list[MatchBatch]]) -> bool:
    """Whether a new match has a new interval."""
    known = [_fingerprints(batch) for batches in seen.values() for batch in batches]
    return any(not np.isin(_fingerprints(found), np.concatenate(known)).all() for found in fresh.values() if len(found))


class _FinalMatches:
    """Per key, the time up to which matches are final, and the matches that end at that time.

    Matches that end earlier are final, so new matches are compared only with those at that time.
    """

    def __init__(self, n_keys: int, names: Iterable[str]) -> None:
        self._end = np.full(n_keys, np.iinfo(np.int64).min)
        self._at_end: dict[str, list[MatchBatch]] = {name: [] for name in names}

    def beyond(self, name: str, found: MatchBatch) -> MatchBatch:
        """The matches of an event that are not final yet."""
        found = found.where(found.end >= self._end[found.key])
        return found.where(_unseen(found, self._at_end[name]))

    def add(self, fresh: Mapping[str, MatchBatch]) -> None:
        """Makes matches final, which have one end per key; keys without new matches are done."""
        moved = np.zeros(len(self._end), bool)
        for found in fresh.values():
            self._end[found.key] = found.end
            moved[found.key] = True
        for name, found in fresh.items():
            at_end = [
                batch.where(moved[batch.key] & (batch.end == self._end[batch.key]))
                for batch in (*self._at_end[name], found)
            ]
            self._at_end[name] = [batch for batch in at_end if len(batch)]


def _ending_next(fresh: Mapping[str, MatchBatch], n_keys: int) -> dict[str, MatchBatch]:
    """Of the new matches of each key, those with the earliest end."""
    far = np.iinfo(np.int64).max
    end = np.full(n_keys, far)
    for found in fresh.values():
        np.minimum.at(end, found.key, found.end)
    place = np.full(n_keys, far)
    for found in fresh.values():
        first = found.end == end[found.key]
        np.minimum.at(place, found.key[first], found.end_place[first])
    return {
        name: found.where((found.end == end[found.key]) & (found.end_place == place[found.key]))
        for name, found in fresh.items()
    }


def _unseen(found: MatchBatch, seen: list[MatchBatch]) -> NDArray[np.bool_]:
    """Which matches differ from all seen matches in key, values or interval."""
    unseen = np.ones(len(found), bool)
    known = [batch for batch in seen if len(batch)]
    if not len(found) or not known:
        return unseen
    prints = _fingerprints(found)
    known = [batch.where(np.isin(_fingerprints(batch), prints)) for batch in known]
    uncertain = np.isin(prints, np.concatenate([_fingerprints(batch) for batch in known]))
    if uncertain.any():
        unseen[uncertain] = _differing(found.where(uncertain), [batch for batch in known if len(batch)])
    return unseen


def _fingerprints(batch: MatchBatch) -> NDArray[np.uint64]:
    """Hashes of key and interval."""
    with np.errstate(over="ignore"):
        mixed = batch.key.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ batch.start.view(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
        return np.asarray((mixed ^ batch.end.view(np.uint64)) * np.uint64(0x94D049BB133111EB))


def _differing(found: MatchBatch, known: list[MatchBatch]) -> NDArray[np.bool_]:
    """Which matches differ from all known ones."""
    every = [*known, found]
    codes, _ = codes_of(_columns(every), sum(map(len, every)))
    n_known = len(codes) - len(found)
    taken = np.zeros(int(codes.max()) + 1, bool)
    taken[codes[:n_known]] = True
    return ~taken[codes[n_known:]]


def _columns(batches: list[MatchBatch]) -> list[pa.ChunkedArray]:
    """The columns that distinguish matches, of all batches concatenated."""
    numbers = [
        pa.chunked_array([pa.array(getattr(batch, name)) for batch in batches]) for name in ("key", "start", "end")
    ]
    places = [
        pa.chunked_array([batch.places(getattr(batch, name)) for batch in batches])
        for name in ("start_place", "end_place")
    ]
    values = [pa.chunked_array([batch.values[name] for batch in batches]) for name in batches[0].values]
    return [*numbers, *places, *values]
