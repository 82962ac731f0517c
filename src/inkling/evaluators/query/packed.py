"""Packed alternatives: what travels to the workers of Spark instead of rows, for queries that automata answer.

A packed record has all alternatives of one KEY and time as numbers: the hash of the value, its probability, and a
predicate mask with the bits of all queries. A shuffle costs by record, so this is cheaper than one record per row.
Workers unpack the records, check them like rows, and hand them to the engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.query import Subgoal, accepted, candidate, of_row
from inkling.evaluators.division import Packing
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.probable_events import NO_EVENT, ProbableEvents, equality_codes
from inkling.evaluators.query.program import QueryEventEvaluator, QueryProgram
from inkling.io.checks.alternatives import checked_alternatives
from inkling.io.normalize import END, ID, START, row_schema
from inkling.kernels.query.packed_rows import settled, unfollowed
from inkling.logical.expr import Expr, looks_up
from inkling.logical.plan import StreamPlan
from inkling.model.batch import Ints, Mask
from inkling.model.hashes import Hashes, combined, hashes_of
from inkling.model.runs import changes, ranges
from inkling.model.schema import Column, StreamSchema, value_columns
from inkling.model.types import Type
from inkling.model.uncertainty import TOLERANCE, ProbableValue

ALTERNATIVES, IDS = "@alternatives", "@ids"

MOST_BITS = 62
"""Of a predicate mask, over all queries; two per subgoal."""

_INDEPENDENT = np.dtype([("value", "<u8"), ("chance", "<f8"), ("predicates", "<i8")])
_CHAINED = np.dtype([("value", "<u8"), ("chance", "<f8"), ("predicates", "<i8"), ("given", "<u8")])


@dataclass(frozen=True, slots=True)
class Packed:
    """How rows of one stream are packed."""

    stream: StreamPlan
    subgoals: tuple[tuple[int, int, Subgoal], ...]  # that read the stream: first bit of the query, number, subgoal
    ends: int  # the bits of rows with which a match can end

    @property
    def uncertainty(self) -> ProbableValue:
        assert isinstance(self.stream.schema.uncertainty, ProbableValue)
        return self.stream.schema.uncertainty

    @property
    def layout(self) -> np.dtype:
        return _CHAINED if self.uncertainty.given else _INDEPENDENT

    @property
    def schema(self) -> pa.Schema:
        """The schema of records; the alternatives of one KEY and time may be in several records."""
        every = row_schema(self.stream.schema)
        keys = [every.field(name) for name in self.stream.schema.key]
        ids = pa.list_(every.field(ID).type)
        return pa.schema([*keys, (START, pa.int64()), (ALTERNATIVES, pa.binary()), (IDS, ids)])

    @property
    def packing(self) -> Packing:
        return Packing(
            self.schema,
            value_columns(self.uncertainty, self.stream.schema),
            self.uncertainty.probability,
            [list(self._cases(shift, number, subgoal)) for shift, number, subgoal in self.subgoals],
            self.uncertainty.given,
            self.packed,
        )

    def _cases(self, shift: int, number: int, subgoal: Subgoal) -> Iterator[tuple[list[Expr], int]]:
        filters, accepts = ([of_row(one, subgoal) for one in some] for some in (subgoal.filters, subgoal.accepts))
        yield [*filters, *accepts], (candidate(number) | accepted(number)) << shift
        if accepts:
            yield filters, candidate(number) << shift

    def packed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """One record for neighboring rows of one KEY and time; sorts them first where few rows are neighbors."""
        n, n_keys, layout = batch.num_rows, len(self.stream.schema.key), self.layout
        keys, (time, *columns) = batch.columns[:n_keys], batch.columns[n_keys:]
        ids = columns.pop()
        name = combined(np.zeros(n, np.uint64), *map(hashes_of, keys), time.to_numpy().view(np.uint64))
        first = np.flatnonzero(changes(name))
        rows = np.empty(n, layout)
        for field, column in zip(layout.names or (), columns, strict=True):
            rows[field] = column.to_numpy(zero_copy_only=False).view(layout[field])
        if 2 * len(first) > n:
            order = np.argsort(name, kind="stable")
            rows, ids, time = rows[order], ids.take(pa.array(order)), time.take(pa.array(order))
            keys = [key.take(pa.array(order)) for key in keys]
            name = name[order]
            first = np.flatnonzero(changes(name))
        borders = np.append(first, n)
        data = pa.py_buffer(rows.view(np.uint8))
        offsets = pa.py_buffer((borders * layout.itemsize).astype(np.int32))
        blobs = pa.Array.from_buffers(pa.binary(), len(first), [None, offsets, data])
        is_end = (rows["predicates"] & self.ends) != 0
        n_ends = np.append(0, np.cumsum(is_end))[borders].astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(n_ends), ids.filter(pa.array(is_end)))
        chosen = pa.array(first)
        taken = [key.take(chosen) for key in keys]
        return pa.RecordBatch.from_arrays([*taken, time.take(chosen), blobs, lists], schema=self.schema)


def packing_of(program: QueryProgram, evaluators: Mapping[str, QueryEventEvaluator]) -> Mapping[str, Packed] | None:
    """The packing of each stream; None where rows must travel as they are."""
    shifts = predicate_shifts(program)
    if not all(isinstance(one.engine, Regular) for one in evaluators.values()):
        return None
    if sum(2 * len(one.query.subgoals) for one in program.strategies.values()) > MOST_BITS:
        return None
    found = {}
    for stream in program.part.streams:
        subgoals, ends = [], 0
        for name, strategy in program.strategies.items():
            every = strategy.query.subgoals
            for number, subgoal in enumerate(every):
                if subgoal.source == stream.schema.name:
                    subgoals.append((shifts[name], number, subgoal))
                    ends |= accepted(number) << shifts[name] if number == len(every) - 1 else 0
        if not _fits(stream, [subgoal for _, _, subgoal in subgoals]):
            return None
        found[stream.schema.name] = Packed(stream, tuple(subgoals), ends)
    return found


def predicate_shifts(program: QueryProgram) -> dict[str, int]:
    """The first bit of each query in predicate masks."""
    shifts, n_bits = {}, 0
    for name, strategy in program.strategies.items():
        shifts[name] = n_bits
        n_bits += 2 * len(strategy.query.subgoals)
    return shifts


def _fits(stream: StreamPlan, subgoals: Sequence[Subgoal]) -> bool:
    uncertainty = stream.schema.uncertainty
    if not isinstance(uncertainty, ProbableValue) or stream.derived:
        return False
    if uncertainty.given and len(value_columns(uncertainty, stream.schema)) != len(uncertainty.given):
        return False
    kinds = [row_schema(stream.schema).field(name).type for name in value_columns(uncertainty, stream.schema)]
    if any(pa.types.is_floating(kind) or pa.types.is_nested(kind) for kind in kinds):
        return False
    return not any(looks_up(one) for subgoal in subgoals for one in (*subgoal.filters, *subgoal.accepts))


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Alternatives of all streams, predicate masks with the bits of all queries, and the rows that can end a match."""

    events: ProbableEvents
    predicates: Ints
    tables: Mapping[str, pa.Table]


