"""Relations between segments inside a pattern: each is an event of its own, which runs do not show.

    EVENT e AS PATTERN SEQ((SOME S x DURING SOME T y), A a) WHERE a.k = x.k;

means

    EVENT e_relation(x.k AS x_k, y.k AS y_k) AS PATTERN SOME S x DURING SOME T y HIDDEN;
    EVENT e AS PATTERN SEQ(e_relation x, A a) WHERE a.k = x.x_k;

A name that two relations share is one key: its columns of KEY are the same in both.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import TypeAlias, cast

from inkling.language import syntax as s
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.source import Span

_Keys: TypeAlias = Mapping[str, tuple[s.Ident, ...]]


def with_named_relations(program: s.Program, diagnostics: Diagnostics) -> s.Program:
    """The program in which every relation between segments is a whole pattern; the same object if all are."""
    if not any(_inner_relations(one) for one in program.statements):
        return program
    keys: dict[str, tuple[s.Ident, ...]] = {}
    for one in program.statements:
        match one:
            case s.StreamDecl(name=name, key=key):
                keys[name.text] = key
            case s.EventDecl(name=name, partition_by=key):
                keys.setdefault(name.text, key)
    taken = set(_names(program))
    statements: list[s.Statement] = []
    for one in program.statements:
        if isinstance(one, s.EventDecl) and _inner_relations(one):
            naming = _Naming(one, keys, diagnostics, taken)
            outer = naming.changed_event()
            statements += [*naming.relations, outer]
        else:
            statements.append(one)
    return replace(program, statements=tuple(statements))


def _names(program: s.Program) -> Iterator[str]:
    """The names of what a program declares."""
    for one in program.statements:
        match one:
            case s.RuleDecl(head=head):
                yield head.name.text
            case s.ForecastDecl():
                yield one.result.text
            case _:
                yield one.name.text


def _inner_relations(one: s.Statement) -> bool:
    """Whether a statement has a relation that is only a part of its pattern, and that can be an event."""
    if not isinstance(one, s.EventDecl) or isinstance(one.body.pattern, s.Quantified):
        return False
    return any(_can_be_named(node) for node in s.parts_of(one.body.pattern))


def _can_be_named(node: s.Node) -> bool:
    if not isinstance(node, s.Quantified):
        return False
    return not any(isinstance(side.count, s.EachCount) for side in (node.left, node.right))


@dataclass(frozen=True, slots=True)
class _Operand:
    """A name of a relation: the key of which stream, and in which columns of which part its values stand."""

    stream: str
    part: s.Ident
    columns: Mapping[str, str]  # by column of KEY


@dataclass(slots=True)
class _Naming:
    """The relations of one event as events."""

    decl: s.EventDecl
    keys: _Keys
    diagnostics: Diagnostics
    taken: set[str]  # names of statements
    relations: list[s.EventDecl] = field(default_factory=list)
    operands: dict[str, _Operand] = field(default_factory=dict)
    same: list[s.Expr] = field(default_factory=list)  # that a name is the same key in two relations
    parts: dict[str, s.Ident] = field(default_factory=dict)  # the other names of the pattern
    given: set[str] = field(default_factory=set)  # names of operands, also those for operands without one

    def changed_event(self) -> s.EventDecl:
        for node in s.parts_of(self.decl.body.pattern):
            if isinstance(node, s.Leaf | s.Nested | s.WindowOf) and node.var is not None:
                self.parts.setdefault(node.var.text, node.var)
            elif isinstance(node, s.Quantity) and node.var is not None:
                self.given.add(node.var.text)
        decl = replace(self.decl, body=replace(self.decl.body, pattern=self._pattern(self.decl.body.pattern, True)))
        decl = s.rebuilt(decl, self._read)
        if not self.same:
            return decl
        tests = (*s.conjuncts(decl.body.where), *self.same)
        where = s.AllOf(tests, span=tests[0].span) if len(tests) > 1 else tests[0]
        return replace(decl, body=replace(decl.body, where=where))

    def _pattern(self, pattern: s.Pattern, is_joined: bool) -> s.Pattern:
        """A pattern with leaves for relations; `is_joined` if every match has this part."""
        return cast(s.Pattern, self._part(pattern, is_joined))

    def _part(self, node: s.Node, is_joined: bool) -> s.Node:
        match node:
            case s.Nested(body=s.Body(pattern=s.Quantified() as relation) as body, var=var) if _can_be_named(relation):
                return self._leaf(relation, body, var, is_joined)
            case s.Quantified() if _can_be_named(node):
                return self._leaf(node, s.Body(node, span=node.span), None, is_joined)
            case _ if isinstance(node, s.Expr):
                return node
            case s.Seq() | s.And() | s.Par() | s.Allen() | s.Nested() | s.Body():
                return s.rebuilt(node, lambda child: self._part(child, is_joined))
            case _:
                return s.rebuilt(node, lambda child: self._part(child, False))

    def _leaf(self, relation: s.Quantified, body: s.Body, var: s.Ident | None, is_joined: bool) -> s.Leaf:
        """The part that reads the results of a relation, which becomes an event."""
        sides = [self._named_side(side) for side in (relation.left, relation.right)]
        used = {*self.operands, *self.parts}
        part = var or next((side.var for side in sides if side.var and side.var.text not in used), None)
        part = part or s.Ident(self._unused("relation"), span=relation.span)
        shared = self.decl.partition_by
        head = [s.Item(s.Variable(column, span=column.span), span=column.span) for column in shared]
        for side in sides:
            assert side.var is not None
            columns = {one.text: f"{side.var}_{one}" for one in self.keys.get(side.stream.text, ())}
            columns |= {one.text: one.text for one in shared if one.text in columns}
            for column, shown in columns.items():
                if column == shown:
                    continue
                value = s.Attribute(side.var, s.Ident(column, span=side.span), span=side.span)
                head.append(s.Item(value, s.Ident(shown, span=side.span), span=side.span))
            self._take(_Operand(side.stream.text, part, columns), side.var, is_joined)
        name = s.Ident(_fresh(f"{self.decl.name}_relation", self.taken), span=relation.span)
        self.taken.add(name.text)
        inner = replace(body, pattern=replace(relation, left=sides[0], right=sides[1]))
        self.relations.append(
            s.EventDecl(
                name, tuple(head) or None, inner, partition_by=self.decl.partition_by, hidden=True, span=relation.span
            )
        )
        return s.Leaf((name,), part, span=relation.span)

    def _named_side(self, side: s.Quantity) -> s.Quantity:
        if side.var is not None:
            return side
        return replace(side, var=s.Ident(self._unused(side.stream.text), span=side.stream.span))

    def _take(self, operand: _Operand, name: s.Ident, is_joined: bool) -> None:
        other = self.operands.get(name.text)
        if name.text in self.parts:
            self._twice(self.parts[name.text], name)
        if other is None:
            self.operands[name.text] = operand if is_joined else replace(operand, stream="")
        elif not is_joined or other.stream != operand.stream:
            self._twice(other.part, name)
        else:
            for column, shown in operand.columns.items():
                left = s.Attribute(other.part, s.Ident(other.columns[column], span=name.span), span=name.span)
                right = s.Attribute(operand.part, s.Ident(shown, span=name.span), span=name.span)
                self.same.append(s.Compare("=", left, right, span=name.span))

    def _twice(self, first: s.Ident, second: s.Ident) -> None:
        self.diagnostics.error(
            "INK0208",
            f"two parts of the pattern are called `{second}`",
            second,
            notes=[
                f"the first is at {self.diagnostics.location(first)}",
                "one key in several relations has one name if every match has all of these relations",
            ],
            helps=["give one of them another name"],
        )

    def _read(self, node: s.Node) -> s.Node:
        """Columns of keys as columns of the parts that read the relations."""
        match node:
            case s.Attribute(var=var, column=column) if var.text in self.operands:
                operand = self.operands[var.text]
                if column.text not in operand.columns:
                    self._unknown(var, node.span, operand)
                shown = operand.columns.get(column.text, next(iter(operand.columns.values()), column.text))
                return replace(node, var=replace(operand.part, span=var.span), column=replace(column, text=shown))
            case s.Item(value=s.Attribute(var=var, column=column), alias=None) if var.text in self.operands:
                return replace(s.rebuilt(node, self._read), alias=column)
            case s.TimeOf(var=var) | s.IdOf(var=var) | s.Aggregate(var=var) | s.FirstOrLast(var=var) if (
                var.text in self.operands and var.text not in self.parts
            ):
                self._unknown(var, node.span, self.operands[var.text])
                return node
            case _:
                return s.rebuilt(node, self._read)

    def _unknown(self, var: s.Ident, span: Span, operand: _Operand) -> None:
        columns = listed([f"{var}.{column}" for column in operand.columns])
        self.diagnostics.error(
            "INK0362",
            f"outside of its relation, `{var}` is a key, of which only the columns of KEY can be read",
            s.Variable(var, span=span),
            notes=[f"its key is {columns}"] if operand.columns else [],
            helps=[
                "select segments inside the parentheses of the relation: `(SOME … WHERE x.n > 1)`",
                "name the relation to read its times: `(SOME …) r`, `START(r)`, `END(r)`",
            ],
        )

    def _unused(self, name: str) -> str:
        """A name for a part or operand that has none."""
        found = _fresh(name, {*self.parts, *self.given})
        self.given.add(found)
        return found


def _fresh(name: str, taken: Container[str]) -> str:
    choices = chain((name,), (f"{name}_{number}" for number in count(2)))
    return next(choice for choice in choices if choice not in taken)
