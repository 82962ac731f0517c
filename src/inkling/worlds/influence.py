"""What a result depends on: how much of its probability is lost when one uncertain event is left out of all worlds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from inkling.io.normalize import ID, START
from inkling.model.batch import Ints
from inkling.model.event import Value
from inkling.worlds.run import WorldData
from inkling.worlds.streams.certain import CertainStream
from inkling.worlds.streams.imprecise import ImpreciseStream
from inkling.worlds.streams.lost import LossyStream
from inkling.worlds.streams.probable import ProbableStream
from inkling.worlds.variants import Removal, Seen

MOST_EVENTS = 12
"""How many events are left out, one at a time, for one result."""

NOTICED = 0.0005
"""Smaller shares are not worth telling."""


@dataclass(frozen=True, slots=True)
class UncertainEvent:
    """An event of an uncertain stream; `id` is null if it was lost."""

    token: int
    stream: str
    id: Value
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Influence:
    """`share` is (P - P without the event) / P: 1 if the result needs it, negative if it speaks against the result."""

    event: UncertainEvent
    without: float
    share: float


def candidates(data: WorldData, component: int, lineage: Ints, low: int, high: int) -> tuple[UncertainEvent, ...]:
    """Uncertain events of a component that may matter: those a result rests on, then others between two times."""
    found: dict[int, UncertainEvent] = {}
    for one in _uncertain(data, component, low, high, lineage):
        found.setdefault(one.token, one)
    own = set(lineage.tolist())
    ordered = sorted(found.values(), key=lambda one: (one.token not in own, one.low, one.stream, str(one.id)))
    return tuple(ordered[:MOST_EVENTS])


def _uncertain(data: WorldData, component: int, low: int, high: int, lineage: Ints) -> Iterator[UncertainEvent]:
    for stream, component_of in zip(data.streams, data.parts.of_rows, strict=True):
        if isinstance(stream, CertainStream):
            continue
        tokens = stream.tokens.view(np.int64)
        begins, ends = _times(stream)
        near = (begins <= high) & (ends >= low)
        doubtful = _is_open(stream)
        rows = np.flatnonzero((component_of == component) & doubtful & (near | np.isin(tokens, lineage)))
        ids = stream.rows[ID].combine_chunks()
        for row in rows.tolist():
            yield UncertainEvent(
                int(tokens[row]), stream.schema.name, ids[row].as_py(), int(begins[row]), int(ends[row])
            )


def _is_open(stream: ImpreciseStream | ProbableStream | LossyStream) -> np.ndarray:
    """Which rows belong to a choice between several alternatives."""
    factors = stream.factors
    if isinstance(stream, LossyStream):
        return np.asarray(factors >= 0)
    several = np.append(stream.n_alternatives(2) > 1, False)
    return np.asarray(several[factors])


def _times(stream: ImpreciseStream | ProbableStream | LossyStream) -> tuple[Ints, Ints]:
    """Between which times each event happened."""
    if isinstance(stream, ProbableStream):
        time = stream.rows[START].to_numpy()
        return time, time
    return stream.extents


def influences(
    seen: Sequence[Seen],
    identity: np.uint64,
    component: int,
    removals: Sequence[Removal],
    events: Sequence[UncertainEvent],
) -> tuple[Influence, ...]:
    """What each of the events means to a result, the largest first."""
    chances = _probabilities(seen, identity, len(removals) + 1)
    if chances[0] <= 0:
        return ()
    found = []
    for one in events:
        removal = Removal(component, one.token)
        if removal in removals:
            without = float(chances[1 + removals.index(removal)])
            found.append(Influence(one, without, float((chances[0] - without) / chances[0])))
    noticed = (one for one in found if abs(one.share) >= NOTICED)
    return tuple(sorted(noticed, key=lambda one: -abs(one.share)))


def _probabilities(seen: Sequence[Seen], identity: np.uint64, n_variants: int) -> np.ndarray:
    """The probability of a result in every variant; a world counts once."""
    total = np.zeros(n_variants)
    for part in seen:
        rows = np.flatnonzero(part.identity == identity)
        once = np.unique(np.stack([part.variant[rows], part.world[rows]]), axis=1, return_index=True)[1]
        total += np.bincount(part.variant[rows[once]], part.weight[rows[once]], minlength=n_variants)
    return total
