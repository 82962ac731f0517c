"""States of engines by unit: which units they know, the state of some units, and two states together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.automaton.forecasts import BeliefState
from inkling.evaluators.query.automaton.regular import ChainState, merged
from inkling.evaluators.query.grounding import Mask
from inkling.evaluators.query.runs import ranges
from inkling.evaluators.query.safe.plan import SafeState
from inkling.evaluators.query.sets.universal import UniversalState
from inkling.evaluators.stage.owners import Owners, is_among

EngineState = ChainState | SafeState | UniversalState | BeliefState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UnitOwners:
    """The hash of the key to which each unit belongs."""

    units: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))  # in order
    owners: Owners = field(default_factory=lambda: np.empty(0, np.uint64))

    def with_units(self, units: Hashes, owners: Owners) -> UnitOwners:
        """These units, and others, which may be named several times."""
        every, first = np.unique(np.concatenate([self.units, units]), return_index=True)
        return UnitOwners(every, np.concatenate([self.owners, owners])[first])

    def where(self, chosen: Mask) -> UnitOwners:
        return UnitOwners(self.units[chosen], self.owners[chosen])

    def of(self, owners: Owners) -> UnitOwners:
        """The units that belong to some keys, given their hashes, sorted."""
        return self.where(is_among(self.owners, owners))


def known_units(state: EngineState) -> Hashes:
    """The units of which a state holds something, in no order."""
    match state:
        case ChainState() | BeliefState():
            return state.units
        case SafeState() | UniversalState():
            return _names(state.units)


def state_of(state: EngineState, units: Hashes) -> EngineState:
    """The state of some units, sorted."""
    match state:
        case ChainState():
            return _chains_of(state, units)
        case SafeState():
            return SafeState(_some(state.units, units))
        case UniversalState():
            return UniversalState(_some(state.units, units))
        case BeliefState():
            mine = is_among(state.units, units)
            chains = {model: _chains_of(one, units) for model, one in state.chains.items()}
            return BeliefState(chains, state.marks, state.units[mine], state.n_times[mine])


def together(left: EngineState, right: EngineState) -> EngineState:
    """The state of all units of two states that have none in common."""
    match left, right:
        case ChainState(), ChainState():
            return _chains_together(left, right)
        case SafeState(), SafeState():
            return SafeState({**left.units, **right.units})
        case UniversalState(), UniversalState():
            return UniversalState({**left.units, **right.units})
        case BeliefState(), BeliefState():
            chains = {**left.chains, **right.chains}
            for model in left.chains.keys() & right.chains.keys():
                chains[model] = _chains_together(left.chains[model], right.chains[model])
            units = np.concatenate([left.units, right.units])
            order = np.argsort(units)
            n_times = np.concatenate([left.n_times, right.n_times])[order]
            return BeliefState(chains, {**left.marks, **right.marks}, units[order], n_times)
        case _:  # an engine gives way to another one before it knows any unit
            assert not len(known_units(left)) or not len(known_units(right)), "states of different engines"
            return left if len(known_units(left)) else right


def _chains_of(state: ChainState, units: Hashes) -> ChainState:
    kept = np.flatnonzero(is_among(state.units, units))
    counts = np.diff(state.held)[kept]
    entries = ranges(state.held[kept], counts)
    held = np.append(0, np.cumsum(counts))
    return ChainState(state.units[kept], held, state.value[entries], state.mass[entries], state.begun[entries])


def _chains_together(left: ChainState, right: ChainState) -> ChainState:
    none = np.empty(0, np.int64)
    return merged(left, none, right.units, np.diff(right.held), right.value, right.mass, right.begun)


def _some(held: Mapping[int, T], units: Hashes) -> dict[int, T]:
    wanted = is_among(_names(held), units)
    return {name: one for (name, one), is_wanted in zip(held.items(), wanted, strict=True) if is_wanted}


def _names(units: Mapping[int, object]) -> Hashes:
    return np.fromiter(units, np.uint64, len(units))
