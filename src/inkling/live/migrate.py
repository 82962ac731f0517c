"""What a stage remembers, handed over to another version of it when a running program is replaced.

Events that are kept go on as if nothing had happened. Events that are new see what ends after `beginning_of` them, as
if the streams had begun there: rows that came before the switch were not prepared for them, and a match of which they
know only a part is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from inkling.evaluators.automaton.takeover import Running, carried_over
from inkling.evaluators.consumption.carry import relaid
from inkling.evaluators.stage.stepper import StageState
from inkling.live.changes import changes, is_same_stream
from inkling.live.clocks import NEVER, Clocks
from inkling.live.layout import Layout
from inkling.live.stage import LiveStage, LiveState
from inkling.live.streams import streams_of_event
from inkling.logical.plan import EventPlan, ProgramPlan


def migrated(old: LiveStage, new: LiveStage, state: LiveState) -> LiveState:
    """The state of the old stage as a state of the new one, which has the same number."""
    before, after = old.plan.stages[old.number], new.plan.stages[new.number]
    here = {step.event.name for step in before.steps} & {step.event.name for step in after.steps}
    kept = frozenset(here & set(changes(old.plan.program, new.plan.program).kept))
    fresh = new.start()
    clocks = replace(state.clocks, lateness=fresh.clocks.lateness)
    since = {name: time for name, time in state.stage.since.items() if name in kept}
    since |= {
        step.event.name: beginning_of(step.event, new.plan.program, state.clocks)
        for step in after.steps
        if step.event.name not in kept
    }
    if not kept:
        return replace(fresh, clocks=clocks, stage=replace(fresh.stage, until=state.stage.until, since=since))
    layout = Layout.between(before, after, kept)
    return LiveState(
        clocks,
        layout.rows(state.pending),
        _of_same_streams(state.raw, old, new),
        _of_same_streams(state.last, old, new),
        _stage_state(old, new, state.stage, layout, kept, since),
    )


def beginning_of(event: EventPlan, program: ProgramPlan, clocks: Clocks) -> int:
    """A time by which everything has ended that came before a new event was there to see it, or is decided."""
    behind = streams_of_event(event, program)
    return max([clocks.watermark, *(clocks.latest.get(name, NEVER) for name in behind)])


def _of_same_streams(held: Mapping[str, pa.Table], old: LiveStage, new: LiveStage) -> dict[str, pa.Table]:
    """What is held per stream with columns that look back, where the stream still means the same."""
    return {
        name: rows
        for name, rows in held.items()
        if name in new.derived and is_same_stream(old.plan.program.stream(name), new.plan.program.stream(name))
    }


def _stage_state(
    old: LiveStage, new: LiveStage, state: StageState, layout: Layout, kept: frozenset[str], since: Mapping[str, int]
) -> StageState:
    running = [
        Running(automata, carry) for automata, carry in zip(old.stepper.engine.automata, state.automata, strict=True)
    ]
    carries = tuple(carried_over(one, running, kept, layout.events) for one in new.stepper.engine.automata)
    windows = {
        name: replace(window, rows=layout.rows(window.rows)) for name, window in state.windows.items() if name in kept
    }
    waiting = {name: relaid(one, layout.rows(one.rows)) for name, one in state.waiting.items() if name in kept}
    rows = layout.rows(state.rows)
    forecasts = {name: one for name, one in state.forecasts.items() if name in kept}
    return StageState(rows, carries, state.keys, state.until, since, 0, windows, waiting, forecasts)
