"""The triples of a block one by one, each as a pattern of three terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inkling.language.epsparql import terms as t
from inkling.language.epsparql.prefixes import RDF
from inkling.source import Span

COLUMNS = ("s", "p", "o")
BLANK = "_:"
"""The names of blank nodes of patterns begin so: variables that no result shows."""


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """One triple of a group; blank nodes, `[]` and the nodes of lists are variables that no result shows."""

    subject: t.Term
    predicate: t.Iri | t.Variable
    object: t.Term
    span: Span

    @property
    def terms(self) -> tuple[t.Term, t.Term, t.Term]:
        return self.subject, self.predicate, self.object


def triple_patterns(block: t.Block) -> Iterator[TriplePattern]:
    """The triples of a block one by one: `;` and `,` written out, and each `[ … ]` and `( … )` named."""
    for triples in block.triples:
        yield from _of_subject(_named(triples.subject), triples.properties)
        yield from _inside(triples.subject)


def _of_subject(subject: t.Term, properties: tuple[t.Property, ...]) -> Iterator[TriplePattern]:
    for one in properties:
        for object in one.objects:
            yield TriplePattern(subject, one.predicate, _named(object), one.span)
            yield from _inside(object)


def _inside(term: t.Term) -> Iterator[TriplePattern]:
    """The triples that a blank node or a list is written with."""
    match term:
        case t.Unnamed(properties=properties):
            yield from _of_subject(_named(term), properties)
        case t.Listed(items=items):
            for place, item in enumerate(items):
                node = _node(term, place)
                first, rest = (t.Iri(f"rdf:{name}", RDF + name, span=item.span) for name in ("first", "rest"))
                yield TriplePattern(node, first, _named(item), item.span)
                yield from _inside(item)
                yield TriplePattern(node, rest, _node(term, place + 1), item.span)


def _named(term: t.Term) -> t.Term:
    match term:
        case t.Unnamed(span=span):
            return t.Blank(f"{span.start}", span=span)
        case t.Listed():
            return _node(term, 0)
        case _:
            return term


def _node(listed: t.Listed, place: int) -> t.Term:
    """The node of a list that has the item at a place; rdf:nil behind the last one."""
    if place == len(listed.items):
        return t.Iri("rdf:nil", RDF + "nil", span=listed.span)
    return t.Blank(f"{listed.span.start}_{place}", span=listed.span)


def variable_name(term: t.Term) -> str | None:
    """The variable that a term is in a pattern; None for a constant."""
    match term:
        case t.Variable(name=name):
            return name
        case t.Blank(label=label):
            return BLANK + label
        case _:
            return None
