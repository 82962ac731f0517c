"""The result columns: what the one builder of them makes of matches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.result_columns import estimated, some_event, some_forecast, some_matches

import inkling
from inkling import results
from inkling.errors import InputError
from inkling.logical.plan import Confidence, EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.results import LEADING, TRAILING, Matches, public_table, result_schema, result_table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
IDS = (Type.STRING, Type.INTEGER)


def shown(number: int | None, clock: Clock) -> object:
    """A time as users see it."""
    if number is None or clock is Clock.TICKS:
        return number
    return EPOCH + timedelta(microseconds=number)


@pytest.mark.parametrize("clock", Clock)
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("event", [some_event(), some_forecast()], ids=["pattern", "forecast"])
def test_schema_is_known_before_there_are_results(event: EventPlan, ids: Type, clock: Clock) -> None:
    schema = result_schema(event, ids, clock)
    for n in (0, 20):
        batch = some_matches(event, ARROW_TYPES[ids], 1, n)
        for table in (result_table(event, batch, clock), public_table(event, estimated(batch, 1), clock)):
            assert table.schema.equals(schema)
    assert result_schema(event, ARROW_TYPES[ids], clock).equals(schema)
    names = [output.name for output in (*event.head, *event.returns)]
    assert schema.names == [*LEADING, *names, *TRAILING]


@pytest.mark.parametrize("clock", Clock)
def test_every_value_is_where_it_belongs(clock: Clock) -> None:
    event = some_event()
    batch = some_matches(event, pa.string(), 2, 30)
    matches = estimated(batch, 2)
    found = public_table(event, matches, clock, "-").to_pylist()
    times = [output.name for output in (*event.head, *event.returns) if output.type is Type.TIME]
    assert times == ["since", "last"]
    values = {name: column.to_pylist() for name, column in batch.values.items()}
    for row, one in enumerate(found):
        wanted = {name: shown(some[row], clock) if name in times else some[row] for name, some in values.items()}
        wanted |= {name: shown(int(getattr(batch, name)[row]), clock) for name in ("start", "end", "detected_at")}
        wanted |= {name: getattr(matches, name)[row] for name in ("probability", "error", "method")}
        assert one == wanted | {"event": "e", "op": "-", "lineage": batch.lineage[row].as_py()}


def test_certain_matches_have_probability_one() -> None:
    event = some_event()
    table = result_table(event, some_matches(event, pa.string(), 3, 4), Clock.TICKS)
    for column, value in (("probability", 1.0), ("method", "exact"), ("error", 0.0), ("op", "+")):
        assert table[column].to_pylist() == [value] * 4


def test_forecasts_have_the_probability_of_their_model() -> None:
    event = some_forecast()
    batch = some_matches(event, pa.string(), 4, 30)
    table = result_table(event, batch, Clock.TICKS)
    assert None in batch.values["chance"].to_pylist()
    assert table["probability"].to_pylist() == batch.values["chance"].to_pylist()
    assert table["error"].to_pylist() == batch.values["margin"].to_pylist()
    assert set(table["method"].to_pylist()) == {"forecast"}


CONFIDENCES = (None, Confidence(0.5, strict=True), Confidence(0.5, strict=False))


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_what_errors_leave_of_confidence(confidence: Confidence | None) -> None:
    cases = [(p, e) for p in (0.0, 0.25, 0.4, 0.5, 0.6, 1.0) for e in (0.0, 0.05, 0.1, 0.25)]

    def enough(low: float) -> bool:
        return confidence is None or (low > 0.5 + 1e-9 if confidence.strict else low > 0.5 - 1e-9)

    probability, error = (np.array(some) for some in zip(*cases, strict=True))
    kept = [p > 0 and enough(min(p + e, 1.0)) for p, e in cases]
    methods = ["exact" if e <= 0.05 else "sampled" if enough(p - e) else "undecided" for p, e in cases]
    assert results.may_reach(probability, error, confidence).tolist() == kept
    assert results.methods(probability, error, confidence, 0.05).tolist() == methods


def test_exact_is_rejected_where_answers_were_sampled() -> None:
    def problem(event: EventPlan, n_sampled: int, n_answers: int, largest: float) -> InputError:
        return InputError.of("INK0655", f"{event.name}: {n_sampled} of {n_answers}, {largest}")

    error = np.array([0.0, 0.125, 0.25, 1e-9])
    results.require_exact(some_event(), error, 1e-7, problem)
    results.require_exact(some_event("EXACT"), error[[0, 3]], 1e-7, problem)
    with pytest.raises(InputError, match=r"e: 2 of 4, 0\.25"):
        results.require_exact(some_event("EXACT"), error, 1e-7, problem)
    assert results.rejected(some_event("EXACT"), error, 1e-7).tolist() == [False, True, True, False]
    assert not results.rejected(some_event(), error, 1e-7).any()


def test_most_probable_ones() -> None:
    event = some_event()
    table = public_table(event, estimated(some_matches(event, pa.string(), 5, 40), 5), Clock.TICKS)
    found = results.most_probable(results.in_order(event, table), 15).to_pylist()

    def null_last(value: object) -> tuple[bool, object]:
        return (value is None, value)

    def rank(row: dict[str, object]) -> tuple[object, ...]:
        head = [null_last(row[output.name]) for output in event.head]
        probability, lineage = row["probability"], row["lineage"]
        assert isinstance(probability, float)
        assert isinstance(lineage, list)
        return (-probability, row["start"], [str(one) for one in lineage], row["end"], head)

    assert [rank(row) for row in found] == sorted(map(rank, table.to_pylist()))[:15]


def test_withdrawn_results_become_events() -> None:
    event = some_event()
    some, more = (some_matches(event, pa.string(), seed, 3) for seed in (6, 7))
    added, gone = result_table(event, some, Clock.TICKS), results.as_withdrawn(result_table(event, more, Clock.TICKS))
    assert gone["op"].to_pylist() == ["-"] * 3
    assert gone.equals(result_table(event, more, Clock.TICKS, "-"))
    undone = results.retracted(pa.concat_tables([added, gone]), "undo")
    assert undone["event"].to_pylist() == ["undo"] * 3
    assert undone.drop_columns("event").equals(result_table(event, more, Clock.TICKS).drop_columns("event"))


def test_matches_of_an_evaluator_keep_their_arrays() -> None:
    batch = some_matches(some_event(), pa.string(), 8, 3)
    matches = Matches.certain(some_event(), batch)
    assert len(matches) == 3
    assert matches.start is batch.start
    assert matches.lineage is batch.lineage


def test_times_in_the_head_of_a_query_are_timestamps() -> None:
    program = inkling.parse("""
        STREAM R(id STRING, since TIMESTAMP, s STRING, t TIMESTAMP, p DOUBLE) ID id KEY since TIME t PROBABILITY p;
        EVENT q(since) AS PATTERN SEQ(R[s = 'a'], R[s = 'b']) PARTITION BY since PER END;
    """)
    since, at = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)
    rows = [{"id": s, "since": since, "s": s, "t": at + timedelta(seconds=n), "p": 0.5} for n, s in enumerate("ab")]
    found = program.run_local({"R": rows}).tables["q"]
    assert found.schema.equals(result_schema(program.plan.events[0], Type.STRING, Clock.TIMESTAMP))
    assert found.select(["since", "end", "probability"]).to_pylist() == [
        {"since": since, "end": at + timedelta(seconds=1), "probability": 0.25}
    ]
