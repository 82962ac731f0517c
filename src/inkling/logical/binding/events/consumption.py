"""`CONSUME RECENT` and `CONSUME CHRONOLOGICAL`: their preference, and which patterns they fit."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.diagnostics import Diagnostics
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.patterns.name_scope import NameScope
from inkling.logical.binding.patterns.places import InSequence
from inkling.model.types import Type

_COMPARED = frozenset((Type.INTEGER, Type.DOUBLE, Type.TIME, Type.DURATION))


def bind_consumption(decl: s.EventDecl, names: EventNames) -> p.Consumption | None:
    """The policy by which parts of matches are used up, if there is one other than RESTART."""
    consume = decl.consume
    if consume is None or consume.policy == "RESTART":
        return None
    _check_policies(consume, names)
    if decl.on_timeout is not None:
        names.diagnostics.wrong(
            "INK0352",
            f"ON TIMEOUT cannot be combined with CONSUME {consume.policy}",
            consume,
            notes=["a partial match that is replaced by another one never times out"],
        )
    return p.Consumption(p.Selection(consume.policy), consume.keeping, _preference(consume, names))


def _check_policies(consume: s.Consume, names: EventNames) -> None:
    for place in names.shape.places:
        policies = [frame.policy for frame in place.path if isinstance(frame, InSequence)]
        if any(policy is not p.Policy.ANY for policy in policies):
            names.diagnostics.wrong(
                "INK0320",
                f"CONSUME {consume.policy} needs `SEQ` without NEXT and STRICT",
                consume,
                notes=["it chooses among all combinations of events, and NEXT and STRICT leave some out"],
                helps=["write `SEQ(…)`, or `CONSUME RESTART`"],
            )
            return


def _preference(consume: s.Consume, names: EventNames) -> p.Preference | e.Expr | None:
    prefer = consume.prefer
    if prefer is None:
        return None
    if isinstance(prefer, str):
        return p.Preference(prefer)
    value = NameScope(names, names.shape.top.standpoint).binder().value(prefer)
    if value is not None and value.type not in _COMPARED:
        names.diagnostics.wrong("INK0351", "PREFER needs a number or a time", prefer, f"this is {value.type}")
    if value is not None and e.atoms_of(value):
        names.diagnostics.wrong("INK0409", "PREFER by what a table supplies is not supported yet", prefer)
    return value


def fits_consumption(consume: s.Consume, event: p.EventPlan, diagnostics: Diagnostics) -> bool:
    """Whether a pattern can be read as pairs of operands; reports why not."""
    repeated = next((part for part in _parts(event.pattern) if isinstance(part, p.Repetition)), None)
    if repeated is not None:
        diagnostics.wrong(
            "INK0350",
            f"CONSUME {consume.policy} does not support repetitions",
            consume,
            notes=["it consumes one event per part, and a repetition has several"],
            helps=["write the parts one after the other: `SEQ(A a1, A a2)` instead of `A a{2}`"],
        )
        return False
    obstacle = _obstacle(event)
    if obstacle is not None:
        diagnostics.wrong("INK0409", f"CONSUME {consume.policy} with {obstacle} is not supported yet", consume)
    return obstacle is None


def _obstacle(event: p.EventPlan) -> str | None:
    if isinstance(event.within, p.EventCount):
        return "`WITHIN n EVENTS`"
    if event.on_change:
        return "ON CHANGE"
    return _obstacle_in(event.pattern)


def _obstacle_in(pattern: p.Pattern) -> str | None:
    match pattern:
        case p.Leaf(sources=sources, atoms=atoms):
            if not sources:
                return "`_`"
            return "a table that supplies values" if atoms else None
        case p.Sequence(parts=parts):
            return _obstacle_in_sequence(parts)
        case p.Narrowed(pattern=inner, within=within, having=having):
            if isinstance(within, p.EventCount):
                return "`WITHIN n EVENTS`"
            outside = {slot for one in having for slot in e.slots_of(one)} - _filled(pattern)
            return "a nested HAVING that looks outside" if outside else _obstacle_in(inner)
        case p.Conjunction() | p.Disjunction() | p.Parallel() | p.Related():
            return next((found for inner in p.sub_patterns(pattern) if (found := _obstacle_in(inner))), None)
        case p.TimePoint():
            return "AT"
        case p.Except():
            return "EXCEPT"
        case p.Sliding():
            return "WINDOW"
        case p.Quantified():
            return "a relation between segments"
        case p.Repetition() | p.OtherRun():
            return "a repetition or COMPLEMENT"


def _obstacle_in_sequence(parts: tuple[p.Part, ...]) -> str | None:
    if isinstance(parts[0], p.Absent) or isinstance(parts[-1], p.Absent):
        return "NOT at the border of a sequence"
    so_far: frozenset[int] = frozenset()
    absences: list[p.Pattern] = []
    for part in parts:
        match part:
            case p.Absent(pattern=inner):
                absences.append(inner)
                continue
            case p.Deadline():
                return "AFTER"
            case p.StreamStart():
                return "AT START"
        obstacle = _obstacle_in(part)
        if obstacle is not None:
            return obstacle
        so_far |= _filled(part)
        for absent in absences:
            reads = {slot for one in _expressions(absent) for slot in e.slots_of(one)} - _filled(absent)
            if not reads <= so_far:
                return "NOT that reads parts further away"
            if reads and not isinstance(absent, p.Leaf):
                return "NOT of a pattern that reads other parts"
            if any(leaf.atoms for leaf in p.leaves(absent)):
                return "a table that supplies values"
            if any(not leaf.sources for leaf in p.leaves(absent)):
                return "`_`"
        absences = []
    return None


def _filled(part: p.Part) -> frozenset[int]:
    """The slots of what happens in a part, those inside NOT left out."""
    if isinstance(part, p.Leaf):
        return frozenset((part.slot,))
    own = {part.slot} if isinstance(part, p.Narrowed) and part.slot is not None else set()
    inner = [one for one in _parts_below(part) if not isinstance(one, p.Absent)]
    return frozenset(own).union(*(_filled(one) for one in inner))


def _parts(part: p.Part) -> Iterator[p.Part]:
    yield part
    for inner in _parts_below(part):
        yield from _parts(inner)


def _parts_below(part: p.Part) -> tuple[p.Part, ...]:
    return part.parts if isinstance(part, p.Sequence) else p.sub_patterns(part)


def _expressions(pattern: p.Pattern) -> Iterator[e.Expr]:
    for part in _parts(pattern):
        match part:
            case p.Leaf(demands=demands):
                yield from demands
            case p.Narrowed(having=having):
                yield from having
            case _:
                pass
