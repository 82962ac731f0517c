"""What a stage remembers of some keys, taken out of what it remembers of all, and put together again.

Only stages that are divisible have states of some keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from inkling.evaluators.stage.chosen import Chosen, concatenated, rows_where
from inkling.evaluators.stage.owners import Owners, owners_of
from inkling.physical.plan import Stage
from inkling.runtime.parts import Part, keys_of
from inkling.runtime.stage import LiveState


def owners_of_part(part: Part, stage: Stage) -> Owners:
    """A hash of the key of each row of a part."""
    return _owners(part.stream, part.rows, stage)


def copied(state: LiveState) -> LiveState:
    """The same state, which later steps of the original leave as it is."""
    return replace(state, stage=state.stage.copied())


def only(stage: Stage, state: LiveState, owners: Owners) -> LiveState:
    """What is remembered of some keys, given their hashes, sorted."""
    return _where(stage, state, Chosen(owners, len(stage.key_types)))


def without(stage: Stage, state: LiveState, owners: Owners) -> LiveState:
    """What is remembered of all keys but some, given their hashes, sorted."""
    return _where(stage, state, Chosen(owners, len(stage.key_types), others=True))


def joined(one: LiveState, other: LiveState) -> LiveState:
    """Two states of different keys that have come equally far, together."""
    assert one.clocks.watermark == other.clocks.watermark, "states of different times do not go together"
    return LiveState(
        one.clocks,
        concatenated(one.pending, other.pending),
        _by_stream(one.raw, other.raw),
        _by_stream(one.last, other.last),
        one.stage.merged(other.stage),
    )


def _where(stage: Stage, state: LiveState, chosen: Chosen) -> LiveState:
    def some(stream: str, rows: pa.Table) -> pa.Table:
        return rows_where(rows, chosen.among(_owners(stream, rows, stage)))

    return replace(
        state,
        pending=chosen.rows(state.pending),
        raw={name: some(name, rows) for name, rows in state.raw.items()},
        last={name: some(name, rows) for name, rows in state.last.items()},
        stage=state.stage.where(chosen),
    )


def _owners(stream: str | None, rows: pa.Table, stage: Stage) -> Owners:
    return owners_of(rows if stream is None else keys_of(stream, rows, stage), len(stage.key_types))


def _by_stream(one: Mapping[str, pa.Table], other: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {**other, **{name: concatenated(rows, other[name]) if name in other else rows for name, rows in one.items()}}
