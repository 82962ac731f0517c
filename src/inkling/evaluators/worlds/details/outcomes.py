"""Outcomes of uncertain events, and the probability of a result given each outcome.

The outcome of an event in a world is one of its alternatives or no event, the tick of an imprecise time, or the two
known times between which a lost event lies. A scenario is a set of worlds with the same outcomes of all events that
matter to a result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inkling.evaluators.sampling import interval
from inkling.evaluators.worlds.details.influence import NOTICED, UncertainEvent
from inkling.evaluators.worlds.details.variants import Worlds, event_tokens
from inkling.evaluators.worlds.streams.assignment import OWN_TIME
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.evaluators.worlds.streams.world_stream import WorldStream
from inkling.io.normalize import END, START
from inkling.model.batch import FOREVER, Ints
from inkling.model.event import Value
from inkling.model.schema import value_columns
from inkling.model.uncertainty import ProbableValue

MOST_OUTCOMES = 8
"""The limit on outcomes per event; neighboring times are merged."""

NOISE = 0.001
"""The probability, per outcome, that a sample shows a difference where there is none."""

EQUAL = 1e-9
"""Probabilities that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class EventOutcome:
    """The outcome of one uncertain event in some worlds."""

    happens: bool
    values: tuple[tuple[str, Value], ...]  # of the uncertain columns; empty if it does not happen
    low: int  # the first and the last possible time; FOREVER where only a rate limits a lost event
    high: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """The probability of a result given an outcome of an event."""

    outcome: EventOutcome
    probability: float  # P(outcome)
    result: float  # P(result | outcome)
    error: float = 0.0  # of `result`, with the confidence of the run; 0 if all worlds were enumerated


@dataclass(frozen=True, slots=True)
class Dependence:
    """The probability of a result given each outcome of one uncertain event."""

    event: UncertainEvent
    given: tuple[Conditional, ...]

    @property
    def reach(self) -> float:
        """The largest difference between the conditional probabilities of the result."""
        chances = [one.result for one in self.given]
        return max(chances) - min(chances)


@dataclass(frozen=True, slots=True)
class WorldScenario:
    """Worlds with the same outcomes of all events that matter, all of them with the result or all without."""

    outcomes: tuple[tuple[UncertainEvent, EventOutcome], ...]
    probability: float
    n_worlds: int
    world: int  # the most probable of these worlds


@dataclass(frozen=True, slots=True)
class OutcomeCodes:
    """An uncertain event, its possible outcomes, and the number of its outcome in each world."""

    event: UncertainEvent
    outcomes: tuple[EventOutcome, ...]
    codes: Ints


def outcome_codes(
    worlds: Worlds, here: Ints, events: Sequence[UncertainEvent], times: Ints, scale: int
) -> list[OutcomeCodes]:
    """The outcomes of events in the worlds `here` of a component; `times` are the known times of the component."""
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
        found.append(_codes_of_event(one, stream, row, time, times, scale))
    return found


def known_times(streams: Sequence[WorldStream], in_part: Sequence[np.ndarray]) -> Ints:
    """The known times of a component between which lost events lie, sorted."""
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


def _codes_of_event(
    event: UncertainEvent, stream: WorldStream, row: Ints, time: Ints, times: Ints, scale: int
) -> OutcomeCodes:
    if isinstance(stream, LossyStream):
        time = np.searchsorted(times * scale, time, side="right")
    each, code = np.unique(np.stack([row, time]), axis=1, return_inverse=True)
    listed = [_outcome(event, stream, int(row), int(time), times, scale) for row, time in each.T]
    outcomes = sorted(dict.fromkeys(listed), key=lambda one: (not one.happens, one.low, one.high, str(one.values)))
    place = {one: at for at, one in enumerate(outcomes)}
    codes = np.array([place[one] for one in listed], np.int64)[code.reshape(-1)]
    return OutcomeCodes(event, tuple(outcomes), codes)


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
    events: Sequence[OutcomeCodes], weights: np.ndarray, has: np.ndarray, delta: float | None = None
) -> list[Dependence]:
    """The events on whose outcome the probability of a result depends, the strongest first.

    `delta` is given for samples: then an event is listed only if its differences exceed sampling noise.
    """
    found = [_dependence(one, weights, has, delta) for one in events]
    noticed = [one for one in found if one.reach >= NOTICED and len(one.given) > 1]
    if delta is not None:
        noticed = [one for one in noticed if not _is_noise(one.given, len(weights))]
    return sorted(noticed, key=lambda one: -round(one.reach, 9))


def _dependence(events: OutcomeCodes, weights: np.ndarray, has: np.ndarray, delta: float | None) -> Dependence:
    n = len(events.outcomes)
    chance = np.bincount(events.codes, weights, minlength=n)
    both = np.bincount(events.codes, weights * has, minlength=n)
    total = weights.sum()
    given = [
        Conditional(outcome, float(chance[at] / total), float(both[at] / chance[at]))
        for at, outcome in enumerate(events.outcomes)
        if chance[at] > 0
    ]
    if delta is None:
        given = _merged_times(given)
    while len(given) > MOST_OUTCOMES:
        fewer = _merged_pairs(given)
        if len(fewer) == len(given):
            break
        given = fewer
    if delta is not None:
        given = [_with_error(one, len(weights), delta) for one in _merged_times(given, len(weights))]
    return Dependence(events.event, tuple(given))


def _merged_times(given: Sequence[Conditional], n_sampled: int | None = None) -> list[Conditional]:
    """Merges neighboring times at which the result is equally probable, or in a sample not distinguishable."""
    found: list[Conditional] = []
    for one in given:
        if found and _are_times(found[-1], one) and _are_alike(found[-1], one, n_sampled):
            found[-1] = _merged_pair(found[-1], one)
        else:
            found.append(one)
    return found


