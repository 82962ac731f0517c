"""Entailment of RDFS: the triples that follow from a background file, and from each triple of a stream with it.

The rules are those of subClassOf, subPropertyOf, domain and range (W3C, *RDF Semantics*, 2004, section 7.3). The file
is closed under them by rules before a run. A triple of the stream is compared with the closed file: its predicate with
the properties above it, its class with the classes above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inkling.language import syntax as s
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.prefixes import RDF, WELL_KNOWN
from inkling.language.epsparql.values import any_of, call, same_term
from inkling.source import NOWHERE, Span

TYPE = RDF + "type"
_RDFS = WELL_KNOWN["rdfs"]


def _iri(value: str) -> s.Expr:
    return call("iri", s.Literal(value), span=NOWHERE)


def _rdfs(name: str) -> s.Expr:
    return _iri(_RDFS + name)


def _named(*names: str) -> tuple[s.Expr, ...]:
    return tuple(s.Variable(s.Ident(name)) for name in names)


@dataclass(frozen=True, slots=True)
class Entailment:
    """What follows from the triples of one table; rules and events are named as in *RDF Semantics*, section 7.3."""

    table: str
    facts: str
    above: str  # a property, and each property above it
    classes: str  # a class, and each class above it
    domains: str
    ranges: str

    @classmethod
    def of(cls, table: str, named: Callable[[str], str]) -> Entailment:
        """The entailment of a table; `named` gives a name that is not taken, like the one that is wanted."""
        return cls(table, *(named(f"{table}_{end}") for end in ("entailed", "property", "class", "domain", "range")))

    @property
    def rules(self) -> Iterator[s.RuleDecl]:
        """The closure of the table, and the properties above each property."""
        x, y, z, p, q = _named("x", "y", "z", "p", "q")
        below, narrower, kind = _rdfs("subClassOf"), _rdfs("subPropertyOf"), _iri(TYPE)
        literal = call("isliteral", y, span=NOWHERE)
        fact = self.facts
        yield _rule(None, _atom(fact, x, p, y), _atom(self.table, x, p, y))
        yield _rule("rdfs5", _atom(fact, x, narrower, z), _atom(fact, x, narrower, y), _atom(fact, y, narrower, z))
        yield _rule("rdfs11", _atom(fact, x, below, z), _atom(fact, x, below, y), _atom(fact, y, below, z))
        yield _rule("rdfs7", _atom(fact, x, q, y), _atom(fact, x, p, y), _atom(fact, p, narrower, q))
        yield _rule("rdfs2", _atom(fact, x, kind, z), _atom(fact, x, p, y), _atom(fact, p, _rdfs("domain"), z))
        in_range = (_atom(fact, x, p, y), _atom(fact, p, _rdfs("range"), z), s.Negation(literal))
        yield _rule("rdfs3", _atom(fact, y, kind, z), *in_range)
        yield _rule("rdfs9", _atom(fact, x, kind, z), _atom(fact, x, kind, y), _atom(fact, y, below, z))
        yield _rule("rdfs7", _atom(self.above, p, q), _atom(fact, p, narrower, q))

    @property
    def stream_rules(self) -> Iterator[s.RuleDecl]:
        """What `events` look up: the classes above each class, and the domains and ranges of each property."""
        x, y, p, q = _named("x", "y", "p", "q")
        fact = self.facts
        yield _rule("rdfs9", _atom(self.classes, x, y), _atom(fact, x, _rdfs("subClassOf"), y))
        for note, name, relation in (("rdfs2", self.domains, "domain"), ("rdfs3", self.ranges, "range")):
            yield _rule(note, _atom(name, p, x), _atom(fact, p, _rdfs(relation), x))
            yield _rule("rdfs9", _atom(name, p, y), _atom(name, p, x), _atom(self.classes, x, y))
            yield _rule("rdfs7", _atom(name, p, x), _atom(self.above, p, q), _atom(name, q, x))

    def is_below(self, predicate: t.Iri) -> s.Expr:
        """Whether the column p of a triple is a property below another one."""
        here = s.Variable(s.Ident("p", span=predicate.span), span=predicate.span)
        above = call("iri", s.Literal(predicate.value, span=predicate.span), span=predicate.span)
        return s.Call(s.Ident(self.above, span=predicate.span), (here, above), span=predicate.span)

    def events(self, name: s.Ident, sources: tuple[s.Ident, ...], span: Span) -> Iterator[s.EventDecl]:
        """The triples that follow from one triple of the stream."""
        var = s.Ident("t")
        subject, predicate, object = (s.Attribute(var, s.Ident(column)) for column in "spo")
        (found,) = _named("found")
        kind = _iri(TYPE)
        literal = call("isliteral", object, span=NOWHERE)
        is_type = same_term(s.Variable(s.Ident("p")), kind, NOWHERE)
        ways: tuple[tuple[tuple[s.Expr, s.Expr, s.Expr], s.Expr | None, tuple[s.Expr, ...]], ...] = (
            ((subject, found, object), None, (_atom(self.above, predicate, found),)),
            ((subject, kind, found), None, (_atom(self.domains, predicate, found),)),
            ((object, kind, found), None, (_atom(self.ranges, predicate, found), s.Negation(literal))),
            ((subject, kind, found), is_type, (_atom(self.classes, object, found),)),
        )
        for terms, test, conditions in ways:
            yield entailed_event(name, s.Leaf(sources, var, test), terms, conditions, span)


def given_event(name: s.Ident, sources: tuple[s.Ident, ...], span: Span) -> s.EventDecl:
    """The triples of the stream themselves, to which those that follow from them are added."""
    var = s.Ident("t")
    subject, predicate, object = (s.Attribute(var, s.Ident(column)) for column in "spo")
    return entailed_event(name, s.Leaf(sources, var), (subject, predicate, object), (), span)


def entailed_event(
    name: s.Ident, leaf: s.Leaf, terms: tuple[s.Expr, s.Expr, s.Expr], conditions: tuple[s.Expr, ...], span: Span
) -> s.EventDecl:
    head = tuple(s.Item(term, s.Ident(column)) for column, term in zip("spo", terms, strict=True))
    where = None if not conditions else conditions[0] if len(conditions) == 1 else s.AllOf(conditions)
    return s.EventDecl(name, head, s.Body(leaf, where), per="INTERVAL", span=span)


def property_test(predicate: t.Iri, entailments: tuple[Entailment, ...]) -> s.Expr:
    """The test of the predicate of a triple: the property itself, or one below it."""
    span = predicate.span
    here = s.Variable(s.Ident("p", span=span), span=span)
    same = same_term(here, call("iri", s.Literal(predicate.value, span=span), span=span), span)
    return any_of([same, *(one.is_below(predicate) for one in entailments)])


def _atom(name: str, *args: s.Expr) -> s.Expr:
    return s.Call(s.Ident(name), args)


_TITLES = {
    "rdfs2": "rdfs2: what has a property is an instance of its domain",
    "rdfs3": "rdfs3: a value of a property is an instance of its range",
    "rdfs5": "rdfs5: a property is below what the properties above it are below",
    "rdfs7": "rdfs7: what has a property has the properties above it",
    "rdfs9": "rdfs9: an instance of a class is an instance of the classes above it",
    "rdfs11": "rdfs11: a class is below what the classes above it are below",
}


def _rule(name: str | None, head: s.Expr, *body: s.Expr) -> s.RuleDecl:
    assert isinstance(head, s.Call)
    notes = () if name is None else (_TITLES[name],)
    return s.RuleDecl(head, body[0] if len(body) == 1 else s.AllOf(body), comments=notes)
