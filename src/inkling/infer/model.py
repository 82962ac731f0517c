"""A hidden Markov model: states, how they follow each other, and what readers report in each of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.infer.model_tables import movement_of, outcomes_of, prior_of, read_model_table, require_state
from inkling.io import Data
from inkling.kernels.hidden_states import Moves

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Model:
    """At every step the hidden state moves on, and then each reader reports something or nothing, independently.

    States are known by their places in `states`; of equally likely ones the first is preferred. In the state
    `nothing`, if it is set, the key is not there: the streams have no event then.
    """

    states: tuple[str, ...]
    prior: Floats  # [state]
    moves: Moves
    outcomes: tuple[tuple[str, str | None], ...]  # what may be reported: a reader, and a value if readers have values
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
            ``previous``, ``state``, ``p``: from each state to the next; the chances after each add up to 1.
        readers
            ``reader``, ``state``, ``p``: how probably a reader reads what is in a state during one step; 0 where there
            is no row. With a column ``value``, how probably it reports this value.
        prior
            ``state``, ``p``: where things begin. By default each state is as probable as any other.
        nothing
            The state in which a key is not there.

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
        """The place of the reader of each outcome."""
        readers = self.readers
        return np.array([readers.index(reader) for reader, _ in self.outcomes], np.int32)

    @property
    def silent(self) -> Floats:
        """How probably each reader reports nothing, by state."""
        reader_of = self.reader_of
        rows = [1 - self.chance[reader_of == reader].sum(axis=0) for reader in range(len(self.readers))]
        left = np.array(rows, self.chance.dtype).reshape(len(self.readers), len(self.states))
        return left if left.dtype == object else np.maximum(left, 0.0)  # 1 - 1 may be rounded below 0

    @property
    def nothing_code(self) -> int:
        return -1 if self.nothing is None else self.states.index(self.nothing)

    def tables(self) -> dict[str, pa.Table]:
        """What `of` reads."""
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
        """The same for equal models only."""
        seen = hashlib.sha256(repr((self.states, self.outcomes, self.nothing)).encode())
        for array in (self.prior, *self.moves, self.chance):
            seen.update(np.ascontiguousarray(array).tobytes())
        return seen.hexdigest()
