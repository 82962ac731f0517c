"""The result columns: built here for every kind of event, runner and uncertainty.

Evaluators give `Matches`; `public_table` makes the table of them that users see. `inkling.spark.results` does the same
with columns of DataFrames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.event_results import ArrowResults
from inkling.logical import plan as p
from inkling.logical.plan import Demand, EventPlan
from inkling.logical.settings import is_forecast
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints, MatchBatch
from inkling.model.time import YEARS_US, Clock
from inkling.model.types import Type

LEADING = ("event",)
TRAILING = ("start", "end", "detected_at", "probability", "method", "error", "op", "lineage")
"""The columns before and after the values of the head and of RETURN."""

EXACT, SAMPLED, UNDECIDED, BOUNDS, FORECAST = "exact", "sampled", "undecided", "bounds", "forecast"
"""Methods: how a probability was computed. `undecided` is sampled, with an error that leaves CONFIDENCE open."""

ADDED, WITHDRAWN = "+", "-"
"""Values of the column `op`."""

TIMESTAMP = pa.timestamp("us", tz="UTC")

ROUNDING = 1e-12
"""The rounding error by which a sum of exact probabilities may miss a threshold."""

CHANCE, MARGIN = "chance", "margin"
"""The columns of a forecast that hold its probability and its error."""

Numbers: TypeAlias = np.ndarray | pa.Array | pa.ChunkedArray
Values: TypeAlias = Mapping[str, pa.Array | pa.ChunkedArray] | pa.Table
"""Columns by name."""


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """What a run was made of, from which its report is written."""

    program: Any
    inputs: Any
    tables: Any = None
    sampling: Any = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results(ArrowResults):
    """The results of a run in this process, made by `Program.run_local` and `SparkResults.collect`.

    Attributes
    ----------
    tables
        An Arrow table for each event; `results["stuck"]` is short for `results.tables["stuck"]`.
    rejects
        Rows that violate the declaration of their stream, with the reason.
    input_rows
        The number of rows of each stream.
    clock
        Whether times are timestamps or ticks.
    worlds
        How probabilities were computed, as text; None if all streams are certain.
    origin
        The program and its inputs, for `report`; None for results that no program has made.

    Examples
    --------
    >>> import inkling
    >>> program = inkling.parse('''
    ...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
    ...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
    ... ''')
    >>> results = program.run_local([{"person": "ada", "room": "lab", "t": 1}, {"person": "bob", "room": "lab"}])
    >>> results
    <Results visit: 1, rejects: 1>
    >>> results["visit"].select(["person", "start"]).to_pylist()
    [{'person': 'ada', 'start': 1}]
    >>> results.rejects["reason"].to_pylist(), results.input_rows
    (['null time'], {'Door': 2})
    """

    # `field()`, because a dataclass would use the property of the base class as the default
    tables: Mapping[str, pa.Table] = field()
    rejects: pa.Table = field()
    input_rows: Mapping[str, int]
    clock: Clock
    worlds: str | None = None
    origin: RunOrigin | None = None

    def report(self) -> Any:
        """The report of the run as a page: shown in a notebook, written to a file with `save`.

        Examples
        --------
        >>> import inkling
        >>> program = inkling.parse("STREAM A(t BIGINT) TIME t; EVENT e AS PATTERN A a;")
        >>> program.run_local([{"t": 1}]).report()
        <Report of <string>>
        """
        return import_module("inkling.notebook").report_of(self)

    def n_certain(self, event: str) -> int | None:
        """The number of results with probability 1; None if no stream is uncertain, or for forecasts."""
        if FORECAST in self.tables[event]["method"].unique().to_pylist() or not self._has_uncertainty():
            return None
        table = self.tables[event]
        return int(((table["probability"].to_numpy() == 1) & (table["error"].to_numpy() == 0)).sum())

    def _has_uncertainty(self) -> bool:
        return self.worlds is not None or any(
            (table.filter(pc.field("method") != FORECAST)["probability"].to_numpy() < 1).any()
            for table in self.tables.values()
        )


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches of one event with probability, error and method; times are numbers on the clock of the streams."""

    start: Ints
    end: Ints
    detected_at: Ints
    values: Values  # of head and RETURN
    lineage: pa.ListArray | pa.ChunkedArray
    probability: Numbers
    error: Numbers
    method: np.ndarray | str  # one for all, if it is a text

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def of(cls, batch: MatchBatch, probability: Numbers, error: Numbers, method: np.ndarray | str) -> Matches:
        """The matches of an evaluator with their probabilities, errors and methods."""
        return cls(batch.start, batch.end, batch.detected_at, batch.values, batch.lineage, probability, error, method)

    @classmethod
    def certain(cls, event: EventPlan, batch: MatchBatch) -> Matches:
        """Matches over certain streams; the probabilities of forecasts come from the model."""
        if is_forecast(event):
            return cls.of(batch, batch.values[CHANCE], batch.values[MARGIN], FORECAST)
        return cls.of(batch, np.ones(len(batch)), np.zeros(len(batch)), EXACT)

    def estimated(self) -> dict[str, pa.Array | pa.ChunkedArray]:
        """The columns that show how probable each match is."""
        constant = isinstance(self.method, str)
        return {
            "probability": _column(self.probability),
            "method": pa.repeat(pa.scalar(self.method), len(self)) if constant else pa.array(self.method, pa.string()),
            "error": _column(self.error),
        }


