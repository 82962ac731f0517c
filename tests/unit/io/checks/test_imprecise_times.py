"""Weights of imprecise times: every fault has its reason, and nothing else is one."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from inkling.io import REJECTS_SCHEMA, normalize, read_table
from inkling.io.checks import checked
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime

LOAD = StreamSchema(
    "Load",
    (Column("node", Type.STRING),),
    id=None,
    key=("node",),
    start="lo",
    end="hi",
    time_type=Type.INTEGER,
    uncertainty=ImpreciseTime("lo", "hi", "w"),
)


def rows(*weights: object, lo: int = 1, hi: int = 3) -> pa.Table:
    raw = [{"node": "n", "lo": lo, "hi": hi, "w": one} for one in weights]
    found = normalize(read_table(raw, what="Load"), LOAD)
    assert not len(found.rejects)
    return found.rows


def test_good_weights_pass_unchanged() -> None:
    given = rows([1.0, 0.0, 3.0], None, [0.25, 0.5, 0.25])
    good, rejects = checked(LOAD, given)
    assert good.equals(given)
    assert rejects.equals(REJECTS_SCHEMA.empty_table())


@pytest.mark.parametrize(
    ("weights", "reason", "detail"),
    [
        ([1.0], "weight count", "`w` has 1 weight for 3 ticks"),
        ([], "weight count", "`w` has 0 weights for 3 ticks"),
        ([1.0, math.nan, 1.0], "weight not finite", "weight 2 of 3 in `w` is not a finite number"),
        ([1.0, 1.0, math.inf], "weight not finite", "weight 3 of 3 in `w` is not a finite number"),
        ([1.0, 1.0, None], "weight not finite", "weight 3 of 3 in `w` is not a finite number"),
        ([1e308, 1e308, 0.0], "weight not finite", "the weights in `w` sum to more than a number can hold"),
        ([2.0, -0.5, 1.0], "negative weight", "weight 2 of 3 in `w` is -0.5"),
        ([0.0, 0.0, 0.0], "zero weights", "all 3 weights in `w` are 0"),
    ],
)
def test_faults(weights: list[float], reason: str, detail: str) -> None:
    given = rows([1.0, 1.0, 1.0], weights, None)
    good, rejects = checked(LOAD, given)
    assert good.equals(pa.concat_tables([given.slice(0, 1), given.slice(2, 1)]))
    (reject,) = rejects.to_pylist()
    assert (reject["stream"], reject["id"]) == ("Load", "2")
    assert (reject["reason"], reject["detail"]) == (reason, detail)
    assert reject["row"].startswith('{"node": "n", "lo": 1, "hi": 3, "w": [')


def test_intervals_of_any_size_are_fine_without_weights() -> None:
    given = rows(None, lo=-(2**40), hi=2**40)
    assert checked(LOAD, given)[0].equals(given)


def test_no_rows() -> None:
    good, rejects = checked(LOAD, rows([1.0, 1.0, 1.0]).slice(0, 0))
    assert (len(good), len(rejects)) == (0, 0)
