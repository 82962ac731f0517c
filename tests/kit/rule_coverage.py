"""What a rule set uses beyond single patterns: united events, recursion, background rules, and all of it at once."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.knowledge import RuleKind, RulePlan
from inkling.logical.recursion import EventGroup, groups_of, is_monotone

RULE_SET_FEATURES = (
    "united events", "monotone recursion", "progressive recursion", "mutual recursion",
    "a recursion denies another event", "a recursion denies itself", "policy in a recursion", "policy over a recursion",
    "window over a recursion", "recursion over a derived event", "recursion under EXCEPT", "recursion in a relation",
    "recursive rule", "open rule", "denying rule", "rule under NOT", "rule binds", "rule between events",
    "rule in a recursion", "user-defined aggregate", "user-defined aggregate over a recursion",
)  # fmt: skip
"""Everything that random rule sets are meant to hit, on top of the words of the language."""


def rule_set_features(event: p.EventPlan, plan: p.ProgramPlan) -> Iterator[str]:
    groups = groups_of(plan)
    own = next(group for group in groups if event.name in group.names)
    recursive = frozenset(name for group in groups if group.is_recursive for name in group.names)
    if isinstance(event.pattern, p.Disjunction) and event.slots[-1].name == f"{event.name}{len(event.pattern.items)}":
        yield "united events"
    asked = set(_asked(event, plan))
    yield from asked
    uses_python = any(isinstance(part, e.Aggregate) and part.by is not None for part in _expressions(event))
    if uses_python:
        yield "user-defined aggregate"
    if own.is_recursive:
        yield from _recursion_features(event, own, plan)
        if asked:
            yield "rule in a recursion"
    elif recursive & set(event.sources):
        if uses_python:
            yield "user-defined aggregate over a recursion"
        if event.consumption is not None:
            yield "policy over a recursion"
        for part in _parts(event.pattern):
            match part:
                case p.Sliding(leaf=leaf) if recursive & set(leaf.sources):
                    yield "window over a recursion"
                case p.Except() if _reads(part, recursive):
                    yield "recursion under EXCEPT"
                case p.Related() if _reads(part, recursive):
                    yield "recursion in a relation"
                case _:
                    pass


def _recursion_features(event: p.EventPlan, own: EventGroup, plan: p.ProgramPlan) -> Iterator[str]:
    monotone = all(is_monotone(one, own.names) for one in own.events)
    yield "monotone recursion" if monotone else "progressive recursion"
    if len(own.events) > 1:
        yield "mutual recursion"
    if event.consumption is not None:
        yield "policy in a recursion"
    if {one.name for one in plan.events} & set(own.outer_sources):
        yield "recursion over a derived event"
    for part in _parts(event.pattern):
        if isinstance(part, p.Absent):
            yield "a recursion denies itself" if _reads(part, own.names) else "a recursion denies another event"


def _asked(event: p.EventPlan, plan: p.ProgramPlan) -> Iterator[str]:
    rules = {rule.name: rule for rule in plan.rules}
    for leaf in p.leaves(event.pattern):
        for atom in leaf.atoms:
            if atom.table in rules:
                yield from _kinds(rules[atom.table])
                if None in atom.args:
                    yield "rule binds"
                if len({slot for arg in atom.args if arg is not None for slot in e.slots_of(arg)}) > 1:
                    yield "rule between events"
    for part in _expressions(event):
        if isinstance(part, e.Not) and any(
            isinstance(one, e.InTable) and one.table in rules for one in e.walk(part.item)
        ):
            yield "rule under NOT"
        if isinstance(part, e.InTable) and part.table in rules:
            yield from _kinds(rules[part.table])


def _kinds(rule: RulePlan) -> Iterator[str]:
    if any(rule.name in clause.tables() for clause in rule.clauses):
        yield "recursive rule"
    if rule.kind is not RuleKind.MATERIALIZED:
        yield "open rule"
    if any(isinstance(part, e.Not) for clause in rule.clauses for one in clause.conditions for part in e.walk(one)):
        yield "denying rule"


def _expressions(event: p.EventPlan) -> Iterator[e.Expr]:
    written = [*event.having, *(output.expr for output in (*event.head, *event.returns))]
    for part in _parts(event.pattern):
        match part:
            case p.Leaf(conditions=conditions) | p.Narrowed(having=conditions):
                written.extend(conditions)
            case _:
                pass
    for expr in written:
        yield from e.walk(expr)


def _parts(part: p.Part) -> Iterator[p.Part]:
    yield part
    match part:
        case p.Sequence(parts=parts):
            for one in parts:
                yield from _parts(one)
        case p.Absent(pattern=inner):
            yield from _parts(inner)
        case p.Deadline() | p.StreamStart():
            return
        case _:
            for inner in p.sub_patterns(part):
                yield from _parts(inner)


def _reads(part: p.Part, names: frozenset[str]) -> bool:
    return any(names & set(one.sources) for one in _parts(part) if isinstance(one, p.Leaf))


def chosen_from(plan: p.ProgramPlan) -> frozenset[str]:
    """The events whose results windows and policies choose from."""
    choosing = [
        event
        for event in plan.events
        if event.consumption is not None or any(isinstance(part, p.Sliding) for part in _parts(event.pattern))
    ]
    return frozenset(source for event in choosing for source in event.sources) & {one.name for one in plan.events}
