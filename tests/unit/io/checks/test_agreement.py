"""The checks accept exactly the rows for which the definition has worlds, and so what they leave has some."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

import pytest
from tests.kit.seeds import first_of

from inkling.io import normalize, read_table
from inkling.io.checks import checked
from inkling.meaning.worlds import worlds
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue, Uncertainty

pytestmark = pytest.mark.slow

Row = dict[str, object]
N_STREAMS = 1000
FEWER = {"marks": 400, "timeouts": 400, "hidden points": 100}


def stream(uncertainty: Uncertainty) -> StreamSchema:
    start, end = ("lo", "hi") if isinstance(uncertainty, ImpreciseTime) else ("t", "t")
    names = ("k", "x", "role") if isinstance(uncertainty, LostEvents) else ("k", "x")
    columns = tuple(Column(name, Type.STRING) for name in names)
    return StreamSchema("S", columns, None, ("k",), start, end, Type.INTEGER, uncertainty=uncertainty)


def has_worlds(rows: list[Row], schema: StreamSchema) -> bool:
    try:
        next(worlds(rows, schema))
    except ValueError:
        return False
    return True


def imprecise(rng: Random) -> list[Row]:
    rows: list[Row] = []
    for _ in range(rng.randint(1, 2)):
        lo, n_ticks = rng.randint(0, 5), rng.randint(1, 3)
        n_weights = rng.choice([n_ticks] * 8 + [n_ticks + 1])
        weights = [rng.choice([0.0, 0.0, 0.5, 1.0, 2.0, 3.0, rng.choice([1.0, -1.0, None])]) for _ in range(n_weights)]
        rows.append({"k": "a", "x": "", "lo": lo, "hi": lo + n_ticks - 1, "w": rng.choice([weights, weights, None])})
    return rows


def alternatives(rng: Random) -> list[Row]:
    rows: list[Row] = []
    for key in "ab":
        for time in range(rng.randint(1, 3)):
            for value in rng.sample("uvw", rng.randint(1, 3)) + rng.choice([[]] * 9 + [["u"]]):
                chance = rng.choice([0.0, 0.1, 0.2, 0.3, 0.4, rng.choice([0.4, 0.6, None, 1.1, -0.1])])
                rows.append({"k": key, "x": value, "t": time, "p": chance})
    return rows


def _row_of_table(rng: Random, is_whole: bool) -> list[tuple[str, float]]:
    """What follows one state: values with probabilities that mostly sum to 1 or less."""
    first = rng.choice("uv")
    if is_whole:
        part = rng.choice([0.0, 0.3, 0.5, 1.0])
        return [(first, part), ("v" if first == "u" else "u", rng.choice([1 - part] * 9 + [1.25 - part]))]
    return [(first, rng.choice([0.0, 0.25, 0.5, 1.0]))]


def chains(rng: Random) -> list[Row]:
    rows: list[Row] = []
    whole = rng.random() < 0.6
    for key in "ab"[: rng.randint(1, 2)]:
        for time in range(rng.randint(1, 4)):
            starts_anew = time == 0 or rng.random() < 0.15
            before: list[str | None] = [None] if starts_anew else ["u", "v", *rng.choice([[], [None], [None]])]
            if not starts_anew and rng.random() < 0.2:
                before.remove(rng.choice("uv"))
            for state in before:
                for value, chance in _row_of_table(rng, (whole and state is not None) or time == 0):
                    rows.append({"k": key, "x": value, "t": time, "p": chance, "g": state})
    if rng.random() < 0.1:
        rows.append(rng.choice(rows))
    rng.shuffle(rows)
    return rows


def numbers(rng: Random) -> list[Row]:
    rows: list[Row] = []
    for key in "ab"[: rng.randint(1, 2)]:
        recorded = sorted(rng.sample(range(1, 6), rng.randint(1, 3)))
        time = rng.randint(1, 2)
        total = rng.choice([None, 4, 6, rng.choice([3, 5, 6])])
        since, until = rng.choice([(0, 30), (0, 30), (None, 30), (0, None), (2, 9)])
        for number in recorded:
            role = ("open" if number % 2 else "close") if rng.random() < 0.97 else rng.choice(["open", None, "up"])
            about = {"n": total, "since": since, "until": until}
            if rng.random() < 0.05:
                about[rng.choice(["n", "since", "until"])] = rng.choice([None, 7])
            rows.append({"k": key, "x": "", "t": time, "seq": number, "role": role, **about})
            time += rng.choice([1, 1, 2, 3, 3, 4, rng.choice([0, 1, -1])])
    if rng.random() < 0.1:
        rng.choice(rows)["seq"] = rng.choice([None, 0, 1])
    rng.shuffle(rows)
    return rows


def marks(rng: Random) -> list[Row]:
    """Numbered events and marks that mostly fit together, in the longer words for roles."""
    rows: list[Row] = []
    for key in "ab"[: rng.randint(1, 2)]:
        time, happened = rng.randint(0, 2), rng.choice([0, 0, 0, 2])
        total = rng.choice([None, None, 4, 6])
        bounds = {"since": rng.choice([None, -1]), "until": rng.choice([None, 30])}
        if rng.random() < 0.6:
            rows.append({"k": key, "t": time, "seq": happened, "role": "mark", "n": total, **bounds})
        for _ in range(rng.randint(0, 3)):
            time += rng.choice([1, 2, 2, 3, 4, 5, rng.choice([0, 5, 6, -1])])
            is_mark = rng.random() < 0.4
            happened += rng.choice([0, 0, 1, 2]) if is_mark else rng.choice([1, 1, 2, 3])
            word = "start" if happened == 1 else "resume" if happened % 2 else "suspend"
            word = "end" if happened == total or (happened % 2 == 0 and rng.random() < 0.2) else word
            role = "mark" if is_mark else word if rng.random() < 0.97 else rng.choice(["start", "Mark", "end", None])
            rows.append({"k": key, "t": time, "seq": happened, "role": role, "n": total, **bounds})
    rng.shuffle(rows)
    return [{"x": "", **row} for row in rows] or marks(rng)


KINDS: dict[str, tuple[Callable[[Random], list[Row]], Uncertainty]] = {
    "imprecise": (imprecise, ImpreciseTime("lo", "hi", "w")),
    "alternatives": (alternatives, ProbableValue("p")),
    "chains": (chains, ProbableValue("p", ("g",))),
    "numbers": (numbers, LostEvents("seq", "role", "n", ("since", "until"))),
    "bare numbers": (numbers, LostEvents("seq")),
    "marks": (marks, LostEvents("seq", "role", "n", ("since", "until"))),
    "timeouts": (marks, LostEvents("seq", "role", "n", ("since", "until"), timeout=Duration(Fraction(4), "TICKS"))),
    "hidden points": (marks, LostEvents("seq", "role", "n", ("since", "until"), shape=2)),
}


@pytest.mark.parametrize("kind", first_of(KINDS, 3))
def test_checks_agree_with_the_definition(kind: str) -> None:
    make, uncertainty = KINDS[kind]
    schema, rng = stream(uncertainty), Random(kind)
    n_good, n_streams = 0, FEWER.get(kind, N_STREAMS)
    for _ in range(n_streams):
        given = make(rng)
        rows = normalize(read_table(given, what="S"), schema).rows
        assert len(rows) == len(given)
        good, rejects = checked(schema, rows)
        plain = rows.to_pylist()
        assert has_worlds(plain, schema) == (len(rejects) == 0), (given, rejects.to_pylist())
        assert len(good) + len(rejects) == len(rows)
        if not len(rejects):
            assert good.equals(rows)
            n_good += 1
        assert has_worlds(good.to_pylist(), schema), (given, rejects.to_pylist())
        assert checked(schema, good)[1].num_rows == 0
    assert n_streams // 10 < n_good < 9 * n_streams // 10


@pytest.mark.parametrize("kind", KINDS)
def test_worlds_of_what_is_left_sum_to_1(kind: str) -> None:
    make, uncertainty = KINDS[kind]
    schema, rng = stream(uncertainty), Random(kind)
    for _ in range(FEWER.get(kind, N_STREAMS) // 25):
        good, _ = checked(schema, normalize(read_table(make(rng), what="S"), schema).rows)
        assert sum((chance for chance, _ in worlds(good.to_pylist(), schema)), start=Fraction(0)) == 1


def test_rounded_probabilities_are_what_they_stand_for() -> None:
    schema = stream(ProbableValue("p", ("g",)))
    start = [{"k": "a", "x": value, "t": 0, "p": 1 / 3 + 1e-12, "g": None} for value in "uvw"]
    step = [{"k": "a", "x": value, "t": 1, "p": 0.5 - 1e-12, "g": state} for value in "uv" for state in "uvw"]
    rows = normalize(read_table([*start, *step], what="S"), schema).rows
    good, rejects = checked(schema, rows)
    assert good.equals(rows)
    assert not len(rejects)
    assert [chance for chance, _ in worlds(good.to_pylist(), schema)] == [Fraction(1, 6)] * 6
