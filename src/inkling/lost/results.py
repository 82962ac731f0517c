"""Answers about pairs of keys in the public columns: those that are probable enough, or the most probable ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.errors import InputError
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
    start = np.minimum(sides.left.start[found.ones], sides.right.start[found.others])
    end = np.maximum(sides.left.end[found.ones], sides.right.end[found.others])
    start, end = _within_time(sides, found, start, end)
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
    columns["lineage"] = _lineage(sides.left, found.ones, ids)
    return pa.table(columns)


def _methods(evaluator: RelationEvaluator, found: Found) -> np.ndarray:
    low = reaches(found.chance - found.error, evaluator.event.confidence, ROUNDING)
    sampled = np.where(low, SAMPLED, UNDECIDED)
    told = np.where(found.known < FOREVER, BOUNDS, sampled)
    return np.where(found.error <= ROUNDING, EXACT, told).astype(object)


def _within_time(sides: Sides, found: Found, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Where only a rate says when events were lost, results last as long as what was recorded."""
    if (start <= -FOREVER).any() or (end >= FOREVER).any():
        for keys, key in ((sides.left, found.ones), (sides.right, found.others)):
            if len(keys.known):
                first, last = keys.known[keys.offsets[key]], keys.known[keys.offsets[key + 1] - 1]
                start = np.where(start <= -FOREVER, first, start)
                end = np.where(end >= FOREVER, last, end)
    return start, end


def _lineage(keys: Keys, key: Ints, ids: pa.DataType) -> pa.ListArray:
    """What opens and closes the segments of a key; null for what was lost."""
    event = np.flatnonzero(keys.lists.turn != 0)
    begins = np.searchsorted(event, keys.lists.begins)
    sizes = np.diff(begins)[key]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - begins[key], sizes)
    rows = keys.row[event[place]]
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), keys.ids.take(pa.array(rows)).cast(ids))


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
