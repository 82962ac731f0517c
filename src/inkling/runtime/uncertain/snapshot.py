"""The state of worlds as bytes, the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from inkling.evaluators.protocol import StreamEvaluator
from inkling.live import snapshot
from inkling.live.clocks import Clocks
from inkling.live.snapshot import Pack, table_of, unpacked
from inkling.live.stage import n_kept as n_kept_in_stage
from inkling.runtime.uncertain.program import WorldsState
from inkling.worlds.live.names import LiveNames
from inkling.worlds.live.pending import Pending, pending_of, pending_table
from inkling.worlds.live.waiting import Waiting

FORMAT = "worlds 6"

Exact = Mapping[str, StreamEvaluator[Any]]
"""By choice of the plan, the evaluators that need no worlds."""


def to_bytes(state: WorldsState, exact: Exact) -> bytes:
    """A state that `from_bytes` restores."""
    pack = Pack()
    chains: dict[str, list[str]] = {}
    for name, waiting in state.waiting.items():
        pack.table(f"waiting:{name}", waiting.rows)
        chains[name] = [str(key) for key in waiting.chains]
        if waiting.chains:
            pack.blob(f"chains:{name}", np.concatenate(list(waiting.chains.values())).astype("<u8").tobytes())
    pack.table("names", state.names.table)
    for name, pending in state.pending.items():
        tables = pending_table(pending)
        if tables is not None:
            pack.table(f"results:{name}", tables[0])
            pack.table(f"pairs:{name}", tables[1])
    for number, stage in enumerate(state.worlds):
        pack.blob(f"worlds:{number}", snapshot.to_bytes(stage))
    for name, evaluator in exact.items():
        pack.blob(f"exact:{name}", evaluator.to_bytes(state.exact[name]))
    clocks = state.clocks
    return pack.finished(
        {
            "format": FORMAT,
            "lateness": dict(clocks.lateness),
            "latest": dict(clocks.latest),
            "idle": sorted(clocks.idle),
            "watermark": clocks.watermark,
            "since": state.since,
            "decided": state.decided,
            "chains": chains,
            "roles": dict(state.roles),
            "pending": sorted(state.pending),
            "stages": len(state.worlds),
            "exact": list(exact),
        }
    )


def from_bytes(data: bytes, exact: Exact) -> WorldsState:
    """The state that `to_bytes` was given."""
    head, parts = unpacked(data)
    if head["format"] != FORMAT:
        raise ValueError(f"this state has the format {head['format']!r}, expected {FORMAT!r}")
    roles = {name: (even, odd) for name, (even, odd) in head["roles"].items()}
    waiting = {name: _waiting(name, keys, parts) for name, keys in head["chains"].items()}
    pending = {
        name: pending_of(table_of(parts[f"results:{name}"]), table_of(parts[f"pairs:{name}"]))
        if f"results:{name}" in parts
        else Pending()
        for name in head["pending"]
    }
    return WorldsState(
        Clocks(head["lateness"], head["latest"], frozenset(head["idle"]), head["watermark"]),
        head["since"],
        head["decided"],
        roles,
        waiting,
        LiveNames(table_of(parts["names"])),
        pending,
        tuple(snapshot.from_bytes(bytes(parts[f"worlds:{number}"])) for number in range(head["stages"])),
        {name: evaluator.from_bytes(bytes(parts[f"exact:{name}"])) for name, evaluator in exact.items()},
    )


def n_kept(state: WorldsState, exact: Exact) -> int:
    """Rows, open matches and open results that are remembered."""
    waiting = sum(len(one.rows) for one in state.waiting.values())
    pairs = sum(0 if one.world is None else len(one.world) for one in state.pending.values())
    answered = sum(evaluator.n_kept(state.exact[name]) for name, evaluator in exact.items())
    return sum(map(n_kept_in_stage, state.worlds)) + waiting + pairs + answered


def _waiting(name: str, keys: list[str], parts: dict[str, Any]) -> Waiting:
    rows: pa.Table = table_of(parts[f"waiting:{name}"])
    if not keys:
        return Waiting(rows)
    values = np.frombuffer(parts[f"chains:{name}"], "<u8").astype(np.uint64).reshape(len(keys), -1)
    return Waiting(rows, {int(key): one for key, one in zip(keys, values, strict=True)})
