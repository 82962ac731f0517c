"""Puts every condition of an event where it is tested, at a leaf or after the whole of a body; some name values."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.knowledge.lookups import Lookup, Mentions, mentions, place_lookups, take_lookup, target_of
from inkling.logical.binding.names import Assignment, EventNames, report_unknown
from inkling.logical.binding.patterns.name_scope import NameScope
from inkling.logical.binding.patterns.places import (
    BodyPlace,
    InBranch,
    InRepetition,
    InSequence,
    Path,
    Place,
    Standpoint,
)
from inkling.logical.binding.syntax_walk import conjuncts, walk


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One conjunct of the brackets of `home`, or of the WHERE of `body`."""

    node: s.Expr
    body: BodyPlace
    home: Place | None

    @property
    def at(self) -> Standpoint:
        return self.home.standpoint if self.home else self.body.standpoint


def bind_conditions(names: EventNames) -> None:
    """Fills the places and bodies of a shape with typed conditions and look-ups."""
    tests = _split(names)
    lookups = [test for test in tests if isinstance(test, Lookup)]
    place_lookups(lookups, names)
    for test in tests:
        if isinstance(test, Conjunct):
            _place(test, names)
    for place in names.shape.places:
        for node in conjuncts(place.check):
            _bind_check(node, place, names)
    for body in names.shape.bodies:
        for check in body.checks:
            for node in conjuncts(check):
                _bind_after(node, body, None, names)


def _split(names: EventNames) -> list[Conjunct | Lookup]:
    """All conjuncts in the order written; named values are taken out."""
    written = [Conjunct(node, place.body, place) for place in names.shape.places for node in conjuncts(place.condition)]
    written += [Conjunct(node, body, None) for body in names.shape.bodies for node in conjuncts(body.where)]
    written.sort(key=lambda test: test.node.span.start)
    left = [test for test in written if not _take_assignment(test.node, test.home, names)]
    _reject_circles(names)
    tests: list[Conjunct | Lookup] = []
    for order, test in enumerate(left):
        if not isinstance(test.node, s.Call) or names.catalog.function(test.node.name.text):
            tests.append(test)
            continue
        lookup = take_lookup(test.node, test.body, test.home, order, names)
        if lookup is not None:
            tests.append(lookup)
    return tests


def _place(test: Conjunct, names: EventNames) -> None:
    found = mentions(test.node, test.home, test.at, names)
    if found.aggregates:
        if _may_wait(test, found, names):
            _bind_after(test.node, test.body, test.home, names)
        return
    target = test.home or target_of(found.places, test.body)
    if target is None:
        _bind_after(test.node, test.body, None, names)
    elif target.inner is not None:
        _bind_after(test.node, target.inner, None, names, Standpoint(target.path, target.number))
    else:
        view = NameScope(names, target.standpoint, test.home, inline=test.home is not None)
        bound = view.binder().condition(test.node)
        if bound is not None:
            target.conditions.append(bound)


def _bind_check(node: s.Expr, place: Place, names: EventNames) -> None:
    """A conjunct of the CHECK of a repetition: it is tested for each event, when that has been chosen."""
    aggregates = mentions(node, None, place.standpoint, names).aggregates
    if aggregates:
        names.diagnostics.wrong(
            "INK0315",
            "an aggregate is not allowed in the CHECK of a repetition",
            aggregates[0],
            notes=["it is tested for one event at a time, before the repetition is complete"],
            helps=[f"move the condition to HAVING: `HAVING {names.diagnostics.words(node)}`"],
        )
        return
    bound = NameScope(names, place.standpoint).binder().condition(node)
    if bound is not None:
        (place.checks if place.breaks else place.conditions).append(bound)


def _bind_after(
    node: s.Expr, body: BodyPlace, home: Place | None, names: EventNames, at: Standpoint | None = None
) -> None:
    bound = NameScope(names, at or body.standpoint, home).binder().condition(node)
    if bound is not None:
        body.having.append(bound)


