"""The state of events over uncertain streams as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inkling.evaluators import state as codec
from inkling.evaluators.protocol import StreamEvaluator
from inkling.runtime.stage import n_kept as n_kept_in_stage
from inkling.runtime.uncertain.program import WorldsState

Exact = Mapping[str, StreamEvaluator[Any]]
"""By choice of the plan, the evaluators that need no worlds."""


def to_bytes(state: WorldsState, exact: Exact) -> bytes:
    """A state that `from_bytes` restores."""
    return codec.to_bytes((replace(state, exact={}), *(state.exact[name] for name in exact)))


def from_bytes(data: bytes, exact: Exact) -> WorldsState:
    """The state that `to_bytes` was given."""
    kinds = (WorldsState, *(one.state_type for one in exact.values()))
    state, *states = codec.from_bytes(data, tuple[kinds])  # type: ignore[valid-type]
    return replace(state, exact=dict(zip(exact, states, strict=True)))


def n_kept(state: WorldsState, exact: Exact) -> int:
    """Rows, open matches and open results that are remembered."""
    waiting = sum(len(one.rows) for one in state.waiting.values())
    pairs = sum(0 if one.world is None else len(one.world) for one in state.pending.values())
    answered = sum(evaluator.n_kept(state.exact[name]) for name, evaluator in exact.items())
    return sum(map(n_kept_in_stage, state.worlds)) + waiting + pairs + answered
