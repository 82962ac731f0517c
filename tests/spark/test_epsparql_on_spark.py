"""Random EP-SPARQL queries on Spark in batch: the rows of the algebra, whatever the number of partitions."""

import pytest
from pyspark.sql import SparkSession
from tests.kit.seeds import only_long
from tests.kit.sparql_cases import PACK, SparkStages, case_of, cases, wrong


def test_a_few_queries(spark: SparkSession) -> None:
    """Of a star, which is divided by its subject, and of any shape with constructed triples and a background."""
    for case in (case_of(6, 4, star=True, n_triples=12), case_of(3, 3, closed=True, background=True, entails=True)):
        assert not wrong(SparkStages(spark, 2), case)


@only_long
@pytest.mark.long
@pytest.mark.parametrize("file", range(25))
def test_queries(file: int, spark: SparkSession) -> None:
    for case in cases("spark", PACK, first=file):
        assert not wrong(SparkStages(spark, 3), case)
