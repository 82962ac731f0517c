"""Groups of options: Typer sees every option of a group, and the command gets the group."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from inkling.cli.options import OptionGroup, with_groups


@dataclass(frozen=True)
class Source(OptionGroup):
    path: Annotated[str, typer.Argument(metavar="PATH")]
    tables: Annotated[list[str], typer.Option("--table", "-t")] = field(default_factory=list)


@dataclass(frozen=True)
class Sample(OptionGroup):
    size: Annotated[int, typer.Option("--size", min=1)] = 10


def app_of(got: list[object]) -> typer.Typer:
    def command(source: Source, name: str = "all", *, sample: Sample) -> None:
        """Take a sample."""
        got.extend([source, name, sample])

    app = typer.Typer()
    app.command()(with_groups(command))
    return app


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a.csv"], [Source("a.csv"), "all", Sample()]),
        (["a.csv", "-t", "x", "--table", "y", "--name", "one"], [Source("a.csv", ["x", "y"]), "one", Sample()]),
        (["--size", "3", "b.csv"], [Source("b.csv"), "all", Sample(3)]),
    ],
)
def test_options_arrive_in_their_groups(words: list[str], expected: list[object]) -> None:
    got: list[object] = []
    result = CliRunner().invoke(app_of(got), words)
    assert result.exit_code == 0, result.output
    assert got == expected


@pytest.mark.parametrize("words", [[], ["a.csv", "--size", "0"], ["a.csv", "--unknown"]])
def test_wrong_options_are_rejected_by_typer(words: list[str]) -> None:
    got: list[object] = []
    assert CliRunner().invoke(app_of(got), words).exit_code == 2
    assert not got


def test_help_lists_options_in_the_order_of_the_signature() -> None:
    shown = CliRunner().invoke(app_of([]), ["--help"]).output
    assert "Take a sample." in shown
    places = [shown.index(option) for option in ("PATH", "--table", "--name", "--size")]
    assert places[1:] == sorted(places[1:])
