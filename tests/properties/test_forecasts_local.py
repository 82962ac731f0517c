"""Random forecasts say what the definition says, however rows come."""

from __future__ import annotations

import random

import pytest
from tests.kit.naive_forecasts import Definition, Row, agree, learned, program_of, some_asked, some_rows

from inkling import Program
from inkling.forecasting.models.model import ForecastModel
from inkling.local_stream import LocalStream

N_PROGRAMS, N_FORECASTS = 80, 4


def pushed(
    chance: random.Random, program: Program, rows: list[Row], models: dict[str, ForecastModel]
) -> dict[str, list[object]]:
    """Piece by piece; now and then the state goes through a snapshot."""
    stream = program.open(models, unbounded=True)
    found: dict[str, list[object]] = {}
    at = 0
    while at < len(rows):
        n = chance.choice([1, 2, 5, 13])
        if chance.random() < 0.2:
            stream = LocalStream.restore(program, stream.snapshot(), models)
        for name, table in stream.push({"V": rows[at : at + n]}).tables.items():
            found.setdefault(name, []).extend(table.to_pylist())
        at += n
    for name, table in stream.finish().tables.items():
        found.setdefault(name, []).extend(table.to_pylist())
    return found


@pytest.mark.parametrize("seed", range(N_PROGRAMS))
def test_forecasts_are_those_of_the_definition(seed: int) -> None:
    chance = random.Random(seed)
    resets = chance.random() < 0.4
    asked = [some_asked(chance, number, resets=resets) for number in range(N_FORECASTS)]
    program = program_of(asked, resets=resets)
    past = some_rows(chance, chance.choice([20, 40, 70]), resets=resets)
    rows = some_rows(chance, chance.choice([5, 30, 50]), resets=resets)
    models = learned(program, asked, past)
    results = program.run_local({"V": rows}, models).tables
    for one in asked:
        assert len(models[f"m{one.number}"].alphabet) == len(one.automaton.symbols)
        assert models[f"m{one.number}"].n_states == len(one.automaton.delta)
        wanted = Definition(one, past).said(rows)
        found = {row["lineage"][0]: row for row in results[f"f{one.number}"].to_pylist()}
        assert sorted(found) == sorted(wanted), one.text
        assert [row for row in found if not agree(one, found[row], wanted[row])] == [], one.text
    if seed % 4 == 0:
        pieces = pushed(chance, program, rows, models)
        for name, table in results.items():
            assert sorted(map(repr, pieces[name])) == sorted(map(repr, table.to_pylist()))


def test_random_forecasts_are_of_every_kind() -> None:
    """What the test above would be worth nothing without."""
    asked = []
    for seed in range(N_PROGRAMS):
        chance = random.Random(seed)
        resets = chance.random() < 0.4
        asked += [some_asked(chance, number, resets=resets) for number in range(N_FORECASTS)]
    assert len(asked) >= 300
    assert len({(type(one.kind), one.learner) for one in asked}) == 18
    for flag in ("features", "by", "restart", "keyed", "resets", "including_final", "remaining"):
        assert 20 <= sum(bool(getattr(one, flag)) for one in asked) <= len(asked) - 20, flag
