"""Which places a written condition mentions, and so where it can be tested."""

from __future__ import annotations

from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.places import BodyPlace, InAbsence, Place, Standpoint
from inkling.logical.binding.syntax_walk import walk

ONE_OF_MANY = ("FIRST", "LAST")


@dataclass(slots=True)
class Mentions:
    places: list[Place] = field(default_factory=list)
    unbound: list[s.Ident] = field(default_factory=list)  # bare names that nothing binds so far
    aggregates: list[s.Aggregate] = field(default_factory=list)


def mentions(expr: s.Expr, home: Place | None, at: Standpoint, names: EventNames) -> Mentions:
    """Everything an expression depends on, through the values it names."""
    found = Mentions()
    _collect(expr, home, at, names, found)
    return found


def target_of(places: list[Place], body: BodyPlace) -> Place | None:
    """The last mentioned place of a body in pattern order, inside NOT if one is mentioned there.

    None when the condition is about the body as a whole.
    """
    inside = [place for place in places if body.first <= place.number <= body.last]
    fences = {place: [fence for fence in place.fences if fence not in body.path] for place in inside}
    visible = [place for place in inside if not fences[place]]
    absent = [
        place for place in inside if fences[place] and all(isinstance(fence, InAbsence) for fence in fences[place])
    ]
    return max(absent or visible, key=lambda place: (len(place.fences), place.number), default=None)


def _collect(expr: s.Expr, home: Place | None, at: Standpoint, names: EventNames, found: Mentions) -> None:
    for node in walk(expr):
        match node:
            case s.Variable(name=name):
                _collect_bare(name, home, at, names, found)
            case s.Aggregate(var=var, function=function):
                if function not in ONE_OF_MANY:
                    found.aggregates.append(node)
                _collect_place(names.shape.named(var.text), found)
            case s.Attribute(var=var) | s.Part(var=var) | s.TimeOf(var=var) | s.IdOf(var=var):
                _collect_place(names.shape.named(var.text), found)
            case _:
                pass


def _collect_bare(name: s.Ident, home: Place | None, at: Standpoint, names: EventNames, found: Mentions) -> None:
    if home is not None and name.text in home.columns:
        _collect_place(home, found)
        return
    if not names.is_free(name.text, home) or name.text in names.unknowable or name.text == "_":
        return
    assignment = names.assignments.get(name.text)
    supplies = names.supplies.get(name.text, [])
    if assignment is not None:
        _collect(assignment.value, assignment.home, at, names, found)
    elif supplies:
        _collect_place((names.supply(name.text, at) or supplies[0]).place, found)
    else:
        found.unbound.append(name)


def _collect_place(place: Place | None, found: Mentions) -> None:
    if place is not None and place not in found.places:
        found.places.append(place)
