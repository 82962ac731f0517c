"""States of stages by key: copied, divided by the owners of what is remembered, and put together again.

A state that comes out of here shares nothing with another one that a step of either would change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.automaton import carry as automata
from inkling.evaluators.automaton.carry import AutomatonCarry
from inkling.evaluators.consumption import carry as consumption
from inkling.evaluators.forecast.carry import ForecastCarry
from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.keys import KeyBook
from inkling.evaluators.stage.owners import Owners as Owners
from inkling.evaluators.stage.owners import is_among as is_among
from inkling.evaluators.stage.owners import owners_of as owners_of
from inkling.evaluators.stage.stepper import StageState
from inkling.evaluators.windows.carry import WindowCarry
from inkling.model.batch import Ints

Chosen = Callable[[Owners], NDArray[np.bool_]]
"""Whether what some owners have is wanted."""

Carry = TypeVar("Carry")


def copied(state: StageState) -> StageState:
    """The same state, which later steps of the original leave as it is."""
    return replace(state, automata=tuple(carry.copy() for carry in state.automata), keys=state.keys.copy())


def only(state: StageState, owners: Owners) -> StageState:
    """What is remembered of some keys, given their hashes, sorted."""
    mine = np.flatnonzero(is_among(state.keys.owners(), owners))
    carries = tuple(automata.only(carry, mine) for carry in state.automata)
    live = reduce(np.union1d, [carry.runs.key for carry in carries], np.empty(0, np.int64))
    if len(state.keys.schema):
        carries = tuple(automata.renamed(carry, live) for carry in carries)
    return _parted(state, carries, _book_of(state.keys, live), lambda found: is_among(found, owners))


def without(state: StageState, owners: Owners) -> StageState:
    """What is remembered of all keys but some, given their hashes, sorted."""
    theirs = np.flatnonzero(is_among(state.keys.owners(), owners))
    carries = tuple(automata.without(carry, theirs) for carry in state.automata)
    return _parted(state, carries, state.keys.copy(), lambda found: ~is_among(found, owners))


def joined(one: StageState, other: StageState) -> StageState:
    """Two states of different keys that were decided up to the same time, together."""
    assert one.until == other.until, "states of different times do not go together"
    keys = one.keys.copy()
    codes = keys.codes(other.keys.to_table()) if len(keys.schema) else np.zeros(1, np.int64)
    pairs = zip(one.automata, other.automata, strict=True)
    return StageState(
        concatenated(one.rows, other.rows),
        tuple(automata.joined(*pair, codes) for pair in pairs),
        keys,
        one.until,
        one.since,
        one.n_trimmed + other.n_trimmed,
        _by_event(one.windows, other.windows, _joined_windows),
        _by_event(one.waiting, other.waiting, consumption.joined),
        _by_event(one.forecasts, other.forecasts, _joined_forecasts),
    )


def concatenated(one: pa.Table, other: pa.Table) -> pa.Table:
    """The rows of both."""
    if not len(other):
        return one
    return pa.concat_tables([one, other]) if len(one) else other


def _parted(state: StageState, carries: tuple[AutomatonCarry, ...], keys: KeyBook, chosen: Chosen) -> StageState:
    n_key_columns = len(keys.schema)

    def marks(table: pa.Table) -> NDArray[np.bool_]:
        return chosen(owners_of(table, n_key_columns))

    rows = rows_where(state.rows, marks(state.rows))
    windows = {name: _window_where(carry, marks) for name, carry in state.windows.items()}
    waiting = {name: consumption.only_where(carry, marks(carry.rows)) for name, carry in state.waiting.items()}
    forecasts = {name: ForecastCarry(rows_where(one.keys, marks(one.keys))) for name, one in state.forecasts.items()}
    n_trimmed = min(state.n_trimmed, len(rows))
    return StageState(rows, carries, keys, state.until, state.since, n_trimmed, windows, waiting, forecasts)


def _book_of(keys: KeyBook, codes: Ints) -> KeyBook:
    return keys.only(codes) if len(keys.schema) else KeyBook(keys.schema)


def _window_where(carry: WindowCarry, marks: Callable[[pa.Table], NDArray[np.bool_]]) -> WindowCarry:
    rows = rows_where(carry.rows, marks(carry.rows))
    last = None if carry.last is None else rows_where(carry.last, marks(carry.last))
    return WindowCarry(rows, last, min(carry.n_trimmed, len(rows)))


def _joined_windows(one: WindowCarry, other: WindowCarry) -> WindowCarry:
    said = [carry.last for carry in (one, other) if carry.last is not None]
    last = reduce(concatenated, said) if said else None
    return WindowCarry(concatenated(one.rows, other.rows), last, one.n_trimmed + other.n_trimmed)


def _joined_forecasts(one: ForecastCarry, other: ForecastCarry) -> ForecastCarry:
    return ForecastCarry(concatenated(one.keys, other.keys))


def _by_event(
    one: Mapping[str, Carry], other: Mapping[str, Carry], both: Callable[[Carry, Carry], Carry]
) -> dict[str, Carry]:
    shared = {name: both(one[name], other[name]) for name in one if name in other}
    return {**one, **other, **shared}
