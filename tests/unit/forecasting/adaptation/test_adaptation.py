"""Forecasts that change while they run, in one process: beside a fresh program that had the change from the start."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import inkling
from inkling.errors import InputError
from inkling.evaluators.forecast.symbols import symbol_words
from inkling.forecasting.adaptation.counting import counting_name, readers, with_counting
from inkling.forecasting.adaptation.learner import counts_of, first_model
from inkling.forecasting.adaptation.online import OnlineLearning, every_of
from inkling.forecasting.models.counts import WordCounts
from inkling.forecasting.models.model import ForecastModel, Learning
from inkling.local_stream import LocalStream
from inkling.logical.forecasts import COUNT_COLUMNS
from inkling.logical.vectorized import ARROW_TYPES
from inkling.query import Program
from inkling.runtime.replacement import changes

STREAM = "STREAM V(id INT, k STRING, s STRING, t BIGINT) ID id KEY k TIME t ORDER BY id;"
EVENT = """EVENT ab(k) AS PATTERN SEQ STRICT(V[s = 'A'], V[s = 'B'] OR V[s = 'C'])
    PARTITION BY k PER END CONSUME RESTART;"""

Row = dict[str, object]


@cache
def program(forecast: str = "FORECAST ab WITHIN 3 EVENTS;") -> Program:
    return inkling.parse("\n".join([STREAM, EVENT, forecast]))


def random_rows(seed: int, n: int, letters: str = "AABCD", first: int = 0) -> list[Row]:
    rng = random.Random(seed)
    return [
        {"id": number, "k": rng.choice("xyz"), "s": rng.choice(letters), "t": number}
        for number in range(first, first + n)
    ]


def counted(rows: list[Row], order: int) -> WordCounts:
    """By definition: the longest word that ends at each row, and the state before it."""
    step, reader = readers(program().physical)["ab_model"]
    texts = symbol_words(step, reader)
    symbol = {letter: next((at for at, text in enumerate(texts) if f"'{letter}'" in text), None) for letter in "ABC"}
    symbol["D"] = texts.index("any other event")
    words: dict[tuple[int, tuple[int, ...]], int] = {}
    for key in "xyz":
        state, history = 0, tuple[int, ...]()
        for row in rows:
            if row["k"] == key:
                history = (*history, symbol[str(row["s"])])[-order - 1 :]
                words[state, history] = words.get((state, history), 0) + 1
                state = int(reader.delta[state, history[-1]])
    n = reader.n_symbols
    table = pa.table(
        {
            "group": [""] * len(words),
            "state": pa.array([state for state, _ in words], pa.int32()),
            "length": pa.array([len(word) for _, word in words], pa.int16()),
            "code": [int(sum(one * n ** (len(word) - 1 - at) for at, one in enumerate(word))) for _, word in words],
            "count": pa.array(words.values(), pa.float64()),
        }
    )
    return WordCounts.from_arrow(table.replace_schema_metadata({"n_symbols": str(n), "order": str(order)}))


def model_of(rows: list[Row], order: int, version: int = 1, kind: str = "tree") -> ForecastModel:
    step, reader = readers(program().physical)["ab_model"]
    empty = first_model(step, reader, OnlineLearning(order=order))
    return replace(empty, counts=counted(rows, order), learning=Learning(kind, order), version=version)  # type: ignore[arg-type]


def same_counts(left: WordCounts, right: WordCounts) -> bool:
    names = ("state", "length", "code")
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in names) and np.allclose(
        left.count, right.count
    )


def pushed(stream: LocalStream, rows: list[Row], rng: random.Random) -> list[Row]:
    """Forecasts after rows that come in pieces of random sizes."""
    found: list[Row] = []
    at = 0
    while at < len(rows):
        size = rng.randrange(1, 12)
        found += stream.push({"V": rows[at : at + size]})["ab_forecast"].to_pylist()
        at += size
    return found


def fresh(text: str, model: ForecastModel, rows: list[Row]) -> dict[object, Row]:
    """What a program that had these settings and this model all along says, by the event it says it after."""
    found = program(text).run_local({"V": rows}, {"ab_model": model.to_arrow()}).tables["ab_forecast"]
    return {row["lineage"][0]: row for row in in_order(found.to_pylist())}


def in_order(found: list[Row]) -> list[Row]:
    """By event; those of one push come key by key."""
    return sorted(found, key=lambda row: row["lineage"][0])  # type: ignore[index]


def changed_at(border: int, before: dict[object, Row], after: dict[object, Row], rows: list[Row]) -> list[Row]:
    """What is said if one gives way to the other when so many rows have come; the last of them is still open then."""
    found = [(before if number < border - 1 else after).get(row["id"]) for number, row in enumerate(rows)]
    return [row for row in found if row is not None]


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1)])
@pytest.mark.parametrize("kind", ["tree", "full"])
def test_a_replaced_model_says_what_it_would_have_said_from_the_start(before: int, after: int, kind: str) -> None:
    for seed in range(3):
        rng = random.Random(seed)
        training, rows = random_rows(seed + 50, 200), random_rows(seed, 90)
        old, new = model_of(training[:120], before, 1, kind), model_of(training, after, 2, kind)
        stream = program().open({"ab_model": old.to_arrow()})
        border = rng.randrange(10, 80)
        told = pushed(stream, rows[:border], rng)
        stream.replace_tables({"ab_model": new.to_arrow()})
        told += pushed(stream, rows[border:], rng) + stream.finish()["ab_forecast"].to_pylist()
        by_old, by_new = (fresh("FORECAST ab WITHIN 3 EVENTS;", one, rows) for one in (old, new))
        assert {row["model"] for row in told} == {1, 2}
        assert in_order(told) == changed_at(border, by_old, by_new, rows)


CHANGES = [
    ("FORECAST ab WITHIN 3 EVENTS;", {"order": 1}, "FORECAST ab WITHIN 3 EVENTS ORDER 1;"),
    ("FORECAST ab WITHIN 3 EVENTS ORDER 1;", {"order": 3}, "FORECAST ab WITHIN 3 EVENTS ORDER 3;"),
    ("FORECAST ab WITHIN 3 EVENTS;", {"within": 7}, "FORECAST ab WITHIN 7 EVENTS;"),
    ("FORECAST ab WITHIN 3 EVENTS;", {"confidence": 0.7}, "FORECAST ab WITHIN 3 EVENTS CONFIDENCE >= 0.7;"),
    ("FORECAST ab AROUND 3 EVENTS;", {"within": 5}, "FORECAST ab AROUND 5 EVENTS;"),
    (
        "FORECAST ab INTERVAL SHORTEST CONFIDENCE > 0.9;",
        {"spread": 1, "confidence": 0.4, "horizon": 9},
        "FORECAST ab INTERVAL SHORTEST CONFIDENCE > 0.4 SPREAD <= 1 HORIZON 9;",
    ),
]


@pytest.mark.parametrize(("text", "settings", "as_text"), CHANGES)
def test_a_changed_setting_says_what_the_program_with_it_says(
    text: str, settings: dict[str, float], as_text: str
) -> None:
    model = model_of(random_rows(7, 300), 3)
    for seed in range(3):
        rng = random.Random(seed)
        rows = random_rows(seed, 80)
        stream = program(text).open({"ab_model": model.to_arrow()})
        border = rng.randrange(10, 70)
        told = pushed(stream, rows[:border], rng)
        stream.control("ab_forecast", **settings)
        data = stream.snapshot()
        stream = LocalStream.restore(program(text), data, {"ab_model": model.to_arrow()})
        assert stream.settings == {"ab_forecast": settings}
        told += pushed(stream, rows[border:], rng) + stream.finish()["ab_forecast"].to_pylist()
        assert in_order(told) == changed_at(border, fresh(text, model, rows), fresh(as_text, model, rows), rows)


def test_a_changed_setting_beside_an_uncertain_stream() -> None:
    """The program has an uncertain stream besides; its forecast is steered as if it were alone."""
    text, settings, as_text = CHANGES[0]
    model, rows, rng = model_of(random_rows(7, 300), 3), random_rows(3, 80), random.Random(3)
    beside = """STREAM Seen(id STRING, k STRING, s STRING, t BIGINT, p DOUBLE) ID id KEY k TIME t PROBABILITY p;
        EVENT seen(k) AS PATTERN Seen a[s = 'A'] PARTITION BY k PER END;"""
    stream = inkling.parse("\n".join([STREAM, EVENT, text, beside])).open({"ab_model": model.to_arrow()})
    told = pushed(stream, rows[:40], rng)
    stream.control("ab_forecast", **settings)
    told += pushed(stream, rows[40:], rng) + stream.finish()["ab_forecast"].to_pylist()
    assert in_order(told) == changed_at(40, fresh(text, model, rows), fresh(as_text, model, rows), rows)


IN_UNCERTAINTY = STREAM.replace("t BIGINT)", "t BIGINT, p DOUBLE)").replace("ORDER BY id", "PROBABILITY p")


def uncertain_program(forecast: str) -> Program:
    return inkling.parse("\n".join([IN_UNCERTAINTY, EVENT.replace(" CONSUME RESTART", ""), forecast]))


def uncertain_rows(seed: int, n: int) -> list[Row]:
    """Per time and key two alternatives, which leave out some of the probability."""
    rng = random.Random(seed)
    return [
        {"id": time, "k": key, "s": letter, "t": time, "p": share}
        for time in range(n)
        for key in rng.sample("xyz", rng.randrange(1, 3))
        for letter, share in zip(rng.sample("ABCD", 2), (0.5, rng.choice([0.25, 0.5])), strict=True)
    ]


def said_uncertain(found: pa.Table) -> list[Row]:
    return sorted(found.to_pylist(), key=lambda row: (row["end"], row["k"]))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(("text", "settings", "as_text"), [one for one in CHANGES if "order" not in one[1]])
def test_a_changed_setting_over_an_uncertain_stream(text: str, settings: dict[str, float], as_text: str) -> None:
    model = {"ab_model": model_of(random_rows(7, 300), 2).to_arrow()}
    for seed in range(3):
        border, rows = random.Random(seed).randrange(5, 25), uncertain_rows(seed, 30)
        stream = uncertain_program(text).open(model)
        told = [stream.push({"V": [row for row in rows if row["t"] <= border]})["ab_forecast"]]  # type: ignore[operator]
        stream.control("ab_forecast", **settings)
        stream = LocalStream.restore(uncertain_program(text), stream.snapshot(), model)
        told.append(stream.push({"V": [row for row in rows if row["t"] > border]})["ab_forecast"])  # type: ignore[operator]
        told.append(stream.finish()["ab_forecast"])
        before, after = (
            said_uncertain(uncertain_program(one).run_local({"V": rows}, model).tables["ab_forecast"])
            for one in (text, as_text)
        )
        # the last time of all is still open at the border
        wanted = [row for row in before if row["end"] < border] + [row for row in after if row["end"] >= border]  # type: ignore[operator]
        assert said_uncertain(pa.concat_tables(told)) == [almost(row) for row in wanted]
        assert wanted != before


def almost(row: Row) -> Row:
    """Sums of probabilities depend on how rows are cut, a little."""
    return {name: pytest.approx(value, abs=1e-9) if isinstance(value, float) else value for name, value in row.items()}


def test_the_order_of_a_forecast_over_an_uncertain_stream_is_rejected() -> None:
    stream = uncertain_program("FORECAST ab WITHIN 3 EVENTS;").open(
        {"ab_model": model_of(random_rows(7, 300), 3).to_arrow()}
    )
    with pytest.raises(InputError, match="the `order` of `ab_forecast` cannot be changed while it runs"):
        stream.control("ab_forecast", order=1, confidence=0.5)
    assert stream.settings == {}


def test_none_goes_back_to_what_the_program_says() -> None:
    model, rows = model_of(random_rows(7, 300), 3), random_rows(1, 40)
    stream = program().open({"ab_model": model.to_arrow()})
    stream.control("ab_forecast", within=9, order=0)
    stream.control("ab_forecast", within=None, order=None)
    told = [*stream.push({"V": rows})["ab_forecast"].to_pylist(), *stream.finish()["ab_forecast"].to_pylist()]
    assert in_order(told) == list(fresh("FORECAST ab WITHIN 3 EVENTS;", model, rows).values())


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"forecast": "ba", "parameter": "order", "value": 1}, "no forecast called `ba`"),
        ({"forecast": "ab", "parameter": "order", "value": 1}, "no forecast called `ab`"),
        ({"forecast": "ab_forecast", "parameter": "depth", "value": 1}, "unknown setting `depth`"),
        ({"forecast": "ab_forecast", "parameter": "order", "value": 4}, "order 3"),
        ({"forecast": "ab_forecast", "parameter": "order", "value": 1.5}, "whole number"),
        ({"forecast": "ab_forecast", "parameter": "confidence", "value": 1.01}, "between 0 and 1"),
        ({"forecast": "ab_forecast", "parameter": "confidence", "value": "high"}, "not a number"),
        ({"forecast": "ab_forecast", "parameter": "confidence", "value": "nan"}, "not a finite number"),
        ({"forecast": "ab_forecast", "parameter": "within", "value": -2}, "between 1 and"),
        ({"forecast": "ab_forecast", "parameter": "spread", "value": 2}, "no interval"),
        ({"forecast": "ab_forecast", "parameter": "horizon", "value": 9}, "change `within`"),
        ({"forecast": "ab_forecast", "parameter": "within"}, "`value` is missing"),
    ],
)
def test_messages_that_make_no_sense_change_nothing(message: Row, reason: str) -> None:
    stream = program().open({"ab_model": model_of(random_rows(7, 100), 3).to_arrow()})
    good = {"forecast": "ab_forecast", "parameter": "confidence", "value": "0.25"}
    (rejected,) = stream.take_messages([good]) + stream.take_messages([message])
    assert reason in rejected.reason
    assert stream.settings == {"ab_forecast": {"confidence": 0.25}}


def test_a_call_is_rejected_as_a_whole() -> None:
    stream = program().open({"ab_model": model_of(random_rows(7, 100), 3).to_arrow()})
    with pytest.raises(InputError, match="INK0622"):
        stream.control("ab_forecast", within=5, confidence=2)
    assert stream.settings == {}


def test_a_model_that_does_not_fit_is_rejected_and_the_old_one_stays() -> None:
    rows = random_rows(3, 30)
    old = model_of(random_rows(7, 100), 3)
    stream = program().open({"ab_model": old.to_arrow()})
    stream.control("ab_forecast", order=3)
    with pytest.raises(InputError, match="INK0632"):
        stream.replace_tables({"ab_model": model_of(random_rows(7, 100), 1).to_arrow()})
    with pytest.raises(InputError, match="INK0630"):
        stream.replace_tables({"ab_model": old.to_arrow().slice(1)})
    told = [*stream.push({"V": rows})["ab_forecast"].to_pylist(), *stream.finish()["ab_forecast"].to_pylist()]
    assert in_order(told) == list(fresh("FORECAST ab WITHIN 3 EVENTS ORDER 3;", old, rows).values())


@pytest.mark.parametrize("forget", [1.0, 0.5, 0.0])
def test_learning_beside_forecasting(forget: float) -> None:
    """Versions are made of what was counted by then; each forecast is that of the version in force, on all history."""
    online = OnlineLearning(every=60, forget=forget, order=2, how=Learning("full"))
    for seed in range(2):
        rng = random.Random(seed)
        rows = random_rows(seed, 260)
        stream = program().open(learn=online)
        told: list[Row] = []
        versions: dict[int, ForecastModel] = {0: ForecastModel.from_arrow(stream.model("ab_model"))}
        began = {0: 0}
        at = 0
        while at < len(rows):
            size = rng.randrange(1, 40)
            told += stream.push({"V": rows[at : at + size]})["ab_forecast"].to_pylist()
            at += size
            model = ForecastModel.from_arrow(stream.model("ab_model"))
            if model.version not in versions:
                # the last row that came is still open
                versions[model.version], began[model.version] = model, min(at, len(rows)) - 1
            if rng.random() < 0.3:
                stream = LocalStream.restore(program(), stream.snapshot(), learn=online)
        told += stream.finish()["ab_forecast"].to_pylist()
        assert len(versions) > 3
        for version in list(versions)[1:]:
            seen = counted(rows[: began[version]], 2)
            if forget == 1.0:
                assert same_counts(versions[version].counts.total(), seen)
            new = seen.n_events - counted(rows[: began[version - 1]], 2).n_events
            assert versions[version].n_events == pytest.approx(forget * versions[version - 1].n_events + new)
        assert min(row["model"] for row in told) == 1
        said = {version: fresh("FORECAST ab WITHIN 3 EVENTS;", model, rows) for version, model in versions.items()}
        borders = sorted(began.items())
        for row, following in zip(borders, [*borders[1:], (None, len(rows))], strict=True):
            version, first = row
            for one in rows[first : following[1]]:
                mine = [found for found in told if found["lineage"] == [one["id"]]]
                expected = said[version].get(one["id"])
                assert mine == ([] if expected is None else [expected])


def test_learning_goes_on_from_a_given_model() -> None:
    past, rows = random_rows(1, 100), random_rows(2, 50)
    stream = program().open({"ab_model": model_of(past, 1, 7).to_arrow()}, learn=OnlineLearning(every=50))
    stream.push({"V": rows})
    stream.finish()
    model = ForecastModel.from_arrow(stream.model("ab_model"))
    assert model.version == 8
    assert same_counts(model.counts.total(), WordCounts.merged(counted(past, 1), counted(rows, 1)))
    assert model.learning == Learning("tree", 1)


def test_nothing_is_learned_where_versions_are_not_wanted_but_drift_is_seen() -> None:
    online = OnlineLearning(every=None, alarm=0.3, at_least=100)
    stream = program().open({"ab_model": model_of(random_rows(1, 2000, "AAAB"), 1).to_arrow()}, learn=online)
    stream.push({"V": random_rows(2, 301, "AAAB")})
    calm = stream.drift["ab_model"]
    assert (calm.version, calm.events, calm.is_alarming) == (1, 300, False)
    assert abs(calm.excess) < 0.1
    stream.push({"V": random_rows(3, 600, "CCCD", first=301)})
    alarmed = stream.drift["ab_model"]
    assert alarmed.is_alarming
    assert alarmed.excess > 1
    assert stream.model("ab_model") == program().open({"ab_model": stream.model("ab_model")}).model("ab_model")


def test_drift_is_the_mean_of_what_predictions_cost() -> None:
    model, rows = model_of(random_rows(1, 500), 1, kind="full"), random_rows(2, 40)
    stream = program().open({"ab_model": model.to_arrow()}, learn=OnlineLearning(every=None))
    stream.push({"V": rows})
    stream.finish()
    n, floor = model.counts.n_symbols, 0.0001
    shares: dict[tuple[int, int], dict[int, float]] = {}
    words = model.counts
    for state, length, code, count in zip(words.state, words.length, words.code, words.count, strict=True):
        before = int(code) // n if length == 2 else -1
        law = shares.setdefault((int(state), before), {})
        law[int(code) % n] = law.get(int(code) % n, 0.0) + float(count)
    bits = 0.0
    now = counted(rows, 1)
    for state, length, code, count in zip(now.state, now.length, now.code, now.count, strict=True):
        law = shares.get((int(state), int(code) // n if length == 2 else -1), {})
        total = sum(law.values())
        chance = 1 / n if not total else law.get(int(code) % n, 0.0) / total * (1 - n * floor) + floor
        bits -= float(count) * float(np.log2(chance))
    assert stream.drift["ab_model"].bits == pytest.approx(bits)


def test_a_program_counts_only_what_was_asked_for() -> None:
    plan = with_counting(program().physical.program, {"ab_model": 2, "other": 1})
    assert [event.name for event in plan.events] == ["ab", "ab_forecast", counting_name("ab_model")]


def test_counts_of_nothing() -> None:
    fields = [(column.name, ARROW_TYPES[column.type]) for column in COUNT_COLUMNS]
    words, gaps = counts_of(pa.schema(fields).empty_table(), 3, 2)
    assert (words.n_events, words.order, len(gaps.count)) == (0, 2, 0)


@pytest.mark.parametrize(
    "wrong", [{"every": 0}, {"every": timedelta()}, {"forget": 1.5}, {"order": -1}, {"every": "soon"}]
)
def test_learning_that_makes_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="INK0623"):
        OnlineLearning(**wrong)  # type: ignore[arg-type]


def test_lengths_of_time_need_a_calendar() -> None:
    stream = program().open(learn=OnlineLearning(every=timedelta(minutes=5)))
    with pytest.raises(InputError, match="INK0623"):
        stream.push({"V": random_rows(1, 5)})


def test_versions_by_time_of_the_stream() -> None:
    text = STREAM.replace("t BIGINT", "t TIMESTAMP")
    timed = inkling.parse("\n".join([text, EVENT, "FORECAST ab WITHIN 3 EVENTS;"]))
    stream = timed.open(learn=OnlineLearning(every=every_of("2 minutes")))
    versions = []
    for minute in range(7):
        stream.push({"V": [{"id": minute, "k": "x", "s": "A", "t": f"2026-03-02T10:0{minute}:00Z"}]})
        versions.append(ForecastModel.from_arrow(stream.model("ab_model")).version)
    assert versions == [0, 0, 0, 1, 1, 2, 2]  # a minute is decided when the next one comes


def test_a_program_without_forecasts_has_nothing_to_learn() -> None:
    with pytest.raises(InputError, match="no FORECAST"):
        inkling.parse("\n".join([STREAM, EVENT])).open(learn=OnlineLearning())


def test_settings_that_are_edited_in_the_program_do_not_restart_a_forecast() -> None:
    old = program().physical.program
    edited = changes(old, program("FORECAST ab INTERVAL SHORTEST CONFIDENCE >= 0.6 ORDER 2;").physical.program)
    assert edited.kept == ("ab", "ab_forecast")
    assert edited.settings == ("ab_forecast",)
    assert str(edited) == "kept: ab, ab_forecast; other settings: ab_forecast"
    featured = changes(old, program("FORECAST ab WITHIN 3 EVENTS FEATURES (s = 'D');").physical.program)
    assert featured.restarted == ("ab_forecast",)
