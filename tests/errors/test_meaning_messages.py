"""What the binder says about programs that mean nothing, or nothing that can run yet."""

import re
from pathlib import Path

import pytest

from inkling.error_codes import CODES
from inkling.errors import Diagnostic, ProgramError, render
from inkling.language import parse
from inkling.logical import bind, binding
from inkling.source import SourceText

CASES = sorted((Path(__file__).parent / "meaning").glob("*.[ie][nl][ke]"))


def findings(path: Path) -> tuple[Diagnostic, ...]:
    text = path.read_text(encoding="utf-8")
    program = parse(text, path.name)
    try:
        return bind(program, SourceText(path.name, text)).warnings
    except ProgramError as error:
        return error.diagnostics


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path: Path, accept: bool) -> None:
    golden = path.with_suffix(".txt")
    said = render(findings(path)) + "\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_every_message_belongs_to_a_program() -> None:
    assert {path.stem for path in CASES} == {path.stem for path in (Path(__file__).parent / "meaning").glob("*.txt")}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_manners(path: Path) -> None:
    for finding in findings(path):
        assert finding.code in CODES
        assert not finding.message.istitle()
        assert finding.message[:2].lower() == finding.message[:2] or finding.message[:2].isupper()
        assert not finding.message.endswith(".")
        text = finding.render()
        assert "illegal" not in text
        assert "you " not in text.replace("did you mean", "")


def test_every_code_of_the_binder_has_a_case() -> None:
    package = Path(binding.__file__).parent
    used = {code for path in package.rglob("*.py") for code in re.findall(r'"(INK\d{4})"', path.read_text())}
    shown = {finding.code for path in CASES for finding in findings(path)}
    assert used == shown
