"""Other engines on the same events: SPARQL over events with times as literals, and rules of Prolog, event by event.

ETALIS compiles patterns into event-driven rules that assert a goal for what is waited for and look goals up. It is not
available as a package, so the rules of a pattern are written by hand here, without what ETALIS adds to them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from benchmarks.knowledge.triples import BASE, PREFIXES
from benchmarks.meter import Measured, measured

PROLOG = "event-driven rules by hand, SWI-Prolog"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"

Pairs = frozenset[tuple[object, ...]]


def as_graph(events: pa.Table, knowledge: pa.Table | None = None) -> str:
    """Events as N-Triples: each is a node with its subject, its object as the value of its predicate, and its time."""
    lines = []
    columns = (events[name].to_pylist() for name in ("s", "p", "o", "t"))
    for number, (s, p, o, t) in enumerate(zip(*columns, strict=True)):
        node = f"<{BASE}event{number}>"
        lines += [f"{node} <{BASE}of> {s} .", f"{node} {p} {o} .", f'{node} <{BASE}at> "{t}"^^<{INTEGER}> .']
    if knowledge is not None:
        lines += [" ".join((*row.values(), ".")) for row in knowledge.to_pylist()]
    return "\n".join(lines)


def pyoxigraph(graph: str, query: str) -> Measured[Pairs]:
    import pyoxigraph as engine

    store = engine.Store()
    store.bulk_load(input=graph, format=engine.RdfFormat.N_TRIPLES)
    return measured(lambda: frozenset(tuple(one.value for one in row) for row in store.query(PREFIXES + query)))


def rdflib(graph: str, query: str) -> Measured[Pairs]:
    import rdflib as engine

    loaded = engine.Graph()
    loaded.parse(data=graph, format="nt")
    return measured(lambda: frozenset(tuple(map(str, row)) for row in loaded.query(PREFIXES + query)))


def agree(own: pa.Table, columns: Sequence[str], other: Pairs) -> None:
    """Raises unless a table has the rows of another engine, compared as texts."""
    texts = [[str(value).strip("<>") for value in own[name].to_pylist()] for name in columns]
    found = frozenset(zip(*texts, strict=True))
    if found != other:
        raise AssertionError(f"{len(found)} rows, not {len(other)}")


def has_prolog() -> bool:
    return shutil.which("swipl") is not None


def prolog_version() -> str:
    found = subprocess.run(["swipl", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"[0-9.]+", found)[0]


def prolog(rules: str, facts: Iterable[str]) -> Measured[int]:
    """The number of results of rules over the facts `e(…)`, one after the other; `event(…)` handles one of them."""
    program = f"""
:- dynamic goal/3, goal/4.
{rules}
found :- nb_getval(found, N), N1 is N + 1, nb_setval(found, N1).
main :- nb_setval(found, 0), statistics(cputime, T0), statistics(walltime, [W0, _]),
  forall(e(A, B, C), event(A, B, C)),
  statistics(cputime, T1), statistics(walltime, [W1, _]), T is T1 - T0, W is (W1 - W0) / 1000.0,
  nb_getval(found, N), format("~w ~w ~w~n", [N, W, T]).
"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.pl"
        path.write_text(program + "\n".join(facts))
        command = ["swipl", "-q", "-O", "-g", "main", "-t", "halt", str(path)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    n, wall, cpu = output.split()
    return Measured(int(n), float(wall), float(cpu))
