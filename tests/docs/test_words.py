"""No retired word is written in the package or in the pages for people; the glossary has the words that are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main
from tests.kit.words import RETIRED, STILL_IN_SRC, Retired, occurrences, prose_of

from inkling.cli import app
from inkling.io.rejects import REJECTS_SCHEMA
from inkling.language.names import AGGREGATES
from inkling.language.parser.tokens import keywords
from inkling.language.syntax import RELATIONS
from inkling.model.time import MICROSECONDS

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
DEFINED = [
    word
    for cell in re.findall(r"^\| (\*\*[^|]+) \|", GLOSSARY, re.MULTILINE)
    for word in re.findall(r"\*\*([^*]+)\*\*", cell)
]
COMPARED = re.findall(r"^\| (?!word \||\*\*|-)([^|]+) \|", GLOSSARY, re.MULTILINE)


@pytest.mark.parametrize("retired", [one for one in RETIRED if "pages" in one.places], ids=lambda one: one.word)
def test_no_page_has_a_retired_word(retired: Retired) -> None:
    assert list(map(str, occurrences(retired, ["pages"]))) == [], f"write {retired.instead}"


@pytest.mark.parametrize(
    "retired",
    [one for one in RETIRED if "src" in one.places and one.word not in STILL_IN_SRC],
    ids=lambda one: one.word,
)
def test_the_package_has_no_retired_word(retired: Retired) -> None:
    assert list(map(str, occurrences(retired, ["src"]))) == [], f"write {retired.instead}"


def test_words_that_are_still_in_the_package_are_retired_ones() -> None:
    assert {one.word for one in RETIRED if "src" in one.places} >= STILL_IN_SRC


def test_code_and_targets_of_links_are_no_prose() -> None:
    page = "a `told` [b](told.md)\n```text\ntold\n```\n<!-- told -->\nc told\n"
    assert [number for number, line in enumerate(prose_of(page).splitlines(), start=1) if "told" in line] == [6]


def test_a_word_has_one_line_in_the_glossary() -> None:
    assert len(DEFINED) > 90
    assert sorted(DEFINED) == sorted(set(DEFINED))


def test_words_compared_with_papers_are_defined() -> None:
    assert len(COMPARED) > 40
    unknown = [
        word
        for cell in COMPARED
        for word in re.split(r", | of |: ", cell)
        if word not in DEFINED and not re.search("`|all segments|a key|independent|regular|safe|hard", word)
    ]
    assert unknown == []


def test_every_result_column_is_in_the_glossary() -> None:
    page = (ROOT / "docs" / "reference" / "result-columns.md").read_text(encoding="utf-8").split("## Rejects")[0]
    cells = re.findall(r"^\| (`[^|]+`) \|", page, re.MULTILINE)
    columns = [column for cell in cells for column in re.findall(r"`(\w+)`", cell)]
    words = {"start": "interval", "end": "interval", "detected_at": "detection", "method": "exact", "op": "withdrawal"}
    assert len(columns) == 9
    assert [column for column in columns if words.get(column, column) not in DEFINED] == []


# words that join others and name no idea of their own
CONNECTIVES = {"AS", "BY", "FOR", "FROM", "IF", "IN", "IS", "OF", "ON", "TO", "WHEN", "FALSE", "NULL", "TRUE"}
UNITS = {one for unit in MICROSECONDS for one in (unit, unit.removesuffix("S"))} | {"TICKS"}


def test_every_keyword_is_in_the_glossary() -> None:
    written = {word for code in re.findall(r"`([^`]+)`", GLOSSARY) for word in re.findall(r"[A-Z_]+", code)}
    named = keywords() | set(RELATIONS) | AGGREGATES
    assert len(named) > 100
    assert sorted(named - written - CONNECTIVES - UNITS) == []


def test_every_column_of_rejects_is_in_the_glossary() -> None:
    words = set(DEFINED)
    assert [column for column in REJECTS_SCHEMA.names if column not in words] == []


def test_every_command_is_in_the_glossary() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert [name for name in commands if f"inkling {name}`" not in GLOSSARY] == []


def test_no_word_of_the_glossary_is_retired() -> None:
    retired = [one for one in RETIRED if "pages" in one.places]
    assert [(word, one.word) for word in DEFINED for one in retired if one.pattern.search(word)] == []
