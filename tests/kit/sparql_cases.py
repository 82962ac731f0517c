"""Random EP-SPARQL files over random triples, with their rows by the algebra: many queries as one program.

python -m tests.kit.sparql_cases local 3000     checks so many queries; also pushed, spark or streams
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
from tests.conformance.runners import Inputs, LocalBatch, Pushed, Runner, SparkStream, Tables
from tests.kit.sparql_queries import POINTS, STREAM, QueryMaker, background_of, rows_of, stream_of, wanted_rows
from tests.reference import ep_sparql as a
from tests.reference import rdfs

from inkling.query import Program, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RESULT_COLUMNS = frozenset({"event", "detected_at", "probability", "method", "error", "op", "lineage"})
"""The columns of results that are neither values nor times."""
N_QUERIES = 5
PACK = 20
"""So many queries are one job on Spark."""

Row = tuple[object, ...]


@dataclass(frozen=True)
class QueryCase:
    """A file of queries and the triples that they are asked about; queries that construct triples come first."""

    seed: int
    declared: str
    constructs: tuple[a.Construct, ...]
    queries: tuple[a.Projected, ...]
    stream: a.Stream
    background: frozenset[rdfs.Triple] | None = None
    entails: bool = False

    @cached_property
    def text(self) -> str:
        texts = [*(one.text for one in self.constructs), *(one.query for one in self.queries)]
        if self.background is not None:
            file = f" FROM <{a.BACKGROUND}>{' ENTAILMENT RDFS' if self.entails else ''} WHERE"
            is_read = [self.entails or a.BACKGROUND in one or " AND {" in one for one in texts]
            texts = [one.replace(" WHERE", file, 1) if has else one for one, has in zip(texts, is_read, strict=True)]
        return self.declared + ";\n".join(texts)

    @cached_property
    def program(self) -> Program:
        return parse(self.text, name="random.epsparql")

    @cached_property
    def wanted(self) -> dict[str, frozenset[Row]]:
        """The rows of every query by the algebra."""
        complete = self._complete()
        first = len(self.constructs) + 1
        return {f"query{place}": wanted_rows(one, complete) for place, one in enumerate(self.queries, start=first)}

    def _complete(self) -> a.Stream:
        """The smallest stream with all triples that are constructed from it, or that follow from one of its triples."""
        stream = self.stream
        while True:
            grown = a.closure(stream, self.constructs)
            if self.entails and self.background is not None:
                grown = rdfs.followed(grown, self.background)
            if grown == stream:
                return stream
            stream = grown

    @property
    def inputs(self) -> Inputs:
        rows = [{"id": f"r{number}", **row} for number, row in enumerate(rows_of(self.stream))]
        texts, times = dict.fromkeys(("id", *"spo"), pa.string()), dict.fromkeys(("begins", "ends"), pa.int64())
        streams = {"triple": pa.Table.from_pylist(rows, schema=pa.schema(texts | times))}
        if self.background is None or f"<{a.BACKGROUND}>" not in self.text:
            return Inputs(streams)
        facts = [dict(zip("spo", map(str, triple), strict=True)) for triple in sorted(self.background, key=str)]
        return Inputs(
            streams, {"background": pa.Table.from_pylist(facts, schema=pa.schema(dict.fromkeys("spo", pa.string())))}
        )

    def differences(self, found: Mapping[str, Iterable[Mapping[str, object]]]) -> Iterator[str]:
        """How the rows of a run differ from those of the algebra."""
        for row in found.get("late", ()):
            yield f"late: {row}"
        for (name, wanted), query in zip(self.wanted.items(), self.queries, strict=True):
            rows = Counter(
                tuple(value for column, value in row.items() if column not in RESULT_COLUMNS)
                for row in found.get(name, ())
            )
            twice = [row for row, n in rows.items() if n > 1]
            missing, added = wanted - rows.keys(), rows.keys() - wanted
            if missing or added or twice:
                yield f"seed {self.seed}: {query.query}\n  {missing=}\n  {added=}\n  {twice=}"


def case_of(
    seed: int,
    n_queries: int = N_QUERIES,
    *,
    closed: bool = False,
    limited: bool = False,
    star: bool = False,
    background: bool = False,
    entails: bool = False,
    n_triples: int = 8,
) -> QueryCase:
    """The same case for the same seed; `closed` ones construct triples. Triples of odd seeds do not last.

    Queries with a `background` have groups of its triples. If it `entails` others, they match what follows by RDFS.
    """
    rng = random.Random(seed)
    graph = background_of(rng, schema=entails) if background or entails else None
    matched = rdfs.closed(graph) if graph is not None and entails else graph
    maker = QueryMaker(rng, limited=limited, star=star, background=matched)
    points = seed % 2 == 1
    stream = stream_of(rng, 5 if closed else n_triples, points=points)
    constructs = tuple(maker.construct() for _ in range(rng.choice((1, 2)))) if closed else ()
    queries = tuple(maker.query() for _ in range(n_queries))
    declared = (POINTS if points else STREAM).replace("(", "(id STRING, ").replace(") TIME", ") ID id TIME")
    return QueryCase(seed, declared.replace(";", " LATENESS 2 TICKS;"), constructs, queries, stream, graph, entails)


@dataclass(frozen=True, slots=True)
class SparkStages:
    """All rows at once on Spark; the results of a stage are one job, however many queries it answers."""

    spark: SparkSession
    partitions: int
    name: ClassVar[str] = "Spark batch"
    samples_worlds: ClassVar[bool] = False

    def run(self, program: Program, inputs: Inputs) -> Tables:
        from tests.spark.one_job import rows_by_stage

        results = program.run(self.spark, inputs.streams, inputs.tables, partitions=self.partitions)
        try:
            return rows_by_stage(results)
        finally:
            results.close()


def wrong(runner: Runner, case: QueryCase) -> list[str]:
    """What a runner gets wrong about a case."""
    found = runner.run(case.program, case.inputs)
    return [f"{runner.name}: {one}" for one in case.differences(found)]


def cases(kind: str, n_queries: int, first: int = 0) -> Iterator[QueryCase]:
    """So many queries for a kind of runner: of eight cases two construct triples, two have limits, one is a star.

    Three have background triples, in one of them also with what follows from triples of the stream.
    """
    n_each = PACK if kind in ("spark", "streams") else N_QUERIES
    for seed in range(first, first + -(-n_queries // n_each)):
        closed, limited = seed % 8 in (2, 3), seed % 8 in (4, 5)
        size = 12 if limited or n_each == PACK else 8
        yield case_of(
            seed,
            n_each,
            closed=closed,
            limited=limited,
            star=seed % 8 == 6,
            background=seed % 8 in (0, 3, 7),
            entails=seed % 8 == 7 or seed % 16 == 3,
            n_triples=size,
        )


def main(kind: str, n_queries: int, first: int = 0) -> int:
    """Checks so many queries and prints every difference."""
    n_wrong = n_done = n_rows = 0
    began = time.monotonic()
    spark = None
    if kind in ("spark", "streams"):
        from inkling.spark.session import spark_session

        spark = spark_session()
    for case in cases(kind, n_queries, first):
        with tempfile.TemporaryDirectory() as folder:
            runners: dict[str, Runner] = {"local": LocalBatch(), "pushed": Pushed(case.seed)}
            if spark is not None:
                runners = {"spark": SparkStages(spark, 3), "streams": SparkStream(spark, Path(folder), case.seed)}
            try:
                found = wrong(runners[kind], case)
            except Exception as problem:  # the other cases are still of interest
                found = [f"seed {case.seed}: {type(problem).__name__}: {problem}\n{case.text}"]
        n_done += len(case.queries)
        n_rows += sum(map(len, case.wanted.values()))
        n_wrong += bool(found)
        for one in found:
            print(one, flush=True)
    print(f"{kind}: {n_done} queries, {n_rows} rows, {n_wrong} files differ, {time.monotonic() - began:.0f} s")
    return n_wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)))
