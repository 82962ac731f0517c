"""From pings with the nearest stop to windows: between which pings a journey called at which stops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inkling.generate.arrays import Integers


class Windows(NamedTuple):
    """Stretches of journeys, one after the other: from the first ping nearest to a stop to the first one further on."""

    journey: Integers
    start: Integers
    end: Integers
    stop: Integers  # place in the schedule of the first stop
    n_stops: Integers  # how many were called at: that one, and those that no ping was near to


def windows_of(journey: Integers, stop: Integers, time: Integers) -> Windows:
    """Windows of pings in the order of journey and time; `stop` is a place in the schedule.

    A ping that is nearest to a stop behind, where the journey has been already, is an error of positioning and says
    nothing. The stretch after the last border is no window: it is not known which stops belong to it.

    >>> jitter = windows_of(np.zeros(6, int), np.array([1, 1, 2, 1, 2, 4]), np.arange(0, 120, 20))
    >>> jitter.start.tolist(), jitter.end.tolist(), jitter.n_stops.tolist()
    ([0, 40], [40, 100], [1, 2])
    """
    span = int(stop.max(initial=0)) + 1
    furthest = np.maximum.accumulate(journey * span + stop)
    border = np.flatnonzero(np.diff(furthest, prepend=-1) > 0)
    follows = np.diff(journey[border]) == 0
    first, last = border[:-1][follows], border[1:][follows]
    return Windows(journey[first], time[first], time[last], stop[first], stop[last] - stop[first])
