"""Calls of open rules: a call becomes a look-up in the rule's table, a condition, and values for unbound arguments.

In a rule, every bare name is a variable.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog, check_arity
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.diagnostics import Diagnostics
from inkling.logical.binding.expressions import ExpressionBinder, Reference
from inkling.logical.binding.knowledge.rule_clauses import Modes, OpenClause, OpenRule, is_wildcard, variables_in
from inkling.logical.knowledge import VARIABLES
from inkling.model.schema import Column
from inkling.model.types import Type, common_type

OUTERMOST = VARIABLES - 1
"""Number of the row that a look-up in a condition tests; nested look-ups count down from it."""


@dataclass(frozen=True, slots=True)
class RuleCall:
    """The arguments and the condition that a row of the rule's table must satisfy, and values of unbound arguments."""

    args: tuple[e.Expr | None, ...]  # one per column of the table
    condition: e.Expr
    supplied: Mapping[int, e.Expr]  # by position of the argument
    needs_row: bool = True


def bind_call(
    rule: OpenRule,
    node: s.Call,
    given: list[e.Expr | None],
    number: int,
    catalog: Catalog,
    diagnostics: Diagnostics,
    times: TimeUses,
) -> RuleCall | None:
    """A call with the given arguments (None: unbound); the row of the table is `FactColumn(number, …)`."""
    for place, value in enumerate(given):
        if value is None and rule.must_be_given(place):
            _reject_unbound(rule, node, place, diagnostics)
            return None
    disjuncts: list[e.Expr] = []
    marks: list[e.Expr] = []
    values: list[list[e.Expr]] = []
    lone = rule.needs_no_facts and (len(rule.clauses) == 1 or None not in given)
    marker = rule.schema.columns[0]
    for index, clause in enumerate(rule.clauses):
        names = _CallNames(clause, rule, given, number, catalog, diagnostics, times, lone)
        tests = names.tests(node)
        heads = [names.head(place) for place in range(len(given))]
        if tests is None or None in heads:
            return None
        marks.append(e.Compare("=", e.FactColumn(number, marker.name, marker.type), e.Literal(index, Type.INTEGER)))
        if not lone and len(rule.clauses) > 1:
            tests.insert(0, marks[-1])
        disjuncts.append(e.AllOf(tuple(tests)) if len(tests) != 1 else tests[0])
        values.append([head for head in heads if head is not None])
    stored = dict(zip(rule.parameters, given, strict=True))
    args = tuple(
        stored.get(column.name)
        if column.name in stored and rule.is_stored(rule.parameters.index(column.name))
        else None
        for column in rule.schema.columns
    )
    supplied = {place: _chosen(place, marks, values) for place, value in enumerate(given) if value is None}
    return RuleCall(
        args, disjuncts[0] if len(disjuncts) == 1 else e.AnyOf(tuple(disjuncts)), supplied, needs_row=not lone
    )


def _bind_test(
    node: s.Call,
    binder: ExpressionBinder,
    catalog: Catalog,
    diagnostics: Diagnostics,
    known: Container[str],
    number: int = OUTERMOST,
) -> e.Expr | None:
    """A look-up that tests whether a row exists; a bare name that is not known matches any value."""
    given: list[e.Expr | None] = []
    for arg in node.args:
        if isinstance(arg, s.Variable) and (is_wildcard(arg) or arg.name.text not in known):
            given.append(None)
            continue
        value = binder.value(arg)
        if value is None:
            return None
        given.append(value)
    return lookup_test(node, given, catalog, diagnostics, binder.times, number)


def lookup_test(
    node: s.Call,
    given: list[e.Expr | None],
    catalog: Catalog,
    diagnostics: Diagnostics,
    times: TimeUses,
    number: int = OUTERMOST,
) -> e.Expr | None:
    """A test whether a table or rule has a row with these values; `number` differs from enclosing look-ups."""
    name = node.name.text
    rule = catalog.open_rules.get(name)
    if rule is None and name not in catalog.facts:
        return None  # a rule in its own head, whose columns are not known yet; it is reported once they are
    if rule is None:
        for value, column, arg in zip(given, catalog.facts[name].columns, node.args, strict=True):
            if value is not None and not fits_column(value, column, node, arg, diagnostics):
                return None
        return e.InTable(name, tuple(given))
    call = bind_call(rule, node, given, number, catalog, diagnostics, times)
    if call is None:
        return None
    return e.InTable(name, call.args, call.condition, number) if call.needs_row else call.condition


