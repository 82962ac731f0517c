"""States of engines as bytes, the same on every machine."""

from __future__ import annotations

import io

import numpy as np

from inkling.evaluators.probable import universal_bytes
from inkling.evaluators.probable.beliefs import BeliefState
from inkling.evaluators.probable.regular import ChainState
from inkling.evaluators.probable.safe import SafeState
from inkling.evaluators.probable.universal import UniversalState

VERSION = 1
_CHAINS, _SETS, _SAFE, _BELIEFS = b"chains ", b"sets   ", b"safe   ", b"beliefs"


State = ChainState | SafeState | UniversalState | BeliefState


def to_bytes(state: State) -> bytes:
    """A state that `from_bytes` restores."""
    match state:
        case ChainState():
            return _CHAINS + _packed({name: getattr(state, name) for name in ChainState.__slots__})
        case UniversalState():
            return _SETS + universal_bytes.to_bytes(state)
        case SafeState():
            return _SAFE + _packed(state.arrays())
        case BeliefState():
            return _BELIEFS + _packed(state.arrays())


def from_bytes(data: bytes) -> State:
    """The state that `to_bytes` was given."""
    kind, rest = data[: len(_CHAINS)], data[len(_CHAINS) :]
    if kind == _CHAINS:
        return ChainState(**_unpacked(rest))
    if kind == _SETS:
        return universal_bytes.from_bytes(rest)
    if kind == _SAFE:
        return SafeState.of(_unpacked(rest))
    if kind == _BELIEFS:
        return BeliefState.of(_unpacked(rest))
    raise ValueError(f"expected the state of a query, found {kind!r}")


def n_kept(state: State) -> int:
    """How many numbers are remembered, about."""
    return len(state.value) if isinstance(state, ChainState) else int(state.n_states)


def _packed(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, version=np.array(VERSION), **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpacked(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        if int(found["version"]) != VERSION:
            raise ValueError(f"this state has version {int(found['version'])}, expected {VERSION}")
        return {name: found[name] for name in found.files if name != "version"}
