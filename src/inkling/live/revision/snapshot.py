"""What is remembered of the past as bytes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from inkling.live.clocks import Clocks
from inkling.live.revision.books import Books
from inkling.live.revision.clocks import ManyClocks, RevisionClocks, Windows
from inkling.live.revision.replay import Checkpoint, Revisable, S
from inkling.live.snapshot import Pack, table_of, unpacked

FORMAT = "revision 1"
_HELD = ("pending", "log", "told")


def revisable_to_bytes(state: Revisable[S], written: Callable[[S], bytes]) -> bytes:
    """Where a machine stands and stood, given how its states are written."""
    pack = Pack()
    for kind in _HELD:
        for name, rows in getattr(state, kind).items():
            pack.table(f"{kind}:{name}", rows)
    pack.blob("now", written(state.now))
    for number, checkpoint in enumerate(state.checkpoints):
        pack.blob(f"checkpoint:{number}", written(checkpoint.state))
    about = {
        "format": FORMAT,
        "until": state.until,
        "fresh": state.n_fresh,
        "checkpoints": [one.until for one in state.checkpoints],
        "clocks": clocks_to_json(state.clocks),
    }
    return pack.finished(about)


def revisable_from_bytes(data: bytes, read: Callable[[bytes], S]) -> Revisable[S]:
    head, parts = unpacked(data)
    held: dict[str, dict[str, pa.Table]] = {kind: {} for kind in _HELD}
    for name, part in parts.items():
        kind, colon, rest = name.partition(":")
        if colon and kind in held:
            held[kind][rest] = table_of(part)
    checkpoints = tuple(
        Checkpoint(until, read(bytes(parts[f"checkpoint:{number}"])))
        for number, until in enumerate(head["checkpoints"])
    )
    now = read(bytes(parts["now"]))
    clocks = clocks_from_json(head["clocks"])
    return Revisable(clocks, head["until"], now, checkpoints, n_fresh=head["fresh"], **held)


def clocks_to_json(clocks: RevisionClocks) -> dict[str, Any]:
    closing = clocks.closing
    return {
        "lateness": dict(clocks.windows.lateness),
        "kept": dict(clocks.windows.kept),
        "speculative": sorted(clocks.windows.speculative),
        "latest": dict(closing.latest),
        "idle": sorted(closing.idle),
        "watermarks": [closing.watermark, clocks.settled, clocks.decided],
    }


def clocks_from_json(held: Mapping[str, Any]) -> RevisionClocks:
    windows = Windows(held["lateness"], held["kept"], frozenset(held["speculative"]))
    closed, settled, decided = held["watermarks"]
    idle = frozenset(held["idle"])
    closing = Clocks(windows.lateness, held["latest"], idle, closed)
    return RevisionClocks(windows, closing, Clocks(windows.kept, held["latest"], idle, settled), decided)


def books_to_bytes(books: Books) -> bytes:
    pack = Pack()
    for name, ledger in books.ledgers.items():
        for kind, table in ledger.entries.to_tables().items():
            pack.table(f"{kind}:{name}", table)
        if ledger.waiting is not None:
            pack.table(f"waiting:{name}", ledger.waiting)
    clocks = {name: [clocks_to_json(one) for one in many.clocks] for name, many in books.clocks.items()}
    return pack.finished({"format": FORMAT, "clocks": clocks})


def books_from_bytes(books: Books, data: bytes) -> Books:
    """Fresh books with what was written."""
    head, parts = unpacked(data)
    held: dict[str, dict[str, pa.Table]] = {name: {} for name in books.ledgers}
    for part, view in parts.items():
        kind, _, name = part.partition(":")
        held[name][kind] = table_of(view)
    for name, ledger in books.ledgers.items():
        ledger.waiting = held[name].pop("waiting", None)
        if held[name]:
            ledger.entries.load(held[name])
        books.clocks[name] = ManyClocks(tuple(map(clocks_from_json, head["clocks"][name])))
    return books
