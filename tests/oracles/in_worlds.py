"""An uncertain example as one certain program: all possible worlds side by side, told apart by a column `w`.

The event is partitioned by `w`, so every world is alone; a result's probability is that of the worlds it is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from inkling import parse
from inkling.model.schema import StreamSchema
from inkling.model.worlds import joint_worlds

Rows = Mapping[str, list[dict[str, object]]]


@dataclass(frozen=True, slots=True)
class Worlds:
    """The probability of every world, and the rows of all of them with its number."""

    probs: list[Fraction]
    rows: Rows


def side_by_side(rows: Rows, schemas: Iterable[StreamSchema]) -> Worlds:
    """Ids are made different in every world: `7/a1` is `a1` of world 7."""
    declared = list(schemas)
    probs: list[Fraction] = []
    every: dict[str, list[dict[str, object]]] = {schema.name: [] for schema in declared}
    for number, (prob, world) in enumerate(joint_worlds(rows, declared)):
        probs.append(prob)
        for name, some in world.items():
            every[name] += [
                {**row, "w": number, "id": f"{number}/{row.get('id', place)}"} for place, row in enumerate(some)
            ]
    assert sum(probs) == 1
    return Worlds(probs, every)


def results_in(program: str, inputs: Rows, tables: Rows) -> list[dict[str, object]]:
    """Results of the event `x`; ids are those that they have in every world."""
    found = parse(program).run_local(inputs, tables).tables["x"].to_pylist()
    return [{**row, "lineage": tuple(str(one).partition("/")[2] for one in row["lineage"])} for row in found]
