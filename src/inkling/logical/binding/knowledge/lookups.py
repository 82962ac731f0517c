"""Look-ups in background tables that bind variables: at which slot they are done, and which variables they bind.

PATTERN A a WHERE limits(a.road, top) AND a.speed > top    -- the look-up at `a` binds `top`
"""

from dataclasses import dataclass, field, replace

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import check_arity
from inkling.logical.binding.knowledge.rule_calls import bind_call, lookup_test, report_unbound
from inkling.logical.binding.knowledge.rule_clauses import OpenRule
from inkling.logical.binding.patterns.drafts import (
    Barrier,
    BodyDraft,
    EvaluationPoint,
    InAbsence,
    InBranch,
    InRepetition,
    SlotDraft,
)
from inkling.logical.binding.patterns.scope import EventNames, NameScope, Supply, report_unknown, warn_of_column
from inkling.logical.knowledge import VARIABLES
from inkling.logical.plan import TableAtom
from inkling.model.schema import TableSchema


@dataclass(frozen=True, slots=True)
class Lookup:
    """`table(args)` or `rule(args)` as a conjunct, in the brackets of `home` or in the WHERE of `body`."""

    call: s.Call
    table: TableSchema
    rule: OpenRule | None
    body: BodyDraft
    home: SlotDraft | None
    order: int

    @property
    def at(self) -> EvaluationPoint:
        return self.home.evaluation_point if self.home else self.body.evaluation_point


def take_lookup(call: s.Call, body: BodyDraft, home: SlotDraft | None, order: int, names: EventNames) -> Lookup | None:
    """The look-up of a call; None after an error, which also poisons its variables."""
    table = names.catalog.facts.get(call.name.text)
    if check_arity(call, names.catalog, names.diagnostics) and table is not None:
        return Lookup(call, table, names.catalog.open_rules.get(call.name.text), body, home, order)
    for arg in call.args:
        if isinstance(arg, s.Variable) and names.is_free(arg.name.text, home):
            names.poisoned.add(arg.name.text)
    return None


def place_lookups(lookups: list[Lookup], names: EventNames) -> None:
    """Binds every look-up at a slot; the first look-up in pattern order that has a variable binds the variable."""
    if all(slot.inner is not None for slot in names.draft.slots):
        return  # a pattern without events is reported elsewhere
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
    """The name of an argument that the table may bind."""
    if not isinstance(arg, s.Variable) or not names.is_free(arg.name.text, lookup.home):
        return None
    name = arg.name.text
    return None if name in names.named_values or name in names.poisoned else arg.name


def _places(lookup: Lookup, names: EventNames) -> list[SlotDraft]:
    return [slot for arg in lookup.call.args for slot in mentions(arg, lookup.home, lookup.at, names).slots]


def _missing(lookup: Lookup, names: EventNames) -> list[s.Ident]:
    """Unbound names that the look-up needs: inside larger arguments, or required by an open rule."""
    return [
        name
        for arg in lookup.call.args
        if _variable_of(arg, lookup, names) is None
        for name in mentions(arg, lookup.home, lookup.at, names).unbound
    ] + [
        name
        for position, arg in enumerate(lookup.call.args)
        if lookup.rule is not None and lookup.rule.must_be_given(position)
        if (name := _variable_of(arg, lookup, names)) is not None and names.supply(name.text, lookup.at) is None
    ]


def _rank(lookup: Lookup, names: EventNames) -> tuple[int, bool, int, int]:
    """Look-ups outside NOT first, then look-ups with a bound argument, then from left to right."""
    target = _target(lookup, names)
    knows_nothing = all(
        (name := _variable_of(arg, lookup, names)) is not None and names.supply(name.text, lookup.at) is None
        for arg in lookup.call.args
    )
    return len(target.barriers), knows_nothing, target.number, lookup.order


def _target(lookup: Lookup, names: EventNames) -> SlotDraft:
    if lookup.home is not None:
        return lookup.home
    return target_of(_places(lookup, names), lookup.body) or _first_leaf(lookup.body, names)


def _first_leaf(body: BodyDraft, names: EventNames) -> SlotDraft:
    """The first slot of a body that every match fills exactly once, or else the first slot."""
    inside = [slot for slot in names.draft.slots[body.first : body.last + 1] if slot.inner is None]
    visible = [slot for slot in inside if all(barrier in body.path for barrier in slot.barriers)]
    always = [
        slot
        for slot in visible
        if not any(isinstance(frame, InBranch | InRepetition) for frame in slot.path[len(body.path) :])
    ]
    leaves = [slot for slot in names.draft.slots if slot.inner is None]
    return (always or visible or inside or leaves)[0]


