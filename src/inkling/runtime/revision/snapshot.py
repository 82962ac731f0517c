"""The states of stages whose past may change, and of ledgers, as bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators import state as codec
from inkling.runtime.revision.books import Books
from inkling.runtime.revision.clocks import ManyClocks
from inkling.runtime.revision.replay import Checkpoint, Revisable, S


@dataclass(frozen=True, slots=True)
class StoredLedger:
    """What a ledger remembers as it is written: its entries, and withdrawals whose events have not come."""

    entries: Mapping[str, pa.Table]
    waiting: pa.Table | None


@dataclass(frozen=True, slots=True)
class StoredBooks:
    """Ledgers and clocks by stream."""

    ledgers: Mapping[str, StoredLedger]
    clocks: Mapping[str, ManyClocks]


def revisable_to_bytes(state: Revisable[S], written: Callable[[S], bytes]) -> bytes:
    """Where a machine stands and stood, given how its states are written."""
    return codec.to_bytes(_each(state, written))


def revisable_from_bytes(data: bytes, read: Callable[[bytes], S]) -> Revisable[S]:
    return _each(codec.from_bytes(data, Revisable[bytes]), read)


def books_to_bytes(books: Books) -> bytes:
    ledgers = {name: StoredLedger(one.entries.to_tables(), one.waiting) for name, one in books.ledgers.items()}
    return codec.to_bytes(StoredBooks(ledgers, books.clocks))


def books_from_bytes(books: Books, data: bytes) -> Books:
    """Fresh books with what was written."""
    stored = codec.from_bytes(data, StoredBooks)
    for name, ledger in books.ledgers.items():
        ledger.waiting = stored.ledgers[name].waiting
        if stored.ledgers[name].entries:
            ledger.entries.load(dict(stored.ledgers[name].entries))
        books.clocks[name] = stored.clocks[name]
    return books


def _each(state: Revisable[S], changed: Callable[[S], codec.State]) -> Revisable[codec.State]:
    checkpoints = tuple(Checkpoint(one.until, changed(one.state)) for one in state.checkpoints)
    return replace(state, now=changed(state.now), checkpoints=checkpoints)  # type: ignore[return-value, arg-type]
