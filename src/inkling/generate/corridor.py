"""The corridor as a model, and people on it: where they really were, and what antennas read of them.

`movement`, `readers` and `prior` are what `inkling.infer.Model` reads; `walk` draws people who move and are read by
exactly these chances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.generate.floor import ANTENNA_CELLS, COFFEE_ROOM, LOCATIONS, motion, read_chance
from inkling.generate.numbering import prefixed

PEOPLE = 60
SECONDS = 900
READERS = tuple(f"A{cell + 1}" for cell in ANTENNA_CELLS)


def movement() -> pa.Table:
    """`previous`, `state`, `p`: how probably somebody is where, a second later."""
    chances = motion()
    source, target = np.nonzero(chances)
    names = np.array(LOCATIONS)
    return pa.table({"previous": names[source], "state": names[target], "p": chances[source, target]})


def readers() -> pa.Table:
    """`reader`, `state`, `p`: how probably an antenna reads, within a second, a tag that is somewhere."""
    chances = read_chance()
    antenna, place = np.indices(chances.shape).reshape(2, -1)
    return pa.table({"reader": np.array(READERS)[antenna], "state": np.array(LOCATIONS)[place], "p": chances.ravel()})


def prior() -> pa.Table:
    """`state`, `p`: people begin anywhere."""
    return pa.table({"state": LOCATIONS, "p": np.full(len(LOCATIONS), 1 / len(LOCATIONS))})


@dataclass(frozen=True, slots=True)
class Corridor:
    """People on the corridor for some seconds, from second 1 on."""

    people: pa.Array
    path: npt.NDArray[np.intp]  # [second, person]: the place in LOCATIONS
    readings: pa.Table  # person, t, reader

    def truth(self) -> pa.Table:
        """`person`, `t`, `place`: where everybody was at each second."""
        second, person = np.indices(self.path.shape).reshape(2, -1)
        return pa.table(
            {
                "person": self.people.take(pa.array(person)),
                "t": second + 1,
                "place": np.array(LOCATIONS)[self.path.ravel()],
            }
        )

    def entries(self, room: str = COFFEE_ROOM) -> pa.Table:
        """`person`, `t`: when somebody came into a room from the hallway."""
        place = LOCATIONS.index(room)
        second, person = np.nonzero((self.path[1:] == place) & (self.path[:-1] != place))
        return pa.table({"person": self.people.take(pa.array(person)), "t": second + 2})


def walk(*, people: int = PEOPLE, seconds: int = SECONDS, seed: int = 7) -> Corridor:
    """People who move and are read as the tables say.

    Everybody has a row without a reader in the first and the last second, so that all are known for all the time.

    >>> walk(people=2, seconds=30, seed=1).path.shape
    (30, 2)
    """
    if people < 1 or seconds < 1:
        raise ValueError(f"expected at least one person and one second, found {people=}, {seconds=}")
    random = np.random.default_rng(seed)
    reached = np.cumsum(motion(), axis=1)
    path = np.empty((seconds, people), np.intp)
    path[0] = random.integers(0, len(LOCATIONS), people)
    for step in range(1, seconds):
        draws = random.random(people)[:, None]
        path[step] = np.minimum((reached[path[step - 1]] <= draws).sum(axis=1), len(LOCATIONS) - 1)
    is_read = random.random((*path.shape, len(READERS))) < np.moveaxis(read_chance()[:, path], 0, -1)
    second, person, antenna = np.nonzero(is_read)
    names = prefixed("person", np.arange(people), width=3)
    everybody = np.tile(np.arange(people), 2)
    readings = pa.table(
        {
            "person": names.take(pa.array(np.concatenate([everybody, person]))),
            "t": np.concatenate([np.repeat([1, seconds], people), second + 1]),
            "reader": pa.concat_arrays(
                [pa.nulls(2 * people, pa.string()), pa.array(READERS, pa.string()).take(pa.array(antenna))]
            ),
        }
    )
    return Corridor(names, path, readings.sort_by([("t", "ascending"), ("person", "ascending")]))
