"""Why a fact of a rule holds: the clause that derives it, and the facts that it is derived from.

A fact is derived from facts of earlier rounds of its rule only, so that no fact is a reason for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from inkling.knowledge.coded import CodedFacts
from inkling.knowledge.materialize import Solver, expression_context, own_atoms, rounds, scanned
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.knowledge import RuleAtom, RuleClause, RuleKind, RulePlan
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.event import Value
from inkling.model.time import TimeUnit

DEEPEST = 8
"""Facts below so many levels are shown without the facts that they are derived from."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of a table, or a fact of a rule with the facts that it is derived from.

    `note` is the comment before the RULE that derives it.
    """

    table: str
    values: Mapping[str, Value]
    note: str | None = None
    parts: tuple[Fact, ...] = ()


@dataclass(slots=True)
class Proofs:
    """Derivations of the facts of a program, from its tables and the facts of its rules."""

    program: ProgramPlan
    facts: Mapping[str, pa.Table]
    unit: TimeUnit
    _fresh: dict[int, list[dict[str, pa.Table]]] = field(default_factory=dict)  # by group: the new facts of each round
    _context: ExpressionContext | None = None
    _coded: CodedFacts | None = None

    def of(self, table: str, values: Mapping[str, Value], level: int = 0) -> Fact:
        """A fact with the first derivation of it that is found."""
        rule = next((one for one in self.program.rules if one.name == table), None)
        if rule is None or rule.kind is not RuleKind.MATERIALIZED or level == DEEPEST:
            return Fact(table, values)
        for clause, parts in self._reasons(rule, tuple(values.values())):
            reasons = tuple(self.of(name, row, level + 1) for name, row in parts)
            is_copy = len(reasons) == 1 and clause.note is None
            if is_copy and tuple(reasons[0].values.values()) == tuple(values.values()):
                return reasons[0]
            return Fact(table, values, clause.note, reasons)
        raise AssertionError(f"no clause derives {table}{tuple(values.values())}")

    def _reasons(
        self, rule: RulePlan, values: Sequence[Value]
    ) -> Iterator[tuple[RuleClause, list[tuple[str, dict[str, Value]]]]]:
        fresh = self._rounds(rule)
        group = set(fresh[0])
        wanted = [self._numbered.texts.code(value) if isinstance(value, str) else value for value in values]
        own = next(number for number, one in enumerate(fresh) if len(_rows_with(one[rule.name], wanted)))
        before = {
            name: pa.concat_tables([fresh[0][name].slice(0, 0), *(one[name] for one in fresh[:own])]) for name in group
        }
        tables = self._numbered | before
        for clause in rule.clauses:
            if own == 0 and own_atoms(clause, group):
                continue
            solver = Solver(rule.name, clause, self._whole, tables.texts, _given(clause, values))
            solver.join_all([(False, atom, scanned(atom, tables[atom.table], tables.texts)) for atom in clause.atoms])
            found = _place_of(solver.head(rule.columns), wanted)
            if found is not None:
                variables = solver.rows.slice(found, 1).to_pylist()[0] if clause.atoms else {}
                yield clause, [(atom.table, self._row(atom, tables, variables)) for atom in clause.atoms]

    def _rounds(self, rule: RulePlan) -> list[dict[str, pa.Table]]:
        if rule.group not in self._fresh:
            group = [one for one in self.program.rules if one.group == rule.group]
            self._fresh[rule.group] = [fresh for _, fresh in rounds(group, self.facts, self._numbered, self.unit)]
        return self._fresh[rule.group]

    def _row(self, atom: RuleAtom, tables: CodedFacts, variables: Mapping[str, Value]) -> dict[str, Value]:
        """A fact that an atom matches with the values of the variables, of which texts are coded."""
        facts, texts = tables[atom.table], tables.texts
        for place, arg in enumerate(atom.args):
            if arg is not None:
                value = variables[arg.column] if isinstance(arg, e.FactColumn) else arg.value
                number = pa.scalar(texts.code(value) if isinstance(value, str) else value)
                facts = facts.filter(pc.equal(facts.column(place).cast(number.type), number))
        named = [field.name for field in self.facts[atom.table].schema if pa.types.is_string(field.type)]
        return dict(texts.plain(facts.slice(0, 1), named).to_pylist()[0])

    @property
    def _numbered(self) -> CodedFacts:
        if self._coded is None:
            self._coded = CodedFacts(self.facts)
        return self._coded

    @property
    def _whole(self) -> ExpressionContext:
        if self._context is None:
            self._context = expression_context(self.facts, self.unit)
        return self._context


def _given(clause: RuleClause, values: Sequence[Value]) -> dict[e.FactColumn, Value]:
    """The variables that the head of a clause shows, with their values in a fact."""
    named = {variable.column for variable, _ in clause.named}
    return {
        shown: value
        for shown, value in zip(clause.head, values, strict=False)
        if isinstance(shown, e.FactColumn) and shown.column not in named and _is_of(value, shown)
    }


def _is_of(value: Value, variable: e.FactColumn) -> bool:
    """Whether a value, which a wider column may have widened, is one of a variable."""
    return value is not None and pa.scalar(value).type == ARROW_TYPES[variable.type]


def _rows_with(facts: pa.Table, values: Sequence[Value]) -> pa.Table:
    """The rows of these values; None in a row is equal to None here."""
    for place, value in enumerate(values):
        column = facts.column(place)
        test = pc.is_null(column) if value is None else pc.equal(column, pa.scalar(value, column.type))
        facts = facts.filter(test)
    return facts


def _place_of(heads: pa.Table, values: Sequence[Value]) -> int | None:
    numbered = heads.append_column("@place", pa.array(range(len(heads)), pa.int64()))
    found = _rows_with(numbered, values)
    return found["@place"][0].as_py() if len(found) else None
