"""What was proved about events over uncertain streams: what is enumerated or sampled, and what the data decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inkling.analysis.bounds.window import horizon_of
from inkling.analysis.choice import Evaluator
from inkling.analysis.uncertainty import streams_of
from inkling.analysis.worlds import common_key, needs_lengths
from inkling.logical import plan as p
from inkling.logical.printing.text import window_text
from inkling.logical.rewrites.in_worlds import uncertain_part
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import EventStep

WORLD_COSTS: dict[str, str] = {
    Evaluator.AUTOMATON: "one table look-up per event and world",
    Evaluator.NETWORK: "grows with the partial matches inside the window, in every world",
    Evaluator.SEGMENTS: "grows with the pairs of keys and their segments, in every world",
    Evaluator.WINDOW: "a few steps per event, in every world",
    Evaluator.CONSUMPTION: "a few steps per event, in every world",
    Evaluator.FORECAST: "one table look-up per event and world",
}


@dataclass(frozen=True, slots=True)
class Looks:
    """How many worlds a run will look at: all of a part that has few, a sample of the others."""

    n_sampled: int
    n_streamed: int  # on a stream, which looks once
    epsilon: float
    delta: float
    exact_up_to: int
    budget: int


def world_lines(step: EventStep, program: p.ProgramPlan, looks: Looks) -> dict[str, str]:
    """What `explain` says of an event that depends on an uncertain stream, by title."""
    event, part = step.event, uncertain_part(program)
    lines = {
        "evaluator": f"{step.evaluator} in possible worlds; {WORLD_COSTS[step.evaluator]}",
        "parts": _parts(part),
        "worlds": _worlds(event, looks),
    }
    lossy = [one for one in streams_of(event, program) if isinstance(one.schema.uncertainty, LostEvents)]
    if lossy:
        lengths = needs_lengths(part)
        verdict = "sampled where events were lost" if lengths.conclusion else "enumerated like any other uncertainty"
        lines["losses"] = f"{verdict}: {lengths.reason}"
    returned = "; ".join(_returned(event, looks))
    return lines | ({"returns": returned} if returned else {})


def stream_worlds(looks: Looks) -> str:
    """What worlds mean for the state of a stream."""
    return f"in each of {looks.n_streamed:,} worlds"


def _parts(part: p.ProgramPlan) -> str:
    """Which rows share their worlds."""
    key = common_key(part)
    by = ", ".join(key.conclusion) if key.conclusion else "all keys together"
    return f"{by}, {_stretches(part)}: {key.reason}"


def _stretches(part: p.ProgramPlan) -> str:
    for stream in part.streams:
        if stream.derived:
            return f"all of their time (derived columns of {stream.schema.name} look back, however long ago)"
    windows: list[p.Window] = []
    for event in part.events:
        horizon = horizon_of(event)
        if horizon.conclusion is None:
            return f"all of their time ({event.name}: {horizon.reason})"
        windows += horizon.conclusion.windows
    if not windows:
        return "moment by moment"
    return f"cut where nothing can happen for {' + '.join(map(window_text, windows))}"


def _worlds(event: p.EventPlan, looks: Looks) -> str:
    sampled = f"{looks.n_sampled:,} sampled worlds give ± {looks.epsilon:g} with confidence {1 - looks.delta:g}"
    match event.demand:
        case p.Demand.EXACT:
            return f"all of every part, EXACT: data with a part of more than {looks.exact_up_to:,} worlds is rejected"
        case p.Demand.SAMPLED:
            return f"sampled in every part, SAMPLED: {sampled}"
        case None:
            return (
                f"all of a part that has at most {looks.exact_up_to:,}, which makes it exact; in the others {sampled}: "
                "the data decides"
            )


def _returned(event: p.EventPlan, looks: Looks) -> Iterator[str]:
    if event.confidence is not None:
        sign = ">" if event.confidence.strict else ">="
        yield f"results with probability {sign} {event.confidence.threshold:g}"
        if event.demand is not p.Demand.EXACT:
            more = f" after {looks.budget} times as many worlds" if looks.budget > 1 else ""
            yield f"`undecided` where a sample leaves that open{more}"
    if event.top is not None:
        yield f"the {event.top} most probable" if event.top > 1 else "the most probable"
