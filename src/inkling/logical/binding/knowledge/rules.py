"""Binds RULE: dependencies between rules, types of their facts, and plans.

A closed rule is a table whose facts are derived before the run. An open rule, which has arguments that only its caller
binds, is a table of what its clauses determine themselves, and a template of the conditions that a call adds.
"""

from collections.abc import Iterator, Sequence

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog, check_arity
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean
from inkling.logical.binding.knowledge.rule_calls import RuleNames, VariableTypes
from inkling.logical.binding.knowledge.rule_clauses import (
    MAX_CLAUSES,
    Modes,
    OpenClause,
    OpenRule,
    Unfolding,
    WrittenClause,
    calls_in,
    clauses_of,
    is_wildcard,
    modes_of,
    variables_in,
)
from inkling.logical.knowledge import VARIABLES, RuleAtom, RuleClause, RuleKind, RulePlan
from inkling.logical.recursion import in_groups
from inkling.model.schema import Column, TableSchema
from inkling.model.types import Type, common_type

CLAUSE = "clause"
"""Column of an open rule's table: the number of the clause that a row belongs to."""


def bind_rules(
    decls: Sequence[s.RuleDecl], catalog: Catalog, diagnostics: Diagnostics, times: TimeUses
) -> list[RulePlan]:
    """The plans of all rules, each after the rules that it uses; rules also enter the catalog."""
    catalog.rules.update({decl.head.name.text: len(decl.head.args) for decl in decls})
    sound = [decl for decl in decls if _is_sound(decl, catalog, diagnostics)]
    catalog.broken_tables |= {decl.head.name.text for decl in decls if decl not in sound}
    arities: dict[str, set[int]] = {}
    for decl in decls:
        arities.setdefault(decl.head.name.text, set()).add(len(decl.head.args))
    catalog.broken_tables |= {name for name, found in arities.items() if len(found) > 1}
    binder = _RuleBinder(sound, catalog, diagnostics, times)
    plans = [plan for number, group in enumerate(binder.groups()) for plan in binder.group(group, number)]
    assert diagnostics.n_errors or not catalog.broken_tables, f"{catalog.broken_tables} are rejected without a reason"
    return plans


def _is_sound(decl: s.RuleDecl, catalog: Catalog, diagnostics: Diagnostics) -> bool:
    """Whether names and numbers of arguments of one declaration are valid; reports if not."""
    n_errors = diagnostics.n_errors
    for call in (part for part in s.walk(decl.body) if isinstance(part, s.Call)):
        check_arity(call, catalog, diagnostics)
    mentioned = {name.text for name in variables_in(decl.body)}
    for arg in decl.head.args:
        if is_wildcard(arg):
            diagnostics.error("INK0340", "`_` is not allowed in the head of a rule: it has no value", arg)
    for name in variables_in(*decl.head.args):
        if decl.body is None:
            diagnostics.error(
                "INK0340",
                f"`{name}` is a variable, and a fact has none",
                name,
                helps=[f"a string needs single quotes: `'{name}'`", f"or add a condition that binds `{name}`: `IF …`"],
            )
        elif name.text not in mentioned:
            diagnostics.error(
                "INK0340",
                f"the head of rule `{decl.head.name}` has `{name}`, which its conditions do not use",
                name,
                helps=did_you_mean(name.text, mentioned),
            )
    return diagnostics.n_errors == n_errors


