"""The nodes of a query file: declarations, queries and conditions, each with its span."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.kit.cursor import Number, Text
from inkling.language.syntax import Ident, Node
from inkling.language.syntax.statements import StatementNode

Kind: TypeAlias = OneOf["independent", "markov", "certain"]
Comparator: TypeAlias = OneOf["=", "!=", "<", "<=", ">", ">="]
Connective: TypeAlias = OneOf["and", "or"]


@dataclass(frozen=True, slots=True)
class Anything(Node):
    """`_`: a variable that nothing else mentions."""


Term: TypeAlias = Ident | Number | Text | Anything


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """`true`"""


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`l1 != l2`"""

    op: Comparator
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Atom(Node):
    """`Office(p, l)`"""

    relation: Ident
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Negated(Node):
    item: "Condition"


@dataclass(frozen=True, slots=True)
class Joined(Node):
    """At least two conditions with one word between them; none of them has the same word outside of parentheses."""

    op: Connective
    items: tuple["Condition", ...]


Condition: TypeAlias = Truth | Comparison | Atom | Negated | Joined


@dataclass(frozen=True, slots=True)
class Goal(Node):
    """`At(p, 'a')`: one event of a type."""

    type: Ident
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Selected(Node):
    """`sigma[c](q)`: around a goal, what its candidates are; around a longer query, which of its answers count."""

    condition: Condition
    query: "Query"


@dataclass(frozen=True, slots=True)
class Plus(Node):
    """`(q)+<{x}, c>`: once or more, with the same x, each time with c."""

    query: "Query"
    kept: tuple[Ident, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """`q ; r ; s`: at least two parts, of which the first is no sequence."""

    parts: tuple["Query", ...]


Query: TypeAlias = Goal | Selected | Plus | Sequence


@dataclass(frozen=True, slots=True)
class Column(Node):
    """`room:INTEGER`; without a type, a text."""

    name: Ident
    type: Ident | None = None


@dataclass(frozen=True, slots=True)
class Stream(StatementNode):
    """`stream At(person | room) markov;`, `stream At(t | p) independent time seconds probability chance;`"""

    name: Ident
    key: tuple[Column, ...]
    values: tuple[Column, ...]
    kind: Kind
    time: Ident | None = None
    probability: Ident | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.key, *self.values)

    @property
    def time_column(self) -> Ident:
        """The named one, or `t`; `time` if `t` is another column."""
        return self.time or self._free("t", "time")

    @property
    def probability_column(self) -> Ident | None:
        """The named one, or `p`; `probability` if `p` is another column."""
        return None if self.kind == "certain" else self.probability or self._free("p", "probability")

    def _free(self, usual: str, longer: str) -> Ident:
        is_taken = any(column.name.text == usual for column in self.columns)
        return Ident(longer if is_taken else usual, span=self.name.span)


@dataclass(frozen=True, slots=True)
class Relation(StatementNode):
    """`relation Hallway(room);`, `relation Hallway(room) from 'halls.csv';`"""

    name: Ident
    columns: tuple[Column, ...]
    path: Text | None = None


@dataclass(frozen=True, slots=True)
class NamedQuery(StatementNode):
    """`coffee(p) : q;`, or `coffee(p) ever : q;`"""

    name: Ident
    head: tuple[Ident, ...]
    ever: bool
    query: Query


Statement: TypeAlias = Stream | Relation | NamedQuery


@dataclass(frozen=True, slots=True)
class QueryFile:
    """`comments` are those after the last statement."""

    statements: tuple[Statement, ...]
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)


def goal_of(query: Query) -> Goal | None:
    """The only goal of a query, if all around it are selections."""
    match query:
        case Goal():
            return query
        case Selected(query=inner):
            return goal_of(inner)
        case _:
            return None


def atoms(condition: Condition) -> Iterator[Comparison | Atom]:
    match condition:
        case Comparison() | Atom():
            yield condition
        case Negated(item=item):
            yield from atoms(item)
        case Joined(items=items):
            for item in items:
                yield from atoms(item)
        case Truth():
            return


def variables(condition: Condition) -> Iterator[Ident]:
    """The variables of a condition in the order written."""
    for atom in atoms(condition):
        terms = (atom.left, atom.right) if isinstance(atom, Comparison) else atom.terms
        yield from (term for term in terms if isinstance(term, Ident))
