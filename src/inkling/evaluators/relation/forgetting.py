"""Keys that a relation no longer needs: complete, and before everything that open or later keys can be related to.

TIMEOUT 10:  a: 1, 4    b: 3 … 20    a ended at 4; it is needed until b is complete, because b began before
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.sequence_log import NOT_GIVEN, SequenceLog
from inkling.model.batch import FOREVER, Ints, Mask
from inkling.model.schema import StreamSchema


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """The keys of a stream with TIMEOUT by a watermark: when each begins and ends, and which are complete."""

    log: SequenceLog
    start: Ints
    end: Ints
    complete: Mask

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table, time: int) -> Lifetimes:
        log = SequenceLog.of(schema, rows)
        assert log.uncertainty.timeout is not None
        number, first, last = log.number[log.last], log.time[log.first], log.time[log.last]
        is_full = log.ended | ((log.count != NOT_GIVEN) & (number >= log.count))
        return cls(
            log,
            np.where(log.before > 0, np.minimum(log.since, first), first),
            np.where(log.total > number, log.limit, last),
            np.asarray(is_full | (last + schema.units(log.uncertainty.timeout) <= time), bool),
        )

    def before(self, horizon: int) -> Mask:
        """The rows of complete keys that ended before a time.

        Keys without segments are kept, because ALL of their segments are related to any other key. A key has segments
        unless its opening event is older than an event that was added to a running program.
        """
        chosen = self.complete & (self.end < horizon) & (self.log.uncounted == 0)
        found = np.zeros(len(self.log.order), bool)
        found[self.log.order] = np.repeat(chosen, self.log.last - self.log.first + 1)
        return found


def horizon_of(streams: Iterable[Lifetimes], latest: int) -> int:
    """The earliest time of an event of an open key, or of a key that can begin later: `latest`."""
    return min([latest, *(int(one.start[~one.complete].min(initial=FOREVER)) for one in streams)])
