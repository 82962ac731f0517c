"""The tables of a model, read and checked: states that are known, chances that add up."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError, nearest
from inkling.io import Data, read_table
from inkling.io.casting import cast_column, is_readable
from inkling.kernels.hidden_states import Moves
from inkling.model.time import Clock
from inkling.model.types import Type

TOLERANCE = 1e-6
"""By how much chances may miss 1 because they were written with few digits; they are scaled to add up exactly."""


def read_model_table(data: Data, what: str, columns: tuple[str, ...], *, optional: str | None = None) -> pa.Table:
    """Names as text and `p` as numbers from 0 to 1, none missing; the other columns name what `p` is about, once."""
    raw = read_table(data, what=what)
    wanted = list(columns)
    if optional is not None and optional in raw.column_names:
        wanted.insert(len(columns) - 1, optional)
    found = {}
    for name in wanted:
        if name not in raw.column_names:
            close = nearest(name, raw.column_names, n=1)
            raise InputError.of(
                "INK0662",
                f"the table `{what}` of the model has no column `{name}`",
                notes=(f"its columns are {', '.join(raw.column_names) or 'none'}",),
                helps=(f"rename `{close[0]}`",) if close else (),
            )
        found[name] = _column(raw[name], what, name)
    table = pa.table(found)
    if not len(table):
        raise InputError.of("INK0662", f"the table `{what}` of the model has no rows")
    _require_chances(table["p"].to_numpy(), what)
    _require_once(table.drop_columns(["p"]), what)
    return table


def _column(column: pa.ChunkedArray, what: str, name: str) -> pa.Array:
    kind = Type.DOUBLE if name == "p" else Type.STRING
    expected = "a number" if name == "p" else "a text"
    if not is_readable(column.type, kind, Clock.TICKS):
        raise InputError.of(
            "INK0662", f"the column `{name}` of the table `{what}` has the type {column.type}, expected {expected}"
        )
    cast = cast_column(column, kind, Clock.TICKS)
    wrong = cast.bad | cast.values.is_null().to_numpy(zero_copy_only=False)
    if wrong.any():
        row = int(wrong.argmax())
        given = column[row].as_py()
        said = "is missing" if given is None else f"is {given!r}, expected {expected}"
        raise InputError.of("INK0662", f"row {row + 1} of the table `{what}`: `{name}` {said}")
    return cast.values


def _require_chances(chances: NDArray[np.float64], what: str) -> None:
    wrong = ~((chances >= 0) & (chances <= 1))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError.of(
            "INK0660", f"row {row + 1} of the table `{what}`: `p` is {chances[row]:g}, expected a number from 0 to 1"
        )


def _require_once(names: pa.Table, what: str) -> None:
    seen: set[tuple[str, ...]] = set()
    for row, key in enumerate(zip(*(column.to_pylist() for column in names.columns), strict=True)):
        if key in seen:
            told = ", ".join(f"{name} `{value}`" for name, value in zip(names.column_names, key, strict=True))
            raise InputError.of("INK0662", f"row {row + 1} of the table `{what}`: {told} was given before")
        seen.add(key)


def movement_of(table: pa.Table, first: Iterable[str]) -> tuple[tuple[str, ...], Moves]:
    """States, those named `first` before the others, and the moves between them."""
    previous, state = table["previous"].to_pylist(), table["state"].to_pylist()
    known = {*previous, *state}
    for name in first:
        require_state(name, known, "the table `prior`")
    states = tuple(dict.fromkeys([*first, *previous, *state]))
    place = {name: number for number, name in enumerate(states)}
    source, target = (np.array([place[name] for name in names], np.int32) for names in (previous, state))
    chance = table["p"].to_numpy()
    totals = np.bincount(source, chance, len(states))
    for number, total in enumerate(totals):
        if abs(total - 1) > TOLERANCE:
            _refuse_moves(states[number], float(total), states[number] in previous)
    order = np.lexsort((target, source))
    order = order[chance[order] > 0]
    offsets = np.searchsorted(source[order], np.arange(len(states) + 1)).astype(np.int64)
    return states, Moves(offsets, target[order], chance[order] / totals[source[order]])


def _refuse_moves(state: str, total: float, is_known: bool) -> None:
    if not is_known:
        raise InputError.of(
            "INK0660",
            f"the table `movement` does not say what follows `{state}`",
            helps=(f"add a row with previous `{state}`; what never moves has one with state `{state}` and p 1",),
        )
    raise InputError.of("INK0660", f"the chances in `movement` after `{state}` add up to {total:.9g}, expected 1")


def prior_of(table: pa.Table | None, states: tuple[str, ...]) -> NDArray[np.float64]:
    if table is None:
        return np.full(len(states), 1 / len(states))
    prior = np.zeros(len(states))
    for name, chance in zip(table["state"].to_pylist(), table["p"].to_pylist(), strict=True):
        prior[states.index(name)] = chance
    total = float(prior.sum())
    if abs(total - 1) > TOLERANCE:
        raise InputError.of("INK0660", f"the chances in `prior` add up to {total:.9g}, expected 1")
    return prior / total


def outcomes_of(
    table: pa.Table, states: tuple[str, ...]
) -> tuple[tuple[tuple[str, str | None], ...], NDArray[np.float64]]:
    """What readers may report, and how probable that is in each state."""
    readers = table["reader"].to_pylist()
    values = table["value"].to_pylist() if "value" in table.column_names else [None] * len(table)
    outcomes = tuple(dict.fromkeys(zip(readers, values, strict=True)))
    place = {outcome: number for number, outcome in enumerate(outcomes)}
    chance = np.zeros((len(outcomes), len(states)))
    for reader, value, state, p in zip(
        readers, values, table["state"].to_pylist(), table["p"].to_pylist(), strict=True
    ):
        require_state(state, states, "the table `readers`")
        chance[place[reader, value], states.index(state)] = p
    for reader in dict.fromkeys(readers):
        rows = [place[one] for one in outcomes if one[0] == reader]
        totals = chance[rows].sum(axis=0)
        if totals.max() > 1 + TOLERANCE:
            worst = int(totals.argmax())
            raise InputError.of(
                "INK0660",
                f"the values of reader `{reader}` in state `{states[worst]}` add up to {totals[worst]:.9g}, "
                "expected at most 1",
            )
        chance[rows] /= np.maximum(totals, 1.0)
    return outcomes, chance


def require_state(name: str, known: Iterable[str], what: str) -> None:
    if name not in known:
        close = nearest(name, known, n=1)
        raise InputError.of(
            "INK0661",
            f"{what} names a state `{name}`, of which `movement` says nothing",
            helps=(f"write `{close[0]}`",) if close else (),
        )
