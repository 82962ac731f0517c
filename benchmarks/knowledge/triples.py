"""Tables of triples, and an ontology of classes, on generated data."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BASE = "http://example.org/"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
PREFIXES = f"""PREFIX : <{BASE}>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
STREAM = "STREAM triple(s TERM, p TERM, o TERM) TIME t TICK 1 SECONDS;\n"


def iri(name: str) -> str:
    return f"<{BASE}{name}>"


def local_name(term: str) -> str:
    """What `iri` was given."""
    return term.removeprefix(f"<{BASE}").removesuffix(">")


def iris(name: str, numbers: np.ndarray) -> pa.Array:
    """IRIs of numbered things."""
    return pc.binary_join_element_wise(f"<{BASE}{name}", pa.array(numbers.astype(np.int64)).cast(pa.string()), ">", "")


def decimals(values: np.ndarray) -> pa.Array:
    """Literals with two digits, in canonical form."""
    hundredths = np.rint(values * 100).astype(np.int64)
    texts = [f'"{one / 100}"^^<http://www.w3.org/2001/XMLSchema#decimal>' for one in range(20_001)]
    return pa.array(texts).take(pa.array(hundredths))


def stream(subjects: pa.Array, predicate: str, objects: pa.Array, times: np.ndarray) -> pa.Table:
    """Rows of the stream, with one predicate."""
    return pa.table({"s": subjects, "p": pa.array([iri(predicate)] * len(times)), "o": objects, "t": times})


def background(triples: Iterable[tuple[str, str, str]]) -> pa.Table:
    return pa.table([pa.array(column) for column in zip(*triples, strict=True)], ["s", "p", "o"])


BRANCHES = 4


def ontology(n_classes: int) -> list[int]:
    """The class above each class, a tree whose root is class 0; 40,080 classes have at most eight levels below it."""
    return [max(0, (number - 1) // BRANCHES) for number in range(n_classes)]


def schema(above: list[int]) -> list[tuple[str, str, str]]:
    """The triples of an ontology."""
    return [(iri(f"Class{one}"), BELOW, iri(f"Class{other}")) for one, other in enumerate(above) if one]


def below(above: list[int], top: int) -> np.ndarray:
    """Whether each class is one class or below it."""
    found = np.zeros(len(above), bool)
    for number, other in enumerate(above):
        found[number] = number == top or (number > 0 and found[other])
    return found
