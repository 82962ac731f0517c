"""`inkling model`: describes model files and compares them."""

from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.options import Debug
from inkling.cli.terminal.failures import with_messages
from inkling.whole_files import write_whole

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL.parquet", help="A model file.")]

model = typer.Typer(no_args_is_help=True, add_completion=False, help="Describe and compare models.")


@model.command("show")
@with_messages
def show(
    file: ModelFile,
    svg: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Write a picture of the tree.")] = None,
    forecast: Annotated[
        Path | None,
        typer.Option(
            metavar="PROGRAM.ink", help="Also print the forecasts of this program in every state and context."
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum number of nodes to print.")] = 60,
    debug: Debug = False,
) -> None:
    """Print a model: its training data, its symbols and the next events it predicts in each context."""
    from inkling.forecasting.learning.description import model_lines
    from inkling.forecasting.learning.files import load_model

    loaded = load_model(file)
    lines = model_lines(loaded, most)
    if forecast is not None:
        from inkling.forecasting.learning.description import forecast_lines
        from inkling.query import load

        lines += ["", *forecast_lines(load(forecast), loaded)]
    if svg is not None:
        from inkling.forecasting.learning.description import model_svg

        write_whole(model_svg(loaded), svg)
    for line in lines:
        typer.echo(line)


@model.command("compare")
@with_messages
def compare(one: ModelFile, other: ModelFile, debug: Debug = False) -> None:
    """Print the differences between two models."""
    from inkling.forecasting.learning.description import compared_lines
    from inkling.forecasting.learning.files import load_model

    for line in compared_lines(load_model(one), load_model(other)):
        typer.echo(line)
