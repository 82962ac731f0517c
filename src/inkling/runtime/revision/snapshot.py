"""The states of replayed stages and of changelogs as bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators import state as codec
from inkling.runtime.revision.changelogs import Changelogs
from inkling.runtime.revision.clocks import ManyClocks
from inkling.runtime.revision.replay import Checkpoint, Revisable, S


@dataclass(frozen=True, slots=True)
class StoredChangelog:
    """A changelog as it is written: the versions of rows, and withdrawals whose events have not arrived."""

    versions: Mapping[str, pa.Table]
    waiting: pa.Table | None


@dataclass(frozen=True, slots=True)
class StoredChangelogs:
    """Changelogs and clocks by stream."""

    by_stream: Mapping[str, StoredChangelog]
    clocks: Mapping[str, ManyClocks]


def revisable_to_bytes(state: Revisable[S], written: Callable[[S], bytes]) -> bytes:
    """The state and the checkpoints of a machine as bytes; `written` writes a state."""
    return codec.to_bytes(_each(state, written))


def revisable_from_bytes(data: bytes, read: Callable[[bytes], S]) -> Revisable[S]:
    return _each(codec.from_bytes(data, Revisable[bytes]), read)


def changelogs_to_bytes(changelogs: Changelogs) -> bytes:
    by_stream = {
        name: StoredChangelog(one.versions.to_tables(), one.waiting) for name, one in changelogs.by_stream.items()
    }
    return codec.to_bytes(StoredChangelogs(by_stream, changelogs.clocks))


def changelogs_from_bytes(changelogs: Changelogs, data: bytes) -> Changelogs:
    """Empty changelogs filled with what was written."""
    stored = codec.from_bytes(data, StoredChangelogs)
    for name, changelog in changelogs.by_stream.items():
        changelog.waiting = stored.by_stream[name].waiting
        if stored.by_stream[name].versions:
            changelog.versions.load(dict(stored.by_stream[name].versions))
        changelogs.clocks[name] = stored.clocks[name]
    return changelogs


def _each(state: Revisable[S], changed: Callable[[S], codec.State]) -> Revisable[codec.State]:
    checkpoints = tuple(Checkpoint(one.until, changed(one.state)) for one in state.checkpoints)
    return replace(state, now=changed(state.now), checkpoints=checkpoints)  # type: ignore[return-value, arg-type]
