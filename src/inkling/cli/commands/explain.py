"""`inkling explain`: what a program will do and why, before it does it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.inputs import load_program
from inkling.cli.options import (
    Budget,
    Debug,
    Delta,
    Epsilon,
    ExactUpTo,
    LayoutChoice,
    ProgramFile,
    PythonFiles,
    sampling_of,
)
from inkling.query import Program


class Stage(Enum):
    """How far along the way from text to answer."""

    LOGICAL = "logical"
    REWRITTEN = "rewritten"
    VERDICTS = "verdicts"
    PHYSICAL = "physical"
    ALL = "all"


def explain(
    program: ProgramFile,
    stage: Annotated[
        Stage,
        typer.Option(
            "--stage", "-s", metavar="STAGE", help="One stage: logical, rewritten, verdicts or physical; or all."
        ),
    ] = Stage.ALL,
    layout: LayoutChoice = None,
    epsilon: Epsilon = 0.01,
    delta: Delta = 0.01,
    exact_up_to: ExactUpTo = 1024,
    budget: Budget = 4,
    python: PythonFiles = [],  # noqa: B006
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the dataflow graph instead, to FILE.svg or as text.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Argument(metavar="FILE.svg", help="Where --graph draws the network.", show_default=False)
    ] = None,
    debug: Debug = False,
) -> None:
    """Print the plan of a program: logical, rewritten, verdicts and physical."""
    if picture is not None and not graph:
        raise typer.BadParameter("a picture is drawn with --graph only", param_hint="FILE.svg")
    loaded = load_program(program, python)
    if graph:
        _show_graph(loaded, picture)
        return
    sampling = sampling_of(epsilon, delta, exact_up_to=exact_up_to, budget=budget)
    typer.echo(loaded.explain(stage.value, sampling=sampling, layout=layout))


def _show_graph(program: Program, picture: Path | None) -> None:
    if picture is None:
        typer.echo(program.graph_text())
    else:
        picture.write_text(program.graph(), encoding="utf-8")
