"""The triples of a block one by one, each as a pattern of three terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inkling.language.epsparql import terms as t
from inkling.language.epsparql.solutions import BLANK
from inkling.source import Span

COLUMNS = ("s", "p", "o")


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """One triple of a group; blank nodes and `[]` are variables that no result shows."""

    subject: t.Term
    predicate: t.Iri | t.Variable
    object: t.Term
    span: Span

    @property
    def terms(self) -> tuple[t.Term, t.Term, t.Term]:
        return self.subject, self.predicate, self.object


def triple_patterns(block: t.Block) -> Iterator[TriplePattern]:
    """The triples of a block one by one: `;` and `,` written out, and each `[ … ]` named."""
    for triples in block.triples:
        yield from _of_subject(_named(triples.subject), triples.properties)
        if isinstance(triples.subject, t.Unnamed):
            yield from _of_subject(_named(triples.subject), triples.subject.properties)


def _of_subject(subject: t.Term, properties: tuple[t.Property, ...]) -> Iterator[TriplePattern]:
    for one in properties:
        for object in one.objects:
            yield TriplePattern(subject, one.predicate, _named(object), one.span)
            if isinstance(object, t.Unnamed):
                yield from _of_subject(_named(object), object.properties)


def _named(term: t.Term) -> t.Term:
    return t.Blank(f"{term.span.start}", span=term.span) if isinstance(term, t.Unnamed) else term


def variable_name(term: t.Term) -> str | None:
    """The variable that a term is in a pattern; None for a constant."""
    match term:
        case t.Variable(name=name):
            return name
        case t.Blank(label=label):
            return BLANK + label
        case _:
            return None
