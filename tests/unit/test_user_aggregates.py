"""Aggregates that are written in Python: over windows and repetitions, whole and pushed, and in other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import inkling
from inkling.errors import InputError, ProgramError
from inkling.logical.user_aggregates import REGISTERED

STREAM = "STREAM Temp(v INT, x DOUBLE, t INT) TIME t;"
ROWS = [{"v": v, "x": None if v == 3 else v / 10, "t": v} for v in range(6)]


class Product:
    """Of values that come and go; a zero would be divided by, so it is counted apart."""

    def __init__(self) -> None:
        self.product, self.zeros = 1, 0

    def add(self, value: int) -> None:
        if value:
            self.product *= value
        else:
            self.zeros += 1

    def remove(self, value: int) -> None:
        if value:
            self.product //= value
        else:
            self.zeros -= 1

    def value(self) -> int:
        return 0 if self.zeros else self.product


def spread(values: np.ndarray) -> float:
    return float(values.max() - values.min())


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = dict(REGISTERED)
    inkling.aggregate("spread")(spread)
    inkling.aggregate("product", returns="INTEGER")(Product)
    yield
    REGISTERED.clear()
    REGISTERED.update(before)


def run(pattern: str) -> list[tuple[object, ...]]:
    """Results, which are the same when rows are pushed one by one."""
    program = inkling.parse(f"{STREAM} EVENT x AS PATTERN {pattern};")
    table = program.run_local({"Temp": ROWS}).tables["x"].to_pylist()
    stream = program.open(unbounded=True)
    pushed = [row for one in ROWS for row in stream.push({"Temp": [one]}).tables["x"].to_pylist()]
    pushed += stream.finish().tables["x"].to_pylist()
    assert pushed == table
    return [(row["s"], row["p"]) for row in table]


def test_over_windows() -> None:
    found = run("WINDOW Temp w LAST 2 EVENTS RETURN spread(w.x) AS s, product(w.v) AS p")
    assert found == [(0.0, 0), (0.1, 0), (0.1, 2), (0.0, 6), (0.0, 12), (0.5 - 0.4, 20)]


def test_over_repetitions() -> None:
    found = run("SEQ STRICT(Temp w{2}) RETURN spread(w.x) AS s, product(w.v) AS p")
    assert found == [(0.1, 0), (0.1, 2), (0.0, 6), (0.0, 12), (0.5 - 0.4, 20)]


def test_over_nothing_is_null() -> None:
    program = inkling.parse(
        f"{STREAM} EVENT x AS PATTERN WINDOW Temp w[x IS NULL] LAST 1 EVENTS RETURN spread(w.x) AS s;"
    )
    assert program.run_local({"Temp": ROWS}).tables["x"]["s"].to_pylist() == [None]


def test_unknown_name_is_like_another() -> None:
    with pytest.raises(ProgramError, match="did you mean `spread`"):
        inkling.parse(f"{STREAM} EVENT x AS PATTERN WINDOW Temp w LAST 2 EVENTS RETURN sprad(w.x) AS s;")


def test_result_of_another_type() -> None:
    inkling.aggregate("wrong", returns="INTEGER")(lambda values: "many")
    program = inkling.parse(f"{STREAM} EVENT x AS PATTERN WINDOW Temp w LAST 2 EVENTS RETURN wrong(w.v) AS s;")
    with pytest.raises(InputError, match="returned 'many', expected INTEGER"):
        program.run_local({"Temp": ROWS})


@pytest.mark.parametrize(("name", "returns"), [("SUM", "DOUBLE"), ("two words", "DOUBLE"), ("fine", "TIME")])
def test_declarations_that_mean_nothing(name: str, returns: str) -> None:
    with pytest.raises(ValueError, match="aggregate"):
        inkling.aggregate(name, returns=returns)(spread)


def test_in_another_process(tmp_path: Path) -> None:
    """A plan carries its aggregates; the process that runs it cannot import their module."""
    program = inkling.parse(f"{STREAM} EVENT x AS PATTERN WINDOW Temp w LAST 2 EVENTS RETURN product(w.v) AS p;")
    assert pickle.loads(pickle.dumps(program.plan)) == program.plan
    (tmp_path / "plan").write_bytes(pickle.dumps(program.plan))
    code = (
        "import pickle; plan = pickle.load(open('plan', 'rb')); import numpy as np;"
        "print(plan.events[0].returns[0].expr.by.of(np.array([2, 3, 7])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "42"
