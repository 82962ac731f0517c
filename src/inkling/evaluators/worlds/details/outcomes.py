"""What uncertain events turn out to be in each world, and what that means for one result.

An event of alternatives takes one of them or does not happen, an event with an imprecise time happens at a tick, a lost
event lies between two known times. Given each of these outcomes, a result has another probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inkling.evaluators.sampling import interval
from inkling.evaluators.worlds.details.influence import NOTICED, UncertainEvent
from inkling.evaluators.worlds.details.variants import Worlds, event_tokens
from inkling.evaluators.worlds.streams.assignment import OWN_TIME
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.of import WorldStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.io.normalize import END, START
from inkling.model.batch import FOREVER, Ints
from inkling.model.event import Value
from inkling.model.schema import value_columns
from inkling.model.uncertainty import ProbableValue

MOST_OUTCOMES = 8
"""How many outcomes of one event are distinguished; neighboring times are put together."""

NOISE = 0.001
"""The chance, per outcome, that a difference is seen in a sample where there is none."""

EQUAL = 1e-9
"""Probabilities that differ by less are taken for the same."""


@dataclass(frozen=True, slots=True)
class EventOutcome:
    """What an uncertain event turns out to be: uncertain values, and the first and last time that it may have.

    A lost event lies between two times, of which one is FOREVER away where only a rate limits it. An event that does
    not happen has no values.
    """

    happens: bool
    values: tuple[tuple[str, Value], ...]
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """An outcome, its probability, and the probability of the result given that outcome.

    `error` is 0 where all worlds were enumerated. In a sample, the probability of the result lies within it with the
    confidence of the run.
    """

    outcome: EventOutcome
    probability: float
    result: float
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Dependence:
    """The probability of a result given each outcome of one uncertain event."""

    event: UncertainEvent
    given: tuple[Conditional, ...]

    @property
    def reach(self) -> float:
        """How far apart the probabilities of the result are, at most."""
        chances = [one.result for one in self.given]
        return max(chances) - min(chances)


@dataclass(frozen=True, slots=True)
class WorldScenario:
    """Worlds in which all uncertain events that matter turn out the same: with a result, or without."""

    outcomes: tuple[tuple[UncertainEvent, EventOutcome], ...]
    probability: float
    n_worlds: int
    world: int  # the most probable of these worlds


@dataclass(frozen=True, slots=True)
class Turned:
    """An uncertain event, its possible outcomes, and which of them it has in every world of a part."""

    event: UncertainEvent
    outcomes: tuple[EventOutcome, ...]
    codes: Ints


def turned_out(worlds: Worlds, here: Ints, events: Sequence[UncertainEvent], times: Ints, scale: int) -> list[Turned]:
    """What the events of a part turn out to be in its worlds `here`; `times` are the known times of the part."""
    found = []
    place = np.full(len(worlds.weights), -1)
    place[here] = np.arange(len(here))
    for one in events:
        number = next(at for at, stream in enumerate(worlds.streams) if stream.schema.name == one.stream)
        stream, assignment = worlds.streams[number], worlds.assignment[number]
        mine = np.flatnonzero(np.isin(assignment.rows, np.flatnonzero(event_tokens(stream) == one.token)))
        mine = mine[place[assignment.worlds[mine]] >= 0]
        row, time = np.full(len(here), -1), np.full(len(here), OWN_TIME)
        at = place[assignment.worlds[mine]]
        row[at] = assignment.rows[mine]
        if assignment.times is not None:
            time[at] = assignment.times[mine]
        found.append(_turned(one, stream, row, time, times, scale))
    return found


def known_times(streams: Sequence[WorldStream], in_part: Sequence[np.ndarray]) -> Ints:
    """The times of a part of the data that lost events may lie between, in order."""
    found = [np.empty(0, np.int64)]
    for stream, rows in zip(streams, in_part, strict=True):
        chosen = rows[rows < stream.n_recorded] if isinstance(stream, LossyStream) else rows
        if isinstance(stream, ImpreciseStream):
            found += [one[chosen] for one in stream.extents]
        else:
            found += [stream.rows[name].to_numpy()[chosen] for name in (START, END)]
        if isinstance(stream, LossyStream):
            gaps = np.unique(stream.factors[rows[rows >= stream.n_recorded]])
            found += [one[gaps][np.abs(one[gaps]) < FOREVER] for one in (stream.low, stream.high)]
    return np.unique(np.concatenate(found))


def _turned(event: UncertainEvent, stream: WorldStream, row: Ints, time: Ints, times: Ints, scale: int) -> Turned:
    if isinstance(stream, LossyStream):
        time = np.searchsorted(times * scale, time, side="right")
    each, code = np.unique(np.stack([row, time]), axis=1, return_inverse=True)
    listed = [_outcome(event, stream, int(row), int(time), times, scale) for row, time in each.T]
    outcomes = sorted(dict.fromkeys(listed), key=lambda one: (not one.happens, one.low, one.high, str(one.values)))
    place = {one: at for at, one in enumerate(outcomes)}
    codes = np.array([place[one] for one in listed], np.int64)[code.reshape(-1)]
    return Turned(event, tuple(outcomes), codes)


def _outcome(event: UncertainEvent, stream: WorldStream, row: int, time: int, times: Ints, scale: int) -> EventOutcome:
    if row < 0:
        return EventOutcome(False, (), event.low, event.high)
    if isinstance(stream, LossyStream):
        low = int(times[time - 1]) if time > 0 else -FOREVER
        high = int(times[time]) if time < len(times) else FOREVER
        return EventOutcome(True, (), low, high)
    if isinstance(stream, ProbableStream):
        uncertainty = stream.schema.uncertainty
        assert isinstance(uncertainty, ProbableValue)
        names = [name for name in value_columns(uncertainty, stream.schema) if name in stream.rows.column_names]
        values = tuple((name, stream.rows[name][row].as_py()) for name in names)
        return EventOutcome(True, values, event.low, event.high)
    at = time // scale
    return EventOutcome(True, (), at, at)


def dependences(
    turned: Sequence[Turned], weights: np.ndarray, has: np.ndarray, delta: float | None = None
) -> list[Dependence]:
    """The events on whose outcome the probability of a result depends, the strongest first.

    `delta` is given for samples. There an event counts only if chance does not explain the difference that it makes.
    """
    found = [_dependence(one, weights, has, delta) for one in turned]
    noticed = [one for one in found if one.reach >= NOTICED and len(one.given) > 1]
    if delta is not None:
        noticed = [one for one in noticed if not _is_noise(one.given, len(weights))]
    return sorted(noticed, key=lambda one: -round(one.reach, 9))


def _dependence(turned: Turned, weights: np.ndarray, has: np.ndarray, delta: float | None) -> Dependence:
    n = len(turned.outcomes)
    chance = np.bincount(turned.codes, weights, minlength=n)
    both = np.bincount(turned.codes, weights * has, minlength=n)
    total = weights.sum()
    given = [
        Conditional(outcome, float(chance[at] / total), float(both[at] / chance[at]))
        for at, outcome in enumerate(turned.outcomes)
        if chance[at] > 0
    ]
    if delta is None:
        given = _joined(given)
    while len(given) > MOST_OUTCOMES:
        fewer = _pairs(given)
        if len(fewer) == len(given):
            break
        given = fewer
    if delta is not None:
        given = [_with_error(one, len(weights), delta) for one in _joined(given, len(weights))]
    return Dependence(turned.event, tuple(given))


def _joined(given: Sequence[Conditional], n_sampled: int | None = None) -> list[Conditional]:
    """Neighboring times put together where the result is equally probable at them; in a sample, as far as one sees."""
    found: list[Conditional] = []
    for one in given:
        if found and _are_times(found[-1], one) and _are_alike(found[-1], one, n_sampled):
            found[-1] = _both(found[-1], one)
        else:
            found.append(one)
    return found


def _are_alike(one: Conditional, other: Conditional, n_sampled: int | None) -> bool:
    if n_sampled is None:
        return abs(one.result - other.result) < EQUAL
    return _is_noise((one, other), n_sampled)


def _is_noise(given: Sequence[Conditional], n_sampled: int) -> bool:
    """Whether the probabilities of a result given some outcomes may all be the same, by a sample of worlds."""
    low, high = zip(*(_bounds(one, n_sampled, NOISE) for one in given), strict=True)
    return bool(max(low) <= min(high))


def _bounds(one: Conditional, n_sampled: int, delta: float) -> tuple[float, float]:
    n = round(one.probability * n_sampled)
    low, high = interval(np.array([round(one.result * n)]), n, delta)
    return float(low[0]), float(high[0])


def _with_error(one: Conditional, n_sampled: int, delta: float) -> Conditional:
    low, high = _bounds(one, n_sampled, delta)
    return replace(one, error=max(one.result - low, high - one.result))


def _pairs(given: list[Conditional]) -> list[Conditional]:
    """Every second time put together with the one before it."""
    found: list[Conditional] = []
    fresh = False
    for one in given:
        if fresh and _are_times(found[-1], one):
            found[-1], fresh = _both(found[-1], one), False
        else:
            found.append(one)
            fresh = True
    return found


def _are_times(one: Conditional, other: Conditional) -> bool:
    return _differ_in_time(one.outcome, other.outcome)


def _differ_in_time(one: EventOutcome, other: EventOutcome) -> bool:
    """Whether two outcomes differ in nothing but time."""
    return one.happens and other.happens and one.values == other.values == ()


def _both(one: Conditional, other: Conditional) -> Conditional:
    chance = one.probability + other.probability
    result = (one.probability * one.result + other.probability * other.result) / chance
    outcome = replace(one.outcome, low=one.outcome.low, high=other.outcome.high)
    return Conditional(outcome, chance, result)


def coarser(turned: Turned, given: Sequence[Conditional]) -> Turned:
    """The same event with times put together as in `given`."""
    listed = tuple(one.outcome for one in given)
    codes = []
    for outcome in turned.outcomes:
        same = [at for at, one in enumerate(listed) if one == outcome or _holds(one, outcome)]
        codes.append(same[0])
    return Turned(turned.event, listed, np.array(codes, np.int64)[turned.codes])


def _holds(one: EventOutcome, other: EventOutcome) -> bool:
    return (
        one.happens and other.happens and one.values == other.values and one.low <= other.low and other.high <= one.high
    )


def that_matter(turned: Sequence[Turned], weights: np.ndarray, has: np.ndarray) -> list[Turned]:
    """Without events that make no difference to a result, whatever the others turn out to be."""
    kept = list(turned)
    for one in reversed(turned):
        others = [other for other in kept if other is not one]
        if _makes_no_difference(one, others, weights, has):
            kept = others
    return kept


def with_stretches(turned: Sequence[Turned], weights: np.ndarray, has: np.ndarray) -> list[Turned]:
    """Neighboring times of an event put together where it makes no difference which of them it has."""
    found = list(turned)
    for place, one in enumerate(found):
        others = _joint_codes([other for other in found if other is not one], len(weights))
        shares = [_shares(others, weights, has, one.codes == code) for code in range(len(one.outcomes))]
        outcomes, codes, latest = [one.outcomes[0]], [0], shares[0]
        for after, share in zip(one.outcomes[1:], shares[1:], strict=True):
            if _differ_in_time(outcomes[-1], after) and np.allclose(latest, share, rtol=0, atol=EQUAL, equal_nan=True):
                outcomes[-1] = replace(outcomes[-1], high=after.high)
            else:
                outcomes.append(after)
                latest = share
            codes.append(len(outcomes) - 1)
        found[place] = Turned(one.event, tuple(outcomes), np.array(codes, np.int64)[one.codes])
    return found


def _shares(others: Ints, weights: np.ndarray, has: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """How probable the result is in the chosen worlds, for all that others may turn out to be; NaN if they cannot."""
    n = int(others.max(initial=0)) + 1
    total = np.bincount(others[chosen], weights[chosen], minlength=n)
    hit = np.bincount(others[chosen], (weights * has)[chosen], minlength=n)
    shares = np.full(n, np.nan)
    np.divide(hit, total, out=shares, where=total > 0)
    return shares


def _makes_no_difference(one: Turned, others: Sequence[Turned], weights: np.ndarray, has: np.ndarray) -> bool:
    context = _joint_codes(others, len(weights))
    own = _joint_codes([*others, one], len(weights))
    expected = np.bincount(context, weights * has) / np.maximum(np.bincount(context, weights), 1e-300)
    found = np.bincount(own, weights * has) / np.maximum(np.bincount(own, weights), 1e-300)
    return bool(np.all(np.abs(expected[context] - found[own])[weights > 0] < EQUAL))


def _joint_codes(turned: Sequence[Turned], n_worlds: int) -> Ints:
    """A number for every world, equal where all these events turn out the same."""
    if not turned:
        return np.zeros(n_worlds, np.int64)
    codes = np.stack([one.codes for one in turned])
    return np.asarray(np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1), np.int64)


def scenarios(
    turned: Sequence[Turned], weights: np.ndarray, here: Ints, chosen: np.ndarray, n: int
) -> list[WorldScenario]:
    """The most probable scenarios among the chosen worlds, of equally probable ones those that are listed first."""
    some = np.flatnonzero(chosen & (weights > 0))
    if not len(some):
        return []
    group = _joint_codes([replace(one, codes=one.codes[some]) for one in turned], len(some))
    chance = np.bincount(group, weights[some])
    order = np.argsort(-np.round(chance, 12), kind="stable")[:n]
    found = []
    for number in order.tolist():
        mine = some[group == number]
        likeliest = int(mine[np.argmax(np.round(weights[mine], 12))])
        outcomes = tuple((one.event, one.outcomes[one.codes[likeliest]]) for one in turned)
        found.append(WorldScenario(outcomes, float(chance[number]), len(mine), int(here[likeliest])))
    return found