def public_table(event: EventPlan, matches: Matches, clock: Clock, op: str = ADDED) -> pa.Table:
    """Results of one event in the public columns."""
    n = len(matches)
    values = shown_values(event, matches.values)
    for output in (*event.head, *event.returns):
        if output.type is Type.TIME:
            values[output.name] = in_time(values[output.name], clock)
    return pa.table(
        {
            "event": pa.repeat(pa.scalar(event.name), n),
            **values,
            "start": in_time(pa.array(matches.start), clock),
            "end": in_time(pa.array(matches.end), clock),
            "detected_at": in_time(pa.array(matches.detected_at), clock),
            **matches.estimated(),
            "op": pa.repeat(pa.scalar(op), n),
            "lineage": matches.lineage,
        }
    )


def result_table(event: EventPlan, matches: MatchBatch, clock: Clock, op: str = ADDED) -> pa.Table:
    """Results of one event over certain streams in the public columns."""
    return public_table(event, Matches.certain(event, matches), clock, op)


def result_schema(event: EventPlan, ids: Type | pa.DataType, clock: Clock) -> pa.Schema:
    """The columns of `public_table`, known before there are results; `ids` is the type of the ids of base events."""
    time = time_type(clock)
    kinds: dict[str, pa.DataType] = {"event": pa.string()}
    for output in (*event.head, *event.returns):
        kinds[output.name] = time if output.type is Type.TIME else ARROW_TYPES[output.type]
    kinds |= dict.fromkeys(("start", "end", "detected_at"), time)
    kinds |= {"probability": pa.float64(), "method": pa.string(), "error": pa.float64(), "op": pa.string()}
    kinds["lineage"] = pa.list_(ARROW_TYPES[ids] if isinstance(ids, Type) else ids)
    return pa.schema(kinds)


