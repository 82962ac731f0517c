"""Packed alternatives in a worker: checked, in the order in which engines take them in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes, combined, hashes_of
from inkling.evaluators.query.packed import ALTERNATIVES, IDS, Packed
from inkling.evaluators.query.probable_events import NOTHING, Mask, ProbableEvents, changes, equality_codes, ranges
from inkling.io.checks.alternatives import checked_alternatives
from inkling.io.normalize import END, ID, START
from inkling.kernels.query.packed_rows import settled, unfollowed
from inkling.model.batch import Ints
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import TOLERANCE, ProbableValue


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Alternatives of all streams, what each can do for all queries, and the rows that matches can end with."""

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
        np.maximum.reduceat(given, first) == NOTHING if len(first) else np.empty(0, bool),
        offsets,
        joined("chance"),
        joined("value"),
        given,
        joined("row"),
    )
    return Unpacked(events, joined("predicates"), {name: part.ends for name, part in zip(names, parts, strict=True)})


@dataclass(frozen=True, slots=True)
class _UnpackedSource:
    """Of one declared stream; `row` is the place of a row among the `ends`, if it is one of them."""

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
    """All alternatives of all records, and how many each record has."""
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
    """Which rows pass all checks; these look at the streams in which something looks wrong."""
    asked = np.isin(stream, np.unique(stream[suspect]))
    sizes = np.diff(offsets)
    rows = ranges(offsets[:-1][asked], sizes[asked])
    at = np.repeat(time[asked], sizes[asked])
    table = pa.table(
        {
            "k": np.repeat(stream[asked], sizes[asked]),
            "v": value[rows].view(np.int64),
            "g": pa.array(given[rows].view(np.int64), mask=given[rows] == NOTHING),
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
    """Chances of the rows at `place` in the order of groups, scaled where they nearly sum to 1; uncertain groups."""
    chance, suspect = np.empty(len(place)), np.zeros(len(offsets) - 1, bool)
    settled(place, offsets, given, value, np.ascontiguousarray(written), NEARLY, chance, suspect)
    return chance, suspect


def mark_unfollowed(
    streams: Ints, offsets: Ints, given: Hashes, value: Hashes, chance: NDArray[np.float64], suspect: Mask
) -> None:
    """Groups are uncertain that do not say what follows a value which may have been before."""
    unfollowed(streams, offsets, given, value, chance, NEARLY, suspect)
