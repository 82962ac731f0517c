"""The prefixes and the base of queries: which are known, and which are declared in a file."""

from collections.abc import Mapping
from types import MappingProxyType

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
WELL_KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "rdf": RDF,
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "owl": "http://www.w3.org/2002/07/owl#",
        "prov": "http://www.w3.org/ns/prov#",
        "foaf": "http://xmlns.com/foaf/0.1/",
    }
)


class Prologue:
    """The prefixes and the base of the queries so far."""

    __slots__ = ("base", "prefixes")

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}
        self.base: str | None = None


def is_relative(iri: str) -> bool:
    scheme, colon, _ = iri.partition(":")
    return not colon or not scheme[:1].isalpha() or not all(one.isalnum() or one in "+-." for one in scheme)
