"""`inkling explain`: the plans of a program and the reasons for them, before any data is read."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.inputs import load_program
from inkling.cli.options import Debug, Declarations, LayoutChoice, ProgramFile, PythonFiles, Root, SamplingOptions
from inkling.query import Program
from inkling.whole_files import write_whole


class ExplainStage(Enum):
    """A stage on the way from the text of a program to the plan that runs."""

    LOGICAL = "logical"
    REWRITTEN = "rewritten"
    VERDICTS = "verdicts"
    PHYSICAL = "physical"
    ALL = "all"


def explain(
    *,
    program: ProgramFile,
    stage: Annotated[
        ExplainStage,
        typer.Option(
            "--stage", "-s", metavar="STAGE", help="One stage: logical, rewritten, verdicts or physical; or all."
        ),
    ] = ExplainStage.ALL,
    layout: LayoutChoice = None,
    precision: SamplingOptions,
    python: PythonFiles = [],  # noqa: B006
    root: Root = None,
    declarations: Declarations = None,
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the dataflow graph instead, to FILE.svg or as text.")
    ] = False,
    picture: Annotated[Path | None, typer.Argument(metavar="[FILE.svg]", help="SVG file for --graph.")] = None,
    debug: Debug = False,
) -> None:
    """Print the plan of a program: logical, rewritten, verdicts and physical."""
    if picture is not None and not graph:
        raise typer.BadParameter("a picture is drawn with --graph only", param_hint="FILE.svg")
    loaded = load_program(program, python, declarations, root)
    if graph:
        _show_graph(loaded, picture)
        return
    typer.echo(loaded.explain(stage.value, sampling=precision.sampling(), layout=layout))


def _show_graph(program: Program, picture: Path | None) -> None:
    if picture is None:
        typer.echo(program.graph_text())
    else:
        write_whole(program.graph(), picture)
