"""How often two arrivals at one depot follow each other within a few minutes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

MEETING_US = 600_000_000


@dataclass(slots=True)
class YardLog:
    """Counts pairs of arrivals at the same depot that lie at most ten minutes, but some time, apart."""

    pairs: int = 0
    _recent_us: defaultdict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))

    def arrive(self, arrivals: Iterable[tuple[int, int]]) -> None:
        """Arrivals as (depot, time) in the order of time."""
        for depot, time_us in arrivals:
            recent = self._recent_us[depot]
            while recent and time_us - recent[0] > MEETING_US:
                recent.popleft()
            self.pairs += sum(earlier < time_us for earlier in recent)
            recent.append(time_us)
