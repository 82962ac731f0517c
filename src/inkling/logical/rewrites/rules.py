"""Rewrite rules that simplify a plan without changing its results; each is applied until no rule changes anything.

A rule returns the same object if it has nothing to change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.rewrites.everywhere import Change, everywhere

Rule = Callable[[p.EventPlan], p.EventPlan]


def _with(event: p.EventPlan, change: Change) -> p.EventPlan:
    """The event with `change` applied to all its patterns; the same object when nothing changed."""
    pattern = everywhere(event.pattern, change)
    return event if pattern is event.pattern else replace(event, pattern=pattern)


def unwrap_nesting(event: p.EventPlan) -> p.EventPlan:
    """`(p)` is `p` when the parentheses neither limit, filter nor name it."""
    return _with(event, _unwrapped)


def _unwrapped(pattern: p.Pattern) -> p.Pattern:
    match pattern:
        case p.Narrowed(pattern=p.Repetition()):
            # in a sequence, a nested repetition is one part; without the nesting each of its rounds is
            return pattern
        case p.Narrowed(pattern=inner, within=None, having=(), slot=None):
            return inner
        case _:
            return pattern


def hoist_outer_nesting(event: p.EventPlan) -> p.EventPlan:
    """`EVENT e AS PATTERN (p WITHIN d HAVING c)` is `EVENT e AS PATTERN p WITHIN d HAVING c`.

    A window of the event bounds its state; the same window one level further in only filters.
    """
    match event.pattern:
        case p.Narrowed(pattern=inner, within=within, having=having, slot=None):
            if within is not None and event.within is not None and within != event.within:
                return event
            return replace(event, pattern=inner, within=within or event.within, having=(*having, *event.having))
        case _:
            return event


def flatten_sequences(event: p.EventPlan) -> p.EventPlan:
    """`SEQ(a, SEQ(b, c))` is `SEQ(a, b, c)`, for ANY in ANY and for STRICT in STRICT.

    Not for NEXT: there the successor is the next match of the whole inner sequence.
    """
    return _with(event, _flattened)


def _flattened(pattern: p.Pattern) -> p.Pattern:
    if not isinstance(pattern, p.Sequence) or pattern.policy is p.Policy.NEXT:
        return pattern
    parts: list[p.Part] = []
    for part in pattern.parts:
        if isinstance(part, p.Sequence) and part.policy is pattern.policy and _is_plain(part):
            parts.extend(part.parts)
        else:
            parts.append(part)
    return pattern if len(parts) == len(pattern.parts) else replace(pattern, parts=tuple(parts))


def _is_plain(sequence: p.Sequence) -> bool:
    """Whether all parts match events; a NOT reads slots of its own sequence, not of the sequence around it."""
    return not any(isinstance(part, p.Absent | p.Deadline | p.StreamStart) for part in sequence.parts)


def merge_alternatives(event: p.EventPlan) -> p.EventPlan:
    """`(a OR b) OR c` is `a OR b OR c`, and the same with AND."""
    return _with(event, _merged)


def _merged(pattern: p.Pattern) -> p.Pattern:
    if not isinstance(pattern, p.Disjunction | p.Conjunction):
        return pattern
    items: list[p.Pattern] = []
    for item in pattern.items:
        items.extend(item.items if type(item) is type(pattern) else (item,))
    return pattern if len(items) == len(pattern.items) else replace(pattern, items=tuple(items))


def push_having_into_candidates(event: p.EventPlan) -> p.EventPlan:
    """Predicate pushdown: HAVING becomes a condition on candidates where that does not change which event is next.

    Spark then tests it before the shuffle, or the join drops a partial match at once, and an event without HAVING may
    be evaluated by an automaton. Under NEXT, only the first part qualifies: it is no successor. Under ANY and STRICT,
    successors do not depend on candidates, so a condition moves to the last part that it mentions.
    """
    pattern, having = _pushed(everywhere(event.pattern, _inside), event.having)
    if pattern is event.pattern:
        return event
    return replace(event, pattern=pattern, having=having)


def _inside(pattern: p.Pattern) -> p.Pattern:
    if not isinstance(pattern, p.Narrowed):
        return pattern
    inner, having = _pushed(pattern.pattern, pattern.having)
    return pattern if inner is pattern.pattern else replace(pattern, pattern=inner, having=having)


def _pushed(pattern: p.Pattern, having: tuple[e.Expr, ...]) -> tuple[p.Pattern, tuple[e.Expr, ...]]:
    """The pattern with the conditions it can take, and those that remain."""
    open_to_tests = _open_leaves(pattern)
    tests: dict[int, list[e.Expr]] = {}
    remaining: list[e.Expr] = []
    for condition in (part for item in having for part in e.conjuncts(item)):
        home = _home(condition, open_to_tests)
        if home is None:
            remaining.append(condition)
        else:
            tests.setdefault(home, []).append(condition)
    return (_tested(pattern, tests), tuple(remaining)) if tests else (pattern, having)


def _open_leaves(pattern: p.Pattern) -> list[int]:
    """Slots, in pattern order, whose candidates may have more conditions without changing any successor."""
    match pattern:
        case p.Leaf(slot=slot):
            return [slot]
        case p.Sequence(policy=policy, parts=parts):
            solid = [part for part in parts if not isinstance(part, p.Absent | p.Deadline | p.StreamStart)]
            if policy is p.Policy.NEXT:
                solid = solid[:1]
            return [part.slot for part in solid if isinstance(part, p.Leaf)]
        case p.Conjunction(items=items) | p.Parallel(items=items):
            return [item.slot for item in items if isinstance(item, p.Leaf)]
        case p.Related(left=left, right=right):
            return [item.slot for item in (left, right) if isinstance(item, p.Leaf)]
        case p.Except(pattern=inner) | p.LeftJoin(left=inner):
            return _open_leaves(inner)
        case p.Disjunction() | p.Quantified() | p.Sliding() | p.Repetition() | p.Narrowed():
            return []
        case p.OtherRun() | p.TimePoint():
            return []


def _home(condition: e.Expr, open_to_tests: list[int]) -> int | None:
    """The slot at which a condition can be tested: the last that it mentions, if all are open."""
    mentioned = e.slots_of(condition)
    if not mentioned or e.atoms_of(condition) or not mentioned <= set(open_to_tests):
        return None
    return max(mentioned, key=open_to_tests.index)


def _tested(pattern: p.Pattern, tests: Mapping[int, list[e.Expr]]) -> p.Pattern:
    def change(inner: p.Pattern) -> p.Pattern:
        if isinstance(inner, p.Leaf) and inner.slot in tests:
            return replace(inner, conditions=(*inner.conditions, *tests[inner.slot]))
        return inner

    return everywhere(pattern, change)


RULES: tuple[Rule, ...] = (
    unwrap_nesting,
    hoist_outer_nesting,
    flatten_sequences,
    merge_alternatives,
    push_having_into_candidates,
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The simpler plan, and the names of the rules that changed each event."""

    plan: p.ProgramPlan
    applied: tuple[tuple[str, tuple[str, ...]], ...] = ()


def rewrite(program: p.ProgramPlan, rules: tuple[Rule, ...] = RULES) -> Rewritten:
    """Every event of a program, simplified."""
    events, applied = [], []
    for event in program.events:
        # a consumption policy depends on the pairs of a pattern and on which conditions belong to candidates
        simpler, names = _simplified(event, () if event.consumption is not None else rules)
        events.append(simpler)
        if names:
            applied.append((event.name, names))
    if not applied:
        return Rewritten(program)
    return Rewritten(replace(program, events=tuple(events)), tuple(applied))


def _simplified(event: p.EventPlan, rules: tuple[Rule, ...]) -> tuple[p.EventPlan, tuple[str, ...]]:
    """Every rule makes a plan smaller or moves a condition inwards, so this terminates."""
    names: dict[str, None] = {}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            simpler = rule(event)
            if simpler is not event:
                event, changed = simpler, True
                names[rule.__name__] = None
    return event, tuple(names)
