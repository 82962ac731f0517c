"""What a stage remembers of some keys, taken out of what it remembers of all, and put together again.

Only stages that are divisible have states of some keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage import parting
from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.parting import Chosen, Owners, concatenated, is_among, owners_of
from inkling.physical.plan import Stage
from inkling.runtime.parts import Part, keys_of
from inkling.runtime.stage import LiveState


def owners_of_part(part: Part, stage: Stage) -> Owners:
    """A hash of the key of each row of a part."""
    return _owners(part.stream, part.rows, stage)


def copied(state: LiveState) -> LiveState:
    """The same state, which later steps of the original leave as it is."""
    return replace(state, stage=parting.copied(state.stage))


def only(stage: Stage, state: LiveState, owners: Owners) -> LiveState:
    """What is remembered of some keys, given their hashes, sorted."""
    part = _parted(stage, state, lambda found: is_among(found, owners))
    return replace(part, stage=parting.only(state.stage, owners))


def without(stage: Stage, state: LiveState, owners: Owners) -> LiveState:
    """What is remembered of all keys but some, given their hashes, sorted."""
    part = _parted(stage, state, lambda found: ~is_among(found, owners))
    return replace(part, stage=parting.without(state.stage, owners))


def joined(one: LiveState, other: LiveState) -> LiveState:
    """Two states of different keys that have come equally far, together."""
    assert one.clocks.watermark == other.clocks.watermark, "states of different times do not go together"
    return LiveState(
        one.clocks,
        concatenated(one.pending, other.pending),
        _by_stream(one.raw, other.raw),
        _by_stream(one.last, other.last),
        parting.joined(one.stage, other.stage),
    )


def _parted(stage: Stage, state: LiveState, chosen: Chosen) -> LiveState:
    """The tables of a state without what is not wanted."""

    def marks(stream: str | None, rows: pa.Table) -> NDArray[np.bool_]:
        return chosen(_owners(stream, rows, stage))

    return replace(
        state,
        pending=rows_where(state.pending, marks(None, state.pending)),
        raw={name: rows_where(rows, marks(name, rows)) for name, rows in state.raw.items()},
        last={name: rows_where(rows, marks(name, rows)) for name, rows in state.last.items()},
    )


def _owners(stream: str | None, rows: pa.Table, stage: Stage) -> Owners:
    return owners_of(rows if stream is None else keys_of(stream, rows, stage), len(stage.key_types))


def _by_stream(one: Mapping[str, pa.Table], other: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {**other, **{name: concatenated(rows, other[name]) if name in other else rows for name, rows in one.items()}}
