"""Models are learned from what the rows say, however they come, and a fit says what is wrong with what it is given."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.kit.naive_forecasts import RESET, STREAM, some_asked, some_rows

import inkling
from inkling import InputError, ProgramError, parse
from inkling.forecasting.learning.learn import learn
from inkling.forecasting.learning.program import LearningProgram, learning_event, subjects_of
from inkling.forecasting.learning.settings import FitSettings, on_clock
from inkling.forecasting.models.counts import WordCounts
from inkling.forecasting.models.gaps import GapCounts
from inkling.forecasting.models.model import ForecastModel
from inkling.local_stream import LocalStream
from inkling.model.time import Clock

LETTERS = "STREAM V(k STRING, s STRING, t BIGINT) KEY k TIME t ORDER BY t;"
PAIR = "EVENT ab AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PARTITION BY k PER END;"
PROGRAM = parse(f"{LETTERS}{PAIR}FORECAST ab WITHIN 2 EVENTS;")


def letters(text: str, keys: str = "k") -> dict[str, list[dict[str, object]]]:
    return {"V": [{"k": keys[t % len(keys)], "s": letter, "t": t} for t, letter in enumerate(text)]}


def counted(model: ForecastModel) -> dict[tuple[int, ...], float]:
    return model.counts.occurrences()


def test_words_do_not_cross_keys() -> None:
    together = PROGRAM.fit(letters("abab"), settings=inkling.FitSettings(order=1))["ab_model"]
    apart = PROGRAM.fit(letters("abab", keys="kl"), settings=inkling.FitSettings(order=1))["ab_model"]
    a, b = (together.alphabet.index(word) for word in ("s = 'a'", "s = 'b'"))
    assert counted(together) == {(): 4, (a,): 2, (b,): 2, (a, b): 2, (b, a): 1}
    assert counted(apart) == {(): 4, (a,): 2, (b,): 2, (a, a): 1, (b, b): 1}


def test_counts_of_pushes_add_up_to_those_of_one_run() -> None:
    chance = random.Random("pushed counts")
    asked = [some_asked(chance, number, resets=True) for number in range(4)]
    program = parse(STREAM.format(reset=RESET) + "".join(one.text for one in asked))
    rows = some_rows(chance, 120, resets=True)
    models = program.fit({"V": rows}, settings=inkling.FitSettings(order=2))
    events = {subject.model: learning_event(subject, 2) for subject in subjects_of(program)}
    stream = LocalStream(LearningProgram.of(program, tuple(events.values()), program.to_ink()))
    pieces, at = [], 0
    while at < len(rows):
        n = chance.choice([1, 4, 20])
        pieces.append(stream.push({"V": rows[at : at + n]}).tables)
        at += n
    pieces.append(stream.finish().tables)
    for name, event in events.items():
        table = pa.concat_tables([piece[event.name] for piece in pieces])
        rows_of = {what: [row for row in table.to_pylist() if row["what"] == what] for what in ("word", "gap")}
        model = models[name]
        about = {"n_symbols": str(model.counts.n_symbols), "order": "2"}
        words = pa.Table.from_pylist(rows_of["word"]).replace_schema_metadata(about)
        assert WordCounts.from_arrow(words).to_arrow().equals(model.counts.to_arrow())
        assert GapCounts.from_arrow(pa.Table.from_pylist(rows_of["gap"])).to_arrow().equals(model.gaps.to_arrow())


@pytest.mark.parametrize("order", [1.5, True, "2", -1])
def test_orders_are_whole_numbers(order: object) -> None:
    with pytest.raises(ValueError, match="order"):
        PROGRAM.fit(letters("abab"), settings=inkling.FitSettings(order=order))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="order"):
        PROGRAM.score(letters("abab"), settings=inkling.ScoreSettings(order=[order]))  # type: ignore[list-item]


def test_only_the_past_is_learned_from() -> None:
    rows = letters("ababcabacb")
    wanted = PROGRAM.fit({"V": rows["V"][:6]}, settings=inkling.FitSettings(order=2))["ab_model"].to_arrow()
    assert PROGRAM.fit(rows, settings=inkling.FitSettings(order=2, until=5))["ab_model"].to_arrow().equals(wanted)
    assert PROGRAM.fit(rows, settings=inkling.FitSettings(order=2, share=0.6))["ab_model"].to_arrow().equals(wanted)


def test_groups_have_counts_of_their_own() -> None:
    program = parse(f"{LETTERS}{PAIR}FORECAST ab WITHIN 2 EVENTS MODEL m BY k;")
    rows = letters("aabbabab", keys="kl")
    model = program.fit(rows, settings=inkling.FitSettings(order=1))["m"]
    assert model.counts.group == ("k", "l")
    assert model.learning.shrinkage is not None
    for key in "kl":
        alone = PROGRAM.fit(
            {"V": [row for row in rows["V"] if row["k"] == key]}, settings=inkling.FitSettings(order=1)
        )["ab_model"]
        assert counted(replace(model, counts=model.counts.of_group(key))) == counted(alone)
    assert (
        PROGRAM.fit(rows, settings=inkling.FitSettings(order=1, by="k"))["ab_model"]
        .counts.to_arrow()
        .equals(model.counts.to_arrow())
    )


def test_the_order_that_predicts_the_latest_rows_best() -> None:
    """What comes next is settled by the last two events, and by no fewer."""
    text = "aabb" * 100
    learned = learn(PROGRAM, letters(text), settings=FitSettings(order="auto"))
    losses = learned.losses["ab_model"]
    assert list(losses) == [0, 1, 2, 3, 4, 5]
    assert learned.held_out_after == Fraction(4, 5) * len(text) - 1
    assert losses[0] > 0.99
    assert losses[1] > 0.9
    assert losses[2] < 0.1
    assert learned.models["ab_model"].learning.order == 2


def test_a_model_is_known_by_the_program_whatever_else_it_asks() -> None:
    """Its symbols are those of its own conditions: other events and streams do not renumber them."""
    more = parse(
        "STREAM A(s STRING, t BIGINT) TIME t ORDER BY t;"
        f"{LETTERS}EVENT before AS PATTERN SEQ STRICT(V[s = 'b'], V[s = 'q'], V[s = 'a']) PARTITION BY k PER END;"
        f"EVENT other AS PATTERN SEQ(A[s = 'x'], V[s = 'b']) PER END;{PAIR}FORECAST ab WITHIN 2 EVENTS;"
    )
    rows = letters("abcabbacab")
    one, other = (
        PROGRAM.fit(rows, settings=inkling.FitSettings(order=2))["ab_model"],
        more.fit(rows, settings=inkling.FitSettings(order=2))["ab_model"],
    )
    assert one.to_arrow().equals(other.to_arrow())
    found = more.run_local({**rows, "A": []}, {"ab_model": one}).tables["ab_forecast"]
    assert found.equals(PROGRAM.run_local(rows, {"ab_model": one}).tables["ab_forecast"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"until": -1}, "INK0617.*no events to learn `ab_model` from"),
        ({"until": "2026-01-01"}, "INK0618.*times of the input are integers"),
        ({"until": "soon"}, "INK0618.*`soon` is not a time"),
        ({"order": 60}, "INK0618.*highest possible order"),
        ({"by": "kk"}, "(?s)INK0618.*learn it by `k`"),
    ],
)
def test_a_fit_that_cannot_be(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=f"(?s){said.removeprefix('(?s)')}"):
        PROGRAM.fit(letters("abab"), settings=inkling.FitSettings(**options))  # type: ignore[arg-type]


def test_a_fit_of_a_model_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"(?s)INK0618.*learn `ab_model`"):
        PROGRAM.fit(letters("abab"), models=["ab_modell"])


def test_no_rows_at_all() -> None:
    with pytest.raises(InputError, match="INK0617"):
        PROGRAM.fit({"V": []})


def test_a_program_without_forecasts() -> None:
    with pytest.raises(ProgramError, match="INK0375"):
        parse(LETTERS + PAIR).fit(letters("ab"))


def test_forecasts_that_share_a_model_see_the_same() -> None:
    two = f"{LETTERS}{PAIR}FORECAST x OF ab WITHIN 2 EVENTS MODEL m;FORECAST y OF ab POINT MODEL m ORDER 4"
    model = parse(f"{two};").fit(letters("abab"))["m"]
    assert model.counts.order == 4
    with pytest.raises(ProgramError, match="INK0376"):
        parse(f"{two} FEATURES (s = 'c');").fit(letters("abab"))


def test_times_without_a_zone_are_utc() -> None:
    assert on_clock("2026-01-01T01:00:00+01:00") == on_clock("2026-01-01") == (1_767_225_600_000_000, Clock.TIMESTAMP)
