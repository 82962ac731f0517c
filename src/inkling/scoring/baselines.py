"""Simple ways to forecast, for comparison: a model that cannot beat them has learned nothing of use.

Each says something wherever the model does, in the same columns, and is scored the same way. What it learns, it learns
from the part of the outcomes that is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from inkling.scoring.outcomes import NEVER, Floats, Ints, Marks, Outcomes


def baselines(outcomes: Outcomes, *, given: bool, span: int | None = None) -> Mapping[str, Outcomes]:
    """By name: the same events with what a simple rule says instead of the model.

    `given` tells that forecasts are about a given stretch of events, so that only their chances say something; others
    choose the stretch themselves.
    """
    rules: dict[str, Outcomes] = {}
    if given:
        rules["share of positives"] = share_of_positives(outcomes, span=span)
    if span is None:  # they count events, and know nothing of time
        rules["mean waiting time"] = mean_waiting_time(outcomes, given=given)
        rules["last interval"] = last_interval(outcomes, given=given)
    return rules


def share_of_positives(outcomes: Outcomes, *, span: int | None = None) -> Outcomes:
    """The same chance always: the share of forecasts that came true in the past."""
    past, true = _past(outcomes), _true(outcomes, outcomes.first, outcomes.last, span)
    share = _share(true[past])
    return replace(outcomes, chance=np.where(np.isnan(outcomes.chance), np.nan, share))


def mean_waiting_time(outcomes: Outcomes, *, given: bool) -> Outcomes:
    """The next detection comes as long after the latest one as the mean in the past."""
    return _ruled(outcomes, np.full(len(outcomes), mean_interval(outcomes)), given)


def last_interval(outcomes: Outcomes, *, given: bool) -> Outcomes:
    """The next detection comes as long after the latest one as that came after the one before; at first, the mean."""
    gap = np.full(len(outcomes), mean_interval(outcomes))
    at = outcomes.previous
    before = np.where(at > 0, outcomes.previous[at - 1], -1)
    same = (before >= 0) & (outcomes.run[before] == outcomes.run)
    gap[same] = (outcomes.number[at] - outcomes.number[before])[same]
    return _ruled(outcomes, gap, given)


def mean_interval(outcomes: Outcomes) -> float:
    """Events from one detection to the next, on average over the past; over everything if it has none."""
    at = np.flatnonzero(outcomes.detected)
    again = outcomes.run[at[1:]] == outcomes.run[at[:-1]] if len(at) else np.empty(0, np.bool_)
    gaps = np.diff(outcomes.number[at])[again]
    past = gaps[~outcomes.judged[at[1:]][again]]
    known = past if len(past) else gaps
    return float(known.mean()) if len(known) else float(max(1, outcomes.number.max(initial=1)))


def _ruled(outcomes: Outcomes, gap: Floats, given: bool) -> Outcomes:
    """A rule that names the event of the next detection; its chances are how often it was right in the past.

    Forecasts of an interval become a point. Those of whether a detection comes in a given one become two chances: of
    when the rule says that it does, and of when not.
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


def _past(outcomes: Outcomes) -> Marks:
    """Forecasts to learn from: those whose events all lie before what is judged, or all if there is no past."""
    said = ~np.isnan(outcomes.chance)
    n = len(outcomes)
    ahead = np.minimum(np.arange(n) + outcomes.last, n - 1)
    past = said & ~outcomes.judged & ~outcomes.judged[ahead] & (outcomes.run[ahead] == outcomes.run)
    return past if past.any() else said


def _true(outcomes: Outcomes, first: Ints, last: Ints, span: int | None = None) -> Marks:
    if span is not None:
        return outcomes.wait_time <= span
    wait = outcomes.wait
    return (wait >= first) & (wait <= last) & (wait < NEVER)


def _share(true: Marks) -> float:
    """The share, with half a yes and half a no added so that nothing is certain."""
    return float((true.sum() + 0.5) / (len(true) + 1))
