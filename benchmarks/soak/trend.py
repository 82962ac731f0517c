"""How fast something grows, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through medians of minutes; neighboring samples are too much alike to be counted one by one."""

    per_hour: float
    uncertainty: float  # two standard errors
    level: float  # its mean

    @property
    def is_unknown(self) -> bool:
        """Whether there were too few minutes."""
        return self.uncertainty == float("inf")

    @property
    def is_flat(self) -> bool:
        """Whether growth cannot be told from none, or an hour of it is less than a twentieth of what is there."""
        return abs(self.per_hour) <= max(self.uncertainty, self.level / 20)

    @property
    def verdict(self) -> str:
        if self.is_unknown:
            return "too short to tell"
        return "flat" if self.is_flat else "**grows**" if self.per_hour > 0 else "shrinks"

    @classmethod
    def of(cls, seconds: Sequence[float], values: Sequence[float]) -> Trend:
        at, what = np.asarray(seconds, float), np.asarray(values, float)
        minute = (at // MINUTE_S).astype(int)
        minutes = np.unique(minute)
        y = np.array([np.median(what[minute == one]) for one in minutes])
        x = minutes / 60
        if len(x) < 3:
            return cls(0.0, float("inf"), float(what.mean()))
        centered = x - x.mean()
        spread = float(centered @ centered)
        slope = float(centered @ y) / spread
        residuals = y - y.mean() - slope * centered
        variance = float(residuals @ residuals) / (len(x) - 2)
        return cls(slope, 2 * (variance / spread) ** 0.5, float(y.mean()))
