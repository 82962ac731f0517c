"""What tokens stand for while results may still mention them: the id of the event, and how late it can happen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from inkling.evaluators.worlds.estimate import Names, called_as
from inkling.model.batch import Ints

MOST_NAMES = 1_000_000
"""Where nothing limits how far back a result reaches, so many events are remembered by name; older ones lose it."""

SCHEMA = pa.schema([pa.field("token", pa.int64()), pa.field("id", pa.string()), pa.field("until", pa.int64())])


@dataclass(frozen=True, slots=True)
class LiveNames:
    """One line per token, in the order of the tokens."""

    table: pa.Table = field(default_factory=SCHEMA.empty_table)

    def with_events(self, tokens: Ints, ids: pa.Array | pa.ChunkedArray, until: Ints) -> LiveNames:
        if not len(tokens):
            return self
        new = pa.table([pa.array(tokens), ids.cast(pa.string()), pa.array(until)], schema=SCHEMA)
        every = pa.concat_tables([self.table, new]).combine_chunks()
        _, first = np.unique(every["token"].to_numpy(), return_index=True)
        return LiveNames(every.take(pa.array(first)).combine_chunks())

    def still_needed(self, since: int | None, open_ones: Iterable[Ints]) -> LiveNames:
        """The names of open results, and of events that did not end before `since`; without such a time, the latest."""
        until = self.table["until"].to_numpy()
        if since is not None:
            kept = until >= since
            for tokens in open_ones:
                kept |= np.isin(self.table["token"].to_numpy(), tokens)
        elif len(until) > MOST_NAMES:
            kept = until >= np.partition(until, len(until) - MOST_NAMES)[len(until) - MOST_NAMES]
        else:
            return self
        return self if kept.all() else LiveNames(self.table.filter(pa.array(kept)).combine_chunks())

    def until(self, tokens: Ints) -> Ints:
        """The latest time at which each event can happen; long ago for those that were forgotten."""
        known = self.table["token"].to_numpy()
        if not len(known):
            return np.full(len(tokens), np.iinfo(np.int64).min)
        place = np.minimum(np.searchsorted(known, tokens), len(known) - 1)
        found = known[place] == tokens
        return np.where(found, self.table["until"].to_numpy()[place], np.iinfo(np.int64).min)

    def names(self, kind: pa.DataType) -> Names:
        ids = self.table["id"].combine_chunks()
        return Names(self.table["token"].to_numpy(), called_as(ids, kind))