def unpacked(packed: Mapping[str, Packed], records: Mapping[str, pa.Table]) -> Unpacked:
    names = tuple(sorted(packed))
    parts = [_UnpackedSource.of(packed[name], records[name]) for name in names]
    n_streams = np.array([len(part.name) for part in parts])
    n_rows = np.array([part.offsets[-1] for part in parts])
    before, rows_before = np.cumsum(n_streams) - n_streams, np.cumsum(n_rows) - n_rows
    keys: dict[tuple[str, str], Hashes] = {}
    for number, (name, part) in enumerate(zip(names, parts, strict=True)):
        for column, codes in part.keys.items():
            found = np.zeros(int(n_streams.sum()), np.uint64)
            found[before[number] : before[number] + n_streams[number]] = codes
            keys[name, column] = found

    def joined(column: str) -> np.ndarray:
        return np.concatenate([getattr(part, column) for part in parts])

    source = np.repeat(np.arange(len(parts)), n_streams)
    given = joined("given")
    offsets = np.append(0, np.concatenate([part.offsets[1:] + b for part, b in zip(parts, rows_before, strict=True)]))
    first = offsets[:-1]
    events = ProbableEvents(
        names,
        source,
        joined("name"),
        np.array([bool(packed[name].uncertainty.given) for name in names])[source],
        keys,
        np.concatenate([part.stream + b for part, b in zip(parts, before, strict=True)]),
        joined("time"),
        np.maximum.reduceat(given, first) == NO_EVENT if len(first) else np.empty(0, bool),
        offsets,
        joined("chance"),
        joined("value"),
        given,
        joined("row"),
    )
    return Unpacked(events, joined("predicates"), {name: part.ends for name, part in zip(names, parts, strict=True)})


