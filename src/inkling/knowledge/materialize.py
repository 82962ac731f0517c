"""Derives all facts of rules before a program runs: semi-naive evaluation, group by group of mutually recursive rules.

Each round joins the facts that the previous round derived (the delta) with all known facts. Sets of facts are Arrow
tables with codes in place of texts (`coded`); expressions read the texts. See Ullman, "Principles of Database and
Knowledge-Base Systems" (1988), chapter 3, semi-naive evaluation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.knowledge.coded import CODES, CodedFacts, Texts
from inkling.knowledge.grid import RowGrid
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.knowledge import VARIABLES, RuleAtom, RuleClause, RulePlan
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import Ints, in_one_array
from inkling.model.event import Value
from inkling.model.keys import codes_of
from inkling.model.runs import ranges
from inkling.model.schema import Column, Facts
from inkling.model.time import TimeUnit
from inkling.model.types import Type

MAX_FACTS = 50_000_000
"""The most facts that one step of a rule derives, or that a rule has, before the run fails."""

HOLDS = "@holds"
"""The column of a rule without arguments, because a table without columns has no rows."""

FEW_HOLES = 4
"""Numbers of rows are codes for a join if they are at most so many times as many as the rows."""

_ZERO = pa.scalar(0.0)
_UNIT = "@unit"


def distinct(rows: pa.Table) -> pa.Table:
    """Distinct rows; nulls are equal."""
    grid = RowGrid.of([rows])
    if grid is not None:
        return grid.rows(pc.unique(grid.numbers(rows)), rows.schema)
    return rows.group_by(rows.column_names, use_threads=False).aggregate([])


def new_rows(found: pa.Table, known: pa.Table) -> pa.Table:
    """The distinct rows that are not among the known rows."""
    grid = RowGrid.of([found, known]) if len(known) else None
    if grid is not None:
        numbers = pc.unique(grid.numbers(found))
        is_known = pc.is_in(numbers, value_set=grid.numbers(known))
        return grid.rows(numbers.filter(pc.invert(is_known)), found.schema)
    found = distinct(found)
    if not len(known) or not len(found):
        return found
    names = found.column_names
    if any(found[name].null_count or known[name].null_count for name in names):
        both = pa.concat_tables([_flagged(found, 1), _flagged(known, 0)])
        least = both.group_by(names, use_threads=False).aggregate([("@new", "min")])
        return least.filter(pc.equal(least["@new_min"], 1)).select(names)
    return found.join(known, names, join_type="left anti", use_threads=False)


def _flagged(rows: pa.Table, flag: int) -> pa.Table:
    return rows.append_column("@new", pa.array(np.full(len(rows), flag, np.int8)))


def scanned(atom: RuleAtom, facts: pa.Table, texts: Texts) -> pa.Table:
    """The facts that equal the constants of an atom, as columns named by its variables."""
    chosen: dict[str, pa.ChunkedArray] = {}
    keep: pa.ChunkedArray | None = None
    for place, arg in enumerate(atom.args):
        if arg is None:
            continue
        column = plain(facts.column(place), stored(arg.type))
        if isinstance(arg, e.Literal):
            test = pc.equal(*_alike(column, _constant(arg, texts)))
        elif arg.column in chosen:
            test = pc.equal(chosen[arg.column], column)
        else:
            chosen[arg.column] = column
            continue
        keep = test if keep is None else pc.and_kleene(keep, test)
    if not chosen:
        n_left = len(facts) if keep is None else len(facts.filter(keep))
        return pa.table({_UNIT: np.zeros(min(n_left, 1), np.int8)})
    rows = pa.table(chosen)
    rows = rows if keep is None else rows.filter(keep)
    return distinct(rows) if None in atom.args else rows


def stored(kind: Type) -> pa.DataType:
    """The type of a column of facts: texts are stored as codes."""
    return CODES if pa.types.is_string(ARROW_TYPES[kind]) else ARROW_TYPES[kind]


def texts_among(columns: Iterable[Column]) -> list[str]:
    """The names of the columns with texts."""
    return [column.name for column in columns if pa.types.is_string(ARROW_TYPES[column.type])]


def _constant(literal: e.Literal, texts: Texts) -> pa.Scalar:
    value = literal.value
    return pa.scalar(texts.code(value) if isinstance(value, str) else value, stored(literal.type))


def plain(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column as another type; -0.0 becomes 0.0."""
    if pa.types.is_integer(kind) and pa.types.is_floating(column.type):
        kind = pa.float64()  # the constant 2 equals exactly 2.0
    column = column if column.type == kind else column.cast(kind, safe=not pa.types.is_floating(kind))
    return pc.add(column, _ZERO) if pa.types.is_floating(kind) else column


