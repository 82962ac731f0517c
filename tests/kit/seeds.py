"""How much of a test with many seeds or cases `make test` runs, `make test-full` and `make test-long`."""

import os
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

import pytest

_Case = TypeVar("_Case")

only_long = pytest.mark.skipif(
    os.environ.get("HYPOTHESIS_PROFILE") != "long", reason="minutes of jobs on Spark, which `make test-long` runs"
)
"""The mark of a test that the build leaves to `make test-long`."""


def at_length(seeds: range) -> range:
    """All of these under the profile `long` (`make test-long`), else the first eighth (`make test-full`)."""
    return seeds if os.environ.get("HYPOTHESIS_PROFILE") == "long" else seeds[: -(-len(seeds) // 8)]


def for_long(seeds: range) -> range:
    """All of these under the profile `long` (`make test-long`), else the first: each takes a job on Spark."""
    return seeds if os.environ.get("HYPOTHESIS_PROFILE") == "long" else seeds[:1]


def first_of(cases: Iterable[_Case], n: int) -> list[object]:
    """Parameters of a test: the first `n` cases, and the others with the mark `long`."""
    rest = iter(cases)
    return [*islice(rest, n), *(pytest.param(case, marks=pytest.mark.long) for case in rest)]
