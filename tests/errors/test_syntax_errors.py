"""Every error in a program's text is told as written in the file beside it."""

import re
from pathlib import Path

import pytest

from inkling.error_codes import CODES
from inkling.errors import ProgramError
from inkling.language import parse
from inkling.language.front_ends import NOTATIONS

ENDS = {".ink", *NOTATIONS}
CASES = sorted(path for path in Path(__file__).parent.joinpath("syntax").iterdir() if path.suffix in ENDS)


@pytest.mark.parametrize("program", CASES, ids=lambda path: path.stem)
def test_error_is_told_as_written(program: Path, accept: bool) -> None:
    with pytest.raises(ProgramError) as raised:
        parse(program.read_text(encoding="utf-8"), program.name)
    told = str(raised.value) + "\n"
    expected = program.with_suffix(".txt")
    if accept:
        expected.write_text(told, encoding="utf-8")
    assert told == expected.read_text(encoding="utf-8")


STATEMENT = re.compile(r"help: write `((?:STREAM|EVENT) [^`]*;)`")


@pytest.mark.parametrize(
    "path",
    [path for path in CASES if STATEMENT.search(path.with_suffix(".txt").read_text())],
    ids=lambda path: path.stem,
)
def test_a_statement_in_a_help_can_be_pasted(path: Path) -> None:
    for statement in STATEMENT.findall(path.with_suffix(".txt").read_text(encoding="utf-8")):
        assert len(parse(statement).statements) == 1


def test_every_syntax_code_has_a_case() -> None:
    told = "".join(path.with_suffix(".txt").read_text(encoding="utf-8") for path in CASES)
    syntax_codes = {code for code in CODES if code.startswith("INK01")}
    assert {code for code in syntax_codes if code not in told} == set()
