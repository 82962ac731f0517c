"""Examples with lost events: what happens is possible, what is certain happens, and early alerts are the right ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from inkling import load, parse
from inkling.forecasting.calibration import calibrate
from inkling.logical.plan import EventPlan
from inkling.results import Results
from inkling.scenarios import SCENARIOS, Scenario
from inkling.scenarios.scenario import HasVariants

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZES = {"motorway": (28_800, 40), "buses": (60_000, 24)}
SEED = 5
EVENTS = [("motorway", "shared"), ("motorway", "inside"), ("buses", "stand_together"), ("buses", "bunched")]
EVERY_EVENT = pytest.mark.parametrize(("name", "event"), EVENTS)


def drawn(source: Scenario) -> dict[str, pa.Table]:
    blocks = list(source.blocks())
    return {name: pa.Table.from_batches([block[name] for block in blocks]) for name in source.streams}


@cache
def recorded(name: str) -> tuple[dict[str, pa.Table], Scenario]:
    events, keys = SIZES[name]
    source = SCENARIOS[name](events=events, keys=keys, seed=SEED, start=None)
    return drawn(source), source


@cache
def told(name: str) -> tuple[Results, Results]:
    """What the program says of the record, and what happened."""
    streams, source = recorded(name)
    assert isinstance(source, HasVariants)
    program, certain = (load(EXAMPLES / name / f"{text}.ink") for text in (name, "certain"))
    read = {stream.schema.name for stream in program.plan.streams}
    given = {stream: rows for stream, rows in streams.items() if stream in read}
    return program.run_local(given, source.tables()), certain.run_local(drawn(source.variants()["true"]))


def head_of(name: str, event: str) -> list[str]:
    plan = load(EXAMPLES / name / f"{name}.ink").plan.event(event)
    assert isinstance(plan, EventPlan)
    return [output.name for output in plan.head]


def answers(table: pa.Table, head: list[str]) -> dict[tuple[object, ...], float]:
    rows = table.select([*head, "probability"]).to_pylist()
    return {tuple(row[name] for name in head): row["probability"] for row in rows}


@EVERY_EVENT
def test_what_happens_is_possible_and_what_is_certain_happens(name: str, event: str) -> None:
    results, true = told(name)
    assert results.rejects.num_rows == 0
    head = head_of(name, event)
    said, happened = answers(results.tables[event], head), set(answers(true.tables[event], head))
    assert set(results.tables[event]["method"].unique().to_pylist()) == {"exact"}
    assert len(happened) > 100
    assert happened <= set(said)
    certain = {row for row, probability in said.items() if probability > 1 - 1e-9}
    assert certain <= happened
    assert 0 < len(certain) < len(said)


@pytest.mark.parametrize("event", ["stand_together", "bunched"])
def test_probabilities_of_buses_are_as_often_right_as_they_say(event: str) -> None:
    """Their data are drawn from the stated distribution; marks, gaps, labels from a table and losses all count."""
    results, true = told("buses")
    head = head_of("buses", event)
    said = results.tables[event]
    assert calibrate(said, true.tables[event], on=head).lies_on_diagonal(significance=0.001)
    place = said.column_names.index("probability")
    distorted = said.set_column(place, "probability", pc.power(said["probability"], 2))
    assert not calibrate(distorted, true.tables[event], on=head).lies_on_diagonal(significance=0.001)


def test_several_k_in_one_question_are_one_question_each() -> None:
    streams, source = recorded("buses")
    text = (EXAMPLES / "buses" / "buses.ink").read_text()
    alone = parse(text.replace("k FROM 2 TO 12", "3").replace(", k AS k", ""))
    found = alone.run_local({"Doors": streams["Doors"]}, source.tables()).tables["bunched"]
    together = told("buses")[0].tables["bunched"]
    third = together.filter(pc.equal(together["k"], 3))
    head = ["day", "one", "other"]
    assert answers(found, head) == pytest.approx(answers(third, head))


def test_early_alerts_are_the_same_and_earlier() -> None:
    streams, _ = recorded("motorway")
    text = (EXAMPLES / "motorway" / "alerts.ink").read_text()
    given = {"Congestion": streams["Congestion"]}
    early, late = (parse(one).run_local(given).tables["jammed"] for one in (text, text.replace(" EARLY", "")))
    head = ["day", "one", "other"]
    assert set(answers(early, head)) == set(answers(late, head))
    told_at, known_at = (
        {tuple(row[name] for name in head): row["detected_at"] for row in table.to_pylist()} for table in (early, late)
    )
    assert all(told_at[pair] <= known_at[pair] for pair in told_at)
    assert sum(told_at[pair] < known_at[pair] for pair in told_at) > 0.8 * len(told_at)
    final = answers(late, head)
    for row in early.to_pylist():
        assert abs(row["probability"] - final[tuple(row[name] for name in head)]) <= row["error"] + 1e-9