def _alike(column: pa.ChunkedArray, value: pa.Scalar) -> tuple[pa.ChunkedArray, pa.Scalar]:
    if pa.types.is_floating(column.type) and pa.types.is_integer(value.type):
        return column, pa.scalar(float(value.as_py()))
    return column, value


def joined(left: pa.Table, right: pa.Table, rule: str) -> pa.Table:
    """The natural join: all pairs of rows that agree in shared columns; null equals nothing."""
    shared = [name for name in left.column_names if name in right.column_names and name != _UNIT]
    if shared:
        for name in shared:
            left, right = (
                one if not one[name].null_count else one.filter(one[name].is_valid()) for one in (left, right)
            )
        own, other, n_keys = _keys(left.select(shared), right.select(shared))
        n_other = np.bincount(other, minlength=n_keys)
        n_pairs = n_other[own]
        reject_too_many(int(n_pairs.sum()), rule)
        first = np.repeat(np.arange(len(left)), n_pairs)
        by_key = np.argsort(other, kind="stable")
        second = by_key[ranges((np.cumsum(n_other) - n_other)[own], n_pairs)]
    else:
        reject_too_many(len(left) * len(right), rule)
        first = np.repeat(np.arange(len(left)), len(right))
        second = np.tile(np.arange(len(right)), len(left))
    rows = left.take(pa.array(first))
    added = [name for name in right.column_names if name not in (*shared, _UNIT)]
    for name, column in zip(added, right.select(added).take(pa.array(second)).itercolumns(), strict=True):
        rows = rows.append_column(name, column)
    return rows


def _keys(left: pa.Table, right: pa.Table) -> tuple[Ints, Ints, int]:
    """A code for each row of two tables without nulls, equal for equal rows, and a limit of all codes."""
    grid = RowGrid.of([left, right])
    if grid is not None and grid.size <= FEW_HOLES * (len(left) + len(right)):
        return grid.numbers(left).to_numpy(), grid.numbers(right).to_numpy(), grid.size
    columns = [
        pa.chunked_array([*left[name].chunks, *right[name].chunks], left[name].type) for name in left.column_names
    ]
    keys, n_keys = codes_of(columns, len(left) + len(right))
    return keys[: len(left)], keys[len(left) :], n_keys


def reject_too_many(n_facts: int, rule: str) -> None:
    if n_facts > MAX_FACTS:
        raise InputError.of(
            "INK0348",
            f"rule `{rule}` derives more than {MAX_FACTS:,} facts",
            notes=("facts of rules are derived before the run and kept in memory",),
            helps=("join its atoms on more variables, or add a condition",),
        )


MAX_ROUNDS = 2_000
"""The most rounds of a recursive rule that computes new values, before it is rejected as endless."""


def known(program: ProgramPlan, tables: Mapping[str, pa.Table], unit: TimeUnit) -> dict[str, pa.Table]:
    """The tables of the program, and the tables that rules derive from them."""
    facts, coded = dict(tables), CodedFacts(tables)
    for _, group in groupby(program.rules, lambda rule: rule.group):
        members, found = list(group), {}
        for total, _ in rounds(members, facts, coded, unit):
            found = total
        coded |= found
        facts |= {rule.name: coded.texts.plain(found[rule.name], texts_among(rule.columns)) for rule in members}
    return facts


def expression_context(tables: Mapping[str, pa.Table], unit: TimeUnit) -> ExpressionContext:
    """The context of expressions: rows of tables, and the time unit."""
    return ExpressionContext({name: Facts(table) for name, table in tables.items()}, unit)


