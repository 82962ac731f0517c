"""The longer text of a syntax error shows a program that fails so, and one that does not."""

import re

import pytest

import inkling
from inkling.error_codes import CODES
from inkling.errors import ProgramError, longer_text
from inkling.language import parse

SYNTAX_CODES = sorted(code for code in CODES if code.startswith("INK01"))


def example(text: str, heading: str) -> str:
    found = re.search(rf"^{heading}:\n\n((?:    .*\n)+)", text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def name_of(code: str) -> str:
    """Examples of errors in rules are rules, of errors in patterns patterns, of errors in queries queries."""
    names = {"INK013": "rules.ele", "INK014": "patterns.sre", "INK015": "queries.lahar", "INK016": "queries.sase"}
    names["INK017"] = "queries.epsparql"
    return names.get(code[:6], "program.ink")


@pytest.mark.parametrize("code", SYNTAX_CODES)
def test_wrong_example_fails_with_its_code(code: str) -> None:
    with pytest.raises(ProgramError) as raised:
        parse(example(longer_text(code) + "\n", "Wrong"), name_of(code))
    assert [diagnostic.code for diagnostic in raised.value.diagnostics] == [code]


@pytest.mark.parametrize("code", SYNTAX_CODES)
def test_right_example_parses(code: str) -> None:
    assert parse(example(longer_text(code) + "\n", "Right"), name_of(code)).statements


BOUND_CODES = sorted(
    code for code in CODES if code[:5] in ("INK02", "INK03", "INK04") and "\nWrong:\n" in longer_text(code)
)
FEWEST_EXAMPLES = 100


def codes_of(text: str) -> set[str]:
    try:
        program = inkling.parse(text)
        return {found.code for found in program.warnings}
    except ProgramError as error:
        return {found.code for found in error.diagnostics if found.severity == "error"}


@pytest.mark.parametrize("code", BOUND_CODES)
def test_examples_of_names_types_and_meaning(code: str) -> None:
    wrong, right = (example(longer_text(code) + "\n", heading) for heading in ("Wrong", "Right"))
    assert codes_of(wrong) == {code}
    assert codes_of(right) == set()


def test_most_codes_have_examples() -> None:
    assert len(BOUND_CODES) >= FEWEST_EXAMPLES


@pytest.mark.parametrize("code", [code for code in CODES if code.startswith("INK02")])
def test_every_code_about_names_and_types_has_examples(code: str) -> None:
    assert code in BOUND_CODES


def test_a_code_without_longer_text_has_its_title_alone() -> None:
    assert longer_text("INK0901") == ""
    assert "INK0901" in CODES
