"""Programs are highlighted by Pygments and in editors, with the keywords of the parser and no others."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Operator, String
from tests.kit.documents import blocks

from inkling.language.highlight import CONSTANTS, OPERATORS, InkLexer
from inkling.language.parser.program import STATEMENT_WORDS
from inkling.language.parser.tokens import keywords
from inkling.language.syntax import RELATIONS
from inkling.model.types import TYPE_NAMES

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted((ROOT / "examples").rglob("*.ink"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
FENCES = [
    pytest.param(block.text, id=f"{page.relative_to(ROOT)}:{block.line}")
    for page in PAGES
    for block in blocks(page.read_text())
    if block.language == "ink"
]
EXTENSION = ROOT / "editors" / "vscode"
TEXTMATE = json.loads((EXTENSION / "syntaxes" / "ink.tmLanguage.json").read_text())
ALTERNATIVES = re.compile(r"\\b\(\?:([A-Z_|]+)\)\\b")


def kinds(text: str) -> list[tuple[object, str]]:
    return [(kind, value) for kind, value in InkLexer().get_tokens(text) if value.strip()]


def errors(text: str) -> list[str]:
    tokens = list(InkLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    return [value for kind, value in tokens if kind is Error]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_every_example_is_highlighted_without_an_error(path: Path) -> None:
    assert errors(path.read_text()) == []


@pytest.mark.parametrize("text", FENCES)
def test_every_fence_in_the_documentation_is_highlighted_without_an_error(text: str) -> None:
    assert errors(text) == []


def test_the_parser_decides_which_words_are_keywords() -> None:
    text = "stream Door(id STRING, end BIGINT) ID id TIME end; -- doors"
    assert kinds(text) == [
        (Keyword.Declaration, "stream"),
        (Name.Class, "Door"),
        (kinds("(")[0][0], "("),
        (Name, "id"),
        (Keyword.Type, "STRING"),
        (kinds(",")[0][0], ","),
        (Name, "end"),
        (Keyword.Type, "BIGINT"),
        (kinds(")")[0][0], ")"),
        (Keyword, "ID"),
        (Name, "id"),
        (Keyword, "TIME"),
        (Name, "end"),
        (kinds(";")[0][0], ";"),
        (Comment.Single, "-- doors"),
    ]


def test_a_fragment_is_highlighted_by_its_words_in_capitals() -> None:
    found = kinds("SEQ(A a[x = 'key'], NOT B) WITHIN 5 MINUTES, id")
    assert [pair for pair in found if pair[0] in Keyword or pair[0] in Operator.Word] == [
        (Keyword, "SEQ"),
        (Operator.Word, "NOT"),
        (Keyword, "WITHIN"),
        (Keyword, "MINUTES"),
    ]
    assert (String.Single, "'key'") in found
    assert (Name, "id") in found


def test_only_a_unit_after_a_number_is_a_unit() -> None:
    found = kinds("EVENT e AS PATTERN AT LEAST k FROM 1 TO 6 Jam x DURING SOME Jam y WITHIN 6 HOURS")
    assert (Name, "Jam") in found
    assert (Keyword.Type, "Jam") not in found


@pytest.mark.parametrize(("text", "wrong"), [("EVENT e == 3;", "=="), ("a ! b", "!"), ("'open", "'")])
def test_what_cannot_be_read_is_an_error(text: str, wrong: str) -> None:
    assert errors(text)[0] == wrong


def test_pygments_finds_the_lexer_by_its_entry_point() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pygments.lexers"]
    module, _, name = declared["ink"].partition(":")
    assert getattr(import_module(module), name) is InkLexer


def test_importing_the_package_does_not_import_pygments() -> None:
    text = "import sys, inkling, inkling.language; sys.exit('pygments' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text]).returncode == 0


def textmate_words() -> dict[str, set[str]]:
    """The words of every rule of the TextMate grammar that lists words, by the rule's name."""
    rules = {name: ALTERNATIVES.fullmatch(rule.get("match", "")) for name, rule in TEXTMATE["repository"].items()}
    return {name: set(listed[1].split("|")) for name, listed in rules.items() if listed}


def test_the_textmate_grammar_has_the_keywords_of_the_parser() -> None:
    assert textmate_words() == {
        "declarations": set(STATEMENT_WORDS),
        "constants": set(CONSTANTS),
        "word-operators": set(OPERATORS),
        "column-types": set(TYPE_NAMES) - keywords(),
        "keywords": (keywords() | set(RELATIONS)) - set(STATEMENT_WORDS) - CONSTANTS - OPERATORS,
    }


def test_the_textmate_grammar_uses_every_rule() -> None:
    included = {one["include"].removeprefix("#") for one in TEXTMATE["patterns"]}
    assert included == set(TEXTMATE["repository"])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_editors_and_pygments_agree_on_keywords_in_capitals(path: Path) -> None:
    words = set().union(*textmate_words().values())
    for kind, text in kinds(path.read_text()):
        if (kind in Keyword or kind in Operator.Word) and kind is not Keyword.Type and text != "_":
            assert text in words


def test_the_extension_names_files_that_exist() -> None:
    package = json.loads((EXTENSION / "package.json").read_text())
    (language,) = [one for one in package["contributes"]["languages"] if one["id"] == "ink"]
    (grammar,) = [one for one in package["contributes"]["grammars"] if one["language"] == "ink"]
    assert (EXTENSION / language["configuration"]).exists()
    assert json.loads((EXTENSION / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
    assert language["extensions"] == [".ink"]
    json.loads((EXTENSION / language["configuration"]).read_text())
