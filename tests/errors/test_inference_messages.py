"""What is said about models and readings that cannot be used."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from inkling import infer
from inkling.error_codes import CODES
from inkling.errors import InputError
from inkling.infer.model import Model

MESSAGES = Path(__file__).parent / "inference"
MOVES = [("office", "office", 0.8), ("office", "hall", 0.2), ("hall", "office", 0.5), ("hall", "hall", 0.5)]
MOVEMENT = [{"previous": a, "state": b, "p": p} for a, b, p in MOVES]
READERS = [{"reader": "door", "state": "hall", "p": 0.6}]
READING = {"key": "joe", "t": 1, "reader": "door"}


def movement(*rows: tuple[str, str, object]) -> Model:
    return Model.of([{"previous": a, "state": b, "p": p} for a, b, p in rows], READERS)


def filtered(*rows: dict[str, object], **options: object) -> object:
    return infer.filtered(list(rows), Model.of(MOVEMENT, READERS), **options)  # type: ignore[arg-type]


def with_values() -> Model:
    values = [("weak", "hall", 0.5), ("strong", "hall", 0.2)]
    return Model.of(MOVEMENT, [{"reader": "door", "value": v, "state": s, "p": p} for v, s, p in values])


def late() -> None:
    live = infer.Filter(Model.of(MOVEMENT, READERS))
    live.push([READING], until=3)
    live.push([{**READING, "t": 2}])


def restored() -> None:
    live = infer.Filter(Model.of(MOVEMENT, READERS))
    live.push([READING])
    infer.Filter(Model.of(MOVEMENT, [{"reader": "door", "state": "hall", "p": 0.7}])).restore(live.save())


def no_particle() -> None:
    prior = [{"state": "office", "p": 1 - 1e-9}, {"state": "hall", "p": 1e-9}]
    infer.particles([READING], Model.of(MOVEMENT, READERS, prior), n=10)


CASES: dict[str, Callable[[], object]] = {
    "moves_below_one": lambda: movement(("office", "office", 0.7), ("office", "hall", 0.2), ("hall", "hall", 1.0)),
    "nothing_follows": lambda: movement(("office", "hall", 1.0)),
    "chance_above_one": lambda: movement(("office", "office", 1.7)),
    "chance_is_not_a_number": lambda: movement(("office", "office", float("nan"))),
    "prior_above_one": lambda: Model.of(
        MOVEMENT, READERS, [{"state": "office", "p": 0.6}, {"state": "hall", "p": 0.6}]
    ),
    "values_above_one": lambda: Model.of(
        MOVEMENT, [{"reader": "door", "value": v, "state": "hall", "p": 0.6} for v in ("weak", "strong")]
    ),
    "unknown_state": lambda: Model.of(MOVEMENT, [{"reader": "door", "state": "hal", "p": 0.6}]),
    "unknown_nothing": lambda: Model.of(MOVEMENT, READERS, nothing="away"),
    "no_column": lambda: Model.of([{"from": "office", "state": "office", "p": 1.0}], READERS),
    "no_chance": lambda: movement(("office", "office", "often")),
    "missing_chance": lambda: movement(("office", "office", 1.0), ("hall", "hall", None)),
    "no_rows": lambda: Model.of(MOVEMENT, pa.Table.from_pylist(READERS).slice(1)),
    "move_twice": lambda: movement(("office", "office", 0.5), ("office", "office", 0.5)),
    "unknown_reader": lambda: filtered({**READING, "reader": "dor"}),
    "unknown_value": lambda: infer.filtered([{**READING, "value": "loud"}], with_values()),
    "no_time": lambda: filtered({"key": "joe", "reader": "door"}),
    "missing_time": lambda: filtered(READING, {**READING, "t": None}),
    "time_that_is_none": lambda: filtered(READING, {**READING, "t": 1.5}),
    "missing_key": lambda: filtered(READING, {**READING, "key": None}),
    "two_values": lambda: infer.filtered([{**READING, "value": v} for v in ("weak", "strong")], with_values()),
    "no_values": lambda: infer.filtered([READING], with_values()),
    "too_many_steps": lambda: filtered(READING, {**READING, "t": 10**12}),
    "impossible": lambda: infer.filtered([READING], Model.of(MOVEMENT, READERS, [{"state": "office", "p": 1.0}])),
    "no_particle": no_particle,
    "late": late,
    "restored": restored,
    "prune": lambda: filtered(READING, prune=1.0),
    "every": lambda: filtered(READING, every="5 seconds"),
    "every_of_timestamps": lambda: filtered({**READING, "t": "2026-03-01T12:00:00Z"}),
    "every_unit": lambda: filtered(READING, every="5 lightyears"),
    "start_after_stop": lambda: filtered(READING, start=5, stop=3),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str, accept: bool) -> None:
    with pytest.raises(InputError) as caught:
        CASES[case]()
    golden = MESSAGES / f"{case}.txt"
    said = f"{caught.value}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")
    assert {finding.code for finding in caught.value.diagnostics} <= CODES.keys()


def test_every_message_belongs_to_a_case() -> None:
    assert {path.stem for path in MESSAGES.glob("*.txt")} == set(CASES)


def test_every_code_has_a_case() -> None:
    shown = {path.read_text()[6:13] for path in MESSAGES.glob("*.txt")}
    assert shown == {code for code in CODES if code.startswith("INK066")}
