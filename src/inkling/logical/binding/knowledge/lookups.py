"""Look-ups in background tables that bind: which leaf asks, and which variable the row supplies.

Which leaf can ask or test follows from the places that a condition mentions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.knowledge.rule_calls import bind_call, lookup_test, report_unbound
from inkling.logical.binding.knowledge.rule_modes import OpenRule
from inkling.logical.binding.knowledge.tables import check_arity
from inkling.logical.binding.names import EventNames, Supply, report_unknown, warn_of_column
from inkling.logical.binding.patterns.name_scope import NameScope
from inkling.logical.binding.patterns.places import BodyPlace, InAbsence, InBranch, InRepetition, Place, Standpoint
from inkling.logical.binding.syntax_walk import walk
from inkling.logical.plan import TableAtom
from inkling.model.schema import TableSchema


@dataclass(frozen=True, slots=True)
class Lookup:
    """`table(args)` or `rule(args)` as a conjunct, in the brackets of `home` or in the WHERE of `body`."""

    call: s.Call
    table: TableSchema
    rule: OpenRule | None
    body: BodyPlace
    home: Place | None
    order: int

    @property
    def at(self) -> Standpoint:
        return self.home.standpoint if self.home else self.body.standpoint


def take_lookup(call: s.Call, body: BodyPlace, home: Place | None, order: int, names: EventNames) -> Lookup | None:
    """The look-up a call stands for; None after an error, and its variables stay unknown."""
    table = names.catalog.facts.get(call.name.text)
    if check_arity(call, names.catalog, names.diagnostics) and table is not None:
        return Lookup(call, table, names.catalog.open_rules.get(call.name.text), body, home, order)
    for arg in call.args:
        if isinstance(arg, s.Variable) and names.is_free(arg.name.text, home):
            names.unknowable.add(arg.name.text)
    return None


def place_lookups(lookups: list[Lookup], names: EventNames) -> None:
    """Gives every look-up a leaf; the earliest in pattern order that names a variable supplies it."""
    if all(place.inner is not None for place in names.shape.places):
        return  # nothing happens in this pattern, which is already reported
    waiting = list(lookups)
    number = 0
    while waiting:
        ready = [lookup for lookup in waiting if not _missing(lookup, names)]
        if not ready:
            for lookup in waiting:
                if not report_unbound(lookup.call, lookup.rule, _missing(lookup, names), names.diagnostics):
                    for name in _missing(lookup, names):
                        report_unknown(name, names, lookup.home)
                _give_up(lookup, names)
            return
        chosen = min(ready, key=lambda lookup: _rank(lookup, names))
        waiting.remove(chosen)
        number += _attach(chosen, number, names)


def _variable_of(arg: s.Expr, lookup: Lookup, names: EventNames) -> s.Ident | None:
    """The name of an argument that the table may supply."""
    if not isinstance(arg, s.Variable) or not names.is_free(arg.name.text, lookup.home):
        return None
    name = arg.name.text
    return None if name in names.assignments or name in names.unknowable else arg.name


def _places(lookup: Lookup, names: EventNames) -> list[Place]:
    return [place for arg in lookup.call.args for place in mentions(arg, lookup.home, lookup.at, names).places]


def _missing(lookup: Lookup, names: EventNames) -> list[s.Ident]:
    """Names inside larger arguments that have no value yet."""
    return [
        name
        for arg in lookup.call.args
        if _variable_of(arg, lookup, names) is None
        for name in mentions(arg, lookup.home, lookup.at, names).unbound
    ] + [
        name
        for place, arg in enumerate(lookup.call.args)
        if lookup.rule is not None and lookup.rule.must_be_given(place)
        if (name := _variable_of(arg, lookup, names)) is not None and names.supply(name.text, lookup.at) is None
    ]


def _rank(lookup: Lookup, names: EventNames) -> tuple[int, bool, int, int]:
    """Look-ups outside NOT first, then those that know something, then from left to right."""
    target = _target(lookup, names)
    knows_nothing = all(
        (name := _variable_of(arg, lookup, names)) is not None and names.supply(name.text, lookup.at) is None
        for arg in lookup.call.args
    )
    return len(target.fences), knows_nothing, target.number, lookup.order


def _target(lookup: Lookup, names: EventNames) -> Place:
    if lookup.home is not None:
        return lookup.home
    return target_of(_places(lookup, names), lookup.body) or _first_leaf(lookup.body, names)


def _first_leaf(body: BodyPlace, names: EventNames) -> Place:
    """The first leaf of a body that every match fills once, or else simply the first."""
    inside = [place for place in names.shape.places[body.first : body.last + 1] if place.inner is None]
    visible = [place for place in inside if all(fence in body.path for fence in place.fences)]
    always = [
        place
        for place in visible
        if not any(isinstance(frame, InBranch | InRepetition) for frame in place.path[len(body.path) :])
    ]
    leaves = [place for place in names.shape.places if place.inner is None]
    return (always or visible or inside or leaves)[0]


def _attach(lookup: Lookup, number: int, names: EventNames) -> bool:
    """Binds a look-up at its leaf; if it supplies nothing and reads that leaf alone, it is a condition."""
    target = _target(lookup, names)
    table, diagnostics = lookup.table, names.diagnostics
    if target.inner is not None:
        diagnostics.wrong(
            "INK0416", "looking up a table by the times of a pattern in parentheses is not supported yet", lookup.call
        )
        _give_up(lookup, names)
        return False
    view = NameScope(names, target.standpoint, lookup.home, inline=lookup.home is not None)
    if lookup.rule is not None:
        return _attach_rule(lookup, lookup.rule, target, view, number, names)
    binder = view.binder()
    args: list[e.Expr | None] = []
    supplied: dict[str, e.FactColumn] = {}
    variables: dict[str, s.Ident] = {}
    for column, arg in zip(table.columns, lookup.call.args, strict=True):
        fact = e.FactColumn(number, column.name, column.type)
        variable = _variable_of(arg, lookup, names)
        if isinstance(arg, s.Variable) and arg.name.text == "_":
            args.append(None)
        elif variable is not None and variable.text in supplied:
            first = supplied[variable.text]
            if view.fits_column(first, column.type, arg, f"{table.name}.{column.name}"):
                target.conditions.append(e.Compare("=", first, fact))
                args.append(None)
        elif variable is not None and names.supply(variable.text, target.standpoint) is None:
            supplied[variable.text] = fact
            variables[variable.text] = variable
            args.append(None)
        else:
            bound = binder.value(arg)
            if bound is not None and view.fits_column(bound, column.type, arg, f"{table.name}.{column.name}"):
                args.append(bound)
    if len(args) < len(table.columns):
        _give_up(lookup, names)
        return False
    if not supplied and all(arg is None or _is_local(arg, target) for arg in args):
        target.conditions.append(e.InTable(table.name, tuple(args)))
        return False
    for name, fact in supplied.items():
        names.supplies.setdefault(name, []).append(Supply(fact, target, variables[name]))
    target.atoms.append(TableAtom(number, table.name, table.columns, tuple(args)))
    return True


def _attach_rule(
    lookup: Lookup, rule: OpenRule, target: Place, view: NameScope, number: int, names: EventNames
) -> bool:
    """The same for an open rule: what it tests becomes a condition."""
    binder, diagnostics = view.binder(), names.diagnostics
    given: list[e.Expr | None] = []
    variables: dict[int, s.Ident] = {}
    for place, arg in enumerate(lookup.call.args):
        variable = _variable_of(arg, lookup, names)
        if isinstance(arg, s.Variable) and arg.name.text == "_":
            given.append(None)
        elif variable is not None and names.supply(variable.text, target.standpoint) is None:
            given.append(None)
            variables[place] = variable
        else:
            bound = binder.value(arg)
            if bound is None:
                _give_up(lookup, names)
                return False
            given.append(bound)
    if not variables and all(value is None or _is_local(value, target) for value in given):
        test = lookup_test(lookup.call, given, names.catalog, diagnostics, binder.times)
        if test is not None:
            target.conditions.append(test)
        return False
    call = bind_call(rule, lookup.call, given, number, names.catalog, diagnostics, binder.times)
    if call is None:
        _give_up(lookup, names)
        return False
    supplied: dict[str, e.Expr] = {}
    for place, variable in variables.items():
        value = call.supplied[place]
        if variable.text in supplied:
            target.conditions.append(e.Compare("=", supplied[variable.text], value))
            continue
        supplied[variable.text] = value
        names.supplies.setdefault(variable.text, []).append(Supply(value, target, variable))
    target.conditions.append(call.condition)
    if call.needs_row:
        target.atoms.append(TableAtom(number, rule.schema.name, rule.schema.columns, call.args))
    return call.needs_row


def _give_up(lookup: Lookup, names: EventNames) -> None:
    """Mark the variables of a rejected look-up, so that they are not reported as unknown."""
    for arg in lookup.call.args:
        variable = _variable_of(arg, lookup, names)
        if variable is not None:
            names.unknowable.add(variable.text)


def warn_of_unread(names: EventNames) -> None:
    """A variable that only one look-up mentions filters nothing; a column of that name was probably meant."""
    for name, supplies in names.supplies.items():
        for supply in supplies:
            if name not in names.read:
                warn_of_column(supply.written, names)


def _is_local(expr: e.Expr, place: Place) -> bool:
    elsewhere = e.atoms_of(expr) or any(isinstance(part, e.KeyColumn | e.Quantity) for part in e.walk(expr))
    return e.slots_of(expr) <= {place.number} and not elsewhere


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