def _are_alike(one: Conditional, other: Conditional, n_sampled: int | None) -> bool:
    if n_sampled is None:
        return abs(one.result - other.result) < EQUAL
    return _is_noise((one, other), n_sampled)


def _is_noise(given: Sequence[Conditional], n_sampled: int) -> bool:
    """Whether the sample is consistent with equal probabilities of the result given all of these outcomes."""
    low, high = zip(*(_bounds(one, n_sampled, NOISE) for one in given), strict=True)
    return bool(max(low) <= min(high))


def _bounds(one: Conditional, n_sampled: int, delta: float) -> tuple[float, float]:
    n = round(one.probability * n_sampled)
    low, high = interval(np.array([round(one.result * n)]), n, delta)
    return float(low[0]), float(high[0])


def _with_error(one: Conditional, n_sampled: int, delta: float) -> Conditional:
    low, high = _bounds(one, n_sampled, delta)
    return replace(one, error=max(one.result - low, high - one.result))


def _merged_pairs(given: list[Conditional]) -> list[Conditional]:
    """Merges each second time with the one before it."""
    found: list[Conditional] = []
    fresh = False
    for one in given:
        if fresh and _are_times(found[-1], one):
            found[-1], fresh = _merged_pair(found[-1], one), False
        else:
            found.append(one)
            fresh = True
    return found


def _are_times(one: Conditional, other: Conditional) -> bool:
    return _differ_in_time(one.outcome, other.outcome)


def _differ_in_time(one: EventOutcome, other: EventOutcome) -> bool:
    """Whether two outcomes differ only in time."""
    return one.happens and other.happens and one.values == other.values == ()


def _merged_pair(one: Conditional, other: Conditional) -> Conditional:
    chance = one.probability + other.probability
    result = (one.probability * one.result + other.probability * other.result) / chance
    outcome = replace(one.outcome, low=one.outcome.low, high=other.outcome.high)
    return Conditional(outcome, chance, result)


def merged_as(events: OutcomeCodes, given: Sequence[Conditional]) -> OutcomeCodes:
    """The event with its times merged as in `given`."""
    listed = tuple(one.outcome for one in given)
    codes = []
    for outcome in events.outcomes:
        same = [at for at, one in enumerate(listed) if one == outcome or _holds(one, outcome)]
        codes.append(same[0])
    return OutcomeCodes(events.event, listed, np.array(codes, np.int64)[events.codes])


def _holds(one: EventOutcome, other: EventOutcome) -> bool:
    return (
        one.happens and other.happens and one.values == other.values and one.low <= other.low and other.high <= one.high
    )


def relevant_events(events: Sequence[OutcomeCodes], weights: np.ndarray, has: np.ndarray) -> list[OutcomeCodes]:
    """Without events that make no difference to the result, given the outcomes of the others."""
    kept = list(events)
    for one in reversed(events):
        others = [other for other in kept if other is not one]
        if _makes_no_difference(one, others, weights, has):
            kept = others
    return kept


def with_merged_times(events: Sequence[OutcomeCodes], weights: np.ndarray, has: np.ndarray) -> list[OutcomeCodes]:
    """Merges neighboring times of an event that make no difference to the result, given the outcomes of others."""
    found = list(events)
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
        found[place] = OutcomeCodes(one.event, tuple(outcomes), np.array(codes, np.int64)[one.codes])
    return found


def _shares(others: Ints, weights: np.ndarray, has: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """P(result) in the chosen worlds, per joint outcome of the others; NaN for outcomes without a world."""
    n = int(others.max(initial=0)) + 1
    total = np.bincount(others[chosen], weights[chosen], minlength=n)
    hit = np.bincount(others[chosen], (weights * has)[chosen], minlength=n)
    shares = np.full(n, np.nan)
    np.divide(hit, total, out=shares, where=total > 0)
    return shares


def _makes_no_difference(
    one: OutcomeCodes, others: Sequence[OutcomeCodes], weights: np.ndarray, has: np.ndarray
) -> bool:
    context = _joint_codes(others, len(weights))
    own = _joint_codes([*others, one], len(weights))
    expected = np.bincount(context, weights * has) / np.maximum(np.bincount(context, weights), 1e-300)
    found = np.bincount(own, weights * has) / np.maximum(np.bincount(own, weights), 1e-300)
    return bool(np.all(np.abs(expected[context] - found[own])[weights > 0] < EQUAL))


def _joint_codes(events: Sequence[OutcomeCodes], n_worlds: int) -> Ints:
    """A number per world, equal for worlds with the same outcomes of all events."""
    if not events:
        return np.zeros(n_worlds, np.int64)
    codes = np.stack([one.codes for one in events])
    return np.asarray(np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1), np.int64)


def scenarios(
    events: Sequence[OutcomeCodes], weights: np.ndarray, here: Ints, chosen: np.ndarray, n: int
) -> list[WorldScenario]:
    """The `n` most probable scenarios among the chosen worlds."""
    some = np.flatnonzero(chosen & (weights > 0))
    if not len(some):
        return []
    group = _joint_codes([replace(one, codes=one.codes[some]) for one in events], len(some))
    chance = np.bincount(group, weights[some])
    order = np.argsort(-np.round(chance, 12), kind="stable")[:n]
    found = []
    for number in order.tolist():
        mine = some[group == number]
        likeliest = int(mine[np.argmax(np.round(weights[mine], 12))])
        outcomes = tuple((one.event, one.outcomes[one.codes[likeliest]]) for one in events)
        found.append(WorldScenario(outcomes, float(chance[number]), len(mine), int(here[likeliest])))
    return found
