"""What was proved about every event, as stable text: each conclusion with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from inkling.analysis.bounds.bounded import bound_text, forgetting_text, state_bound
from inkling.analysis.bounds.lag import wait_of, waits_without_limit
from inkling.analysis.bounds.revision import memory_text, pushed_windows, replay_text, revision_of, revision_text
from inkling.analysis.bounds.window import horizon_of
from inkling.analysis.chain import ChainPattern
from inkling.analysis.choice import Choice, Evaluator
from inkling.analysis.partial_order import PartialOrders
from inkling.analysis.query import plans
from inkling.analysis.query.plans import (
    GroupSeqPlan,
    LastWinsPlan,
    NoSafePlan,
    PlanObstacle,
    ProjectPlan,
    QueryClass,
    SafePlan,
    SeqPlan,
)
from inkling.analysis.query.query import Query
from inkling.analysis.query.strategy import Engine, Strategy
from inkling.analysis.relation import SegmentRelation
from inkling.analysis.uncertainty import streams_of, uncertainty_of
from inkling.analysis.verdict import Verdict
from inkling.analysis.worlds import common_key, needs_lengths
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.printing.text import window_text
from inkling.logical.recursion import group_of, is_monotone
from inkling.logical.rewrites.in_worlds import uncertain_part
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import EventStep, PhysicalPlan, Stage
from inkling.physical.sharing import shared_text

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
    uncertainty = uncertainty_of(event, program)
    state = state_bound(written, program, step.evaluator is Evaluator.AUTOMATON)
    lines = {
        "partition": _with_reason(partition_text(stage, step), step.key_reason),
        "wait": _wait(wait_of(event, program), waits_without_limit(event, program)),
        "state": _with_reason(bound_text(state.conclusion), state.reason),
        "forgets": forgetting_text(state.conclusion),
        "uncertain": _with_reason(
            " and ".join(sorted(kind.value for kind in uncertainty.conclusion)) or "none", uncertainty.reason
        ),
        "class": _with_reason(CLASSES[step.evaluator], step.choice.in_one_world.reason),
        "evaluator": f"{step.evaluator}, exact; {COSTS[step.evaluator]}",
    }
    lines |= _revision(program, stage, step)
    recursion = _recursion_of(event, program)
    if recursion.conclusion is not None:
        lines["recursion"] = _with_reason(recursion.conclusion.value, recursion.reason)
    shared = shared_text(stage.sharing, event.name)
    if shared is not None:
        lines["shares"] = shared
    if step.is_uncertain and step.choice.evaluator != Evaluator.WORLDS:
        lines.pop("shares", None)
    match step.choice:
        case Choice(Evaluator.CHAIN, reason, ChainPattern() as chain):
            lines |= _chain_lines(event, chain, reason)
            lines["state"] = _with_reason(
                f"{bound_text(state.conclusion)}, plus the width of imprecise times", state.reason
            )
        case Choice(Evaluator.CHAIN, reason, PartialOrders() as orders):
            lines |= _order_lines(event, orders, reason)
            lines["state"] = _with_reason(
                f"{bound_text(state.conclusion)}, plus the width of imprecise times", state.reason
            )
        case Choice(Evaluator.QUERY, _, Strategy() as strategy):
            lines |= _query_lines(strategy)
        case Choice(Evaluator.RELATION, reason, SegmentRelation() as relation):
            lines |= _relation_lines(relation, reason)
        case Choice(Evaluator.WORLDS, _, dict() as reasons):
            lines |= {_NOT_BY[family]: why for family, why in reasons.items() if _is_worth_saying(family, event)}
            assert looks is not None, "an uncertain stream is looked at in worlds"
            lines["state"] = _with_reason(f"{bound_text(state.conclusion)}, {stream_worlds(looks)}", state.reason)
            lines |= world_lines(step, program, looks)
        case choice if step.is_uncertain:
            lines |= {"class": f"{choice.evaluator}: {choice.reason}", "evaluator": choice.evaluator}
    return _section(event, lines)


_NOT_BY: dict[str, str] = {Evaluator.CHAIN: "no chain", Evaluator.QUERY: "no query", Evaluator.RELATION: "in worlds"}
"""The title under which `explain` says why a family does not answer an event."""


def _is_worth_saying(family: str, event: p.EventPlan) -> bool:
    """Only relations between segments could have been answered as such."""
    return family in _NOT_BY and (family != Evaluator.RELATION or isinstance(event.pattern, p.Quantified))


def _revision(program: p.ProgramPlan, stage: Stage, step: EventStep) -> dict[str, str]:
    """The lines for an event whose results can change."""
    verdict = revision_of(step.event, program)
    if verdict.conclusion is None:
        return {}
    pushed = pushed_windows(step.event) if step.evaluator is Evaluator.NETWORK else ()
    key = partition_text(stage, step) if stage.key_types and not _looks_back_elsewhere(stage, program) else None
    return {
        "revision": _with_reason(revision_text(verdict.conclusion), verdict.reason),
        "replay": replay_text(key),
        "memory": memory_text(verdict.conclusion, pushed),
    }


def _looks_back_elsewhere(stage: Stage, program: p.ProgramPlan) -> bool:
    """Whether columns look back along another key than that of the stage, so that its keys are not apart."""
    read = ((given, program.stream(given.source)) for given in stage.inputs)
    return any(stream is not None and stream.derived and given.key != stream.schema.key for given, stream in read)


def _section(event: p.EventPlan, lines: dict[str, str]) -> str:
    return "\n".join([event.name, *(f"  {title:<9}  {text}" for title, text in lines.items())])


def partition_text(stage: Stage, step: EventStep) -> str:
    """The key columns of an event, once when all sources call them the same."""
    keys = dict.fromkeys(given.key for given in stage.inputs if given.source in step.event.sources)
    if not stage.key_types:
        return "overlapping slices of time" if stage.sliced else "none, all events together"
    return " = ".join(", ".join(key) for key in keys)


def _with_reason(conclusion: str, reason: str) -> str:
    return f"{conclusion}: {reason}"


def _wait(verdict: Verdict[tuple[p.Window, ...]], without_limit: bool) -> str:
    if without_limit:
        return _with_reason("unlimited", verdict.reason)
    if not verdict.conclusion:
        return _with_reason("none", verdict.reason)
    total = " + ".join(window_text(window) for window in verdict.conclusion)
    return _with_reason(f"at most {total}", verdict.reason)


class Rounds(Enum):
    """What one round of deriving finds."""

    DEEPER = "round by round"
    LATER = "end by end"


def _recursion_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Rounds | None]:
    """How a recursion is evaluated, or None where there is none."""
    group = group_of(event, program)
    if not group.is_recursive:
        return Verdict(None, "the event does not depend on itself")
    with_others = sorted(group.names - {event.name})
    itself = f"the event depends on itself{' through ' + ', '.join(with_others) if with_others else ''}"
    if all(is_monotone(one, group.names) for one in group.events):
        return Verdict(Rounds.DEEPER, f"{itself}; each round derives results from those of the previous round")
    return Verdict(
        Rounds.LATER, f"{itself}, also on absent results; each round completes the results of a key that end next"
    )


def _chain_lines(event: p.EventPlan, chain: ChainPattern, reason: str) -> dict[str, str]:
    """What `explain` says of a chain, by title."""
    return {
        "wait": _wait_text(chain),
        "class": f"chain: {reason}",
        "evaluator": "sums over ticks, exact; grows with the matches inside the window and the width of the intervals",
        "roles": _roles(event, chain),
        "order": _order(event, chain),
    }


def _order_lines(event: p.EventPlan, orders: PartialOrders, reason: str) -> dict[str, str]:
    """What `explain` says of a partial order, by title."""
    n = len(orders.alternatives)
    return {
        "wait": "until the first tick of its last event: no other event can prevent a match",
        "class": f"partial order: {reason}",
        "evaluator": "sums over ticks, exact; grows with the matches inside the window and, for more than two events, "
        "with the product of the widths of their intervals",
        "order": f"as in the pattern{f', in {n} alternatives' if n > 1 else ''}; {_dependence(event)}",
    }


def _roles(event: p.EventPlan, chain: ChainPattern) -> str:
    leaves = {leaf.slot: leaf for leaf in p.leaves(event.pattern)}
    slots = [*(link.slot for link in chain.links), *(one.slot for one in chain.absences)]
    read = [leaves[slot].sources or event.scope for slot in slots]
    names = [name for sources in read for name in sources]
    if len(set(names)) == len(names):
        return "exclusive: every part reads its own streams, so no event fits two parts"
    return "depends on the data: an event may fit several parts"


def _order(event: p.EventPlan, chain: ChainPattern) -> str:
    free = _dependence(event)
    if not chain.is_fixed:
        return f"as in the pattern, because of its repetition; {free}"
    if chain.policy is not p.Policy.ANY:
        return f"as in the pattern, because each event limits the next; {free}"
    return f"as in the pattern, or rare parts first, depending on the data; {free}"


def _dependence(event: p.EventPlan) -> str:
    looks_back = any(_is_bound(leaf) for leaf in p.leaves(event.pattern))
    return "some parts depend on earlier parts" if looks_back else "no part depends on earlier parts"


def _is_bound(leaf: p.Leaf) -> bool:
    references = (part for condition in leaf.demands for part in e.walk(condition))
    return any(
        isinstance(part, e.ColumnOf | e.ListColumn | e.IdOf | e.Aggregate) and part.slot != leaf.slot
        for part in references
    )


def _wait_text(chain: ChainPattern) -> str:
    if not chain.depends_on_others:
        return "until the first tick of its last event: no other event can prevent a match"
    if chain.within is None:
        return "until the end: without WITHIN, other events can prevent a match at any time"
    return f"{window_text(chain.within)} from the last tick of its first event: no later event can prevent a match"


QUERY_COSTS = {
    Engine.CHAINS: "chains of automaton states, exact; a few steps per row; one stored number per automaton state "
    "and key",
    Engine.AUTOMATON: "the automaton of a regular pattern, exact; a few steps per row; one stored number per automaton "
    "state and key",
    Engine.FORECAST: "the model, applied to the probability of each automaton state and context, exact up to the "
    "model; one stored number per automaton state, context and key",
    Engine.SAFE: "a safe plan, exact; grows with the square of the number of times, less where matches are certain",
    Engine.UNIVERSAL: "sets of partial matches, exact while there are few, otherwise in sampled worlds",
}

ADVICE = {
    PlanObstacle.NONLOCAL: "compare KEY columns only, or compare with a constant or a table",
    PlanObstacle.JOIN_VAR: "if the value is always certain, make it a KEY column of every part up to the last one that "
    "uses it; otherwise sets of partial matches are needed",
    PlanObstacle.KLEENE_VAR: "use the value in the parts before the repetition too, if it is never uncertain",
    PlanObstacle.INNER_REJECT: "move the condition into `[…]`, or to the last part",
    PlanObstacle.OVERLAP: "let the last part read another stream, or select another KEY by a constant",
}


def _query_lines(strategy: Strategy) -> dict[str, str]:
    """What `explain` says of a query, by title."""
    apart = ", ".join(strategy.variables)
    lines = {
        "partition": f"{apart}: its values are independent" if apart else "none: all rows together",
        "wait": "none: results of a time are emitted when all rows of that time have arrived",
        "class": f"{_query_class(strategy)}: {strategy.classified.reason}",
        "plan": _plan(strategy),
        "evaluator": QUERY_COSTS[strategy.engine],
    }
    if isinstance(strategy.plan, NoSafePlan):
        lines["hard"] = f"{strategy.plan.obstacle.name}: {strategy.plan.reason}; {ADVICE[strategy.plan.obstacle]}"
    elif strategy.engine is Engine.UNIVERSAL:
        lines["hard"] = strategy.reason
    return lines


def _query_class(strategy: Strategy) -> str:
    kind, plan = strategy.classified.kind, strategy.plan
    if kind is QueryClass.SAFE and isinstance(plan, NoSafePlan):
        return f"safe by definition, but not by {plan.obstacle.name}"
    inner = plan
    while isinstance(inner, ProjectPlan):
        inner = inner.child
    return f"{kind.value} with overlap" if isinstance(inner, LastWinsPlan | GroupSeqPlan) else kind.value


def _plan(strategy: Strategy) -> str:
    for_each = f"for each {', '.join(strategy.head)}: " if strategy.head else ""
    if isinstance(strategy.plan, NoSafePlan) or strategy.engine is Engine.UNIVERSAL:
        others = [name for name in strategy.variables if name not in strategy.head]
        subgoals = " ; ".join(_subgoal(strategy.query, number) for number in range(len(strategy.query.subgoals)))
        return f"{for_each}{''.join(f'PROJECT {name} OF ' for name in others)}SETS({subgoals})"
    if strategy.engine is Engine.FORECAST:
        return f"{for_each}FORECAST({', '.join(strategy.query.sources)})"
    if strategy.automaton is not None:
        (source,) = strategy.query.sources
        return f"{for_each}AUTOMATON({source}), {strategy.automaton.dfa.n_states} states"
    return for_each + _plan_text(strategy.plan, strategy.query)


def _plan_text(plan: SafePlan, query: Query) -> str:
    """The tree of operators on one line."""
    match plan:
        case plans.RegPlan(n_subgoals=n):
            return f"CHAIN({' ; '.join(_subgoal(query, number) for number in range(n))})"
        case ProjectPlan(variable=name, child=child):
            return f"PROJECT {name} OF {_plan_text(child, query)}"
        case SeqPlan(child=child, subgoal=number):
            return f"({_plan_text(child, query)}) THEN {_subgoal(query, number)}"
        case LastWinsPlan(child=child, subgoal=number):
            return f"({_plan_text(child, query)}) COVERED BY {_subgoal(query, number)}"
        case GroupSeqPlan(child=child, subgoal=number):
            return f"({_plan_text(child, query)}) GROUPED WITH {_subgoal(query, number)}"


def _subgoal(query: Query, number: int) -> str:
    subgoal = query.subgoals[number]
    return f"{subgoal.source}{'+' if subgoal.repeated else ''}"


def _relation_lines(relation: SegmentRelation, reason: str) -> dict[str, str]:
    """What `explain` says of a relation, by title."""
    return {
        "evaluator": "a forward pass over the recorded events, exact; grows with the recorded events of two keys, and "
        "with the square of the events lost between two of them; sampled with an error bound where that is too much",
        "losses": f"summed over: {reason}",
        "wait": _relation_wait(relation),
    }


def _relation_wait(relation: SegmentRelation) -> str:
    if relation.is_early:
        return "until the probability certainly reaches the threshold; it is reported with bounds"
    sides = " and ".join(dict.fromkeys(side.stream for side in relation.operands))
    return f"until both keys of {sides} are complete, at the latest until the end of the stream"


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
            return f"over all time (derived columns of {stream.schema.name} look back without limit)"
    windows: list[p.Window] = []
    for event in part.events:
        horizon = horizon_of(event)
        if horizon.conclusion is None:
            return f"over all time ({event.name}: {horizon.reason})"
        windows += horizon.conclusion.windows
    if not windows:
        return "separately for each moment"
    return f"split where no event is possible for {' + '.join(map(window_text, windows))}"


def _worlds(event: p.EventPlan, looks: Looks) -> str:
    sampled = f"{looks.n_sampled:,} sampled worlds give ± {looks.epsilon:g} with confidence {1 - looks.delta:g}"
    match event.demand:
        case p.Demand.EXACT:
            return f"EXACT: every part is enumerated; a part with more than {looks.exact_up_to:,} worlds is rejected"
        case p.Demand.SAMPLED:
            return f"SAMPLED: every part is sampled; {sampled}"
        case None:
            return (
                f"parts with at most {looks.exact_up_to:,} worlds are enumerated exactly; other parts are sampled: "
                f"{sampled}"
            )


def _returned(event: p.EventPlan, looks: Looks) -> Iterator[str]:
    if event.confidence is not None:
        sign = ">" if event.confidence.strict else ">="
        yield f"results with probability {sign} {event.confidence.threshold:g}"
        if event.demand is not p.Demand.EXACT:
            more = f" after {looks.budget} times as many worlds" if looks.budget > 1 else ""
            yield f"`undecided` where samples do not decide{more}"
    if event.top is not None:
        yield f"the {event.top} most probable" if event.top > 1 else "the most probable"
