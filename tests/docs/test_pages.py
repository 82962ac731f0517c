"""What README and docs show is what happens: their programs, commands and Python run, page by page.

- A block with a file name after its language is written to that file, in a folder of the page's own.
- `ink` followed by `events` or `word` is an example of the language: results come from the definition, and the
  runner must agree.
- `console` holds commands after `$` and their output; `...` stands for any text.
- `python` is run; `output` after it is what it printed.
"""

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.kit.documents import Block, Example, blocks, example, word
from tests.kit.oracle import oracle
from typer.testing import CliRunner

import inkling
from inkling.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_SPARK = ("README.md", "04-on-spark.md")
"""Of the pages that need Spark, `make test` runs these; the others are long."""
EXECUTABLE = ("console", "python", "events", "word")


def page_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def runs(path: Path) -> bool:
    return any(block.language in EXECUTABLE for block in blocks(path.read_text()))


def needs_spark(path: Path) -> bool:
    return "<!-- needs Spark -->" in path.read_text()


@pytest.mark.parametrize("path", [path for path in PAGES if runs(path) and not needs_spark(path)], ids=page_name)
def test_a_page_does_what_it_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(path)


@pytest.mark.spark
@pytest.mark.parametrize(
    "path",
    [
        path if path.name in WITH_SPARK else pytest.param(path, marks=pytest.mark.long)
        for path in PAGES
        if runs(path) and needs_spark(path)
    ],
    ids=page_name,
)
def test_a_page_with_spark_does_what_it_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: object
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(path)


def run_page(path: Path) -> None:
    names: dict[str, object] = {"__name__": "__page__"}
    printed = ""
    page = list(blocks(path.read_text()))
    for number, block in enumerate(page):
        where = f"{page_name(path)}:{block.line}"
        if block.name is not None:
            file = Path(block.name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        match block.language:
            case "console":
                check_console(block.text, where)
            case "python":
                printed = run_python(block.text, names, where)
            case "output":
                assert printed == block.text, f"{where} prints\n{printed}"
            case "events":
                check_example(program_before(page, number), example(block.text), where)
            case "word":
                check_example(program_before(page, number), word(block.text), where)
            case _:
                pass


def program_before(page: Sequence[Block], number: int) -> str:
    return next(block.text for block in reversed(page[:number]) if block.language == "ink")


def check_example(text: str, given: Example, where: str) -> None:
    program = inkling.parse(f"{given.declarations}\n{text}", name=where)
    last = program.plan.events[-1]
    names = [output.name for output in (*last.head, *last.returns)]
    defined = oracle(program.plan, given.rows)[last.name]
    expected = sorted(given.results, key=lambda result: result.lineage)
    found = sorted(defined, key=lambda result: result.lineage)
    assert [result.lineage for result in found] == [result.lineage for result in expected], where
    for result, wanted in zip(found, expected, strict=True):
        values = dict(zip(names, result.values, strict=True))
        assert wanted.interval in (None, (result.start, result.end)), where
        assert wanted.values == {name: values[name] for name in wanted.values}, where
    rows = {name: rows for name, rows in given.rows.items() if rows}
    table = program.run_local(rows).tables[last.name]
    assert sorted(tuple(ids) for ids in table["lineage"].to_pylist()) == [one.lineage for one in found], where


def check_console(text: str, where: str) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.replace("\\\n", "").partition("\n")
        program, *words = shlex.split(command)
        if program == "cat":
            found = "".join(Path(name).read_text() for name in words)
        else:
            assert program == "inkling", f"{where}: {program} is not run"
            found = CliRunner().invoke(app, words, catch_exceptions=False).output
        matches = doctest.OutputChecker().check_output(expected, found, doctest.ELLIPSIS)
        assert matches, f"{where}: {command}\nprints\n{found}\nnot\n{expected}"


def run_python(text: str, names: dict[str, object], where: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, where, "exec"), names)
    return printed.getvalue()
