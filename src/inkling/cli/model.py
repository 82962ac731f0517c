"""`inkling model`: what a file of a model holds, and what is different between two of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.failures import with_messages
from inkling.cli.options import Debug

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL.parquet", help="A model.", show_default=False)]

model = typer.Typer(no_args_is_help=True, help="Look at models, and compare them.")


@model.command("show")
@with_messages
def show(
    file: ModelFile,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg", help="Where a picture of its tree goes.", show_default=False),
    ] = None,
    forecast: Annotated[
        Path | None,
        typer.Option(
            metavar="PROGRAM.ink",
            help="Also what this program says in every state and context.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Nodes of the tree that are shown.")] = 60,
    debug: Debug = False,
) -> None:
    """Tell what a model was learned from, which events it tells apart, and what it predicts after what."""
    from inkling.fitting.files import load_model
    from inkling.fitting.shown import model_lines

    loaded = load_model(file)
    lines = model_lines(loaded, most)
    if forecast is not None:
        from inkling.fitting.shown import forecast_lines
        from inkling.query import load

        lines += ["", *forecast_lines(load(forecast), loaded)]
    if svg is not None:
        from inkling.fitting.shown import model_svg

        svg.write_text(model_svg(loaded), encoding="utf-8")
    for line in lines:
        typer.echo(line)


@model.command("compare")
@with_messages
def compare(one: ModelFile, other: ModelFile, debug: Debug = False) -> None:
    """Tell what is different between two models."""
    from inkling.fitting.files import load_model
    from inkling.fitting.shown import compared_lines

    for line in compared_lines(load_model(one), load_model(other)):
        typer.echo(line)
