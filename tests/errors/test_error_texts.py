"""The longer text of a syntax error shows a program that fails so, and one that does not."""

import re

import pytest

from inkling.error_codes import CODES
from inkling.errors import ProgramError, explain_error
from inkling.language import parse
from inkling.logical import bind
from inkling.source import SourceText

SYNTAX_CODES = sorted(code for code in CODES if code.startswith("INK01"))


def example(text: str, heading: str) -> str:
    found = re.search(rf"^{heading}:\n\n((?:    .*\n)+)", text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def name_of(code: str) -> str:
    """Examples of mistakes in rules are rules, of mistakes in patterns patterns, of mistakes in queries queries."""
    return {"INK013": "rules.ele", "INK014": "patterns.sre", "INK015": "queries.lahar"}.get(code[:6], "program.ink")


@pytest.mark.parametrize("code", SYNTAX_CODES)
def test_wrong_example_fails_with_its_code(code: str) -> None:
    with pytest.raises(ProgramError) as raised:
        parse(example(explain_error(code), "Wrong"), name_of(code))
    assert [diagnostic.code for diagnostic in raised.value.diagnostics] == [code]


@pytest.mark.parametrize("code", SYNTAX_CODES)
def test_right_example_parses(code: str) -> None:
    assert parse(example(explain_error(code), "Right"), name_of(code)).statements


@pytest.mark.parametrize("code", ["INK0338", "INK0353", "INK0354", "INK0390", "INK0391"])
def test_examples_of_what_cannot_be_right(code: str) -> None:
    wrong, right = (example(explain_error(code), heading) for heading in ("Wrong", "Right"))
    with pytest.raises(ProgramError) as raised:
        bind(parse(wrong), SourceText("wrong.ink", wrong))
    assert {found.code for found in raised.value.diagnostics if found.severity == "error"} == {code}
    assert bind(parse(right), SourceText("right.ink", right)).plan.streams


def test_code_without_longer_text_has_its_title() -> None:
    assert explain_error("INK0901") == f"INK0901: {CODES['INK0901']}\n"


def test_unknown_code() -> None:
    with pytest.raises(KeyError):
        explain_error("INK9999")
