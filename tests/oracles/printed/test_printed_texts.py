"""Every program and query that the papers print gives its answer, or is rejected with a message that says why.

A module of this folder has the texts of one paper, as `TEXTS`. Answers are worked by hand or taken from the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.kit.oracle import oracle
from tests.oracles.ele_case import in_order, plain, time_columns
from tests.oracles.printed.printed_text import PrintedText

from inkling.errors import ProgramError, render
from inkling.language import format_program
from inkling.language import parse as parse_text
from inkling.language.syntax import StreamDecl

FOLDER = Path(__file__).parent
PAPERS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("printed_text", "test_printed_texts"))


def texts() -> Iterator[tuple[str, PrintedText]]:
    for paper in PAPERS:
        for text in import_module(f"tests.oracles.printed.{paper}").TEXTS:
            yield paper, text


def _case(paper: str, text: PrintedText, *values: object) -> object:
    return pytest.param(*values, id=f"{paper}-{text.id}")


ANSWERED = [_case(paper, text, text) for paper, text in texts() if text.found is not None]
DEFINED = [_case(paper, text, text) for paper, text in texts() if text.found is not None and text.by_definition]
REJECTED = [_case(paper, text, paper, text) for paper, text in texts() if text.found is None]


@pytest.mark.parametrize("text", DEFINED)
def test_by_definition(text: PrintedText) -> None:
    program = text.program
    results = oracle(program.plan, text.inputs(program), text.tables)
    found = {
        name: in_order((*map(plain, result.values), result.start, result.end) for result in results[name])
        for name in text.wanted()
    }
    assert found == text.wanted()


@pytest.mark.parametrize("text", ANSWERED)
def test_in_one_run(text: PrintedText) -> None:
    program = text.program
    assert text.results([program.run_local(text.inputs(program), text.tables).tables]) == text.wanted()


@pytest.mark.parametrize("text", ANSWERED)
def test_pushed_one_by_one(text: PrintedText) -> None:
    program = text.program
    streams = [one for one in program.syntax.statements if isinstance(one, StreamDecl)]
    ends = {stream.name.text: time_columns(stream)[1] for stream in streams}
    rows = [(row[ends[name]], name, row) for name, some in text.inputs(program).items() for row in some]
    stream = program.open(text.tables, unbounded=True)
    found = [stream.push({name: [row]}).tables for _, name, row in sorted(rows, key=lambda one: one[0])]
    assert text.results([*found, stream.finish().tables]) == text.wanted()


@pytest.mark.parametrize("text", ANSWERED)
def test_as_a_program(text: PrintedText) -> None:
    tree = text.program.syntax
    assert parse_text(format_program(tree), f"{text.id}.ink") == tree


@pytest.mark.parametrize(("paper", "text"), REJECTED)
def test_message(paper: str, text: PrintedText, accept: bool) -> None:
    with pytest.raises(ProgramError) as raised:
        assert text.program.plan
    said = render(raised.value.diagnostics) + "\n"
    golden = FOLDER / "refusals" / paper / f"{text.id}.txt"
    if accept:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_texts_and_messages_belong_together() -> None:
    named = [(paper, text.id) for paper, text in texts()]
    assert len(set(named)) == len(named)
    rejected = {(paper, text.id) for paper, text in texts() if text.found is None}
    assert {(path.parent.name, path.stem) for path in (FOLDER / "refusals").glob("*/*.txt")} == rejected