def shown_values(event: EventPlan, values: Values) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Values of head and RETURN in their order and types; times are numbers."""
    shown = {}
    for output in (*event.head, *event.returns):
        column, kind = values[output.name], ARROW_TYPES[output.type]
        shown[output.name] = column if column.type == kind else column.cast(kind, safe=False)
    return shown


def _column(numbers: Numbers) -> pa.Array | pa.ChunkedArray:
    return pa.array(numbers) if isinstance(numbers, np.ndarray) else numbers


def in_time(numbers: pa.Array | pa.ChunkedArray, clock: Clock) -> pa.Array | pa.ChunkedArray:
    """Times as users see them, from int64 numbers; a deadline after the year 9999 is shown as its last microsecond."""
    if clock is not Clock.TIMESTAMP:
        return numbers
    ends = pc.min_max(numbers)
    if any(not YEARS_US[0] <= (one.as_py() or 0) <= YEARS_US[1] for one in ends.values()):
        numbers = pc.min_element_wise(
            pc.max_element_wise(numbers, YEARS_US[0], skip_nulls=False), YEARS_US[1], skip_nulls=False
        )
    # a view of the same bits: a cast costs more than the few results of a push
    return numbers.view(TIMESTAMP) if isinstance(numbers, pa.Array) else numbers.cast(TIMESTAMP)


def time_type(clock: Clock) -> pa.DataType:
    """The type of `in_time`."""
    return TIMESTAMP if clock is Clock.TIMESTAMP else pa.int64()


def as_withdrawn(results: pa.Table) -> pa.Table:
    """The same results, withdrawn."""
    return _with_text(results, "op", WITHDRAWN)


def retracted(results: pa.Table, name: str) -> pa.Table:
    """The output of ON RETRACT: the withdrawn results, each as an event of that name."""
    gone = results.filter(pc.field("op") == WITHDRAWN)
    return _with_text(_with_text(gone, "event", name), "op", ADDED)


def _with_text(table: pa.Table, column: str, text: str) -> pa.Table:
    place = table.schema.get_field_index(column)
    return table.set_column(place, column, pa.repeat(pa.scalar(text), len(table)))


def as_text(value: object) -> str:
    """A value of a result as text; times are in UTC."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def in_order(event: EventPlan, table: pa.Table) -> pa.Table:
    """Results by end, start and head."""
    return table.sort_by([(name, "ascending") for name in ("end", "start", *comparable_head(event))])


def comparable_head(event: EventPlan) -> list[str]:
    """Columns of the head that have an order."""
    return [output.name for output in event.head if output.type is not Type.WEIGHTS]


def most_probable(table: pa.Table, n: int) -> pa.Table:
    """The n results with the largest probability; ties by start, then lineage."""
    lineage = [[str(one) for one in ids] for ids in table["lineage"].to_pylist()]
    starts = table["start"].to_pylist()
    shares = table["probability"].to_pylist()
    order = sorted(range(len(table)), key=lambda row: (-shares[row], starts[row], lineage[row]))
    return table.take(pa.array(order[:n], pa.int64()))


def reaches(probability: np.ndarray, confidence: p.Confidence | None, rounding: float = 0.0) -> np.ndarray:
    """Whether probabilities reach the CONFIDENCE threshold."""
    if confidence is None:
        return np.ones(len(probability), bool)
    if confidence.strict:
        return probability > confidence.threshold + rounding
    return probability >= confidence.threshold - rounding


def may_reach(probability: np.ndarray, error: np.ndarray, confidence: p.Confidence | None) -> np.ndarray:
    """Whether matches are possible and may reach the CONFIDENCE threshold, given their error."""
    return reaches(np.minimum(probability + error, 1.0), confidence, ROUNDING) & (probability > 0)


def methods(
    probability: np.ndarray, error: np.ndarray, confidence: p.Confidence | None, negligible: float
) -> np.ndarray:
    """`exact` where the error is negligible; else `sampled`, or `undecided` if the error leaves CONFIDENCE open."""
    decided = reaches(probability - error, confidence, ROUNDING)
    return np.where(error <= negligible, EXACT, np.where(decided, SAMPLED, UNDECIDED)).astype(object)


NotExact = Callable[[EventPlan, int, int, float], InputError]
"""Makes the error of an event that demands EXACT: (event, sampled answers, all answers, largest error)."""


def rejected(event: EventPlan, error: np.ndarray, negligible: float) -> np.ndarray:
    """Which answers were sampled although EXACT is demanded."""
    return (error > negligible) & (event.demand is Demand.EXACT)


def require_exact(event: EventPlan, error: np.ndarray, negligible: float, problem: NotExact) -> None:
    """Raises `InputError` where EXACT is demanded and answers were sampled."""
    if n_rejected := int(np.count_nonzero(rejected(event, error, negligible))):
        raise problem(event, n_rejected, len(error), float(error.max()))
