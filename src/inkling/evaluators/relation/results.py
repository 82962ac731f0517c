"""Results of relations: matches of pairs of keys with times, lineage, probability and the public columns."""

import numpy as np
import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators.relation.bounds import last_up_to
from inkling.evaluators.relation.event import RelationEvent, RelationMatches, RelationOperands
from inkling.evaluators.relation.operands import OperandKeys
from inkling.logical.plan import EventPlan
from inkling.model.batch import FOREVER, Ints
from inkling.model.time import Clock
from inkling.results import BOUNDS, EXACT, ROUNDING, Matches, may_reach, methods, public_table, require_exact


def probable_enough(evaluator: RelationEvent, found: RelationMatches) -> RelationMatches:
    """Final answers that may reach CONFIDENCE; raises `InputError` where EXACT is demanded and some were sampled."""
    event = evaluator.event
    require_exact(event, found.error, ROUNDING, not_exact)
    return found.where(may_reach(found.chance, found.error, event.confidence))


def results_of(
    evaluator: RelationEvent, operands: RelationOperands, found: RelationMatches, ids: pa.DataType, clock: Clock
) -> pa.Table:
    """Results in the public columns."""
    return public_table(evaluator.event, matches_of(evaluator, operands, found, ids), clock)


def matches_of(
    evaluator: RelationEvent, operands: RelationOperands, found: RelationMatches, ids: pa.DataType
) -> Matches:
    start, end = _extent(operands, found)
    early = found.known < FOREVER
    method = methods(found.chance, found.error, evaluator.event.confidence, ROUNDING)
    method[early & (method != EXACT)] = BOUNDS
    return Matches(
        start,
        end,
        np.where(early, found.known, end),
        evaluator.head(operands, found),
        _lineage(operands.left, found, ids),
        np.clip(found.chance, 0.0, 1.0),
        found.error,
        method,
    )


def _extent(operands: RelationOperands, found: RelationMatches) -> tuple[Ints, Ints]:
    """From the first start to the last end of all segments; of early results, from the first row to their time."""
    start = np.minimum(operands.left.start[found.ones], operands.right.start[found.others])
    end = np.maximum(operands.left.end[found.ones], operands.right.end[found.others])
    if not len(found):
        return start, end
    ends = [
        (keys.known[keys.offsets[key]], keys.known[keys.offsets[key + 1] - 1])
        for keys, key in ((operands.left, found.ones), (operands.right, found.others))
    ]
    first, last = np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
    early = found.known < FOREVER
    start = np.where(early | (start <= -FOREVER), first, start)
    return start, np.where(early, found.known, np.where(end >= FOREVER, last, end))


def _lineage(keys: OperandKeys, found: RelationMatches, ids: pa.DataType) -> pa.ListArray:
    """Ids of the events that open and close the known segments of the left key; null for lost events."""
    lists, key = keys.lists, found.ones
    first = lists.segments[key]
    last = last_up_to(lists.closing, first, lists.segments[key + 1], _n_known(keys, found) - 1)
    sizes = np.where(found.known < FOREVER, last - first + 1, lists.segments[key + 1] - first)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    segment = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], sizes)
    owner = np.repeat(lists.begins[key], sizes)
    rows = np.stack([keys.row[owner + place[segment]] for place in (lists.opening, lists.closing)], axis=1).ravel()
    if keys.is_whole:
        rows = rows[::2]
    ends = pa.array(offsets * len(rows) // max(1, offsets[-1]), pa.int32())
    return pa.ListArray.from_arrays(ends, keys.ids.take(pa.array(rows)).cast(ids))


def _n_known(keys: OperandKeys, found: RelationMatches) -> Ints:
    """How many points of the left key were known when each result was emitted."""
    lists = keys.lists
    recorded = np.flatnonzero(~lists.lost)
    begins = np.searchsorted(recorded, lists.begins)
    place = last_up_to(lists.time[recorded], begins[found.ones], begins[found.ones + 1], found.known)
    at = np.append(recorded, 0)[place]
    return np.where(place >= begins[found.ones], at - lists.begins[found.ones] + 1, 0)


def not_exact(event: EventPlan, n_sampled: int, n_answers: int, largest: float) -> InputError:
    return InputError.of(
        "INK0670",
        f"`{event.name}` demands EXACT, but too many events were lost at once to enumerate their orders",
        notes=(f"{n_sampled:,} answers would be sampled, to ± {largest:g}",),
        helps=("leave EXACT out",),
    )
