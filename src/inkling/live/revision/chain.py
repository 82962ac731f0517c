"""The stages of a program whose past may change: what one withdraws, the next takes back as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators.stage.chosen import rows_where
from inkling.io.rejects import NO_REJECTS
from inkling.live.chain import StageChain, concatenated
from inkling.live.clocks import NEVER, Marks
from inkling.live.late import no_late_rows
from inkling.live.parts import Part
from inkling.live.revision.machine import OWNER, Rows
from inkling.live.revision.matches import found_table
from inkling.live.revision.replay import Revisable
from inkling.live.revision.stage import STAGE_ROWS, RevisedStage, StageMachine, is_revised
from inkling.live.revision.withdrawing import marked_rows
from inkling.live.stage import LiveStage, LiveState
from inkling.logical.evaluate import Surroundings
from inkling.physical.plan import PhysicalPlan

AnyStage = LiveStage | RevisedStage
AnyState = LiveState | Revisable[LiveState]


@dataclass(frozen=True, slots=True)
class Told:
    """What stages told and took back, as tables by event; `late` rows are in the clock's units."""

    added: Rows
    withdrawn: Rows
    late: pa.Table
    rejects: pa.Table


def any_stage(plan: PhysicalPlan, number: int, tables: Mapping[str, pa.Table], around: Surroundings) -> AnyStage:
    """A stage that can go back, if anything it reads may change."""
    if is_revised(number, plan):
        return RevisedStage.of(plan, number, tables, around)
    return LiveStage.of(plan, number, tables, around, owners=True)


def advanced(stage: AnyStage, state: AnyState, parts: Iterable[Part], marks: Marks) -> tuple[AnyState, Told]:
    """One step of a stage of either kind."""
    if isinstance(stage, RevisedStage):
        assert isinstance(state, Revisable)
        after, revision = stage.advance(state, parts, marks)
        return after, Told(revision.added, revision.withdrawn, no_late_rows(), revision.rejects)
    assert isinstance(state, LiveState)
    parts = list(parts)
    state = _without(StageMachine(stage), state, [part for part in parts if part.withdrawn])
    moved, found = stage.advance(state, [part for part in parts if not part.withdrawn], marks)
    added = {name: found_table(matches) for name, matches in found.found.matches.items() if len(matches)}
    return moved, Told(added, {}, found.late, found.rejects)


def _without(machine: StageMachine, state: LiveState, parts: Iterable[Part]) -> LiveState:
    """Without rows that others took the place of; where nothing is corrected, all of these are still waiting."""
    for part in parts:
        held = state.pending if part.stream is None else state.raw.get(part.stream)
        if held is None:
            continue
        left = rows_where(held, ~marked_rows(machine, part.stream or STAGE_ROWS, held, part.rows))
        if part.stream is None:
            state = replace(state, pending=left)
        else:
            state = replace(state, raw={**state.raw, part.stream: left})
    return state


def watermark_of(state: AnyState) -> int:
    """The time up to which a stage has told everything."""
    return state.until if isinstance(state, Revisable) else state.clocks.watermark


def rewindowed(stage: AnyStage, state: AnyState) -> AnyState:
    """A state that goes on with the windows of the stage as it is compiled now."""
    if isinstance(stage, RevisedStage):
        assert isinstance(state, Revisable)
        return replace(state, clocks=state.clocks.with_windows(stage.windows))
    assert isinstance(state, LiveState)
    return stage.rewindowed(state)


def viewed(stage: AnyStage, state: AnyState) -> tuple[LiveStage, LiveState]:
    """A stage with what it remembers, and rows that wait for their time."""
    if isinstance(stage, RevisedStage):
        assert isinstance(state, Revisable)
        return stage.machine.stage, stage.viewed(state)
    assert isinstance(state, LiveState)
    return stage, state


class RevisedChain:
    """Compiled once; its states are values of their own."""

    def __init__(self, plan: PhysicalPlan, tables: Mapping[str, pa.Table], around: Surroundings) -> None:
        self.stages = [any_stage(plan, stage.number, tables, around) for stage in plan.stages]
        self._sources = StageChain(plan, tables, around)

    def start(self) -> tuple[AnyState, ...]:
        return tuple(stage.start() for stage in self.stages)

    def parts(self, source: str, rows: pa.Table, *, withdrawn: bool) -> list[Part]:
        """What rows of a stream, or derived events, are to the stages that read them."""
        if not len(rows):
            return []
        return list(self._sources.parts(source, rows, withdrawn=withdrawn))

    def advance(
        self, states: Sequence[AnyState], parts: Iterable[Part], marks: Marks
    ) -> tuple[tuple[AnyState, ...], Told]:
        """Every stage takes in its parts and the news about time."""
        parts = list(parts)
        added: dict[str, pa.Table] = {}
        withdrawn: dict[str, pa.Table] = {}
        after, late, rejects = [], [no_late_rows()], [NO_REJECTS]
        for number, (stage, before) in enumerate(zip(self.stages, states, strict=True)):
            state, told = advanced(stage, before, [part for part in parts if part.stage == number], marks)
            after.append(state)
            late.append(told.late)
            rejects.append(told.rejects)
            added |= told.added
            withdrawn |= told.withdrawn
            for name, rows in told.withdrawn.items():
                parts += self.parts(name, rows.drop_columns([OWNER]), withdrawn=True)
            for name, rows in told.added.items():
                parts += self.parts(name, rows.drop_columns([OWNER]), withdrawn=False)
        return tuple(after), Told(added, withdrawn, concatenated(late), concatenated(rejects))

    def watermark(self, states: Sequence[AnyState]) -> int:
        return min(map(watermark_of, states), default=NEVER)