def fits_column(value: e.Expr, column: Column, node: s.Call, arg: s.Expr, diagnostics: Diagnostics) -> bool:
    if common_type(value.type, column.type) is not None:
        return True
    diagnostics.error(
        "INK0213",
        f"column `{node.name}.{column.name}` is {column.type}, found {value.type}",
        arg,
        f"`{diagnostics.text_of(arg)}` is {value.type}",
    )
    return False


def _reject_event(node: Reference, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "INK0345",
        f"`{diagnostics.text_of(node)}` reads an event, which a rule cannot do",
        node,
        helps=["make it an argument of the rule, and pass the value where the rule is used"],
    )


def _chosen(place: int, marks: list[e.Expr], values: list[list[e.Expr]]) -> e.Expr:
    """The value of an argument, depending on the clause of the row."""
    found = [value[place] for value in values]
    if all(value == found[0] for value in found):
        return found[0]
    kind = found[0].type
    for value in found[1:]:
        kind = common_type(kind, value.type) or kind
    return e.Chosen(tuple(marks), tuple(found), kind)


def report_unbound(node: s.Call, rule: OpenRule | None, missing: list[s.Ident], diagnostics: Diagnostics) -> bool:
    """Whether a call leaves an argument unbound that the rule cannot bind; reports it."""
    names = {name.text for name in missing}
    lacking = [
        place
        for place, arg in enumerate(node.args)
        if rule is not None and rule.must_be_given(place) and isinstance(arg, s.Variable) and arg.name.text in names
    ]
    if rule is not None and lacking:
        _reject_unbound(rule, node, lacking[0], diagnostics)
    return bool(lacking)


def _fails_on_null(test: e.Expr | None, value: e.Expr) -> bool:
    """Whether a test that must hold is false when the value is null."""
    if isinstance(value, e.Literal):
        return value.value is not None
    return isinstance(test, e.Compare) and value in (test.left, test.right)


def _reject_unbound(rule: OpenRule, node: s.Call, place: int, diagnostics: Diagnostics) -> None:
    parameter = rule.parameters[place]
    diagnostics.error(
        "INK0347",
        f"rule `{node.name}` needs a value for `{parameter}`",
        node.args[place],
        "this argument has no value yet",
        notes=[f"the rule tests `{parameter}` but does not bind it"],
        helps=[f"pass a column or a constant, or add to the rule an atom that binds `{parameter}`"],
    )


