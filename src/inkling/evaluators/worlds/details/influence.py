"""The influence of uncertain events on a result: how its probability changes without one of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from inkling.evaluators.sampling import half_width
from inkling.evaluators.worlds.details.variants import Removal, WorldMatches, event_tokens
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.evaluators.worlds.streams.world_stream import CertainStream
from inkling.io.normalize import ID, START
from inkling.model.batch import FOREVER, Ints
from inkling.model.event import Value
from inkling.model.uncertainty import LostEvents

MOST_EVENTS = 12
"""The limit on events that are removed, one at a time, per result."""

NOTICED = 0.0005
"""Smaller differences of probability are not reported."""


@dataclass(frozen=True, slots=True)
class UncertainEvent:
    """An event of an uncertain stream, and the first and last time at which it may happen."""

    token: int
    stream: str
    id: Value  # null for a lost event; the distinct ids of its alternatives, joined by |
    low: int
    high: int
    lost: tuple[tuple[str, Value], ...] = ()  # KEY and number of a lost event


@dataclass(frozen=True, slots=True)
class Influence:
    """The probability of a result without one event."""

    event: UncertainEvent
    without: float  # P(result) without the event
    share: float  # (P - without) / P: 1 if the result needs the event, negative if the event makes it less probable
    error: float = 0.0  # of `without`, with the confidence of the run; 0 if all worlds were enumerated


def candidates(data: WorldData, component: int, lineage: Ints, low: int, high: int) -> tuple[UncertainEvent, ...]:
    """Uncertain events of a component that may matter to a result.

    Those in its lineage, then others in its time range.
    """
    found: dict[int, UncertainEvent] = {}
    ids: dict[int, dict[Value, None]] = {}
    own: set[int] = set()
    for one, is_own in _uncertain(data, component, low, high, lineage):
        every = ids.setdefault(one.token, {})
        every[one.id] = None
        found[one.token] = one if len(every) == 1 else replace(one, id=" | ".join(sorted(map(str, every))))
        own |= {one.token} if is_own else set()
    ordered = sorted(found.values(), key=lambda one: (one.token not in own, one.low, one.stream, str(one.id)))
    return tuple(ordered[:MOST_EVENTS])


def n_uncertain(data: WorldData, component: int) -> int:
    """The number of uncertain events of a component."""
    total = 0
    for stream, component_of in zip(data.streams, data.parts.of_rows, strict=True):
        if not isinstance(stream, CertainStream):
            rows = np.flatnonzero((component_of == component) & _is_open(stream))
            total += len(np.unique(event_tokens(stream)[rows]))
    return total


def _uncertain(
    data: WorldData, component: int, low: int, high: int, lineage: Ints
) -> Iterator[tuple[UncertainEvent, bool]]:
    """The uncertain events of a component row by row, and whether the row is in the lineage."""
    for stream, component_of in zip(data.streams, data.parts.of_rows, strict=True):
        if isinstance(stream, CertainStream):
            continue
        tokens = event_tokens(stream)
        begins, ends = _times(stream)
        own = np.isin(stream.tokens.view(np.int64), lineage)
        near = (begins <= high) & (ends >= low)
        rows = np.flatnonzero((component_of == component) & _is_open(stream) & (near | own))
        ids = stream.rows[ID].combine_chunks()
        for row in rows.tolist():
            event = UncertainEvent(
                int(tokens[row]),
                stream.schema.name,
                ids[row].as_py(),
                int(begins[row]),
                int(ends[row]),
                _lost_values(stream, row),
            )
            yield event, bool(own[row])


def _lost_values(stream: ImpreciseStream | ProbableStream | LossyStream, row: int) -> tuple[tuple[str, Value], ...]:
    """KEY and number of a lost event."""
    uncertainty = stream.schema.uncertainty
    if not isinstance(uncertainty, LostEvents):
        return ()
    return tuple((name, stream.rows[name][row].as_py()) for name in (*stream.schema.key, uncertainty.number))


def _is_open(stream: ImpreciseStream | ProbableStream | LossyStream) -> np.ndarray:
    """Which rows belong to a choice with several alternatives."""
    factors = stream.factors
    if isinstance(stream, LossyStream):
        return np.asarray(factors >= 0)
    several = np.append(stream.n_alternatives(2) > 1, False)
    return np.asarray(several[factors])


def _times(stream: ImpreciseStream | ProbableStream | LossyStream) -> tuple[Ints, Ints]:
    """The first and last time at which each event may happen."""
    if isinstance(stream, ProbableStream):
        time = stream.rows[START].to_numpy()
        return time, time
    low, high = stream.extents
    known = stream.rows[START].to_numpy()  # the only border of a gap that a rate limits
    return np.where(low > -FOREVER, low, known), np.where(high < FOREVER, high, known)


def influences(
    seen: Sequence[WorldMatches],
    identity: np.uint64,
    component: int,
    removals: Sequence[Removal],
    events: Sequence[UncertainEvent],
    delta: float,
) -> tuple[Influence, ...]:
    """The influence of each event on a result, the largest first."""
    chances = _probabilities(seen, identity, len(removals) + 1)
    if chances[0] <= 0:
        return ()
    found = []
    n_sampled = _n_sampled(seen, identity)
    for one in events:
        removal = Removal(component, one.token)
        if removal in removals:
            without = float(chances[1 + removals.index(removal)])
            error = 0.0
            if n_sampled:
                error = float(half_width(np.array([round(without * n_sampled)]), n_sampled, delta)[0])
            found.append(Influence(one, without, float((chances[0] - without) / chances[0]), error))
    noticed = (one for one in found if abs(one.share) >= NOTICED)
    return tuple(sorted(noticed, key=lambda one: -abs(one.share)))


def _n_sampled(seen: Sequence[WorldMatches], identity: np.uint64) -> int:
    """The number of sampled worlds in which a result was looked for; 0 if worlds were enumerated."""
    mine = (part.worlds for part in seen if (part.identity == identity).any())
    return next((len(worlds.weights) for worlds in mine if worlds.components is None), 0)


def _probabilities(seen: Sequence[WorldMatches], identity: np.uint64, n_variants: int) -> np.ndarray:
    """The probability of a result in each variant; a world counts once."""
    total = np.zeros(n_variants)
    for part in seen:
        rows = np.flatnonzero(part.identity == identity)
        once = np.unique(np.stack([part.variant[rows], part.world[rows]]), axis=1, return_index=True)[1]
        total += np.bincount(part.variant[rows[once]], part.weight[rows[once]], minlength=n_variants)
    return total
