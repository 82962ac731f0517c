"""The states of stages as bytes."""

from __future__ import annotations

from inkling.evaluators import state as codec
from inkling.evaluators.state import table_bytes as table_bytes
from inkling.evaluators.state import table_of as table_of
from inkling.live.stage import LiveState


def to_bytes(state: LiveState) -> bytes:
    """A state that `from_bytes` restores."""
    return codec.to_bytes(state)


def from_bytes(data: bytes) -> LiveState:
    """The state that `to_bytes` was given; tables point into the bytes."""
    return codec.from_bytes(data, LiveState)
