"""Baselines: simple forecasts that a useful model must beat.

A baseline forecasts wherever the model does, in the same columns, and is scored in the same way. It learns from the
part of the outcomes that is not scored.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from inkling.forecasting.scoring.outcomes import NEVER, Booleans, Floats, Ints, Outcomes


def baselines(outcomes: Outcomes, *, given: bool, span: int | None = None) -> Mapping[str, Outcomes]:
    """Baselines by name: the same events with the forecasts of a simple rule.

    `given`: forecasts are about a given interval of events, and only their chances differ. Other forecasts choose the
    interval.
    """
    rules: dict[str, Outcomes] = {}
    if given:
        rules["share of positives"] = share_of_positives(outcomes, span=span)
    if span is None:  # they count events, and know nothing of time
        rules["mean waiting time"] = mean_waiting_time(outcomes, given=given)
        rules["last interval"] = last_interval(outcomes, given=given)
    return rules


def share_of_positives(outcomes: Outcomes, *, span: int | None = None) -> Outcomes:
    """A constant chance: the share of forecasts that came true in the past."""
    past, true = _past(outcomes), _true(outcomes, outcomes.first, outcomes.last, span)
    share = _share(true[past])
    return replace(outcomes, chance=np.where(np.isnan(outcomes.chance), np.nan, share))


def mean_waiting_time(outcomes: Outcomes, *, given: bool) -> Outcomes:
    """The next detection follows the latest one after the mean interval of the past."""
    return _ruled(outcomes, np.full(len(outcomes), mean_interval(outcomes)), given)


def last_interval(outcomes: Outcomes, *, given: bool) -> Outcomes:
    """The next detection follows the latest one after the same interval as last time; at first, the mean interval."""
    gap = np.full(len(outcomes), mean_interval(outcomes))
    at = outcomes.previous
    before = np.where(at > 0, outcomes.previous[at - 1], -1)
    same = (before >= 0) & (outcomes.run[before] == outcomes.run)
    gap[same] = (outcomes.number[at] - outcomes.number[before])[same]
    return _ruled(outcomes, gap, given)


def mean_interval(outcomes: Outcomes) -> float:
    """The mean number of events between detections in the past; in all rows if there is no past."""
    at = np.flatnonzero(outcomes.detected)
    again = outcomes.run[at[1:]] == outcomes.run[at[:-1]] if len(at) else np.empty(0, np.bool_)
    gaps = np.diff(outcomes.number[at])[again]
    past = gaps[~outcomes.judged[at[1:]][again]]
    known = past if len(past) else gaps
    return float(known.mean()) if len(known) else float(max(1, outcomes.number.max(initial=1)))


def _ruled(outcomes: Outcomes, gap: Floats, given: bool) -> Outcomes:
    """A rule that predicts the event of the next detection; its chances are the shares that came true in the past.

    Forecasts of an interval become a point. Forecasts about a given interval have two chances: one if the predicted
    event is in the interval, and one if it is not.
    """
    latest = np.where(outcomes.previous >= 0, outcomes.number[outcomes.previous], 0)
    ahead = np.maximum(1, np.rint(latest + gap).astype(np.int64) - outcomes.number)
    silent = np.isnan(outcomes.chance)
    if given:
        true = _true(outcomes, outcomes.first, outcomes.last)
        says = (ahead >= outcomes.first) & (ahead <= outcomes.last)
        past = _past(outcomes)
        chance = np.where(says, _share(true[past & says]), _share(true[past & ~says]))
        return replace(outcomes, chance=np.where(silent, np.nan, chance))
    share = _share(_true(outcomes, ahead, ahead)[_past(outcomes)])
    chance = np.where(silent, np.nan, share)
    return replace(outcomes, first=np.where(silent, 0, ahead), last=np.where(silent, 0, ahead), chance=chance)


def _past(outcomes: Outcomes) -> Booleans:
    """Forecasts to learn from: those whose events all precede the scored part; all forecasts if there are none."""
    has_forecast = ~np.isnan(outcomes.chance)
    n = len(outcomes)
    ahead = np.minimum(np.arange(n) + outcomes.last, n - 1)
    past = has_forecast & ~outcomes.judged & ~outcomes.judged[ahead] & (outcomes.run[ahead] == outcomes.run)
    return past if past.any() else has_forecast


def _true(outcomes: Outcomes, first: Ints, last: Ints, span: int | None = None) -> Booleans:
    if span is not None:
        return outcomes.wait_time <= span
    wait = outcomes.wait
    return (wait >= first) & (wait <= last) & (wait < NEVER)


def _share(true: Booleans) -> float:
    """The share with half a positive and half a negative added (Krichevsky and Trofimov), so that none is certain."""
    return float((true.sum() + 0.5) / (len(true) + 1))
