"""States as bytes: Arrow tables and plain arrays, the same on every machine."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from inkling.automata.state import AutomatonState
from inkling.evaluators.automaton.evaluator import AutomatonCarry
from inkling.evaluators.consumption.carry import ConsumptionCarry
from inkling.evaluators.forecast.carry import ForecastCarry
from inkling.evaluators.stage.keys import KeyBook
from inkling.evaluators.stage.stepper import StageState
from inkling.evaluators.windows.carry import WindowCarry
from inkling.live.clocks import Clocks
from inkling.live.compact import compact, restored
from inkling.live.stage import LiveState
from inkling.model.batch import EventBatch

FORMAT = 2
_LENGTH = struct.Struct("<q")


def to_bytes(state: LiveState) -> bytes:
    """A state that `from_bytes` restores."""
    pack = Pack()
    pack.table("pending", state.pending)
    for name, rows in state.raw.items():
        pack.table(f"raw:{name}", rows)
    for name, rows in state.last.items():
        pack.table(f"last:{name}", rows)
    pack.table("rows", state.stage.rows)
    # keys without open runs are as good as forgotten
    live = reduce(np.union1d, [carry.runs.key for carry in state.stage.automata], np.empty(0, np.int64))
    pack.table("keys", state.stage.keys.to_table().take(pa.array(live)) if len(live) else _no_keys(state))
    for number, carry in enumerate(state.stage.automata):
        pack.blob(f"runs:{number}", carry.runs.renamed(live).to_bytes())
        if not np.array_equal(carry.numbers, np.arange(len(carry.numbers))):
            pack.blob(f"numbers:{number}", carry.numbers.astype("<i8").tobytes())
        if carry.rows is not None:
            pack.table(f"events:{number}", _event_table(carry.rows))
            if carry.rows.place_words is not None:
                pack.table(f"words:{number}", pa.table({"word": carry.rows.place_words}))
    for name, window in state.stage.windows.items():
        pack.table(f"members:{name}", window.rows)
        if window.last is not None:
            pack.table(f"said:{name}", window.last)
    for name, waiting in state.stage.waiting.items():
        pack.table(f"waiting:{name}", waiting.rows)
        pack.table(f"stored:{name}", waiting.stored)
    for name, forecast in state.stage.forecasts.items():
        pack.table(f"forecast:{name}", forecast.keys)
    clocks = state.clocks
    return pack.finished(
        {
            "format": FORMAT,
            "lateness": dict(clocks.lateness),
            "latest": dict(clocks.latest),
            "idle": sorted(clocks.idle),
            "watermark": clocks.watermark,
            "until": state.stage.until,
            "since": dict(state.stage.since),
            "next": [carry.next_number for carry in state.stage.automata],
        }
    )


def from_bytes(data: bytes) -> LiveState:
    """The state that `to_bytes` was given; tables point into the bytes."""
    head, parts = unpacked(data)
    if head["format"] != FORMAT:
        raise ValueError(f"this state has the format {head['format']}, expected {FORMAT}")
    carries = tuple(_carry(parts, number, following) for number, following in enumerate(head["next"]))
    clocks = Clocks(head["lateness"], head["latest"], frozenset(head["idle"]), head["watermark"])
    named = {name.partition(":")[::2]: part for name, part in parts.items()}
    said = {name: _table(part) for (kind, name), part in named.items() if kind == "said"}
    windows = {
        name: WindowCarry(_table(part), said.get(name)) for (kind, name), part in named.items() if kind == "members"
    }
    waiting = {
        name: ConsumptionCarry(_table(part), _table(parts[f"stored:{name}"]))
        for (kind, name), part in named.items()
        if kind == "waiting"
    }
    forecasts = {name: ForecastCarry(_table(part)) for (kind, name), part in named.items() if kind == "forecast"}
    keys = KeyBook.from_table(_table(parts["keys"]))
    until, since = head["until"], head["since"]
    rows = _table(parts["rows"])
    stage = StageState(rows, carries, keys, until, since, windows=windows, waiting=waiting, forecasts=forecasts)
    return LiveState(
        clocks,
        _table(parts["pending"]),
        {name: _table(part) for (kind, name), part in named.items() if kind == "raw"},
        {name: _table(part) for (kind, name), part in named.items() if kind == "last"},
        stage,
    )


def _no_keys(state: LiveState) -> pa.Table:
    return state.stage.keys.schema.empty_table()


def _carry(parts: Mapping[str, memoryview], number: int, following: int) -> AutomatonCarry:
    runs, events = AutomatonState.from_bytes(bytes(parts[f"runs:{number}"])), _events_of(parts, number)
    named = parts.get(f"numbers:{number}")
    n = 0 if events is None else len(events)
    return AutomatonCarry(
        runs, events, np.arange(n) if named is None else np.frombuffer(named, "<i8").astype(np.int64), following
    )


def table_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def table_of(data: bytes | memoryview) -> pa.Table:
    return _table(data)


class Pack:
    """Parts one after the other, with their lengths in a header of JSON."""

    def __init__(self) -> None:
        self._lengths: dict[str, int] = {}
        self._parts: list[bytes] = []

    def table(self, name: str, table: pa.Table) -> None:
        self.blob(name, table_bytes(compact(table)))

    def blob(self, name: str, data: bytes) -> None:
        padding = -len(data) % 8  # so that arrays may point into the whole
        self._lengths[name] = len(data)
        self._parts += [data, b"\0" * padding]

    def finished(self, about: Mapping[str, Any]) -> bytes:
        header = json.dumps({**about, "parts": self._lengths}).encode()
        header += b" " * (-len(header) % 8)
        return b"".join([_LENGTH.pack(len(header)), header, *self._parts])


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, memoryview]]:
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    head = json.loads(data[_LENGTH.size : at])
    view, parts = memoryview(data), {}
    for name, size in head["parts"].items():
        parts[name] = view[at : at + size]
        at += size + -size % 8
    return head, parts


def _table(data: bytes | memoryview) -> pa.Table:
    return restored(pa.ipc.open_stream(pa.py_buffer(data)).read_all())


_COLUMN = "column "


def _event_table(batch: EventBatch) -> pa.Table:
    """What results may say of events that automata hold; a point's start is its end."""
    columns: dict[str, Any] = {"end": batch.end, "place": batch.start_place}
    if not np.array_equal(batch.start, batch.end):
        columns["start"] = batch.start
    columns |= {f"{_COLUMN}{name}": column for name, column in batch.columns.items()}
    if batch.has_single_ids:
        columns["id"] = batch.ids
    else:
        columns["ids"] = pa.LargeListArray.from_arrays(pa.array(batch.id_offsets, pa.int64()), batch.ids)
    return pa.table(columns)


def _events_of(parts: Mapping[str, memoryview], number: int) -> EventBatch | None:
    if f"events:{number}" not in parts:
        return None
    table = _table(parts[f"events:{number}"])
    held = {name: table[name].combine_chunks() for name in table.column_names}
    end, place = held["end"].to_numpy(), held["place"].to_numpy()
    offsets = np.arange(len(table) + 1) if "id" in held else held["ids"].offsets.to_numpy()
    spelled = f"words:{number}"
    return EventBatch(
        np.zeros(len(table), np.int64),
        np.zeros(len(table), np.int16),
        held["start"].to_numpy() if "start" in held else end,
        place,
        end,
        place,
        end,
        np.arange(len(table)),
        np.broadcast_to(np.uint64(0), (len(table), 1 << 16)),  # nobody asks for conditions any more
        {name[len(_COLUMN) :]: column for name, column in held.items() if name.startswith(_COLUMN)},
        offsets,
        held["id"] if "id" in held else held["ids"].flatten(),
        _table(parts[spelled])["word"].combine_chunks() if spelled in parts else None,
    )
