"""What was proved about queries over probable streams: their class, how they are answered, what makes them hard."""

from __future__ import annotations

from inkling.analysis.probable.classes import Class
from inkling.analysis.probable.plans import Chain, Cover, Follow, Group, NoPlan, Obstacle, Plan, Project
from inkling.analysis.probable.query import Query
from inkling.analysis.probable.strategy import Engine, Strategy

COSTS = {
    Engine.CHAINS: "chains of automaton states, exact; a few steps per row, and a number per state and key is kept",
    Engine.AUTOMATON: "the automaton of a regular pattern, exact; a few steps per row, and a number per state and key "
    "is kept",
    Engine.FORECAST: "a model on the chances of all that may have happened, exact up to the model; a number per place "
    "where it may stand, and key, is kept",
    Engine.SAFE: "a safe plan, exact; grows with the square of the number of times, less where matches are certain",
    Engine.UNIVERSAL: "sets of partial matches, exact while they are few, else in sampled worlds: the data decides",
}

ADVICE = {
    Obstacle.NONLOCAL: "compare KEY columns only, or compare with a constant or a table",
    Obstacle.JOIN_VAR: "if the value is never in doubt, it can be a KEY column of every part up to the last that has "
    "it; if it is, sets are what answers the question",
    Obstacle.KLEENE_VAR: "let the parts before the repetition have the value as well, if it is never in doubt",
    Obstacle.INNER_REJECT: "put the condition into `[…]`, or ask it of the last part only",
    Obstacle.OVERLAP: "let the last part read another stream, or another KEY by a constant",
}


def query_lines(strategy: Strategy) -> dict[str, str]:
    """What `explain` says of a query, by title."""
    apart = ", ".join(strategy.variables)
    lines = {
        "partition": f"{apart}: its values are independent" if apart else "none: all rows together",
        "wait": "none: what is known of a time is told when all rows of that time have come",
        "class": f"{_class(strategy)}: {strategy.classified.reason}",
        "plan": _plan(strategy),
        "evaluator": COSTS[strategy.engine],
    }
    if isinstance(strategy.plan, NoPlan):
        lines["hard"] = f"{strategy.plan.obstacle.name}: {strategy.plan.reason}; {ADVICE[strategy.plan.obstacle]}"
    elif strategy.engine is Engine.UNIVERSAL:
        lines["hard"] = strategy.reason
    return lines


def _class(strategy: Strategy) -> str:
    kind, plan = strategy.classified.kind, strategy.plan
    if kind is Class.SAFE and isinstance(plan, NoPlan):
        return f"safe by definition, but not by {plan.obstacle.name}"
    inner = plan
    while isinstance(inner, Project):
        inner = inner.child
    return f"{kind.value} with overlap" if isinstance(inner, Cover | Group) else kind.value


def _plan(strategy: Strategy) -> str:
    for_each = f"for each {', '.join(strategy.head)}: " if strategy.head else ""
    if isinstance(strategy.plan, NoPlan) or strategy.engine is Engine.UNIVERSAL:
        others = [name for name in strategy.variables if name not in strategy.head]
        stages = " ; ".join(_stage(strategy.query, number) for number in range(len(strategy.query.stages)))
        return f"{for_each}{''.join(f'PROJECT {name} OF ' for name in others)}SETS({stages})"
    if strategy.engine is Engine.FORECAST:
        return f"{for_each}FORECAST({', '.join(strategy.query.sources)})"
    if strategy.automaton is not None:
        (source,) = strategy.query.sources
        return f"{for_each}AUTOMATON({source}), {strategy.automaton.dfa.n_states} states"
    return for_each + plan_text(strategy.plan, strategy.query)


def plan_text(plan: Plan, query: Query) -> str:
    """The tree of operators on one line."""
    match plan:
        case Chain(n_stages=n):
            return f"CHAIN({' ; '.join(_stage(query, number) for number in range(n))})"
        case Project(variable=name, child=child):
            return f"PROJECT {name} OF {plan_text(child, query)}"
        case Follow(child=child, stage=stage):
            return f"({plan_text(child, query)}) THEN {_stage(query, stage)}"
        case Cover(child=child, stage=stage):
            return f"({plan_text(child, query)}) COVERED BY {_stage(query, stage)}"
        case Group(child=child, stage=stage):
            return f"({plan_text(child, query)}) GROUPED WITH {_stage(query, stage)}"


def _stage(query: Query, number: int) -> str:
    stage = query.stages[number]
    return f"{stage.source}{'+' if stage.repeated else ''}"
