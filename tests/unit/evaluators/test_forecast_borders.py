"""Forecasts at their borders: deep memories, many kinds of events, exact confidences, groups with little data."""

from __future__ import annotations

import random
from typing import Any

import pytest

import inkling

pytestmark = pytest.mark.slow

STREAM = "STREAM R(k STRING, s STRING, t BIGINT, g STRING) KEY k TIME t ORDER BY t;\n"
AB = "EVENT ab(k) AS PATTERN SEQ STRICT(R[s = 'a'], R[s = 'b']) PARTITION BY k CONSUME RESTART PER END;\n"
Rows = list[dict[str, Any]]


def rows_of(letters: str, group: str = "p", key: str = "x") -> Rows:
    return [{"k": key, "s": letter, "t": number, "g": group} for number, letter in enumerate(letters)]


def said(program: inkling.Program, rows: Rows, models: dict[str, Any], n: int | None = None) -> list[Any]:
    """Forecasts over all rows at once, or pushed in pieces."""
    columns = ("event_number", "first", "last", "chance", "expected")
    if n is None:
        tables = [program.run_local({"R": rows}, models).tables["f"]]
    else:
        stream = program.open(models)
        tables = [stream.push({"R": rows[at : at + n]})["f"] for at in range(0, len(rows), n)]
        tables.append(stream.finish()["f"])
    return sorted(tuple(row[name] for name in columns) for table in tables for row in table.to_pylist())


@pytest.mark.parametrize("kind", ["tree", "full"])
def test_a_deep_model_remembers_from_push_to_push(kind: Any) -> None:
    chance = random.Random(1)
    period = "aabacabaacaabacccaab"
    letters = "".join(letter if chance.random() < 0.97 else "c" for letter in period * 20)
    program = inkling.parse(STREAM + AB + "FORECAST f OF ab WITHIN 3 EVENTS;")
    models = program.fit(
        {"R": rows_of(letters)}, settings=inkling.FitSettings(order=20, kind=kind, p_min=0, ratio=1.0001)
    )
    wanted = said(program, rows_of(letters), models)
    assert len(wanted) > 100
    assert said(program, rows_of(letters), models, 7) == wanted


@pytest.mark.parametrize("n_symbols", [14, 17])
def test_many_kinds_of_events_are_remembered_from_push_to_push(n_symbols: int) -> None:
    chance = random.Random(2)
    alphabet = "abcdefghijklmnopq"[:n_symbols]
    letters = "".join(chance.choice(alphabet) for _ in range(600))
    features = ", ".join(f"s = '{letter}'" for letter in alphabet[2:-1])
    program = inkling.parse(STREAM + AB + f"FORECAST f OF ab WITHIN 3 EVENTS FEATURES ({features});")
    models = program.fit({"R": rows_of(letters)}, settings=inkling.FitSettings(order=1, kind="full"))
    assert models["ab_model"].counts.n_symbols == n_symbols
    assert said(program, rows_of(letters), models, 40) == said(program, rows_of(letters), models)


def test_an_interval_of_exactly_the_confidence_is_too_short_for_more_than_it() -> None:
    """After `a` comes `b` every other time, so half of the mass lies on the next event, a quarter two later."""
    rows = rows_of("abac" * 50)
    for asked, wanted in ((">= 0.5", (1, 1, 0.5)), ("> 0.5", (1, 3, 0.75))):
        program = inkling.parse(STREAM + AB + f"FORECAST f OF ab INTERVAL SHORTEST CONFIDENCE {asked} HORIZON 9;")
        found = said(program, rows, program.fit({"R": rows}, settings=inkling.FitSettings(order=0, kind="full")))
        assert found[0][1:4] == wanted


def test_a_group_without_gaps_takes_as_long_as_all() -> None:
    """Of `solo` one event is known, so it has no gap of its own: it borrows those of all, as it does their law."""
    rows = [*rows_of("a", "solo", "z"), *rows_of("abc" * 20)]
    program = inkling.parse(STREAM + AB + "FORECAST f OF ab WITHIN 1 TICKS MODEL m BY g;")
    models = program.fit({"R": rows}, settings=inkling.FitSettings(order=0, kind="full", shrinkage=1.0))
    found = program.run_local({"R": rows_of("a", "solo", "z")}, models).tables["f"].to_pylist()
    assert [row["chance"] for row in found] == [1.0], "b follows a always, one tick later"


def test_a_group_with_few_gaps_borrows_from_all() -> None:
    """`slow` took 3 ticks once; beside it one imagined event takes as long as all do: 20 in 21 times 1 tick."""
    slow = [{"k": "z", "s": letter, "t": t, "g": "slow"} for letter, t in (("a", 0), ("b", 3))]
    program = inkling.parse(STREAM + AB + "FORECAST f OF ab WITHIN 1 TICKS MODEL m BY g;")
    models = program.fit(
        {"R": [*slow, *rows_of("abc" * 20)]}, settings=inkling.FitSettings(order=0, kind="full", shrinkage=1.0)
    )
    found = program.run_local({"R": slow}, models).tables["f"].to_pylist()
    assert found[0]["chance"] == pytest.approx(20 / 21 / 2)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("WITHIN 0 TICKS", "INK0366"),
        ("WITHIN 1000000000 EVENTS", "INK0366"),
        ("POINT HORIZON 1000000000", "INK0366"),
        ("INTERVAL FIXED 3 SPREAD <= 2", "INK0366"),
        ("POINT; FORECAST g OF f POINT", "INK0366"),
        ("POINT; TABLE ab_model(x BIGINT) FROM 'x.csv'", "INK0201"),
        ("POINT MODEL m; TABLE m(x BIGINT) FROM 'x.csv'", "INK0201"),
    ],
)
def test_forecasts_that_make_no_sense_are_rejected(asked: str, code: str) -> None:
    with pytest.raises(inkling.ProgramError) as problem:
        inkling.parse(STREAM + AB + f"FORECAST f OF ab {asked};")
    assert code in str(problem.value)


