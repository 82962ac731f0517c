"""States of the universal evaluator as bytes: a header of JSON and plain arrays, the same on every machine."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from inkling.evaluators.probable.hops import Entry
from inkling.evaluators.probable.lanes import Lanes
from inkling.evaluators.probable.live_sets import LiveSets
from inkling.evaluators.probable.universal import UniversalState

FORMAT = 1
_LENGTH = struct.Struct("<q")
_SETS = ("starts", "values")
_LANES = ("live", "starts", "values", "over", "weights")


def to_bytes(state: UniversalState) -> bytes:
    """A state that `from_bytes` restores."""
    units, arrays = [], []
    for unit, held in sorted(state.units.items()):
        about: dict[str, Any] = {"unit": unit, "entries": held.entries, "chains": held.chains}
        names = list(_SETS if isinstance(held, LiveSets) else _LANES)
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
    header = json.dumps({"format": FORMAT, "units": units}, separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *arrays])


def from_bytes(data: bytes) -> UniversalState:
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    head = json.loads(data[_LENGTH.size : at])
    if head["format"] != FORMAT:
        raise ValueError(f"this state has the format {head['format']}, expected {FORMAT}")
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
