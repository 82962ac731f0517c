"""Random EP-SPARQL queries on Structured Streaming, with late triples and a restart: the rows of the algebra."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.conformance.runners import SparkStream
from tests.kit.seeds import only_long
from tests.kit.sparql_cases import PACK, case_of, cases, wrong


@pytest.mark.slow
def test_a_few_queries(spark: SparkSession, tmp_path: Path) -> None:
    case = case_of(6, 5, star=True, background=True, n_triples=12)
    assert not wrong(SparkStream(spark, tmp_path, 1, n_pieces=2), case)


@only_long
@pytest.mark.long
@pytest.mark.parametrize("file", range(25))
def test_queries(file: int, spark: SparkSession, tmp_path: Path) -> None:
    for case in cases("streams", PACK, first=file):
        folder = tmp_path / str(case.seed)
        folder.mkdir()
        assert not wrong(SparkStream(spark, folder, case.seed), case)