def test_a_key_called_like_a_column_of_distributions_is_rejected() -> None:
    text = (STREAM + AB).replace("k STRING", "distribution STRING").replace("KEY k", "KEY distribution")
    text = text.replace("ab(k)", "ab").replace("BY k", "BY distribution")
    inkling.parse(text + "FORECAST f OF ab POINT;")
    with pytest.raises(inkling.ProgramError, match="INK0366"):
        inkling.parse(text + "FORECAST f OF ab POINT RETURN DISTRIBUTION;")


@pytest.mark.parametrize("key", ["life", "detected"])
def test_scores_do_not_depend_on_the_name_of_the_key(key: str) -> None:
    chance = random.Random(3)
    rows = [{"k": chance.choice("xy"), "s": chance.choice("abc"), "t": t, "g": "p"} for t in range(200)]
    text = STREAM + AB + "FORECAST f OF ab WITHIN 3 EVENTS;"
    other = text.replace("(k STRING", f"({key} STRING").replace("KEY k", f"KEY {key}")
    other = other.replace("ab(k)", "ab").replace("BY k", f"BY {key}")
    renamed = [{key if name == "k" else name: value for name, value in row.items()} for row in rows]
    wanted = inkling.parse(text).score({"R": rows}, settings=inkling.ScoreSettings(order=[1]))["f"].to_table()
    found = inkling.parse(other).score({"R": renamed}, settings=inkling.ScoreSettings(order=[1]))["f"].to_table()
    assert found.equals(wanted)


@pytest.mark.parametrize("options", [{"order": -1}, {"p_min": -1}, {"ratio": 0.5}, {"gamma_min": -0.1}])
def test_a_fit_rejects_what_no_run_could_use(options: Any) -> None:
    program = inkling.parse(STREAM + AB + "FORECAST f OF ab POINT;")
    with pytest.raises(ValueError, match="at least"):
        program.fit({"R": rows_of("abc")}, settings=inkling.FitSettings(**options))


def test_more_kinds_of_events_than_can_be_so_likely_are_rejected_by_the_fit() -> None:
    program = inkling.parse(STREAM + AB + "FORECAST f OF ab POINT;")
    with pytest.raises(inkling.InputError, match="INK0618"):
        program.fit({"R": rows_of("abc")}, settings=inkling.FitSettings(gamma_min=0.4))


@pytest.mark.parametrize("about", ["[]", "{", '{"format": 1}', '{"format": 99}'])
def test_a_damaged_model_is_no_model(about: str) -> None:
    program = inkling.parse(STREAM + AB + "FORECAST f OF ab POINT;")
    table = program.fit({"R": rows_of("abc")})["ab_model"].to_arrow().to_pylist()
    table[0]["about"] = about
    with pytest.raises(inkling.InputError, match="INK0630"):
        program.run_local({"R": rows_of("abc")}, {"ab_model": table})


def test_events_of_the_scope_count_though_the_pattern_skips_them() -> None:
    """One event in two is a ping, which `SEQ ANY` skips.

    Between detections, `b` came next four times, after pings, and a ping once, after `a`. After `b` itself a ping came
    always, so that nothing can be said.
    """
    text = STREAM + "STREAM Ping(k STRING, t BIGINT) KEY k TIME t ORDER BY t;\n"
    text += "EVENT ab(k) AS PATTERN SEQ ANY(R[s = 'a'], R[s = 'b']) PARTITION BY k OVER (R, Ping) PER END;\n"
    program = inkling.parse(text + "FORECAST f OF ab WITHIN 1 EVENTS INCLUDING FINAL;")
    rows = [{**row, "t": 2 * row["t"]} for row in rows_of("abbbb")]
    pings = [{"k": "x", "t": 2 * row["t"] + 1} for row in rows_of("abbbb")]
    inputs = {"R": rows, "Ping": pings}
    found = (
        program.run_local(inputs, program.fit(inputs, settings=inkling.FitSettings(order=0, kind="full")))
        .tables["f"]
        .to_pylist()
    )
    assert [(row["event_number"], row["chance"]) for row in found] == [
        (n, pytest.approx(0.8)) for n in (1, 2, 4, 6, 8, 10)
    ]


def test_a_table_that_would_fill_the_memory_is_rejected() -> None:
    """Order 7 over three symbols has thousands of states, and each would have 100,000 probabilities."""
    program = inkling.parse(
        "STREAM V(s STRING, t BIGINT) TIME t ORDER BY t;"
        "EVENT ab AS PATTERN SEQ STRICT(V[s = 'A'], V[s = 'B'], V[s = 'C']) PER END;"
        "FORECAST ab WITHIN 100000 EVENTS;"
    )
    chance = random.Random(1)
    rows = [{"s": chance.choice("ABCDE"), "t": t} for t in range(6000)]
    models = program.fit({"V": rows}, settings=inkling.FitSettings(order=7, kind="full"))
    with pytest.raises(inkling.InputError, match="INK0633"):
        program.run_local({"V": rows[:50]}, models)
