"""`inkling score`: scores the forecasts of a program on data that their models have not seen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli import options as o
from inkling.cli.execution import decided, session_at
from inkling.cli.inputs import load_with_files
from inkling.cli.terminal.messages import working
from inkling.cli.terminal.retries import retrying
from inkling.cli.terminal.scores import print_scores
from inkling.query import Program
from inkling.whole_files import file_name

if TYPE_CHECKING:
    from inkling.forecasting.learning.rejected_rows import RejectedRows
    from inkling.forecasting.models.model import ForecastModel
    from inkling.forecasting.scoring.scorecard import Scores


def score(
    asked: o.ProgramAndFiles,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.html", help="Write a page with plots.")
    ] = None,
    train_until: Annotated[
        str | None,
        typer.Option("--train-until", metavar="TIME", help="Learn from rows up to this time, score later rows."),
    ] = None,
    train_share: Annotated[
        float | None,
        typer.Option(
            "--train-share",
            metavar="SHARE",
            help="Learn from this share of the rows, the earliest ones; 0.5 by default.",
        ),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Learn nothing: score the models in this folder, or the one in this file, on all rows."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="N|N..M|N,M,…",
            help="Orders to compare, one model each: 0..3 by default, or the orders of --models.",
        ),
    ] = None,
    kind: o.KindOfModel = o.ModelKind.TREE,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="CHANCE", help="Forecasts are positive from this probability on; by default CONFIDENCE, or 0.5."
        ),
    ] = None,
    censored: Annotated[
        bool, typer.Option("--censored", help="Skip forecasts that reach beyond the end of their key.")
    ] = False,
    runner: o.RunnerOptions,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Learn from the first part of the data, forecast the rest and score the forecasts."""
    from inkling.forecasting.backtest import ScoreSettings, tried

    if models is not None and (train_until is not None or train_share is not None):
        raise typer.BadParameter(
            "--models scores existing models on all rows; it excludes --train-until and --train-share"
        )
    try:
        settings = ScoreSettings(
            order=None if order is None else orders_of(order),
            kind=kind.value,
            train_until=train_until,
            train_share=train_share,
            threshold=threshold,
            censored=censored,
        )
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
    program, given = load_with_files(asked, quiet=quiet)
    learned = None if models is None else _models_in(models, program)
    runner = decided(runner, given, quiet=quiet)
    with working(quiet) as say:
        spark = session_at(runner, debug=debug, say=say)
        doing = "learning and forecasting" if learned is None else "forecasting"
        say(doing + ("" if spark is None else " on Spark"))
        rejected: list[RejectedRows] = []

        def work() -> dict[str, Scores]:
            rejected.clear()
            asked_for = program, given.streams, given.tables, settings
            return tried(*asked_for, spark=spark, models=learned, on_rejected=rejected.append)

        scores = retrying(work)
    if not quiet:
        for one in rejected:
            typer.echo(f"warning: {one}; `inkling run` with `--rejects FILE` shows them", err=True)
    print_scores(scores)
    if output is not None:
        from inkling.forecasting.scoring.scorecard import write_scores

        page = write_scores(scores, output, title=f"Forecasts of {asked.program.name}")
        typer.echo(f"page: {page}", err=True)


def _models_in(path: Path, program: Program) -> dict[str, ForecastModel]:
    """The models of a program, from a folder, or from a file if the program has only one."""
    from inkling.forecasting.learning.files import load_model

    names = sorted({event.forecast.model for event in program.plan.events if event.forecast is not None})
    if path.is_dir():
        return {name: load_model(path / f"{file_name(name)}.parquet") for name in names}
    if len(names) > 1:
        raise typer.BadParameter(
            f"the program has the models {', '.join(names)}: name a folder that holds them", param_hint="--models"
        )
    return {name: load_model(path) for name in names}


def orders_of(text: str) -> tuple[int, ...]:
    """The orders that an option names: one, a range, or several.

    >>> orders_of("2"), orders_of("0..3"), orders_of("0,2,5")
    ((2,), (0, 1, 2, 3), (0, 2, 5))
    """
    between = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if between:
        return tuple(range(int(between[1]), int(between[2]) + 1))
    if re.fullmatch(r"\d+(,\d+)*", text):
        return tuple(int(part) for part in text.split(","))
    raise typer.BadParameter(f"expected orders such as 2, 0..5 or 0,2,5, found {text!r}", param_hint="--order")
