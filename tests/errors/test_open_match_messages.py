"""What is said about events whose state does not say which of their parts wait."""

from pathlib import Path

import pytest

import inkling
from inkling.errors import NotSupportedYet

MESSAGES = Path(__file__).parent / "open_matches"
CASES = sorted(MESSAGES.glob("*.ink"))
ROW = {"k": 1, "who": "ada", "room": "hall", "line": "4", "n": 1, "role": "start", "t": 1, "p": 0.5}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path: Path, accept: bool) -> None:
    program = inkling.load(path)
    stream = program.open(unbounded=True)
    for one in program.plan.streams:
        names = {column.name for column in one.schema.columns} | {"t", "p"}
        stream.push({one.schema.name: [{name: value for name, value in ROW.items() if name in names}]})
    with pytest.raises(NotSupportedYet) as caught:
        stream.open_matches("e")
    golden = path.with_suffix(".txt")
    said = f"{caught.value}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_every_message_belongs_to_a_program() -> None:
    assert {path.stem for path in CASES} == {path.stem for path in MESSAGES.glob("*.txt")}
