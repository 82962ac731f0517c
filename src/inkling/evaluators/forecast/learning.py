"""The statistics that a model is learned from: counts of words of symbols, and of times between events.

Ntoulias et al. (Wayeb), section 3.2: the counter suffix tree, as a table of counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.forecast.families import family_names
from inkling.evaluators.forecast.symbols import SymbolEvent
from inkling.evaluators.gather import lineage_ids
from inkling.forecasting.models.counts import Histories, WordCounts
from inkling.forecasting.models.gaps import GapCounts
from inkling.forecasting.models.model import GAP, WORD
from inkling.logical.plan import forecast_of
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.model.runs import changes

ORDER = 3
"""The default order: the number of earlier symbols in a word."""


@dataclass(frozen=True)
class LearningEvent(SymbolEvent):
    """Counts the rows of each batch; counts of several batches, or of several sets of keys, add up."""

    @property
    def order(self) -> int:
        forecast = forecast_of(self.step.event)
        return ORDER if forecast.order is None else forecast.order

    def go_on(self, batch: EventBatch, histories: Histories, last: Ints) -> MatchBatch:
        rows = self._learnt_from(self.reader.in_scope(batch))
        if not len(rows):
            return self._counted(rows, pa.table({}))
        symbols, segments = self.reader.read(rows)
        names, family = family_names(self.step, rows)
        passed = _passed(rows.end, symbols, segments, last[rows.key[segments[:-1]]])
        gaps = GapCounts.of(symbols, passed, group=names, group_of=family.astype(np.int32))
        words = []
        for part in _runs(rows.key, family):
            picked, first = part
            keys = rows.key[picked[first]]
            here = Histories(histories.state[keys], histories.code[keys], histories.events[keys])
            border = np.append(first, len(picked))
            some = family[picked[first]].astype(np.int32)
            words.append(
                WordCounts.of(
                    symbols[picked], border, self.reader.delta, self.order, here, group=names, group_of_key=some
                )
            )
            histories.state[keys], histories.code[keys], histories.events[keys] = here.state, here.code, here.events
        newest = segments[1:] - 1
        last[rows.key[newest]] = np.where(symbols[newest] < 0, -FOREVER, rows.end[newest])
        parts = [_rows(WORD, WordCounts.merged(*words).to_arrow()), _rows(GAP, gaps.to_arrow())]
        return self._counted(rows, pa.concat_tables(parts, promote_options="default"))

    def _learnt_from(self, rows: EventBatch) -> EventBatch:
        forecast = forecast_of(self.step.event)
        if forecast.until is None or (rows.end <= forecast.until).all():
            return rows
        return rows.take(np.flatnonzero(rows.end <= forecast.until))

    def _counted(self, rows: EventBatch, found: pa.Table) -> MatchBatch:
        """Counts as results; the last event of the batch supplies their time and lineage."""
        event = self.step.event
        n = len(found)
        values = {
            output.name: found[output.name].combine_chunks().cast(ARROW_TYPES[output.type])
            if output.name in found.column_names
            else pa.nulls(n, ARROW_TYPES[output.type])
            for output in event.head
        }
        newest = np.full(n, int(np.argmax(rows.end)) if len(rows) else 0)
        end = rows.end[newest] if n else np.empty(0, np.int64)
        place = rows.end_place[newest] if n else end
        key = rows.key[newest] if n else end
        ids = lineage_ids(rows, np.arange(n + 1), newest)
        return MatchBatch(event.name, key, end, place, end, place, end, values, ids, rows.place_words)


def _runs(key: Ints, family: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Rows in rounds, in each of which a key has one family: their numbers, and where in them a key begins."""
    new_key = changes(key)
    run = np.cumsum(new_key | changes(family)) - 1
    first_run = run[np.flatnonzero(new_key)][np.cumsum(new_key) - 1]
    turn = run - first_run
    for number in range(int(turn.max()) + 1):
        picked = np.flatnonzero(turn == number)
        yield picked, np.flatnonzero(changes(key[picked]))


def _passed(end: Ints, symbols: NDArray[np.int32], segments: Ints, last: Ints) -> Ints:
    """The time since the previous event of the key; -1 for the first event, and after a reset."""
    passed = np.diff(end, prepend=end[:1])
    passed[1:][symbols[:-1] < 0] = -1
    first = segments[:-1]
    passed[first] = np.where(last > -FOREVER, end[first] - last, -1)
    return passed


def _rows(what: str, counted: pa.Table) -> pa.Table:
    return counted.replace_schema_metadata(None).append_column("what", pa.repeat(pa.scalar(what), len(counted)))
