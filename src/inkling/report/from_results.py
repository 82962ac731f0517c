"""The data of a report from the results of a run: rows of matches, with the input events that they depend on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from inkling.analysis.inputs import inputs_by_stream
from inkling.analysis.uncertainty import streams_of
from inkling.io import normalize, read_table
from inkling.io.corrections import corrected_stream
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan, forecast_of
from inkling.meaning.streams import whole_number
from inkling.model.time import Clock
from inkling.model.uncertainty import ImpreciseTime
from inkling.query import Program
from inkling.report.chances import Beside, curves_of, key_output
from inkling.report.data import (
    EventResultCount,
    InputCount,
    MatchRow,
    MemberRow,
    RejectRow,
    ReportData,
    ReportTable,
    Scalar,
)
from inkling.report.examined import Closer, examined, influence_rows, time_shares
from inkling.report.segments import Related, related_keys
from inkling.results import LEADING, TRAILING, Results
from inkling.runtime.revision.contents import differences

if TYPE_CHECKING:
    from inkling.evaluators.sampling import Sampling
    from inkling.io import Data


Members: TypeAlias = Mapping[str, MemberRow]
"""The events of one stream by id as text; lineages over several streams have ids as text."""

INTERNAL = "@"

MOST_STRETCHES = 60
"""The most shades of a bar, which is a few hundred pixels wide."""


def members_of(stream: StreamPlan, data: Data, ids: Iterable[str]) -> Members:
    """The events of a stream that have one of these ids."""
    wanted = sorted(set(ids))
    schema = stream.schema
    raw = _rows_with_ids(schema.id, data, wanted, what=schema.name)
    rows = corrected_stream(schema, normalize(raw, schema, [column.name for column in stream.derived])).rows
    rows = rows.filter(pc.is_in(rows["@id"].cast(pa.string()), pa.array(wanted, pa.string())))
    imprecise = schema.uncertainty if isinstance(schema.uncertainty, ImpreciseTime) else None
    weights = None if imprecise is None else imprecise.weights
    times = (schema.start, schema.end, weights)
    shown = [name for name in rows.column_names if name[0] != INTERNAL and name not in times]
    found: dict[str, list[MemberRow]] = {}
    for row in rows.to_pylist():
        member = _member(schema.name, row, shown)
        if imprecise is not None:
            given = None if weights is None else row[weights]
            member = replace(member, imprecise=True, weights=in_stretches(given or ()))
        found.setdefault(str(row["@id"]), []).append(member)
    return {name: _either(alternatives) for name, alternatives in found.items()}


def in_stretches(weights: Sequence[float]) -> tuple[float, ...]:
    """The weights of single moments, summed over at most `MOST_STRETCHES` ranges of equal length.

    >>> in_stretches([0.5, 0.25, 0.25]), len(in_stretches([1.0] * 1000))
    ((0.5, 0.25, 0.25), 59)
    """
    size = max(1, -(-len(weights) // MOST_STRETCHES))
    full = [fsum(weights[first : first + size]) for first in range(0, len(weights), size)]
    rest = len(weights) % size
    if rest:
        full[-1] *= size / rest  # the last range is shorter; a shade is proportional to weight per moment
    return tuple(full)


def _either(alternatives: list[MemberRow]) -> MemberRow:
    """Alternatives of one event as one member; different values are listed, in the order of the rows."""
    first = alternatives[0]
    values: dict[str, Scalar] = {}
    for name, value in first.values.items():
        every = [one.values.get(name) for one in alternatives]
        values[name] = value if all(one == value for one in every) else " | ".join(map(str, every))
    return replace(first, values=values)


def _member(stream: str, row: Mapping[str, object], shown: list[str]) -> MemberRow:
    identity, start, end = row["@id"], row["@start"], row["@end"]
    assert isinstance(identity, str | int)
    assert isinstance(start, int)
    assert isinstance(end, int)
    values = {name: _scalar(row[name]) for name in shown if row[name] != identity}
    return MemberRow(identity, stream, start, end, values)


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _rows_with_ids(id_column: str | None, data: Data, ids: list[str], *, what: str) -> pa.Table:
    """The rows that can have one of the ids; of a Parquet file, only these are read."""
    if id_column is None:
        return read_table(data, what=what)
    if isinstance(data, str | Path) and Path(data).suffix == ".parquet":
        files = pa.dataset.dataset(data, format="parquet")
        has_id = pc.field(id_column).cast(pa.string()).isin(pa.array(ids, pa.string()))
        return files.to_table(filter=has_id)
    if hasattr(data, "toArrow"):
        from pyspark.sql import functions as fn

        return data.where(fn.col(id_column).cast("string").isin(ids)).toArrow()
    return read_table(data, what=what)


MAX_MATCHES = 5_000
"""The most matches of a page, so that it opens quickly."""


def report_data(
    program: Program,
    results: Results,
    inputs: Mapping[str, Data] | Data,
    tables: Mapping[str, Data] | None = None,
    *,
    runner: str = "local",
    seconds: float | None = None,
    max_matches: int = MAX_MATCHES,
    sampling: Sampling | None = None,
    extra: tuple[ReportTable, ...] = (),
    truth: Beside | None = None,
    decided: Beside | None = None,
) -> ReportData:
    """The data of a report, with an even selection of results of events that have many.

    The most probable results of uncertain events are examined in possible worlds, with the settings of `sampling`.
    `extra` are further tables. `truth` and `decided` are results by event, of the ground truth and of a deterministic
    baseline; they are drawn next to probabilities over time. Withdrawn results are marked, and not counted.
    """
    inputs = inputs_by_stream(program.plan, inputs)
    net = {name: net_of(table) for name, table in results.items()}
    results = replace(results, tables={name: one.standing for name, one in net.items()})
    emitted = {name: pa.concat_tables(one) for name, one in net.items()}
    forecasts = {event.name for event in program.plan.shown if event.forecast is not None}
    chosen = _selected({name: one for name, one in emitted.items() if name not in forecasts}, max_matches)
    chosen |= {name: results.tables[name].slice(0, 0) for name in forecasts}
    members = _members(program.plan, chosen, inputs)
    closer: Closer = {}
    if results.worlds is not None:
        closer = examined(program, chosen, inputs, tables, sampling, sum(results.input_rows.values()))
    related = related_keys(program, chosen, inputs, tables, sum(results.input_rows.values()))
    rejected = Counter(results.rejects["stream"].to_pylist())
    return ReportData(
        title=program.name,
        program_text=program.text,
        plan_sections=program.explain_sections(sampling),
        runner=runner,
        seconds=seconds,
        inputs=tuple(InputCount(name, n_rows, rejected.get(name, 0)) for name, n_rows in results.input_rows.items()),
        counts=tuple(
            EventResultCount(
                name, table.num_rows, chosen[name].num_rows, results.n_certain(name), net[name].withdrawn.num_rows
            )
            for name, table in results.tables.items()
        ),
        time_kind="timestamp" if results.clock is Clock.TIMESTAMP else "ticks",
        tick_us=None if results.clock is Clock.TIMESTAMP else _tick_us(program.plan),
        matches=tuple(
            match
            for event in program.plan.shown
            for match in _Matches(event, program.plan, members, closer, related).rows(chosen[event.name])
        ),
        rejects=tuple(_rejects(results.rejects)),
        notes=tuple(warning.message for warning in program.warnings),
        worlds=results.worlds,
        tables=(*forecast_tables(program.plan, results.tables), *extra),
        curves=curves_of(program.physical, results.tables, truth or {}, decided or {}),
    )


def _selected(tables: Mapping[str, pa.Table], at_most: int) -> dict[str, pa.Table]:
    """The most probable results of each event, evenly selected if equal, in time order; rare events are complete."""
    left, chosen = at_most, {}
    by_size = sorted(tables, key=lambda name: tables[name].num_rows)
    for number, name in enumerate(by_size):
        table = tables[name].sort_by([("end", "ascending"), ("start", "ascending")])
        share = left // (len(by_size) - number)
        if table.num_rows > share:
            table = table.take(most_probable(table["probability"].to_numpy(), share))
        left -= table.num_rows
        chosen[name] = table
    return chosen


def _tick_us(program: ProgramPlan) -> float | None:
    """The length of a tick in microseconds, if all streams declare the same one."""
    declared = {stream.schema.tick for stream in program.streams}
    one = declared.pop() if len(declared) == 1 else None
    return None if one is None else float(one.microseconds)


def most_probable(chances: npt.NDArray[np.float64], share: int) -> npt.NDArray[np.int64]:
    """The positions of the largest probabilities, in order; of those that are equal to the last one, an even selection.

    >>> most_probable(np.array([0.2, 1.0, 1.0, 0.5, 1.0, 1.0]), 2).tolist()
    [1, 4]
    """
    if not share:
        return np.zeros(0, np.int64)
    least = np.partition(chances, -share)[-share]
    larger, equal = np.flatnonzero(chances > least), np.flatnonzero(chances == least)
    wanted = share - larger.size
    return np.sort(np.concatenate([larger, equal[np.arange(wanted) * equal.size // wanted]]))


def _members(program: ProgramPlan, tables: Mapping[str, pa.Table], inputs: Mapping[str, Data]) -> dict[str, Members]:
    """The events that the selected results depend on, by stream."""
    wanted: dict[str, set[str]] = {}
    for event in program.shown:
        ids = pc.list_flatten(tables[event.name]["lineage"]).cast(pa.string()).drop_null().to_pylist()
        for stream in streams_of(event, program):
            wanted.setdefault(stream.schema.name, set()).update(ids)
    return {
        stream.schema.name: members_of(stream, inputs[stream.schema.name], wanted[stream.schema.name])
        for stream in program.streams
        if stream.schema.name in inputs and stream.schema.name in wanted
    }


@dataclass(frozen=True, slots=True)
class _Matches:
    """Converts results of one event to rows of the report."""

    event: EventPlan
    program: ProgramPlan
    members: Mapping[str, Members]
    closer: Closer
    related: Related

    def rows(self, table: pa.Table) -> Iterator[MatchRow]:
        names = [name for name in table.column_names if name not in (*LEADING, *TRAILING)]
        for place, row in enumerate(table.to_pylist()):
            one = self.closer.get((self.event.name, place))
            start, end, known = (whole_number(row[name]) for name in ("start", "end", "detected_at"))
            lineage = tuple(row["lineage"])
            yield MatchRow(
                event=self.event.name,
                key=self._key(row),
                start=start,
                end=end,
                detected_at=known,
                probability=row["probability"],
                method=row["method"],
                error=row["error"],
                op=row["op"],
                values={name: _shown(row[name]) for name in names if row[name] is not None},
                lineage=lineage,
                members=self._found(lineage, start, end),
                starts=() if one is None else time_shares(one.starts),
                ends=() if one is None else time_shares(one.ends),
                influences=() if one is None else influence_rows(one),
                related=self.related.get((self.event.name, place), ()),
            )

    def _key(self, row: Mapping[str, object]) -> str:
        """The partition key, or a key of a stream in the head, or the empty text."""
        name = key_output(self.event, self.program)
        return "" if name is None else str(row[name])

    def _found(self, lineage: tuple[object, ...], start: int, end: int) -> tuple[MemberRow, ...]:
        """The events with the ids of a lineage; an id that fits events of several streams is left out."""
        streams = [stream.schema.name for stream in streams_of(self.event, self.program)]
        found = []
        for identity in lineage:
            possible = [
                member
                for name in streams
                if identity is not None
                and (member := self.members.get(name, {}).get(str(identity))) is not None
                and self._can_be_part(member, start, end)
            ]
            if len(possible) == 1:
                found.append(possible[0])
        return tuple(found)

    def _can_be_part(self, member: MemberRow, start: int, end: int) -> bool:
        """Whether an event is inside the interval of a result; an imprecise one may reach beyond it."""
        stream = self.program.stream(member.stream)
        if stream is not None and stream.schema.uncertainty is not None:
            return member.start <= end and start <= member.end
        return start <= member.start and member.end <= end


def _rejects(rejects: pa.Table) -> Iterator[RejectRow]:
    """Rejected rows by stream and reason, with the first of each as a sample."""
    seen: dict[tuple[str, str], list[str]] = {}
    for row in rejects.select(["stream", "reason", "row"]).to_pylist():
        seen.setdefault((row["stream"], row["reason"]), []).append(row["row"] or "")
    for (stream, reason), samples in seen.items():
        yield RejectRow(stream, reason, len(samples), samples[0])


def _shown(value: object) -> Scalar:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value if isinstance(value, str | int | float | bool | None) else str(value)


TITLE = "Forecasts"
COLUMNS = ("forecast", "of", "made", "least chance", "mean chance", "largest chance", "versions of the model")
NOTE = "Forecasts are not listed as matches, because nearly every event has one; the output of the run has all of them."
DIGITS = 4


def forecast_tables(program: ProgramPlan, tables: Mapping[str, pa.Table]) -> tuple[ReportTable, ...]:
    """A summary table, a row per forecast; none for a program without forecasts."""
    rows = tuple(_row(event, tables[event.name]) for event in program.shown if event.forecast is not None)
    return (ReportTable(TITLE, COLUMNS, rows, NOTE),) if rows else ()


def _row(event: EventPlan, table: pa.Table) -> tuple[Scalar, ...]:
    chances = table["probability"]
    emitted = (function(chances).as_py() for function in (pc.min, pc.mean, pc.max))
    versions = sorted(set(table["model"].to_pylist()))
    return (
        event.name,
        forecast_of(event).of,
        table.num_rows,
        *(None if one is None else round(one, DIGITS) for one in emitted),
        ", ".join(map(str, versions)),
    )


OP = "op"


class Net(NamedTuple):
    """Valid results, and withdrawn ones, each once with `-`."""

    standing: pa.Table
    withdrawn: pa.Table


def net_of(table: pa.Table) -> Net:
    """The net effect of rows with `+` and `-`; each `-` withdraws one equal row."""
    is_withdrawal = pc.equal(table[OP], "-")
    withdrawn = table.filter(is_withdrawal)
    if not withdrawn.num_rows:
        return Net(table, withdrawn)
    emitted = table.filter(pc.invert(is_withdrawal))
    _, stands = differences(withdrawn, emitted, [name for name in table.column_names if name != OP])
    return Net(emitted.filter(pa.array(stands)), withdrawn)
