"""Forecasts by models that were learned before, of certain streams and of streams of alternatives."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from tests.conformance.case import Case, Forecasts, named_apart, with_lateness
from tests.kit.naive_forecasts import STREAM, Asked, Definition, Row, learned, program_of, some_asked, some_rows

from inkling.forecasting.models.forecasts import Around
from inkling.meaning.worlds import joint_worlds

N_FORECASTS = 6
N_PAST, N_ROWS, N_TIMES = 60, 40, 4
KEYS = "KL"
ALTERNATIVES = STREAM.format(reset="").replace("ORDER BY t", "PROBABILITY p")


@cache
def forecast_cases(seed: int) -> tuple[Case, ...]:
    """Forecasts of certain streams without and with resets, and of alternatives."""
    rng = random.Random(f"forecasts {seed}")
    made = (_certain(rng, resets=False), _certain(rng, resets=True), _alternatives(rng))
    cases = (replace(case, name=f"forecast{seed}{chr(97 + n)}") for n, case in enumerate(made))
    return tuple(with_lateness(named_apart(case)) for case in cases)


def _certain(rng: random.Random, *, resets: bool) -> Case:
    asked = [some_asked(rng, number, resets=resets) for number in range(N_FORECASTS)]
    past, rows = some_rows(rng, N_PAST, resets=resets), some_rows(rng, N_ROWS, resets=resets)
    of_id = {row["id"]: row for row in rows}

    def forecasts(one: Asked) -> Forecasts:
        said = Definition(one, past).said(rows)
        return Forecasts(
            one,
            {
                (of_id[number]["k"] if one.keyed else None, int(str(of_id[number]["t"]))): (frozenset({number}), what)
                for number, what in said.items()
            },
        )

    program = program_of(asked, resets=resets)
    return _case(program.text, asked, past, rows, forecasts)


def _alternatives(rng: random.Random) -> Case:
    """What the definition mixes is said by the definition for certain streams, world by world."""
    asked = [_of_alternatives(rng, number) for number in range(N_FORECASTS)]
    past, rows = some_rows(rng, N_PAST, resets=False), _probable_rows(rng)
    text = ALTERNATIVES + "".join(one.text for one in asked)
    made = _case(text, asked, past, rows, lambda one: Forecasts(one, {}))
    (schema,) = (stream.schema for stream in made.program.plan.streams)
    said = {}
    for one in asked:
        definition, found = Definition(one, past), {}
        for key in KEYS:
            mine = [row for row in rows if row["k"] == key]
            worlds = [(weight, world["V"]) for weight, world in joint_worlds({"V": mine}, [schema])]
            times = sorted({int(str(row["t"])) for row in mine})
            for time, what in definition.said_of_alternatives(worlds, times).items():  # type: ignore[arg-type]
                here = [row for row in mine if row["t"] == time]
                most = max(Fraction(str(row["p"])) for row in here)
                likeliest = frozenset(row["id"] for row in here if Fraction(str(row["p"])) == most)
                found[key, time] = (likeliest, what)
        said[f"f{one.number}"] = Forecasts(one, found)
    pieces = tuple({"V": [row for row in rows if row["k"] == key]} for key in KEYS)
    return replace(made, pieces=pieces, forecasts=said)


def _of_alternatives(rng: random.Random, number: int) -> Asked:
    """A forecast that is made at every time, whatever the worlds, about the waiting times of all of them."""
    while True:
        asked = some_asked(rng, number, resets=False)
        if not isinstance(asked.kind, Around):
            return replace(asked, keyed=True, including_final=True, remaining=None, by=False)


def _probable_rows(rng: random.Random) -> list[Row]:
    rows: list[Row] = []
    for key in KEYS:
        for time in sorted(rng.sample(range(20), N_TIMES)):
            share = rng.randint(1, 6) / 8
            for letter, p in zip(rng.sample("abcd", 2), (share, rng.choice((1 - share, 0.125))), strict=True):
                values = {"g": "u", "s": letter, "x": rng.randrange(2), "y": rng.randrange(2)}
                rows.append({"id": len(rows), "k": key, **values, "t": time, "p": p})
    return rows


def _case(
    text: str, asked: Sequence[Asked], past: list[Row], rows: list[Row], forecasts: Callable[[Asked], Forecasts]
) -> Case:
    models = learned(program_of(asked, resets=asked[0].resets), asked, past)
    said = {f"f{one.number}": forecasts(one) for one in asked}
    return Case("forecast", "forecast", text, ({"V": rows},), {}, models=models, forecasts=said)
