"""Where the states of units stand: one row per state of an automaton and per value of each chained stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.probable_events import NOTHING, Numbers, ranges
from inkling.model.batch import Ints

MOST_ROWS = 1024
"""Of one unit."""

State = Mapping[str, np.ndarray]


class TooManyValues(Exception):  # noqa: N818
    """Streams of one unit can have too many values together."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(n_rows)
        self.n_rows = n_rows

    def __str__(self) -> str:
        return f"streams that have to be looked at together have {self.n_rows} joint states, the limit is {MOST_ROWS}"


@dataclass(frozen=True, slots=True)
class JointLayout:
    """Rows of unit u are base[u]:base[u + 1]: values of its chained streams, the last one fastest, then states."""

    units: Hashes
    first: Ints  # chained streams of unit u are first[u]:first[u + 1]
    streams: Hashes
    values: tuple[Hashes, ...]  # of each chained stream, in order; NOTHING comes first
    n_states: int

    @classmethod
    def empty(cls, n_states: int) -> JointLayout:
        none = np.empty(0, np.uint64)
        return cls(none, np.zeros(1, np.int64), none, (), n_states)

    @property
    def sizes(self) -> Ints:
        return np.array([len(one) for one in self.values], np.int64)

    @property
    def base(self) -> Ints:
        together = np.full(len(self.units), self.n_states, np.int64)
        if len(self.values):
            owner = np.repeat(np.arange(len(self.units)), np.diff(self.first))
            np.multiply.at(together, owner, self.sizes)
        return np.append(0, np.cumsum(together))

    def require_few(self) -> None:
        """Raises `TooManyValues`."""
        largest = int(np.diff(self.base).max(initial=0))
        if largest > MOST_ROWS:
            raise TooManyValues(largest)

    def possible(self, full: Numbers) -> JointLayout:
        """Only values that streams can have now."""
        values = []
        base = self.base
        for u in np.flatnonzero(np.diff(self.first)):
            chains = range(self.first[u], self.first[u + 1])
            shape = (*(len(self.values[m]) for m in chains), self.n_states)
            mass = np.asarray(full[base[u] : base[u + 1]] != 0, bool).reshape(shape)
            for axis, m in enumerate(chains):
                others = tuple(one for one in range(len(shape)) if one != axis)
                can_be = np.atleast_1d(mass.any(axis=others))
                can_be[0] = True
                values.append(self.values[m][can_be])
        return JointLayout(self.units, self.first, self.streams, tuple(values), self.n_states)

    def grown(self, units: Hashes, owners: Hashes, streams: Hashes, values: Sequence[Hashes]) -> JointLayout:
        """With more units, and more values of chained streams of units."""
        fresh = np.setdiff1d(units, self.units)
        names = np.concatenate([self.units, fresh])
        if not len(self.streams) and not len(streams):
            return JointLayout(names, np.zeros(len(names) + 1, np.int64), self.streams, (), self.n_states)
        place = {int(name): number for number, name in enumerate(names)}
        known: list[dict[int, Hashes]] = [{} for _ in names]
        for u in range(len(self.units)):
            for m in range(self.first[u], self.first[u + 1]):
                known[u][int(self.streams[m])] = self.values[m]
        nothing = np.array([NOTHING], np.uint64)
        for owner, stream, more in zip(owners, streams, values, strict=True):
            mine = known[place[int(owner)]]
            mine[int(stream)] = np.unique(np.concatenate([nothing, mine.get(int(stream), nothing), more]))
        listed = [one for mine in known for one in mine.items()]
        return JointLayout(
            names,
            np.append(0, np.cumsum([len(mine) for mine in known])).astype(np.int64),
            np.array([stream for stream, _ in listed], np.uint64),
            tuple(some for _, some in listed),
            self.n_states,
        )

    def rows_in(self, larger: JointLayout) -> Ints:
        """The row of a layout that has grown from this one, of each row; -1 where its values are gone."""
        mine, other = self.base, larger.base
        moved = np.empty(mine[-1], np.int64)
        plain = np.diff(larger.first)[: len(self.units)] == 0
        counts = np.where(plain, self.n_states, 0)
        moved[ranges(mine[:-1], counts)] = ranges(other[: len(self.units)], counts)
        for u in np.flatnonzero(~plain):
            index = np.zeros(1, np.int64)
            chains = {int(self.streams[m]): self.values[m] for m in range(self.first[u], self.first[u + 1])}
            for m in range(larger.first[u], larger.first[u + 1]):
                wanted, now = chains.get(int(larger.streams[m]), larger.values[m][:1]), larger.values[m]
                found = np.minimum(np.searchsorted(now, wanted), len(now) - 1)
                steps = np.where(now[found] == wanted, found, np.iinfo(np.int32).min)
                index = (index[:, None] * len(now) + steps).ravel()
            states = (index[:, None] * self.n_states + np.arange(self.n_states)).ravel()
            moved[mine[u] : mine[u + 1]] = np.where(states < 0, -1, states + other[u])
        return moved

    def packed(self) -> dict[str, np.ndarray]:
        flat = np.concatenate([*self.values, np.empty(0, np.uint64)])
        return {"units": self.units, "first": self.first, "streams": self.streams, "sizes": self.sizes, "values": flat}

    @classmethod
    def unpacked(cls, state: State, n_states: int) -> JointLayout:
        values = tuple(np.split(state["values"], np.cumsum(state["sizes"])[:-1])) if len(state["sizes"]) else ()
        return cls(state["units"], state["first"], state["streams"], values, n_states)


def moved_rows(old: np.ndarray, rows: Ints, n_rows: int, axis: int = 0) -> np.ndarray:
    """What stood in rows, where they are now; zero in those that are new."""
    shape = list(old.shape)
    shape[axis] = n_rows
    new = np.zeros(shape, old.dtype)
    kept = rows >= 0
    np.moveaxis(new, axis, 0)[rows[kept]] = np.moveaxis(old, axis, 0)[kept]
    return new