@dataclass(frozen=True, slots=True)
class _CallNames:
    """Resolves names in a clause of an open rule for one call of the rule."""

    clause: OpenClause
    rule: OpenRule
    given: list[e.Expr | None]
    number: int
    catalog: Catalog
    diagnostics: Diagnostics
    times: TimeUses
    lone: bool  # whether the call needs no row of the table

    def binder(self) -> ExpressionBinder:
        return ExpressionBinder(self, self.catalog, self.diagnostics, self.times)

    def variable(self, node: s.Variable) -> e.Expr | None:
        name, modes = node.name.text, self.clause.modes
        for place, arg in enumerate(modes.clause.args):
            if name in modes.open and isinstance(arg, s.Variable) and arg.name.text == name:
                return self.given[place]
        for known, value in modes.named:
            if known.text == name:
                return self.binder().value(value)
        return self._stored(name)

    def _stored(self, name: str) -> e.Expr | None:
        column = self.clause.columns.get(name)
        return None if column is None else e.FactColumn(self.number, column.name, column.type)

    def reference(self, node: Reference) -> e.Expr | None:
        _reject_event(node, self.diagnostics)
        return None

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None:
        if not check_arity(node, self.catalog, self.diagnostics):
            return None
        modes = self.clause.modes
        known = {*modes.bound, *modes.open, *(name.text for name, _ in modes.named)}
        return _bind_test(node, binder, self.catalog, self.diagnostics, known, min(self.number, VARIABLES) - 1)

    def head(self, place: int) -> e.Expr | None:
        """The value of an argument according to the clause."""
        arg = self.clause.modes.clause.args[place]
        if self.lone or not self.clause.is_stored(place):
            return self.binder().value(arg)
        return self._stored(self.rule.parameters[place])

    def tests(self, node: s.Call) -> list[e.Expr] | None:
        """The conditions of the clause besides the equality of stored arguments; None after an error."""
        modes, binder = self.clause.modes, self.binder()
        found = [binder.condition(test) for test in modes.conditions if modes.depends_on_caller(test)]
        for index, atom in enumerate(modes.atoms):
            for place, arg in enumerate(atom.args):
                if modes.depends_on_caller(arg):
                    found.append(self._equal(self._stored(f"{atom.name.text}'{index}'{place}"), binder.value(arg), arg))
        opened: set[str] = set()
        for place, value in enumerate(self.given):
            if value is None:
                continue
            arg = modes.clause.args[place]
            first = self.clause.opens(place) and isinstance(arg, s.Variable) and arg.name.text not in opened
            if first and isinstance(arg, s.Variable):
                opened.add(arg.name.text)
                if not any(_fails_on_null(test, value) for test in found):
                    found.append(e.IsNull(value, negated=True))
            elif self.lone or not self.rule.is_stored(place):
                found.append(self._equal(value, self.head(place), node.args[place]))
            elif self._equal(value, self.head(place), node.args[place]) is None:
                found.append(None)
        return None if None in found else [test for test in found if test is not None]

    def _equal(self, one: e.Expr | None, other: e.Expr | None, at: s.Expr) -> e.Expr | None:
        if one is None or other is None:
            return None
        if common_type(one.type, other.type) is None:
            self.diagnostics.error(
                "INK0213",
                f"this argument of rule `{self.rule.schema.name}` is {other.type}, found {one.type}",
                at,
                f"`{self.diagnostics.text_of(at)}` is {one.type}",
            )
            return None
        return e.Compare("=", one, other)


@dataclass(slots=True)
class VariableTypes:
    """The types of the variables of a clause that are known so far."""

    known: dict[str, Type] = field(default_factory=dict)

    def knows(self, expr: s.Expr) -> bool:
        return all(name.text in self.known for name in variables_in(expr))


@dataclass(frozen=True, slots=True)
class RuleNames:
    """Resolves the variables of a clause to columns of its row of variables."""

    catalog: Catalog
    diagnostics: Diagnostics
    times: TimeUses
    types: VariableTypes
    number: int

    def binder(self) -> ExpressionBinder:
        return ExpressionBinder(self, self.catalog, self.diagnostics, self.times)

    def variable(self, node: s.Variable) -> e.Expr | None:
        kind = self.types.known.get(node.name.text)
        return None if kind is None else e.FactColumn(self.number, node.name.text, kind)

    def reference(self, node: Reference) -> e.Expr | None:
        _reject_event(node, self.diagnostics)
        return None

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None:
        if not check_arity(node, self.catalog, self.diagnostics):
            return None
        return _bind_test(node, binder, self.catalog, self.diagnostics, self.types.known)

    def atom_argument(
        self, arg: s.Expr, column: Column, atom: s.Call, number: int, modes: Modes
    ) -> tuple[e.FactColumn | e.Literal | None, e.Expr | None]:
        """An argument of an atom, and an equality condition if it is neither a name nor a constant."""
        if is_wildcard(arg):
            return None, None
        if isinstance(arg, s.Variable) and arg.name.text in modes.bound:
            return e.FactColumn(self.number, arg.name.text, self.types.known[arg.name.text]), None
        place = self.catalog.facts[atom.name.text].columns.index(column)
        own = e.FactColumn(self.number, f"{atom.name.text}'{number}'{place}", column.type)
        self.types.known[own.column] = column.type
        if modes.depends_on_caller(arg):
            return own, None
        value = self.binder().value(arg)
        if value is None:
            return None, None
        if not fits_column(value, column, atom, arg, self.diagnostics):
            return None, None
        if isinstance(value, e.Literal) and value.value is not None:
            return value, None
        return own, e.Compare("=", own, value)