def rounds(
    group: Sequence[RulePlan], tables: Mapping[str, pa.Table], coded: CodedFacts, unit: TimeUnit
) -> Iterator[tuple[dict[str, pa.Table], dict[str, pa.Table]]]:
    """The facts of mutually recursive rules after each round, and those that are new in it; at last, all of them.

    `coded` has the facts of `tables`, and the results are coded as well.
    """
    names = {rule.name for rule in group}
    context = expression_context(tables, unit)
    clauses = [one for rule in group for one in rule.clauses]
    total = {rule.name: _empty(rule) for rule in group}
    found = {
        rule.name: [derived(rule, one, coded, context) for one in rule.clauses if not own_atoms(one, names)]
        for rule in group
    }
    makes_values = any(_makes_values(one) for one in clauses if own_atoms(one, names))
    n_rounds = 0
    while True:
        fresh = {name: new_rows(_united(total[name], some), total[name]) for name, some in found.items()}
        total = {name: pa.concat_tables([total[name], fresh[name]]).combine_chunks() for name in names}
        for name in names:
            reject_too_many(len(total[name]), name)
        yield total, fresh
        if not any(map(len, fresh.values())) or not any(own_atoms(one, names) for one in clauses):
            return
        n_rounds += 1
        if makes_values and n_rounds > MAX_ROUNDS:
            raise _endless(group[0].name)
        before = {name: table.slice(0, len(table) - len(fresh[name])) for name, table in total.items()}
        here = coded | {**total, **_prefixed(DELTA, fresh), **_prefixed(BEFORE, before)}
        found = {
            rule.name: [
                derived(rule, one, here, context, own, place)
                for one in rule.clauses
                for own in [own_atoms(one, names)]
                for place in own
                if len(fresh[one.atoms[place].table])
            ]
            for rule in group
        }


