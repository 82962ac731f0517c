"""The relations of a program on streams without an end: what is kept of the past, and what is told when.

Rows come when all rows up to their time have come. A result is told when nothing can follow any more of both of its
keys; with EARLY, as soon as it is certain to be probable enough; the others, at the end. So are those that depend on
the roles of lost events, which any later row may tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes, combined
from inkling.evaluators.lost.evaluator import Found, RelationEvaluator, Sides
from inkling.evaluators.lost.numbered import EVEN, ODD
from inkling.evaluators.lost.sides import Keys
from inkling.io.normalize import Normalizer
from inkling.live.clocks import NO_ROLES, Roles
from inkling.lost.program import LostProgram
from inkling.lost.results import probable_enough, results_of
from inkling.model.batch import FOREVER, Ints
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class Remembered:
    """Rows of each stream, and per event what was told early."""

    rows: Mapping[str, pa.Table] = field(default_factory=dict)
    settled: Mapping[str, Hashes] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))


@dataclass(frozen=True)
class LiveRelations:
    """Takes in checked rows of the streams in the order of their times."""

    program: LostProgram

    @property
    def streams(self) -> list[str]:
        return self.program.streams

    def start(self) -> Remembered:
        nothing = np.empty(0, np.uint64)
        return Remembered(self.no_rows(), {event.name: nothing for event in self.program.events})

    def no_rows(self) -> dict[str, pa.Table]:
        """Of each stream none."""
        clock = self.program.measure.clock
        return {
            one.schema.name: Normalizer(one.schema, [column.name for column in one.derived], clock)(pa.table({})).rows
            for one in self.program.part.streams
        }

    def advance(
        self, kept: Remembered, fresh: Mapping[str, pa.Table], before: int, now: int, roles: Mapping[str, Roles]
    ) -> tuple[Remembered, dict[str, pa.Table]]:
        """Rows of times after `before`, up to `now`, join those that are kept; FOREVER is the end.

        `roles` are those of numbered events in whole streams, of which these rows may be a part.
        """
        if not any(map(len, fresh.values())) and now < FOREVER and not self._may_run_out:
            return kept, {}
        rows = {name: pa.concat_tables([one, fresh[name]]) for name, one in kept.rows.items()}
        every = {name: self._with_roles(name, one, roles.get(name, NO_ROLES)) for name, one in rows.items()}
        settled, told = dict(kept.settled), {}
        for name, evaluator in self.program.evaluators.items():
            settled[name], tables = _told(evaluator, every, settled[name], before, now, self.program)
            if tables:
                told[name] = pa.concat_tables(tables)
        return Remembered(rows, settled), told

    def _with_roles(self, name: str, rows: pa.Table, roles: Roles) -> pa.Table:
        stream = self.program.part.stream(name)
        doubt = None if stream is None else stream.schema.doubt
        if not isinstance(doubt, LostEvents) or doubt.role is None:
            return rows
        kind = rows.schema.field(doubt.role).type
        for column, role in zip((EVEN, ODD), roles, strict=True):
            rows = rows.append_column(column, pa.repeat(pa.scalar(role, kind), len(rows)))
        return rows

    @property
    def _may_run_out(self) -> bool:
        """Whether time alone can tell that nothing follows."""
        doubts = [stream.schema.doubt for stream in self.program.part.streams]
        return any(getattr(doubt, "timeout", None) or getattr(doubt, "bounds", None) for doubt in doubts)


def _told(
    evaluator: RelationEvaluator,
    rows: Mapping[str, pa.Table],
    settled: Hashes,
    before: int,
    now: int,
    program: LostProgram,
) -> tuple[Hashes, list[pa.Table]]:
    """What is certain by now and was not before."""
    if evaluator.relation.asks_for_roles and now < FOREVER:
        return settled, []
    before = -FOREVER if evaluator.relation.asks_for_roles else before
    sides, tables = evaluator.sides(rows), []
    names, ids = _names(evaluator, sides), program.id_types[evaluator.event.name]
    for ones, others in evaluator.pairs(sides):
        complete = np.maximum(sides.left.complete[ones], sides.right.complete[others])
        still = complete > before
        over = still & ((complete <= now) | (now >= FOREVER))
        final = _unsettled(evaluator.found(sides, ones[over], others[over]), names, settled)
        told = [probable_enough(evaluator, final)]
        if evaluator.relation.is_early:
            still &= _moved(sides.left, before)[ones] | _moved(sides.right, before)[others]
            waiting = _unsettled(evaluator.open_questions(sides, ones[still], others[still]), names, settled)
            early = evaluator.early(sides, waiting, now, since=before)
            early = early.where(early.known < FOREVER)
            hashes = _hashes(early, names)
            told = [early, told[0].where(~np.isin(_hashes(told[0], names), hashes))]
            settled = np.concatenate([settled, hashes])
        tables += [results_of(evaluator, sides, found, ids, program.measure.clock) for found in told if len(found)]
    return settled, tables


def _moved(keys: Keys, before: int) -> np.ndarray:
    """Of which keys more is known than before: by rows, or because nothing can follow."""
    last = np.append(keys.known, -FOREVER)[keys.offsets[1:] - 1]
    has_rows = np.diff(keys.offsets) > 0
    return (has_rows & (last > before)) | ((keys.complete > before) & (keys.complete < FOREVER))


def _names(evaluator: RelationEvaluator, sides: Sides) -> tuple[Hashes, Hashes]:
    left, right = evaluator.relation.sides
    return (
        sides.left.hashes(tuple(column.name for column in left.operand.key)),
        sides.right.hashes(tuple(column.name for column in right.operand.key)),
    )


def _hashes(found: Found, names: tuple[Hashes, Hashes]) -> Hashes:
    quantity: Ints = found.quantity
    return combined(names[0][found.ones], names[1][found.others], quantity.view(np.uint64))


def _unsettled(found: Found, names: tuple[Hashes, Hashes], settled: Hashes) -> Found:
    return found.where(~np.isin(_hashes(found, names), settled)) if len(settled) else found