def _may_wait(test: Conjunct, found: Mentions, names: EventNames) -> bool:
    """Whether an aggregate outside HAVING can be tested at the end and mean the same."""
    frames = [
        frame for place in (*found.places, *([test.home] if test.home else [])) for frame in _local(place, test.body)
    ]
    policies = {frame.policy for frame in frames if isinstance(frame, InSequence)} - {p.Policy.ANY}
    words = names.diagnostics.words(found.aggregates[0])
    where = "`[…]`" if test.home else "WHERE"
    if policies:
        policy = policies.pop().value
        names.diagnostics.wrong(
            "INK0315",
            f"an aggregate in {where} is not allowed under {policy}",
            found.aggregates[0],
            f"`{words}` is only known once the repetition is complete",
            notes=[f"{policy} selects events one by one, before the repetition is complete"],
            helps=[f"move the condition to HAVING: `HAVING {names.diagnostics.words(test.node)}`"],
        )
        return False
    if test.home is not None and any(isinstance(frame, InRepetition) for frame in _local(test.home, test.body)):
        names.diagnostics.wrong(
            "INK0315",
            f"`{words}` is only known once the repetition is complete",
            found.aggregates[0],
            notes=["a condition in the brackets of a repeated event is tested for one event at a time"],
            helps=[
                f"move the condition to HAVING, or look at the previous event with `LAST({found.aggregates[0].var}).…`"
            ],
        )
        return False
    if any(isinstance(frame, InBranch) for frame in frames):
        names.diagnostics.wrong(
            "INK0315",
            f"an aggregate in {where} is not allowed inside OR",
            found.aggregates[0],
            f"`{words}` is only known once the repetition is complete",
            helps=[f"give that branch its own HAVING: `(… HAVING {names.diagnostics.words(test.node)})`"],
        )
        return False
    return True


def _local(place: Place, body: BodyPlace) -> Path:
    """What encloses a place inside a body."""
    return place.path[len(body.path) :]


def _take_assignment(node: s.Expr, home: Place | None, names: EventNames) -> bool:
    """Whether a conjunct names a value: one side of `=` is a name that nothing else binds."""
    if not isinstance(node, s.Compare) or node.op != "=":
        return False
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(side, s.Variable) or side.name.text in names.assignments:
            continue
        if names.is_free(side.name.text, home) and not (home is not None and home.is_broken):
            names.assignments[side.name.text] = Assignment(side.name, other, home)
            return True
    return False


def _reject_circles(names: EventNames) -> None:
    """Reports values that are defined by themselves and forgets them."""
    needs = {
        name: [
            node.name.text
            for node in walk(assignment.value)
            if isinstance(node, s.Variable) and names.is_free(node.name.text, assignment.home)
        ]
        for name, assignment in names.assignments.items()
    }
    for name, assignment in list(names.assignments.items()):
        circle = _circle(name, needs)
        if not circle or name in names.unknowable:
            continue
        notes = [] if len(circle) == 2 else [f"the cycle is {' → '.join(f'`{one}`' for one in circle)}"]
        names.diagnostics.wrong("INK0312", f"`{name}` is defined in terms of itself", assignment.name, notes=notes)
        names.unknowable.update(circle)
    for name in names.unknowable & names.assignments.keys():
        del names.assignments[name]


def report_unused(names: EventNames) -> None:
    """A name for a value that nothing uses has no effect, so something else was meant."""
    for name, assignment in names.assignments.items():
        if not assignment.is_used and name not in names.unknowable:
            home = assignment.home
            note = f"`{name} = …` defines a value, but nothing uses it"
            report_unknown(assignment.name, names, home, [note])


def _circle(name: str, needs: dict[str, list[str]]) -> list[str]:
    """The shortest way from a name back to itself."""
    paths = [[name]]
    seen: set[str] = set()
    while paths:
        path = paths.pop(0)
        for needed in needs.get(path[-1], ()):
            if needed == name:
                return [*path, name]
            if needed not in seen:
                seen.add(needed)
                paths.append([*path, needed])
    return []
