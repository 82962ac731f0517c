"""What is said about programs that a stream without an end cannot run."""

from pathlib import Path

import pytest

import inkling
from inkling.errors import ProgramError
from inkling.physical.checks import require_bounded

MESSAGES = Path(__file__).parent / "streaming"
CASES = sorted(MESSAGES.glob("*.ink"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path: Path, accept: bool) -> None:
    program = inkling.load(path)
    with pytest.raises(ProgramError) as caught:
        require_bounded(program.physical, program.syntax, program.source)
    golden = path.with_suffix(".txt")
    said = f"{caught.value}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_every_message_belongs_to_a_program() -> None:
    assert {path.stem for path in CASES} == {path.stem for path in MESSAGES.glob("*.txt")}