def _attach(lookup: Lookup, number: int, names: EventNames) -> bool:
    """Binds a look-up at its slot; a look-up that binds nothing and reads that slot alone is a condition."""
    target = _target(lookup, names)
    if target.inner is not None:
        return _attach_to_pattern(lookup, target, target.inner, number, names)
    view = NameScope(names, target.evaluation_point, lookup.home, inline=lookup.home is not None)
    if lookup.rule is not None:
        return _attach_rule(lookup, lookup.rule, target, view, number, names, target)
    return _attach_table(lookup, target, view, number, names, target)


def _attach_table(
    lookup: Lookup, target: SlotDraft, view: NameScope, number: int, names: EventNames, home: SlotDraft
) -> bool:
    """The look-up of a table; the variables that it binds are those of `home`."""
    table, binder = lookup.table, view.binder()
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
        elif variable is not None and names.supply(variable.text, target.evaluation_point) is None:
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
        names.supplies.setdefault(name, []).append(Supply(fact, home, variables[name]))
    target.atoms.append(TableAtom(number, table.name, table.columns, tuple(args)))
    return True


def _attach_to_pattern(lookup: Lookup, named: SlotDraft, inner: BodyDraft, number: int, names: EventNames) -> bool:
    """Binds a look-up by the times of a named pattern: some event of the pattern chooses a row, which they test."""
    at = EvaluationPoint(named.path, named.number)
    view, tests = NameScope(names, at), SlotDraft(named.number, None, named.span, named.path, inner)
    home = _first_leaf(inner, names)
    frames = home.path[len(inner.path) :]
    if home.inner is not None or any(isinstance(frame, InBranch | InRepetition | Barrier) for frame in frames):
        names.diagnostics.error(
            "INK0363",
            f"a table cannot be looked up by the times of `{named.title}`",
            lookup.call,
            f"no event of `{named.title}` is part of every match",
            notes=["an event of the pattern chooses the row of the table"],
            helps=["derive an event from the pattern, and look the table up by the times of that event"],
        )
        _give_up(lookup, names)
        return False
    if lookup.rule is not None:
        found = _attach_rule(lookup, lookup.rule, tests, view, number, names, home)
    else:
        found = _attach_table(lookup, tests, view, number, names, home)
    for atom in tests.atoms:
        known = zip(atom.columns, atom.args, strict=True)
        equal = [
            e.Compare("=", e.FactColumn(atom.number, column.name, column.type), arg) for column, arg in known if arg
        ]
        inner.having += equal
        home.atoms.append(replace(atom, args=(None,) * len(atom.args)))
    inner.having += tests.conditions
    return found


def _attach_rule(
    lookup: Lookup, rule: OpenRule, target: SlotDraft, view: NameScope, number: int, names: EventNames, home: SlotDraft
) -> bool:
    """The same for an open rule, whose tests become a condition."""
    binder, diagnostics = view.binder(), names.diagnostics
    given: list[e.Expr | None] = []
    variables: dict[int, s.Ident] = {}
    for position, arg in enumerate(lookup.call.args):
        variable = _variable_of(arg, lookup, names)
        if isinstance(arg, s.Variable) and arg.name.text == "_":
            given.append(None)
        elif variable is not None and names.supply(variable.text, target.evaluation_point) is None:
            given.append(None)
            variables[position] = variable
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
    for position, variable in variables.items():
        value = call.supplied[position]
        if variable.text in supplied:
            target.conditions.append(e.Compare("=", supplied[variable.text], value))
            continue
        supplied[variable.text] = value
        names.supplies.setdefault(variable.text, []).append(Supply(value, home, variable))
    target.conditions.append(call.condition)
    if call.needs_row:
        target.atoms.append(TableAtom(number, rule.schema.name, rule.schema.columns, call.args))
    return call.needs_row


