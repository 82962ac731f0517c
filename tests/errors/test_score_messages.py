"""What is said about forecasts that cannot be judged."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import inkling
from inkling import parse
from inkling.error_codes import CODES
from inkling.errors import InputError, ProgramError
from inkling.forecasting.scoring import joined_outcomes

MESSAGES = Path(__file__).parent / "scores"
STREAM = """STREAM V(s STRING, t BIGINT) TIME t ORDER BY t;
EVENT ab AS PATTERN SEQ STRICT(V[s = 'A'], V[s = 'B']) PER END CONSUME RESTART;
"""
ROWS = [{"s": letter, "t": number} for number, letter in enumerate("ABAAB", 1)]


def join_too_little() -> None:
    said = {"event_number": 1, "first": 1, "last": 2, "chance": 0.5, "end": 1, "lineage": [1]}
    detection = {"end": 2, "lineage": [1, 2]}
    joined_outcomes(pa.Table.from_pylist([said]), pa.Table.from_pylist([detection]), [])


CASES: dict[str, Callable[[], object]] = {
    "no_forecast": lambda: parse(STREAM).score({"V": ROWS}),
    "nothing_after": lambda: parse(f"{STREAM}FORECAST ab WITHIN 2 EVENTS;").score(
        {"V": ROWS}, settings=inkling.ScoreSettings(order=[0], train_until=5)
    ),
    "detection_without_forecast": join_too_little,
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str, accept: bool) -> None:
    with pytest.raises((InputError, ProgramError)) as caught:
        CASES[case]()
    golden = MESSAGES / f"{case}.txt"
    said = f"{caught.value}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")
    assert {finding.code for finding in caught.value.diagnostics} <= CODES.keys()


def test_every_message_belongs_to_a_case() -> None:
    assert {path.stem for path in MESSAGES.glob("*.txt")} == set(CASES)
