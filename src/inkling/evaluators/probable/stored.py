"""States of engines as bytes, the same on every machine."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from inkling.evaluators.probable.beliefs import BeliefState
from inkling.evaluators.probable.hops import Entry
from inkling.evaluators.probable.lanes import Lanes
from inkling.evaluators.probable.live_sets import LiveSets
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
            return _SETS + _sets_to_bytes(state)
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
        return _sets_from_bytes(rest)
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


SETS_FORMAT = 1
_LENGTH = struct.Struct("<q")
_EXACT = ("starts", "values")
_SAMPLED = ("live", "starts", "values", "over", "weights")


def _sets_to_bytes(state: UniversalState) -> bytes:
    """A header of JSON and plain arrays, which `_sets_from_bytes` reads."""
    units, arrays = [], []
    for unit, held in sorted(state.units.items()):
        about: dict[str, Any] = {"unit": unit, "entries": held.entries, "chains": held.chains}
        names = list(_EXACT if isinstance(held, LiveSets) else _SAMPLED)
        if isinstance(held, Lanes):
            about["scale"] = held.scale
        else:
            about["held"] = held.held
        if isinstance(held, LiveSets) and held.mass.dtype == np.object_:
            about["mass"] = [str(one) for one in held.mass]
        elif isinstance(held, LiveSets):
            names.append("mass")
        mine = [getattr(held, name) for name in names]
        arrays += [array.astype(array.dtype.newbyteorder("<")).tobytes() for array in mine]
        about["arrays"] = {name: [array.dtype.str[1:], *array.shape] for name, array in zip(names, mine, strict=True)}
        units.append(about)
    header = json.dumps({"format": SETS_FORMAT, "units": units}, separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *arrays])


def _sets_from_bytes(data: bytes) -> UniversalState:
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    head = json.loads(data[_LENGTH.size : at])
    if head["format"] != SETS_FORMAT:
        raise ValueError(f"this state has the format {head['format']}, expected {SETS_FORMAT}")
    units: dict[int, LiveSets | Lanes] = {}
    for about in head["units"]:
        arrays: dict[str, Any] = {}
        for name, (kind, *shape) in about["arrays"].items():
            stored = np.frombuffer(data, f"<{kind}", int(np.prod(shape)), at)
            arrays[name] = stored.astype(kind).reshape(shape)
            at += stored.nbytes
        entries, chains = _entries(about["entries"]), tuple(about["chains"])
        if "scale" in about:
            units[about["unit"]] = Lanes(entries, chains, **arrays, scale=about["scale"])
        else:
            if "mass" in about:
                arrays["mass"] = np.array([Fraction(one) for one in about["mass"]], object)
            units[about["unit"]] = LiveSets(entries, chains, **arrays, held=tuple(about["held"]))
    return UniversalState(units)


def _entries(listed: Sequence[Sequence[Any]]) -> tuple[Entry, ...]:
    return tuple(Entry(stage, again, tuple(values)) for stage, again, values in listed)