@dataclass(frozen=True, slots=True)
class _UnpackedSource:
    """Alternatives of one declared stream; `row` is the place of a row in `ends`, for rows that can end a match."""

    name: Hashes
    keys: Mapping[str, Hashes]
    stream: Ints
    time: Ints
    offsets: Ints
    chance: NDArray[np.float64]
    value: Hashes
    given: Hashes
    predicates: Ints
    row: Ints
    ends: pa.Table

    @classmethod
    def of(cls, packed: Packed, records: pa.Table) -> _UnpackedSource:
        schema, n = packed.stream.schema, len(records)
        rows, counts = _alternatives(records[ALTERNATIVES], packed.layout)
        written, predicates = rows["chance"], np.ascontiguousarray(rows["predicates"])
        value = np.ascontiguousarray(rows["value"])
        given = np.ascontiguousarray(rows["given"]) if packed.uncertainty.given else np.zeros(len(rows), np.uint64)
        columns = {key: records[key].combine_chunks() for key in schema.key}
        name = combined(np.repeat(hashes_of(pa.array([schema.name])), n), *map(hashes_of, columns.values()))
        time = records[START].to_numpy()
        order = np.lexsort((time, name))
        name, time = name[order], time[order]
        new_stream = changes(name)
        new_group = new_stream | changes(time)
        place = ranges((np.cumsum(counts) - counts)[order], counts[order])
        borders = np.append(0, np.cumsum(counts[order]))
        groups = np.flatnonzero(new_group)
        offsets = np.append(borders[:-1][groups], len(rows))
        stream = (np.cumsum(new_stream) - 1)[groups]
        chance, suspect = settled_chances(place, offsets, given, value, written)
        value, given, predicates = value[place], given[place], predicates[place]
        if packed.uncertainty.given:
            streams = np.append(np.flatnonzero(changes(stream)), len(groups))
            mark_unfollowed(streams, offsets, given, value, chance, suspect)
        kept = np.ones(len(rows), bool) if packed.uncertainty.given else predicates != 0
        if suspect.any():
            kept &= _acceptable(packed, stream, time[groups], offsets, value, given, written[place], suspect)
        is_end = (rows["predicates"] & packed.ends) != 0
        owner = pa.array(np.repeat(np.arange(n), counts)[is_end])
        ends = {key: column.take(owner) for key, column in columns.items()}
        ends[ID] = pa.chunked_array([records[IDS].combine_chunks().flatten()])
        row = (np.cumsum(is_end) - 1)[place]
        sizes = np.diff(np.append(0, np.cumsum(kept))[offsets])
        left = sizes > 0
        of_stream = order[new_stream]
        return cls(
            name[new_stream],
            {key: equality_codes(column)[of_stream] for key, column in columns.items()},
            stream[left],
            time[groups][left],
            np.append(0, np.cumsum(sizes[left])),
            chance[kept],
            value[kept],
            given[kept],
            predicates[kept],
            row[kept],
            pa.table(ends),
        )


def _alternatives(column: pa.ChunkedArray, layout: np.dtype) -> tuple[np.ndarray, Ints]:
    """The alternatives of all records, and how many each record has."""
    rows, counts = [np.empty(0, layout)], [np.empty(0, np.int64)]
    for chunk in column.chunks:
        _, offsets, data = chunk.buffers()
        borders = np.frombuffer(offsets, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
        if len(chunk):
            rows.append(np.frombuffer(data, np.uint8)[borders[0] : borders[-1]].view(layout))
            counts.append(np.diff(borders) // layout.itemsize)
    return np.concatenate(rows), np.concatenate(counts)


def _acceptable(
    packed: Packed,
    stream: Ints,
    time: Ints,
    offsets: Ints,
    value: Hashes,
    given: Hashes,
    written: NDArray[np.float64],
    suspect: Mask,
) -> Mask:
    """Which rows pass the checks of alternatives; only streams with a suspect group are checked."""
    asked = np.isin(stream, np.unique(stream[suspect]))
    sizes = np.diff(offsets)
    rows = ranges(offsets[:-1][asked], sizes[asked])
    at = np.repeat(time[asked], sizes[asked])
    table = pa.table(
        {
            "k": np.repeat(stream[asked], sizes[asked]),
            "v": value[rows].view(np.int64),
            "g": pa.array(given[rows].view(np.int64), mask=given[rows] == NO_EVENT),
            "p": pa.array(written[rows], from_pandas=True),
            START: at,
            END: at,
            ID: rows,
        }
    )
    uncertainty = ProbableValue("p", ("g",) if packed.uncertainty.given else ())
    columns = [Column(name, Type.INTEGER) for name in ("k", "v", *uncertainty.given)] + [Column("p", Type.DOUBLE)]
    schema = StreamSchema(packed.stream.schema.name, tuple(columns), None, ("k",), "t", "t", uncertainty=uncertainty)
    good, _ = checked_alternatives(schema, uncertainty, table)
    kept = np.ones(len(value), bool)
    kept[rows] = False
    kept[good[ID].to_numpy()] = True
    return kept


NEARLY = float(TOLERANCE)


def settled_chances(
    place: Ints, offsets: Ints, given: Hashes, value: Hashes, written: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Mask]:
    """Probabilities of the rows at `place`, scaled where a group sums to nearly 1; and which groups are suspect."""
    chance, suspect = np.empty(len(place)), np.zeros(len(offsets) - 1, bool)
    settled(place, offsets, given, value, np.ascontiguousarray(written), NEARLY, chance, suspect)
    return chance, suspect


def mark_unfollowed(
    streams: Ints, offsets: Ints, given: Hashes, value: Hashes, chance: NDArray[np.float64], suspect: Mask
) -> None:
    """Mark groups as suspect that have no alternatives given a value that is possible before."""
    unfollowed(streams, offsets, given, value, chance, NEARLY, suspect)
