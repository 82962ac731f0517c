"""What queries keep on streams: nothing for keys in their initial state, and one result per key with PER VALUES."""

import pytest

import inkling
from inkling.evaluators.protocol import EvaluatorContext, Moment
from inkling.evaluators.query.evaluator import QueryEvaluator
from inkling.local import ingest

PROGRAM = inkling.parse("""
    STREAM At(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p;
    EVENT entered(who) AS PATTERN SEQ NEXT(At a[room = 'hall'], At b) HAVING b.room = 'lab' PARTITION BY who PER END;
""")


@pytest.mark.parametrize(("last", "n_kept"), [(["lab"], 0), (["yard"], 0), (["hall"], 100), (["lab", "hall"], 100)])
def test_a_key_is_kept_while_a_match_is_open(last: list[str], n_kept: int) -> None:
    """After the next event nothing is open, unless it may be in the hall itself."""
    rows = []
    for number in range(100):
        who = f"p{number}"
        rows += [{"who": who, "room": room, "t": 1, "p": 0.5} for room in ("hall", "yard")]
        rows += [{"who": who, "room": room, "t": 2, "p": 1 / len(last)} for room in last]
    known = ingest(PROGRAM, {"At": rows})
    evaluator = QueryEvaluator.of(PROGRAM.physical, EvaluatorContext(known.facts, known.context, known.unit, None))
    assert evaluator is not None
    state, found = evaluator.step(evaluator.start(), known.sources, Moment(3))
    assert sum(engine.n_states for engine in state.engines.values()) == n_kept
    assert len(found.get("entered", ())) == (100 if "lab" in last else 0)


def test_per_values_keeps_one_result_per_key() -> None:
    """P[seen at 1 or 2] is 1 - (1 - 0.5)(1 - 0.25); it is known when the stream ends."""
    program = inkling.parse("""
        STREAM At(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p;
        EVENT ever(who) AS PATTERN At a[room = 'lab'] PARTITION BY who PER VALUES;
    """)
    stream = program.open()
    for t, p in ((1, 0.5), (2, 0.25)):
        found = stream.push([{"who": "ann", "room": "lab", "t": t, "p": p}])
        assert not len(found["ever"])
    (row,) = stream.finish()["ever"].to_pylist()
    assert (row["who"], row["end"], row["probability"]) == ("ann", 2, 0.625)
