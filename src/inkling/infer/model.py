"""A hidden Markov model: states, transition probabilities, and the probabilities of what readers report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError, nearest
from inkling.io import Data, read_table
from inkling.io.casting import cast_column, is_readable
from inkling.kernels.inference.hidden_states import Moves
from inkling.model.time import Clock
from inkling.model.types import Type

TOLERANCE = 1e-6
"""How far sums of probabilities may be from 1, because they are written with few digits; they are normalized."""


def read_model_table(data: Data, what: str, columns: tuple[str, ...], *, optional: str | None = None) -> pa.Table:
    """A table with names as text and `p` in [0, 1], without nulls; the other columns are unique together."""
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
        fault = "is missing" if given is None else f"is {given!r}, expected {expected}"
        raise InputError.of("INK0662", f"row {row + 1} of the table `{what}`: `{name}` {fault}")
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
            shown = ", ".join(f"{name} `{value}`" for name, value in zip(names.column_names, key, strict=True))
            raise InputError.of("INK0662", f"row {row + 1} of the table `{what}`: {shown} is a duplicate")
        seen.add(key)


def movement_of(table: pa.Table, first: Iterable[str]) -> tuple[tuple[str, ...], Moves]:
    """The states, starting with those in `first`, and the moves between them."""
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
            _reject_moves(states[number], float(total), states[number] in previous)
    order = np.lexsort((target, source))
    order = order[chance[order] > 0]
    offsets = np.searchsorted(source[order], np.arange(len(states) + 1)).astype(np.int64)
    return states, Moves(offsets, target[order], chance[order] / totals[source[order]])


def _reject_moves(state: str, total: float, is_known: bool) -> None:
    if not is_known:
        raise InputError.of(
            "INK0660",
            f"the table `movement` has no transitions from `{state}`",
            helps=(f"add a row with previous `{state}`; for an absorbing state, state `{state}` and p 1",),
        )
    raise InputError.of("INK0660", f"the probabilities in `movement` after `{state}` sum to {total:.9g}, expected 1")


def prior_of(table: pa.Table | None, states: tuple[str, ...]) -> NDArray[np.float64]:
    if table is None:
        return np.full(len(states), 1 / len(states))
    prior = np.zeros(len(states))
    for name, chance in zip(table["state"].to_pylist(), table["p"].to_pylist(), strict=True):
        prior[states.index(name)] = chance
    total = float(prior.sum())
    if abs(total - 1) > TOLERANCE:
        raise InputError.of("INK0660", f"the probabilities in `prior` sum to {total:.9g}, expected 1")
    return prior / total


def outcomes_of(
    table: pa.Table, states: tuple[str, ...]
) -> tuple[tuple[tuple[str, str | None], ...], NDArray[np.float64]]:
    """The outcomes that readers may report, and their probabilities, [outcome, state]."""
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
                f"the values of reader `{reader}` in state `{states[worst]}` sum to {totals[worst]:.9g}, "
                "expected at most 1",
            )
        chance[rows] /= np.maximum(totals, 1.0)
    return outcomes, chance


def require_state(name: str, known: Iterable[str], what: str) -> None:
    if name not in known:
        close = nearest(name, known, n=1)
        raise InputError.of(
            "INK0661",
            f"{what} names a state `{name}`, which `movement` does not have",
            helps=(f"write `{close[0]}`",) if close else (),
        )


Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Model:
    """At every step the hidden state makes a move, and then each reader independently reports an outcome or nothing.

    States are numbered by their place in `states`; ties go to the first. In the state `nothing`, if there is one, the
    key is absent, and the stream has no event.
    """

    states: tuple[str, ...]
    prior: Floats  # [state]
    moves: Moves
    outcomes: tuple[tuple[str, str | None], ...]  # a reader, and the reported value if readers report values
    chance: Floats  # [outcome, state]
    nothing: str | None = None

    def __post_init__(self) -> None:
        if self.nothing is not None and self.nothing not in self.states:
            raise ValueError(f"`nothing` is a state, found {self.nothing!r}")

    @classmethod
    def of(cls, movement: Data, readers: Data, prior: Data | None = None, *, nothing: str | None = None) -> Model:
        """A model from tables, which may be paths, frames or lists of rows.

        Parameters
        ----------
        movement
            ``previous``, ``state``, ``p``: transition probabilities; those of each previous state sum to 1.
        readers
            ``reader``, ``state``, ``p``: the probability that a reader detects, within one step, a key in the state; 0
            without a row. With a column ``value``, the probability that it reports this value.
        prior
            ``state``, ``p``: the distribution of the first state; uniform by default.
        nothing
            The state in which a key is absent.

        Examples
        --------
        >>> movement = [{"previous": a, "state": b, "p": 0.5} for a in "OH" for b in "OH"]
        >>> Model.of(movement, [{"reader": "r", "state": "H", "p": 0.6}]).states
        ('O', 'H')
        """
        begins = None if prior is None else read_model_table(prior, "prior", ("state", "p"))
        moves = read_model_table(movement, "movement", ("previous", "state", "p"))
        states, chances = movement_of(moves, () if begins is None else tuple(begins.column("state").to_pylist()))
        reports = read_model_table(readers, "readers", ("reader", "state", "p"), optional="value")
        outcomes, chance = outcomes_of(reports, states)
        if nothing is not None:
            require_state(nothing, states, "the option `nothing`")
        return cls(states, prior_of(begins, states), chances, outcomes, chance, nothing)

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(reader for reader, _ in self.outcomes))

    @property
    def has_values(self) -> bool:
        return any(value is not None for _, value in self.outcomes)

    @property
    def reader_of(self) -> Codes:
        """[outcome]: the number of its reader."""
        readers = self.readers
        return np.array([readers.index(reader) for reader, _ in self.outcomes], np.int32)

    @property
    def silent(self) -> Floats:
        """[reader, state]: the probability that the reader reports nothing."""
        reader_of = self.reader_of
        rows = [1 - self.chance[reader_of == reader].sum(axis=0) for reader in range(len(self.readers))]
        left = np.array(rows, self.chance.dtype).reshape(len(self.readers), len(self.states))
        return left if left.dtype == object else np.maximum(left, 0.0)  # 1 - 1 may be rounded below 0

    @property
    def nothing_code(self) -> int:
        return -1 if self.nothing is None else self.states.index(self.nothing)

    def tables(self) -> dict[str, pa.Table]:
        """The model as tables that `of` accepts."""
        names = np.array(self.states)
        previous = np.repeat(np.arange(len(self.states)), np.diff(self.moves.offsets))
        outcome, state = np.nonzero(self.chance)
        heard = [self.outcomes[one] for one in outcome]
        values = {"value": [value for _, value in heard]} if self.has_values else {}
        return {
            "movement": pa.table(
                {"previous": names[previous], "state": names[self.moves.target], "p": self.moves.chance}
            ),
            "readers": pa.table(
                {
                    "reader": pa.array([reader for reader, _ in heard], pa.string()),
                    **values,
                    "state": names[state],
                    "p": self.chance[outcome, state],
                }
            ),
            "prior": pa.table({"state": names, "p": self.prior}),
        }

    def fingerprint(self) -> str:
        """A hash of the whole model."""
        seen = hashlib.sha256(repr((self.states, self.outcomes, self.nothing)).encode())
        for array in (self.prior, *self.moves, self.chance):
            seen.update(np.ascontiguousarray(array).tobytes())
        return seen.hexdigest()