class _RuleBinder:
    """Binds rules in groups of mutually recursive rules."""

    def __init__(
        self, decls: Sequence[s.RuleDecl], catalog: Catalog, diagnostics: Diagnostics, times: TimeUses
    ) -> None:
        self.catalog, self.diagnostics, self.times = catalog, diagnostics, times
        self.knowledge = frozenset((*catalog.tables, *catalog.rules))
        self.written: dict[str, list[WrittenClause]] = {}
        for decl in decls:
            self.written.setdefault(decl.head.name.text, []).extend(clauses_of(decl, self.knowledge))
        self.opened: dict[str, list[WrittenClause]] = {}
        self._unfolding = Unfolding.fresh()

    def groups(self) -> Iterator[list[str]]:
        """Groups of mutually recursive rules in topological order."""
        needs = {
            name: [
                call.name.text
                for clause in clauses
                for node in clause.conjuncts
                for call in calls_in(node, self.written)
            ]
            for name, clauses in self.written.items()
        }
        return (names for names, _ in in_groups(needs))

    def group(self, names: list[str], number: int) -> list[RulePlan]:
        used = {
            call.name.text
            for name in names
            for clause in self.written[name]
            for node in clause.conjuncts
            for call in calls_in(node, self.knowledge)
        }
        if not self.catalog.broken_tables.isdisjoint({*names, *used}) or not self._is_stratified(names):
            return self._give_up(names)
        modes: dict[str, list[Modes]] = {}
        for name in names:
            clauses = [one for clause in self.written[name] for one in self._unfolding.unfolded(clause, self.opened)]
            if len(clauses) > MAX_CLAUSES:
                self.diagnostics.error(
                    "INK0346",
                    f"`{name}` expands to more than {MAX_CLAUSES} clauses",
                    clauses[0].head,
                    helps=["move a part of it to another RULE"],
                )
                return self._give_up(names)
            modes[name] = [modes_of(clause, self.knowledge) for clause in clauses]
        if not all(self._is_safe(one) for some in modes.values() for one in some):
            return self._give_up(names)
        is_recursive = any(call.name.text in names for some in modes.values() for one in some for call in one.atoms)
        opened = [one for some in modes.values() for one in some if one.open]
        if opened and is_recursive:
            self._reject_open_recursion(opened[0])
            return self._give_up(names)
        if opened:
            (name,) = names
            self.opened[name] = [one.clause for one in modes[name]]
            return self._open(name, modes[name], number)
        return self._closed(modes, number)

    def _give_up(self, names: list[str]) -> list[RulePlan]:
        self.catalog.broken_tables.update(names)
        return []

    def _is_stratified(self, names: list[str]) -> bool:
        """Whether no rule of a group is used under NOT or OR by a rule of the same group; reports if not."""
        fine = True
        for name in names:
            for clause in self.written[name]:
                for node in clause.conjuncts:
                    inner = [] if isinstance(node, s.Call) else calls_in(node, names)
                    for call in inner:
                        fine = False
                        other = "itself" if call.name.text == name else f"`{call.name}`, which depends on `{name}`,"
                        self.diagnostics.error(
                            "INK0341",
                            f"`{name}` uses {other} under NOT or OR",
                            call,
                            notes=["NOT and OR may contain only rules that do not depend on this one"],
                            helps=["remove the cycle"],
                        )
        return fine

    def _is_safe(self, modes: Modes) -> bool:
        for name in modes.unsafe:
            written = name.text.split("'")[0]
            self.diagnostics.error(
                "INK0340",
                f"`{written}` is not bound in this rule",
                name,
                notes=["a variable is bound by a look-up that must hold, by `v = …`, or by the caller of the rule"],
                helps=[f"add a look-up with `{written}` as an argument, or write `_` for any value"],
            )
        return not modes.unsafe

    def _reject_open_recursion(self, modes: Modes) -> None:
        name = next(name for name in variables_in(*modes.clause.args) if name.text in modes.open)
        self.diagnostics.error(
            "INK0342",
            f"`{modes.clause.name}` is recursive, but nothing binds `{name}`",
            name,
            notes=["the facts of a recursive rule are derived before the run, so every argument must be bound"],
            helps=[f"add an atom that binds `{name}`, such as a table of its possible values"],
        )

    def _closed(self, modes: dict[str, list[Modes]], number: int) -> list[RulePlan]:
        names = {name: _parameter_names(some) for name, some in modes.items()}
        kinds: dict[str, list[Type | None]] = {name: [None] * len(names[name]) for name in modes}
        quiet = Diagnostics(self.diagnostics.source)
        grows = True
        while grows:
            before = {name: list(some) for name, some in kinds.items()}
            for name, some in modes.items():
                for one in some:
                    self._widen(kinds[name], self._head_types(one, kinds, quiet))
            grows = before != kinds
        plans = []
        for name in modes:
            columns = tuple(
                Column(parameter, kind if kind not in (None, Type.NULL) else Type.STRING)
                for parameter, kind in zip(names[name], kinds[name], strict=True)
            )
            self.catalog.rule_tables[name] = TableSchema(name, columns, "")
        n_errors = self.diagnostics.n_errors
        for name, some in modes.items():
            self._reject_clashes(name, some, kinds)
            clauses = [self._clause(one, tuple(one.clause.args)) for one in some]
            if self.diagnostics.n_errors == n_errors and any(None in kinds[other] for other in modes):
                self.diagnostics.error(
                    "INK0344",
                    f"every clause of `{name}` is recursive, so it never derives a fact",
                    some[0].clause.head,
                    helps=["add a clause that is not recursive: the base case"],
                )
            plans.append(
                RulePlan(
                    self.catalog.rule_tables[name],
                    tuple(clause for clause in clauses if clause is not None),
                    RuleKind.MATERIALIZED,
                    number,
                )
            )
        if self.diagnostics.n_errors > n_errors:
            return self._give_up(list(modes))
        return plans

    def _widen(self, known: list[Type | None], found: list[Type | None]) -> None:
        for place, kind in enumerate(found):
            have = known[place]
            if kind is not None:
                known[place] = kind if have is None else common_type(have, kind) or have

    def _head_types(self, modes: Modes, kinds: dict[str, list[Type | None]], quiet: Diagnostics) -> list[Type | None]:
        types = self._types(modes, kinds)
        binder = RuleNames(self.catalog, quiet, self.times, types, VARIABLES).binder()
        for name, value in modes.named:
            bound = binder.value(value) if types.knows(value) else None
            if bound is not None:
                types.known[name.text] = bound.type
        heads = [binder.value(arg) if types.knows(arg) else None for arg in modes.clause.args]
        return [None if head is None else head.type for head in heads]

    def _types(self, modes: Modes, kinds: dict[str, list[Type | None]]) -> VariableTypes:
        """Types of the variables that atoms bind; types of rules of the same group may still be unknown."""
        types = VariableTypes()
        for atom in modes.atoms:
            name = atom.name.text
            given = kinds[name] if name in kinds else [column.type for column in self.catalog.facts[name].columns]
            for arg, kind in zip(atom.args, given, strict=True):
                if isinstance(arg, s.Variable) and not is_wildcard(arg) and kind is not None:
                    have = types.known.get(arg.name.text)
                    types.known[arg.name.text] = kind if have is None else common_type(have, kind) or have
        return types

    def _reject_clashes(self, name: str, some: list[Modes], kinds: dict[str, list[Type | None]]) -> None:
        quiet = Diagnostics(self.diagnostics.source)
        for one in some:
            for arg, kind, found in zip(one.clause.args, kinds[name], self._head_types(one, kinds, quiet), strict=True):
                if kind is not None and found is not None and common_type(kind, found) is None:
                    self.diagnostics.error(
                        "INK0343",
                        f"an argument of rule `{name}` is {kind} in one clause and {found} in another",
                        arg,
                        f"`{self.diagnostics.text_of(arg)}` is {found}",
                    )

    def _clause(self, modes: Modes, heads: tuple[s.Expr, ...]) -> RuleClause | None:
        """The plan of a clause with the given expressions as its head; None after an error."""
        n_errors = self.diagnostics.n_errors
        types = VariableTypes()
        for atom in modes.atoms:
            for arg, column in zip(atom.args, self.catalog.facts[atom.name.text].columns, strict=True):
                if not isinstance(arg, s.Variable) or is_wildcard(arg):
                    continue
                have = types.known.get(arg.name.text, column.type)
                kind = common_type(have, column.type)
                if kind is None:
                    self.diagnostics.error(
                        "INK0343",
                        f"`{arg.name}` is {have} in one place of this rule and {column.type} in another",
                        arg,
                        f"column `{atom.name}.{column.name}` is {column.type}",
                    )
                types.known[arg.name.text] = kind or have
        names = RuleNames(self.catalog, self.diagnostics, self.times, types, VARIABLES)
        binder = names.binder()
        named: list[tuple[e.FactColumn, e.Expr]] = []
        for name, written in modes.named:
            value = None if modes.depends_on_caller(written) else binder.value(written)
            if value is not None:
                types.known[name.text] = value.type
                named.append((e.FactColumn(VARIABLES, name.text, value.type), value))
        atoms, conditions = [], []
        for number, atom in enumerate(modes.atoms):
            columns = self.catalog.facts[atom.name.text].columns
            args: list[e.FactColumn | e.Literal | None] = []
            for arg, column in zip(atom.args, columns, strict=True):
                bound, test = names.atom_argument(arg, column, atom, number, modes)
                args.append(bound)
                if test is not None:
                    conditions.append(test)
            atoms.append(RuleAtom(atom.name.text, tuple(args)))
        for node in modes.conditions:
            test = None if modes.depends_on_caller(node) else binder.condition(node)
            if test is not None:
                conditions.append(test)
        head = [binder.value(arg) for arg in heads]
        if self.diagnostics.n_errors > n_errors or None in head:
            return None
        return RuleClause(
            tuple(value for value in head if value is not None),
            tuple(atoms),
            tuple(named),
            tuple(conditions),
            modes.clause.note,
        )

    def _open(self, name: str, some: list[Modes], number: int) -> list[RulePlan]:
        """The table of an open rule, and the templates of its calls."""
        parameters = _parameter_names(some)
        columns: list[Column] = [Column(_fresh(CLAUSE, parameters), Type.INTEGER)]
        places: dict[tuple[int, str], str] = {}  # (clause, variable or parameter) -> column
        n_errors = self.diagnostics.n_errors
        cores = []
        for one in some:
            own = [arg for arg in one.clause.args if not one.depends_on_caller(arg)]
            waiting = [node for node in one.conditions if one.depends_on_caller(node)]
            waiting += [value for _, value in one.named if one.depends_on_caller(value)]
            waiting += [arg for arg in one.clause.args if one.depends_on_caller(arg)]
            waiting += [arg for atom in one.atoms for arg in atom.args if one.depends_on_caller(arg)]
            valued = {*one.bound, *(known.text for known, _ in one.named)}
            inner = {
                v.text: v
                for v in variables_in(*waiting)
                if v.text in valued and not one.depends_on_caller(s.Variable(v))
            }
            for index, atom in enumerate(one.atoms):
                for place, arg in enumerate(atom.args):
                    if one.depends_on_caller(arg):
                        ident = s.Ident(f"{atom.name.text}'{index}'{place}")
                        inner[ident.text] = ident
            cores.append((own, inner))
        bound = [
            self._clause(one, (*own, *map(s.Variable, inner.values())))
            for one, (own, inner) in zip(some, cores, strict=True)
        ]
        if self.diagnostics.n_errors > n_errors or None in bound:
            return self._give_up([name])
        marker = columns[0].name
        rows: list[dict[str, e.Expr]] = [{marker: e.Literal(index, Type.INTEGER)} for index in range(len(some))]
        kinds: dict[str, Type] = {}
        for index, (one, (_, inner), clause) in enumerate(zip(some, cores, bound, strict=True)):
            assert clause is not None
            values = iter(clause.head)
            for parameter, arg in zip(parameters, one.clause.args, strict=True):
                if one.depends_on_caller(arg):
                    continue
                value = next(values)
                have = kinds.get(parameter, value.type)
                kind = common_type(have, value.type)
                if kind is None:
                    self.diagnostics.error(
                        "INK0343",
                        f"an argument of rule `{name}` is {have} in one clause and {value.type} in another",
                        arg,
                        f"`{self.diagnostics.text_of(arg)}` is {value.type}",
                    )
                kinds[parameter] = kind or have
                rows[index][parameter] = value
                places[index, parameter] = parameter
            for variable, value in zip(inner, values, strict=True):
                column = _fresh(variable.replace("'", "_"), [*parameters, marker, *kinds])
                kinds[column] = value.type
                rows[index][column] = value
                places[index, variable] = column
        if self.diagnostics.n_errors > n_errors:
            return self._give_up([name])
        columns += [Column(column, Type.STRING if kind is Type.NULL else kind) for column, kind in kinds.items()]
        schema = TableSchema(name, tuple(columns), "")
        types = {column.name: column.type for column in columns}
        clauses = [
            RuleClause(
                tuple(row.get(column.name, e.Literal(None, column.type)) for column in columns),
                clause.atoms,
                clause.named,
                clause.conditions,
            )
            for row, clause in zip(rows, bound, strict=True)
            if clause is not None
        ]
        templates = tuple(
            OpenClause(
                one,
                {key: Column(column, types[column]) for (number_, key), column in places.items() if number_ == index},
            )
            for index, one in enumerate(some)
        )
        needs_no_facts = not any(one.atoms for one in some)
        self.catalog.rule_tables[name] = schema
        self.catalog.open_rules[name] = OpenRule(schema, tuple(parameters), templates, needs_no_facts)
        answered = RuleKind.UNFOLDED if needs_no_facts else RuleKind.PER_ROW
        return [RulePlan(schema, tuple(clauses), answered, number)]


def _parameter_names(some: list[Modes]) -> list[str]:
    """A name per argument: the first variable at its position in any clause."""
    names: list[str] = []
    for place in range(len(some[0].clause.args)):
        found = [one.clause.args[place] for one in some]
        written = next((arg.name.text for arg in found if isinstance(arg, s.Variable)), f"value{place + 1}")
        names.append(_fresh(written, names))
    return names


def _fresh(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else next(f"{name}_{n}" for n in range(2, 1000) if f"{name}_{n}" not in taken)
