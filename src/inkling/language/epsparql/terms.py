"""The nodes of a query file: terms, triples, groups of patterns and expressions, each with its span."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.kit.cursor import Number
from inkling.language.syntax import Ident, Node, StreamDecl, TableDecl
from inkling.language.syntax.nodes import children
from inkling.language.syntax.statements import StatementNode

Connective: TypeAlias = OneOf["", "SEQ", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL", "OPTIONAL", "UNION", "AND"]
"""How a group continues a pattern; nothing between two groups is a join, and AND a join with background triples."""

CalledName: TypeAlias = OneOf[
    "BOUND", "STR", "LANG", "LANGMATCHES", "DATATYPE", "SAMETERM", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL",
    "ISNUMERIC", "REGEX", "COALESCE", "IF", "GETDURATION", "GETSTARTTIME", "GETENDTIME",
]  # fmt: skip
Comparator: TypeAlias = OneOf["=", "!=", "<", "<=", ">", ">="]
Operator: TypeAlias = OneOf["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Iri(Node):
    """`tr:Snow`, `<http://example.org/x>`, `a`: as it is written, and in full."""

    written: str
    value: str


@dataclass(frozen=True, slots=True)
class Blank(Node):
    """`_:aaa`"""

    label: str


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """`?price`, `$price`"""

    name: str


@dataclass(frozen=True, slots=True)
class Text(Node):
    """`"rain"`, `"Regen"@de`, `"40"^^xsd:int`"""

    value: str
    language: str | None = None
    datatype: Iri | None = None


@dataclass(frozen=True, slots=True)
class Truth(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class Unnamed(Node):
    """`[]`, `[ p o ]`: a blank node, with what it is the subject of."""

    properties: tuple["Property", ...] = ()


@dataclass(frozen=True, slots=True)
class Listed(Node):
    """`( ?a "b" )`: a list, which is a blank node for each item, with `rdf:first` and `rdf:rest`."""

    items: tuple["Term", ...] = ()


Term: TypeAlias = Iri | Blank | Variable | Text | Number | Truth | Unnamed | Listed


@dataclass(frozen=True, slots=True)
class Property(Node):
    """`rated ?company, ?other`: a predicate and its objects."""

    predicate: Iri | Variable
    objects: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Triples(Node):
    """`?rating rater ?agency ; rated ?company`: a subject with its properties."""

    subject: Term
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Block(Node):
    """Triples one after the other."""

    triples: tuple[Triples, ...]


@dataclass(frozen=True, slots=True)
class Filter(Node):
    condition: "Expr"


@dataclass(frozen=True, slots=True)
class Part(Node):
    """`SEQ { … }`: a group after a connective; `graph` is the file of `GRAPH <file> { … }`, or the variable there."""

    op: Connective
    inner: "Group | Select"
    graph: Iri | Variable | None = None


@dataclass(frozen=True, slots=True)
class Group(Node):
    """What is between two braces, or after WHERE without them."""

    items: tuple["Block | Filter | Part", ...]


@dataclass(frozen=True, slots=True)
class Selected(Node):
    """`?price`, `?count + 1 AS ?next`"""

    value: "Expr"
    name: Variable


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`SELECT ?company WHERE { … } WITHIN 60`; no items stand for `*`."""

    items: tuple[Selected, ...]
    where: Group
    within: Number | None = None


@dataclass(frozen=True, slots=True)
class Construct(Node):
    """`CONSTRUCT { … } WHERE { … }`"""

    template: Block
    where: Group
    within: Number | None = None


@dataclass(frozen=True, slots=True)
class Prefix(Node):
    """`PREFIX tr: <http://…>`; without a name for `BASE`."""

    name: str | None
    iri: str


@dataclass(frozen=True, slots=True)
class Dataset(Node):
    """`FROM <roads.ttl>`, `FROM NAMED <roads.ttl> ENTAILMENT RDFS`: a file of background triples."""

    iri: Iri
    named: bool = False
    entails: bool = False


@dataclass(frozen=True, slots=True)
class Query(StatementNode):
    """A query with its prologue and files; `name` is that of `REGISTER QUERY name AS`."""

    name: Ident | None
    prologue: tuple[Prefix, ...]
    dataset: tuple[Dataset, ...]
    form: Select | Construct


@dataclass(frozen=True, slots=True)
class QueryFile:
    declared: tuple[StreamDecl | TableDecl, ...]
    queries: tuple[Query, ...]
    comments: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Called(Node):
    """`BOUND(?x)`, `getDURATION()`; the name in capitals."""

    name: CalledName
    args: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """`xsd:double(?x)`"""

    datatype: Iri
    arg: "Expr"


@dataclass(frozen=True, slots=True)
class Not(Node):
    item: "Expr"


@dataclass(frozen=True, slots=True)
class Minus(Node):
    item: "Expr"


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    op: Operator
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    op: Comparator
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Joined(Node):
    """Conditions joined by `&&` or `||`."""

    op: OneOf["&&", "||"]
    items: tuple["Expr", ...]


Constant: TypeAlias = Iri | Text | Number | Truth
Expr: TypeAlias = Constant | Variable | Called | Cast | Not | Minus | Arithmetic | Comparison | Joined


def inside(node: Node) -> Iterator[Node]:
    """The node and everything inside it, left to right."""
    yield node
    for child in children(node):
        yield from inside(child)
