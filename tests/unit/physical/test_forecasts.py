"""Events that no automaton recognizes cannot be forecast, and the message says why."""

from __future__ import annotations

import pytest

import inkling
from inkling.errors import NotSupportedYet, ProgramError

STREAMS = """
STREAM Car(id STRING, road STRING, speed DOUBLE, n BIGINT) ID id KEY road TIME t ORDER BY n;
STREAM Light(road STRING, color STRING) KEY road TIME t;
"""


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (
            "SEQ STRICT(Car a, Light b) PARTITION BY road PER END",
            "Light has no ORDER BY, so simultaneous events have no order",
        ),
        ("SEQ(Car a, Car b[speed > a.speed]) PARTITION BY road PER END", "a condition reads several events"),
        ("Car a AND Car b PER END", "AND, PAR and Allen relations are not sequences"),
        ("SEQ(Car a, Car b) WITHIN 5 MINUTES PER END", "WITHIN a length of time needs the times of partial matches"),
    ],
)
def test_the_reason_is_told(event: str, reason: str) -> None:
    with pytest.raises(ProgramError) as raised:
        inkling.parse(f"{STREAMS} EVENT stop AS PATTERN {event};\nFORECAST stop WITHIN 10 EVENTS;")
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, diagnostic.label) == ("INK0365", reason)
    assert diagnostic.span is not None


@pytest.mark.parametrize(
    ("stream", "statement", "reason"),
    [
        ("KEY k TIME t ± 2 TICKS", "", "no stream of the event has a PROBABILITY"),
        ("TIME t PROBABILITY p", "", "the event is not PARTITION BY the KEY of R"),
        ("KEY k TIME t ORDER BY s PROBABILITY p", "", "ORDER BY of R distinguishes simultaneous events"),
        ("KEY k TIME t PROBABILITY p", " MODEL m BY s", "`s`, which distinguishes models, is not in the KEY of R"),
        (
            "KEY k TIME t PROBABILITY p",
            "; EVENT z AS PATTERN ab_forecast x[chance > 0.5]",
            "`z` reads the forecast, which is not an event of any world",
        ),
    ],
)
def test_what_cannot_be_forecast_on_a_belief(stream: str, statement: str, reason: str) -> None:
    text = f"""
    STREAM R(k STRING, s STRING, t BIGINT) {stream};
    EVENT ab AS PATTERN SEQ STRICT(R[s = 'a'], R[s = 'b']) PARTITION BY k PER END;
    FORECAST ab WITHIN 3 EVENTS{statement};
    """
    with pytest.raises(ProgramError) as raised:
        inkling.parse(text)
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, diagnostic.label) == ("INK0452", reason)


def test_models_are_not_learned_from_uncertainty() -> None:
    program = inkling.parse(
        """
        STREAM R(k STRING, s STRING, t BIGINT) KEY k TIME t PROBABILITY p;
        EVENT ab AS PATTERN SEQ STRICT(R[s = 'a'], R[s = 'b']) PARTITION BY k PER END;
        FORECAST ab WITHIN 3 EVENTS;
        """
    )
    with pytest.raises(NotSupportedYet, match="INK0452"):
        program.fit({"R": [{"k": "x", "s": "a", "t": 1, "p": 0.5}]})


def test_what_a_result_is_does_not_matter() -> None:
    event = "SEQ STRICT(Car a[speed > 5], Car b[speed < 1]) PARTITION BY road RETURN a.id"
    program = inkling.parse(f"{STREAMS} EVENT stop AS PATTERN {event}; FORECAST stop WITHIN 10 EVENTS;")
    assert [event.name for event in program.plan.events] == ["stop", "stop_forecast"]


EVENT = "EVENT stop AS PATTERN SEQ STRICT(Car a[speed > 5], Car b[speed < 1]) PARTITION BY road PER END;"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("FORECAST stop WITHIN 10 EVENTS", "of stop; within 10 events; model stop_model"),
        (
            "FORECAST stop WITHIN 20 MINUTES CONFIDENCE > 0.5 MODEL m BY road ORDER 2",
            "of stop; within 20 MINUTES; confidence > 0.5; model m by road; order 2",
        ),
        (
            "FORECAST stop INTERVAL SHORTEST SPREAD <= 5 HORIZON 50 FEATURES (speed > 90)",
            "of stop; the shortest interval in the next 50 events, at most 5 wide; confidence >= 0.5; "
            "model stop_model; feature speed > 90",
        ),
        (
            "FORECAST stop POINT INCLUDING FINAL",
            "of stop; the likeliest of the next 200 events; model stop_model; including final",
        ),
    ],
)
def test_a_plan_tells_what_is_forecast(statement: str, told: str) -> None:
    program = inkling.parse(f"{STREAMS} {EVENT} {statement};")
    assert f"({told})" in next(line for line in program.explain("logical").splitlines() if ":= Forecast[" in line)