def _prefixed(prefix: str, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {prefix + name: table for name, table in tables.items()}


def own_atoms(clause: RuleClause, names: set[str]) -> list[int]:
    """Positions of the atoms of a clause that look up rules of its own group."""
    return [place for place, atom in enumerate(clause.atoms) if atom.table in names]


def _makes_values(clause: RuleClause) -> bool:
    """Whether a clause computes values, so that its recursion may not terminate."""
    return bool(clause.named) or any(not isinstance(value, e.FactColumn | e.Literal) for value in clause.head)


def _united(like: pa.Table, found: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([like.slice(0, 0), *found])


def _empty(rule: RulePlan) -> pa.Table:
    fields = [(column.name, stored(column.type)) for column in rule.columns]
    return pa.schema(fields or [(HOLDS, pa.bool_())]).empty_table()


def _endless(rule: str) -> InputError:
    return InputError.of(
        "INK0349",
        f"rule `{rule}` still finds new facts after {MAX_ROUNDS:,} rounds",
        notes=("it is recursive and computes new values, so it may not terminate",),
        helps=("limit the value with a condition such as `n < 100`, or look it up in a table",),
    )


_START = "@start"


def derived(
    rule: RulePlan,
    clause: RuleClause,
    tables: CodedFacts,
    context: ExpressionContext,
    own: Sequence[int] = (),
    first: int | None = None,
) -> pa.Table:
    """The facts that a clause derives, possibly with duplicates; the atom at position `first` reads only the delta.

    Atoms of the group (`own`) in front of it read what was known before the delta, so that no two facts of the delta
    meet twice. The next atom to join is the one that shares most variables with the rows so far; values are computed
    and conditions tested as soon as their variables are bound.
    """

    def prefix(place: int) -> str:
        if first is None or place > first:
            return ""
        return DELTA if place == first else BEFORE if place in own else ""

    read = [prefix(place) + atom.table for place, atom in enumerate(clause.atoms)]
    atoms = [
        (place == first, atom, scanned(atom, tables[name], tables.texts))
        for place, (name, atom) in enumerate(zip(read, clause.atoms, strict=True))
    ]
    if not all(len(facts) for _, _, facts in atoms):
        return _empty(rule)
    solver = Solver(rule.name, clause, context, tables.texts)
    solver.join_all(atoms)
    return solver.head(rule.columns)


DELTA = "@new "
"""Prefix of the name of a rule; the table has the facts that its previous round derived."""

BEFORE = "@before "
"""Prefix of the name of a rule; the table has the facts that were known before these."""


class Solver:
    """The values of variables for which the body of a clause holds; those of `given` variables are fixed."""

    def __init__(
        self,
        rule: str,
        clause: RuleClause,
        context: ExpressionContext,
        texts: Texts,
        given: Mapping[e.FactColumn, Value] | None = None,
    ) -> None:
        self._rule, self._clause, self._context, self._texts = rule, clause, context, texts
        self._rows = pa.table({_START: pa.array([0], pa.int8())})
        for variable, value in (given or {}).items():
            column = self._stored(pa.array([value], ARROW_TYPES[variable.type]))
            self._rows = self._rows.append_column(variable.column, column)
        self._named = list(clause.named)
        self._given = {variable.column for variable, _ in clause.named}
        self._conditions = list(clause.conditions)
        self._apply_ready()

    @property
    def rows(self) -> pa.Table:
        return self._rows

    def join_all(self, atoms: Iterable[tuple[bool, RuleAtom, pa.Table]]) -> None:
        """Joins atoms with the facts that they select; an atom with the flag is the first."""
        waiting = list(atoms)
        while waiting:
            chosen = max(waiting, key=lambda one: self._rank(one[1].args, is_first=one[0]))
            waiting = [one for one in waiting if one is not chosen]
            _, _, facts = chosen
            self._rows = joined(self._rows, facts, self._rule)
            self._apply_ready()

    def _rank(self, args: tuple[e.FactColumn | e.Literal | None, ...], *, is_first: bool) -> tuple[bool, int, int]:
        known = set(self._rows.column_names)
        shared = sum(isinstance(arg, e.FactColumn) and arg.column in known for arg in args)
        fixed = sum(isinstance(arg, e.Literal) for arg in args)
        return is_first, shared, fixed

    def head(self, columns: tuple[Column, ...]) -> pa.Table:
        assert not self._conditions
        assert not self._named
        if not columns:
            return pa.table({HOLDS: pa.array([True] * min(len(self._rows), 1), pa.bool_())})
        values = [
            plain(pa.chunked_array([self._head_value(expr)]), stored(column.type))
            for expr, column in zip(self._clause.head, columns, strict=True)
        ]
        return pa.table(values, [column.name for column in columns])

    def _apply_ready(self) -> None:
        """Computes values and tests conditions whose variables are bound."""
        grows = True
        while grows:
            grows = False
            for named in list(self._named):
                variable, expr = named
                if self._knows(expr):
                    self._named.remove(named)
                    self._add(variable, expr)
                    grows = True
            for condition in list(self._conditions):
                found = self._found_by(condition)
                if self._knows(condition):
                    self._rows = self._rows.filter(self._value(condition))
                elif found is not None:
                    self._add(*found)
                    self._rows = self._rows.filter(pc.is_valid(self._rows[found[0].column]))
                else:
                    continue
                self._conditions.remove(condition)
                grows = True

    def _found_by(self, condition: e.Expr) -> tuple[e.FactColumn, e.Expr] | None:
        """An unbound variable and its value, if a condition is an equation that determines it."""
        if not isinstance(condition, e.Compare) or condition.operator != "=":
            return None
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if not isinstance(side, e.FactColumn) or side.column in self._given:
                continue
            is_new = side.atom == VARIABLES and side.column not in self._rows.column_names
            if is_new and other.type is side.type and self._knows(other):
                return side, other
        return None

    def _add(self, variable: e.FactColumn, expr: e.Expr) -> None:
        column = plain(pa.chunked_array([self._stored(self._value(expr))]), stored(variable.type))
        self._rows = self._rows.append_column(variable.column, column)

    def _head_value(self, expr: e.Expr) -> pa.Array:
        match expr:
            case e.FactColumn(column=name):
                return in_one_array(self._rows[name])
            case e.Literal(value=str()):
                return pa.repeat(_constant(expr, self._texts), len(self._rows))
            case _:
                return self._stored(self._value(expr))

    def _stored(self, column: pa.Array) -> pa.Array:
        return self._texts.codes(column) if pa.types.is_string(column.type) else column

    def _knows(self, expr: e.Expr) -> bool:
        known = self._rows.column_names
        return all(
            part.column in known for part in e.walk(expr) if isinstance(part, e.FactColumn) and part.atom == VARIABLES
        )

    def _value(self, expr: e.Expr) -> pa.Array:
        return evaluate(expr, self._column, len(self._rows), self._context)

    def _column(self, reference: object) -> pa.Array:
        assert isinstance(reference, e.FactColumn)
        column = in_one_array(self._rows[reference.column])
        return self._texts.of(column) if stored(reference.type) != ARROW_TYPES[reference.type] else column
