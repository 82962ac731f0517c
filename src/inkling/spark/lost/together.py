"""Which relations of a program share a shuffle: those that read the same streams, divided by the same columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators.lost.evaluator import RelationEvaluator
from inkling.lost.program import LostProgram
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class Together:
    """Relations, and per stream the columns in which two keys agree that are compared, in the same order."""

    events: tuple[str, ...]
    divided_by: Mapping[str, tuple[str, ...]]
    ids: pa.DataType  # of what lineage names

    @property
    def n_columns(self) -> int:
        """By how many columns rows are divided; by none, every key is compared with every other."""
        return len(next(iter(self.divided_by.values())))

    def part_of(self, program: LostProgram) -> LostProgram:
        """A program without the other relations and without tables that none of these asks."""
        events = tuple(one for one in program.events if one.name in self.events)
        streams = tuple(one for one in program.part.streams if one.schema.name in self.divided_by)
        doubts = [one.schema.doubt for one in streams if isinstance(one.schema.doubt, LostEvents)]
        asked = {name for doubt in doubts for name in (doubt.intensity, doubt.known) if name is not None}
        return replace(
            program,
            part=replace(program.part, streams=streams, events=events),
            relations={name: program.relations[name] for name in self.events},
            tables={name: program.tables[name] for name in asked},
        )


def relations_together(program: LostProgram) -> list[Together]:
    found: dict[tuple[_Division, pa.DataType], list[str]] = {}
    for event in program.events:
        division = _division(program.evaluators[event.name])
        found.setdefault((division, program.id_types[event.name]), []).append(event.name)
    return [Together(tuple(events), dict(division), ids) for (division, ids), events in found.items()]


_Division = tuple[tuple[str, tuple[str, ...]], ...]


def _division(evaluator: RelationEvaluator) -> _Division:
    left, right = (side.stream for side in evaluator.relation.sides)
    pairs = dict.fromkeys(zip(*evaluator.joined_by, strict=True))
    if left == right:
        # a key is on both sides, so its rows go where both of these say
        return ((left, tuple(one for one, other in pairs if one == other)),)
    return tuple(sorted([(left, tuple(one for one, _ in pairs)), (right, tuple(other for _, other in pairs))]))
