"""What follows by RDFS from triples, by the rules as they are printed: W3C, *RDF Semantics* (2004), section 7.3."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from tests.reference import ep_sparql as a
from tests.reference import rdf_terms as rdf
from tests.reference.rdf_terms import Iri

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
RELATIONS = tuple(Iri(RDFS + name) for name in ("subClassOf", "subPropertyOf", "domain", "range"))

Triple = tuple[rdf.Term, rdf.Term, rdf.Term]


def followed(stream: Iterable[a.Occurrence], schema: frozenset[Triple]) -> a.Stream:
    """The triples of a stream, and those that follow from each of them and the schema, at the same time."""
    return frozenset(
        a.Occurrence(*triple, one.start, one.end)
        for one in stream
        for triple, is_new in _closed(frozenset((*((known, False) for known in schema), (one.terms, True))))
        if is_new
    )


def closed(triples: frozenset[Triple]) -> frozenset[Triple]:
    """The triples with all that follow from them: rules rdfs2, 3, 5, 7, 9 and 11."""
    return frozenset(triple for triple, _ in _closed(frozenset((one, False) for one in triples)))


def _closed(triples: frozenset[tuple[Triple, bool]]) -> frozenset[tuple[Triple, bool]]:
    """The closure, each triple with whether it follows from one that is new."""
    class_below, property_below, domain, range_ = RELATIONS
    found = set(triples)
    while True:
        new: set[tuple[Triple, bool]] = set()
        for ((x, p, y), one), ((s, q, z), other) in product(found, found):
            is_new = one or other
            if q == domain and s == p:
                new.add(((x, TYPE, z), is_new))
            if q == range_ and s == p and not isinstance(y, rdf.Literal):
                new.add(((y, TYPE, z), is_new))
            if q == property_below and s == p:
                new.add(((x, z, y), is_new))
            if q == p and q in (class_below, property_below) and s == y:
                new.add(((x, q, z), is_new))
            if p == TYPE and q == class_below and s == y:
                new.add(((x, TYPE, z), is_new))
        if new <= found:
            return frozenset(found)
        found |= new
