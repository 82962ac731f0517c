"""What was proved about every event, as stable text: each conclusion with its reason."""

from __future__ import annotations

from inkling.analysis.bounded import bound_text, forgetting_text, state_bound
from inkling.analysis.choice import Choice, Evaluator
from inkling.analysis.doubt import doubt_of
from inkling.analysis.imprecise import Chain
from inkling.analysis.lost import Relation
from inkling.analysis.probable.strategy import Strategy
from inkling.analysis.recursion import recursion_of
from inkling.analysis.revision import memory_text, pushed_windows, replay_text, revision_of, revision_text
from inkling.analysis.verdict import Verdict
from inkling.analysis.wait import wait_of, waits_without_limit
from inkling.logical import plan as p
from inkling.logical.text import window_text
from inkling.physical.chain_verdicts import chain_lines
from inkling.physical.plan import EventStep, PhysicalPlan, Stage
from inkling.physical.query_verdicts import query_lines
from inkling.physical.relation_verdicts import relation_lines
from inkling.physical.sharing_text import shared_text
from inkling.physical.world_verdicts import Looks, stream_worlds, world_lines

COSTS: dict[str, str] = {
    Evaluator.AUTOMATON: "one table look-up per event",
    Evaluator.NETWORK: "grows with the partial matches inside the window",
    Evaluator.SEGMENTS: "grows with the pairs of keys and their segments",
    Evaluator.WINDOW: "a few steps per event, however long the window is",
    Evaluator.CONSUMPTION: "a few steps per event, and one per stored partner that does not fit",
    Evaluator.FORECAST: "one table look-up per event, in tables made from the model",
}

CLASSES: dict[str, str] = {
    Evaluator.AUTOMATON: "regular",
    Evaluator.NETWORK: "correlated",
    Evaluator.SEGMENTS: "quantified",
    Evaluator.WINDOW: "sliding",
    Evaluator.CONSUMPTION: "consuming",
    Evaluator.FORECAST: "regular",
}


def explain_verdicts(plan: PhysicalPlan, looks: Looks | None = None) -> str:
    """One paragraph per event, in the order of the program; `looks` is needed where streams are uncertain."""
    found = {step.event.name: (stage, step) for stage in plan.stages for step in stage.steps}
    return "\n\n".join(_paragraph(plan.program, *found[event.name], looks) for event in plan.program.events)


def _paragraph(program: p.ProgramPlan, stage: Stage, step: EventStep, looks: Looks | None) -> str:
    event, written = step.event, program.event(step.event.name)
    assert written is not None
    doubt = doubt_of(event, program)
    state = state_bound(written, program, step.evaluator is Evaluator.AUTOMATON)
    lines = {
        "partition": _said(partition_text(stage, step), step.key_reason),
        "wait": _wait(wait_of(event, program), waits_without_limit(event, program)),
        "state": _said(bound_text(state.conclusion), state.reason),
        "forgets": forgetting_text(state.conclusion),
        "doubt": _said(" and ".join(sorted(kind.value for kind in doubt.conclusion)) or "none", doubt.reason),
        "class": _class(step),
        "evaluator": f"{step.evaluator}, exact; {COSTS[step.evaluator]}",
    }
    lines |= _revision(program, stage, step)
    recursion = recursion_of(event, program)
    if recursion.conclusion is not None:
        lines["recursion"] = _said(recursion.conclusion.value, recursion.reason)
    shared = shared_text(stage.sharing, event.name)
    if shared is not None:
        lines["shares"] = shared
    if step.is_uncertain and step.choice.evaluator != Evaluator.WORLDS:
        lines.pop("shares", None)
    match step.choice:
        case Choice(Evaluator.CHAIN, reason, Chain() as chain):
            lines |= chain_lines(event, chain, reason)
            lines["state"] = _said(f"{bound_text(state.conclusion)}, and as long as intervals are", state.reason)
        case Choice(Evaluator.QUERY, _, Strategy() as strategy):
            lines |= query_lines(strategy)
        case Choice(Evaluator.RELATION, reason, Relation() as relation):
            lines |= relation_lines(relation, reason)
        case Choice(Evaluator.WORLDS, _, dict() as reasons):
            lines |= {_NOT_BY[family]: why for family, why in reasons.items() if _is_worth_saying(family, event)}
            assert looks is not None, "an uncertain stream is looked at in worlds"
            lines["state"] = _said(f"{bound_text(state.conclusion)}, {stream_worlds(looks)}", state.reason)
            lines |= world_lines(step, program, looks)
        case choice if step.is_uncertain:
            lines |= {"class": f"{choice.evaluator}: {choice.reason}", "evaluator": choice.evaluator}
    return _said_of(event, lines)


_NOT_BY: dict[str, str] = {Evaluator.CHAIN: "no chain", Evaluator.QUERY: "no query", Evaluator.RELATION: "in worlds"}
"""The title under which `explain` says why a family does not answer an event."""


def _is_worth_saying(family: str, event: p.EventPlan) -> bool:
    """Only relations between segments could have been answered as such."""
    return family in _NOT_BY and (family != Evaluator.RELATION or isinstance(event.pattern, p.Quantified))


def _revision(program: p.ProgramPlan, stage: Stage, step: EventStep) -> dict[str, str]:
    """What is said of an event whose results can change."""
    verdict = revision_of(step.event, program)
    if verdict.conclusion is None:
        return {}
    pushed = pushed_windows(step.event) if step.evaluator is Evaluator.NETWORK else ()
    key = partition_text(stage, step) if stage.key_types and not _looks_back_elsewhere(stage, program) else None
    return {
        "revision": _said(revision_text(verdict.conclusion), verdict.reason),
        "replay": replay_text(key),
        "memory": memory_text(verdict.conclusion, pushed),
    }


def _looks_back_elsewhere(stage: Stage, program: p.ProgramPlan) -> bool:
    """Whether columns look back along another key than that of the stage, so that its keys are not apart."""
    read = ((given, program.stream(given.source)) for given in stage.inputs)
    return any(stream is not None and stream.derived and given.key != stream.schema.key for given, stream in read)


def _said_of(event: p.EventPlan, lines: dict[str, str]) -> str:
    return "\n".join([event.name, *(f"  {title:<9}  {text}" for title, text in lines.items())])


def partition_text(stage: Stage, step: EventStep) -> str:
    """The key columns of an event, once when all sources call them the same."""
    keys = dict.fromkeys(given.key for given in stage.inputs if given.source in step.event.sources)
    if not stage.key_types:
        return "overlapping slices of time" if stage.sliced else "none, all events together"
    return " = ".join(", ".join(key) for key in keys)


def _said(conclusion: str, reason: str) -> str:
    return f"{conclusion}: {reason}"


def _wait(verdict: Verdict[tuple[p.Window, ...]], without_limit: bool) -> str:
    if without_limit:
        return _said("unlimited", verdict.reason)
    if not verdict.conclusion:
        return _said("none", verdict.reason)
    total = " + ".join(window_text(window) for window in verdict.conclusion)
    return _said(f"at most {total}", verdict.reason)


def _class(step: EventStep) -> str:
    return _said(CLASSES[step.evaluator], step.choice.in_one_world.reason)
