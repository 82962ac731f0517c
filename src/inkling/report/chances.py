"""The probability of an event over time for each key, with the ground truth and a deterministic baseline."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from inkling.analysis.choice import Evaluator
from inkling.logical.expr import ColumnOf, KeyColumn
from inkling.logical.plan import EventPlan, Per, ProgramPlan
from inkling.physical.plan import PhysicalPlan
from inkling.report.data import CurveRow

MOST_KEYS = 24
"""The most keys of an event in the plot."""

MOST_POINTS = 600
"""The most points of a key, about the width of the plot in pixels."""

LEAST_DRAWN = 0.001

Beside = Mapping[str, pa.Table]
"""Results of other runs of the same events, by event."""


def curves_of(
    plan: PhysicalPlan, tables: Mapping[str, pa.Table], truth: Beside, decided: Beside
) -> tuple[CurveRow, ...]:
    """Curves of queries over probable streams that have a probability at each time; none for certain programs."""
    program, queries = plan.program, plan.answered_by(Evaluator.QUERY)
    return tuple(
        curve
        for event in program.shown
        if event.name in queries and event.per is Per.END and event.forecast is None
        for curve in _curves(
            event.name, key_output(event, program), *(some.get(event.name) for some in (tables, truth, decided))
        )
    )


def key_output(event: EventPlan, program: ProgramPlan) -> str | None:
    """The column of results with their partition key or the key of a stream, or None."""
    keys = {name for stream in program.streams for name in stream.schema.key}
    for output in event.head:
        expr = output.expr
        if isinstance(expr, KeyColumn) or (isinstance(expr, ColumnOf) and expr.column in keys):
            return output.name
    return None


def _curves(
    event: str, key: str | None, results: pa.Table | None, truth: pa.Table | None, decided: pa.Table | None
) -> Iterator[CurveRow]:
    if results is None or not results.num_rows or pc.min(results["probability"]).as_py() == 1:
        return
    points = _by_key(results, key)
    happened, claimed = ({} if one is None else _by_key(one, key) for one in (truth, decided))
    names = sorted({*points, *happened})
    peak = {name: points[name][1].max() if name in points else 0.0 for name in names}
    drawn = sorted(names, key=lambda name: (name not in happened, -peak[name], name))[:MOST_KEYS]
    for name in sorted(drawn):
        times, chances = points.get(name, NOTHING)
        yield CurveRow(
            event,
            name,
            _thinned(times, chances),
            tuple(np.unique(happened.get(name, NOTHING)[0]).tolist()),
            tuple(np.unique(claimed.get(name, NOTHING)[0]).tolist()),
            n_keys=len(names),
            has_truth=truth is not None,
            has_decisions=decided is not None,
        )


Points = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
NOTHING: Points = (np.zeros(0, np.int64), np.zeros(0))


def _by_key(table: pa.Table, key: str | None) -> dict[str, Points]:
    """Times and probabilities by key, in order of time."""
    table = table.sort_by("end")
    times, chances = table["end"].cast(pa.int64()).to_numpy(), table["probability"].to_numpy()
    if key is None:
        return {"": (times, chances)} if times.size else {}
    names = table[key].cast(pa.string()).fill_null("").combine_chunks().dictionary_encode()
    whose = names.indices.to_numpy()
    order = np.argsort(whose, kind="stable")
    borders = np.searchsorted(whose[order], np.arange(len(names.dictionary) + 1))
    return {
        name: (times[rows], chances[rows])
        for number, name in enumerate(names.dictionary.to_pylist())
        if (rows := order[borders[number] : borders[number + 1]]).size
    }


def _thinned(times: npt.NDArray[np.int64], chances: npt.NDArray[np.float64]) -> tuple[tuple[int, float], ...]:
    """The most probable point of each of `MOST_POINTS` equal time ranges, without invisibly small ones."""
    seen = chances >= LEAST_DRAWN
    times, chances = times[seen], chances[seen]
    if times.size > MOST_POINTS:
        stretch = (times - times[0]) * MOST_POINTS // (times[-1] - times[0] + 1)
        order = np.lexsort((-chances, stretch))
        first = np.concatenate([[True], np.diff(stretch[order]) > 0])
        times, chances = times[order[first]], chances[order[first]]
    return tuple(zip(times.tolist(), chances.tolist(), strict=True))
