"""Answers about pairs of keys in the public columns: those that are probable enough, or the most probable ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators.lost.early import last_up_to
from inkling.evaluators.lost.evaluator import Found, RelationEvaluator, Sides
from inkling.evaluators.lost.sides import Keys
from inkling.logical.plan import Demand, EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import FOREVER, Ints
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.results import ROUNDING, TIMESTAMP, reaches

EXACT, SAMPLED, UNDECIDED, BOUNDS = "exact", "sampled", "undecided", "bounds"


def probable_enough(evaluator: RelationEvaluator, found: Found) -> Found:
    """Final answers that CONFIDENCE lets pass, or may; raises `InputError` where these must not be sampled."""
    refused = found.where(not_exact(evaluator, found))
    if len(refused):
        raise no_exact_answer(evaluator.event, len(refused), refused.error.max())
    confidence = evaluator.event.confidence
    chance = np.minimum(found.chance + found.error, 1.0)
    return found.where(reaches(chance, confidence, ROUNDING) & (found.chance > 0))


def results_of(evaluator: RelationEvaluator, sides: Sides, found: Found, ids: pa.DataType, clock: Clock) -> pa.Table:
    """Results in the public columns."""
    event, n = evaluator.event, len(found)
    start, end = _extent(sides, found)
    columns: dict[str, pa.Array] = {"event": pa.repeat(pa.scalar(event.name), n)}
    for output in event.head:
        values = evaluator.head(sides, found)[output.name].cast(ARROW_TYPES[output.type], safe=False)
        columns[output.name] = _in_time(values, clock) if output.type is Type.TIME else values
    columns["start"], columns["end"] = (_in_time(pa.array(times), clock) for times in (start, end))
    columns["detected_at"] = _in_time(pa.array(np.where(found.known < FOREVER, found.known, end)), clock)
    columns["probability"] = pa.array(np.clip(found.chance, 0.0, 1.0))
    columns["method"] = pa.array(_methods(evaluator, found), pa.string())
    columns["error"] = pa.array(found.error)
    columns["op"] = pa.repeat(pa.scalar("+"), n)
    columns["lineage"] = _lineage(sides.left, found, ids)
    return pa.table(columns)


def _methods(evaluator: RelationEvaluator, found: Found) -> np.ndarray:
    low = reaches(found.chance - found.error, evaluator.event.confidence, ROUNDING)
    sampled = np.where(low, SAMPLED, UNDECIDED)
    told = np.where(found.known < FOREVER, BOUNDS, sampled)
    return np.where(found.error <= ROUNDING, EXACT, told).astype(object)


def _extent(sides: Sides, found: Found) -> tuple[Ints, Ints]:
    """From the first start to the last end of all segments; of what is told early, from the first row until then."""
    start = np.minimum(sides.left.start[found.ones], sides.right.start[found.others])
    end = np.maximum(sides.left.end[found.ones], sides.right.end[found.others])
    if not len(found):
        return start, end
    ends = [
        (keys.known[keys.offsets[key]], keys.known[keys.offsets[key + 1] - 1])
        for keys, key in ((sides.left, found.ones), (sides.right, found.others))
    ]
    first, last = np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
    early = found.known < FOREVER
    start = np.where(early | (start <= -FOREVER), first, start)
    return start, np.where(early, found.known, np.where(end >= FOREVER, last, end))


def _lineage(keys: Keys, found: Found, ids: pa.DataType) -> pa.ListArray:
    """What opens and closes the segments of the left key that are known; null for what was lost."""
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


def _n_known(keys: Keys, found: Found) -> Ints:
    """How many points of the left key of each result are known by the time it was told."""
    lists = keys.lists
    recorded = np.flatnonzero(~lists.lost)
    begins = np.searchsorted(recorded, lists.begins)
    place = last_up_to(lists.time[recorded], begins[found.ones], begins[found.ones + 1], found.known)
    at = np.append(recorded, 0)[place]
    return np.where(place >= begins[found.ones], at - lists.begins[found.ones] + 1, 0)


def not_exact(evaluator: RelationEvaluator, found: Found) -> np.ndarray:
    """Which answers were sampled though EXACT is demanded."""
    return (found.error > ROUNDING) & (evaluator.event.demand is Demand.EXACT)


def no_exact_answer(event: EventPlan, n_sampled: int, error: float) -> InputError:
    return InputError.of(
        "INK0670",
        f"`{event.name}` demands EXACT, but too many events were lost at once to be counted out",
        notes=(f"{n_sampled:,} answers would be sampled, to ± {error:g}",),
        helps=("leave EXACT out",),
    )


def _in_time(numbers: pa.Array, clock: Clock) -> pa.Array:
    return numbers.cast(TIMESTAMP) if clock is Clock.TIMESTAMP else numbers