def with_look_ups_as_tests(slot: SlotDraft) -> None:
    """Turns the look-ups of a slot into conditions: any choice of rows that passes the others makes the event pass."""
    while slot.atoms:
        atom = slot.atoms.pop()
        about = [one for one in slot.conditions if atom.number in e.atoms_of(one)]
        slot.conditions = [one for one in slot.conditions if one not in about]
        if not about:
            slot.conditions.append(e.InTable(atom.table, atom.args))
            continue
        inside = [part.number for one in about for part in e.walk(one) if isinstance(part, e.InTable)]
        number = min(inside, default=VARIABLES) - 1
        tests = tuple(_about_row(one, atom.number, number) for one in about)
        condition = tests[0] if len(tests) == 1 else e.AllOf(tests)
        slot.conditions.append(e.InTable(atom.table, atom.args, condition, number))


def _about_row(expr: e.Expr, atom: int, number: int) -> e.Expr:
    """The expression with values that a look-up supplies read from the row that a test has under a number."""
    if isinstance(expr, e.FactColumn) and expr.atom == atom:
        return replace(expr, atom=number)
    return e.rebuilt(expr, lambda part: _about_row(part, atom, number))


def _give_up(lookup: Lookup, names: EventNames) -> None:
    """Poison the variables of a rejected look-up, so that they are not reported as unknown."""
    for arg in lookup.call.args:
        variable = _variable_of(arg, lookup, names)
        if variable is not None:
            names.poisoned.add(variable.text)


def warn_of_unread(names: EventNames) -> None:
    """Warns of variables that only one look-up uses: they filter nothing, and a column was probably meant."""
    for name, supplies in names.supplies.items():
        for supply in supplies:
            if name not in names.read:
                warn_of_column(supply.written, names)


def _is_local(expr: e.Expr, slot: SlotDraft) -> bool:
    elsewhere = e.atoms_of(expr) or any(isinstance(part, e.KeyColumn | e.Quantity) for part in e.walk(expr))
    return e.slots_of(expr) <= {slot.number} and not elsewhere


ONE_OF_MANY = ("FIRST", "LAST")


@dataclass(slots=True)
class Mentions:
    """The slots, unbound names and aggregates that an expression mentions."""

    slots: list[SlotDraft] = field(default_factory=list)
    unbound: list[s.Ident] = field(default_factory=list)  # bare names that are not bound yet
    aggregates: list[s.Aggregate] = field(default_factory=list)


def mentions(expr: s.Expr, home: SlotDraft | None, at: EvaluationPoint, names: EventNames) -> Mentions:
    """Everything that an expression depends on, through named values too."""
    found = Mentions()
    _collect(expr, home, at, names, found)
    return found


def target_of(slots: list[SlotDraft], body: BodyDraft) -> SlotDraft | None:
    """The last mentioned slot of a body in pattern order; a slot inside NOT takes precedence.

    None if the condition is about the body as a whole.
    """
    inside = [slot for slot in slots if body.first <= slot.number <= body.last]
    barriers = {slot: [barrier for barrier in slot.barriers if barrier not in body.path] for slot in inside}
    visible = [slot for slot in inside if not barriers[slot]]
    absent = [
        slot for slot in inside if barriers[slot] and all(isinstance(barrier, InAbsence) for barrier in barriers[slot])
    ]
    return max(absent or visible, key=lambda slot: (len(slot.barriers), slot.number), default=None)


def _collect(expr: s.Expr, home: SlotDraft | None, at: EvaluationPoint, names: EventNames, found: Mentions) -> None:
    for node in s.walk(expr):
        match node:
            case s.Variable(name=name):
                _collect_bare(name, home, at, names, found)
            case s.Aggregate(var=var, function=function):
                if function not in ONE_OF_MANY:
                    found.aggregates.append(node)
                _collect_place(names.draft.named(var.text), found)
            case s.Attribute(var=var) | s.FirstOrLast(var=var) | s.TimeOf(var=var) | s.IdOf(var=var):
                _collect_place(names.draft.named(var.text), found)
            case _:
                pass


def _collect_bare(
    name: s.Ident, home: SlotDraft | None, at: EvaluationPoint, names: EventNames, found: Mentions
) -> None:
    if home is not None and name.text in home.columns:
        _collect_place(home, found)
        return
    if not names.is_free(name.text, home) or name.text in names.poisoned or name.text == "_":
        return
    named = names.named_values.get(name.text)
    supplies = names.supplies.get(name.text, [])
    if named is not None:
        _collect(named.value, named.home, at, names, found)
    elif supplies:
        _collect_place((names.supply(name.text, at) or supplies[0]).slot, found)
    else:
        found.unbound.append(name)


def _collect_place(slot: SlotDraft | None, found: Mentions) -> None:
    if slot is not None and slot not in found.slots:
        found.slots.append(slot)
