"""What is said about programs over uncertain streams that a stream without an end cannot answer."""

from pathlib import Path

import pytest

import inkling
from inkling.errors import InputError, ProgramError
from inkling.evaluators.sampling import Sampling

MESSAGES = Path(__file__).parent / "streaming_worlds"
CASES = sorted(MESSAGES.glob("*.ink"))
CERTAIN = """
STREAM Seen(person STRING, t TIMESTAMP) KEY person TIME t;
EVENT seen(person) AS PATTERN SEQ(Seen a, Seen b) WITHIN 1 MINUTES PARTITION BY person;
"""
UNCERTAIN = CERTAIN.replace("TIME t", "TIME BETWEEN t AND until").replace("t TIMESTAMP", "t TIMESTAMP, until TIMESTAMP")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path: Path, accept: bool) -> None:
    with pytest.raises(ProgramError) as caught:
        inkling.load(path).require_streamable()
    golden = path.with_suffix(".txt")
    said = f"{caught.value}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_every_message_belongs_to_a_program() -> None:
    assert {path.stem for path in CASES} == {path.stem for path in MESSAGES.glob("*.txt")}


def test_every_rejection_is_shown() -> None:
    said = "".join(path.with_suffix(".txt").read_text() for path in CASES)
    assert all(code in said for code in ("INK0605", "INK0615"))


def test_too_many_worlds(accept: bool) -> None:
    closely = Sampling(epsilon=0.002)
    with pytest.raises(InputError) as caught:
        inkling.parse(UNCERTAIN).require_streamable(sampling=closely)
    golden = MESSAGES.parent / "running" / "too_many_worlds.txt"
    said = f"{caught.value}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")
    inkling.parse(UNCERTAIN).require_streamable()
    inkling.parse(CERTAIN).require_streamable(sampling=closely)


def test_a_number_that_can_only_come_until_a_bound_is_waited_for() -> None:
    text = (MESSAGES / "numbers.ink").read_text()
    bounded = text.replace("n INT,", "n INT, role STRING, total INT, since TIMESTAMP, until TIMESTAMP,").replace(
        "NUMBERED BY n", "NUMBERED BY n SEGMENTS ROLE role COUNT total BOUNDS since TO until"
    )
    inkling.parse(bounded).require_streamable()


def test_numbers_are_waited_for_where_that_is_allowed() -> None:
    inkling.load(MESSAGES / "numbers.ink").require_streamable(unbounded=True)
