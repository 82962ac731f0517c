"""`inkling score`: how good the forecasts of a program are, on data that their models have not seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli import options as o
from inkling.cli.execution import session
from inkling.cli.inputs import given_paths
from inkling.cli.messages import working
from inkling.cli.programs import PythonFiles, load_program
from inkling.query import Program

if TYPE_CHECKING:
    from rich.table import Table

    from inkling.fitting.refusals import Refusals
    from inkling.markov.model import Model
    from inkling.scoring.scorecard import Scores


def score(
    program: o.ProgramFile,
    inputs: o.Inputs,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.html", help="Where a page with curves goes.", show_default=False),
    ] = None,
    tables: o.Tables = [],  # noqa: B006  (typer reads the default and never changes it)
    until: Annotated[
        str | None,
        typer.Option(
            "--train-until",
            metavar="TIME",
            help="Learn from rows up to this time, judge what is later.",
            show_default=False,
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--train-share",
            metavar="SHARE",
            help="Learn from this share of the rows, the earliest; a half by default.",
            show_default=False,
        ),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Learn nothing: judge the models in this folder, or the one in this file, on all rows.",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="N|N..M|N,M,…",
            help="How many events models look back, one model each: 0..3 by default, or what --models were learned "
            "with.",
            show_default=False,
        ),
    ] = None,
    kind: o.KindOfModel = o.ModelKind.TREE,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="CHANCE", help="From which chance on a forecast is a yes: CONFIDENCE, or 0.5.", show_default=False
        ),
    ] = None,
    censored: Annotated[
        bool, typer.Option("--censored", help="Leave out forecasts that look past the end of their key.")
    ] = False,
    runner: o.RunnerChoice = o.Runner.SPARK,
    master: o.Master = "local[*]",
    python: PythonFiles = [],  # noqa: B006
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Learn from the first part of the data, forecast the rest, and compare with what came."""
    from inkling.trials import ORDERS, TrialSettings, orders_learned, tried

    if models is not None and (until is not None or share is not None):
        raise typer.BadParameter("models that are there are judged on all rows: leave out --train-…, or --models")
    try:
        settings = TrialSettings(
            ORDERS if order is None else orders_of(order), kind.value, until, share, threshold, censored
        )
        _ = settings.fit
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
    loaded = load_program(program, python, quiet=quiet)
    given = given_paths(loaded, inputs, tables)
    learned = None if models is None else _models_in(models, loaded)
    if learned is not None and order is None:
        settings = replace(settings, orders=orders_learned(learned))
    with working(quiet) as say:
        spark = None if runner is o.Runner.LOCAL else session(master, debug=debug, say=say)
        doing = "learning and forecasting" if learned is None else "forecasting"
        say(doing + ("" if spark is None else " on Spark"))
        refused: list[Refusals] = []
        scores = tried(
            *(loaded, given.streams, given.tables, settings),
            spark=spark,
            models=learned,
            on_refused=refused.append,
        )
    if not quiet:
        for one in refused:
            typer.echo(f"warning: {one}; `inkling run` with `--rejects FILE` shows them", err=True)
    print_scores(scores)
    if output is not None:
        from inkling.scoring.scorecard import write_scores

        page = write_scores(scores, output, title=f"Forecasts of {program.name}")
        typer.echo(f"page: {page}", err=True)


def _models_in(path: Path, program: Program) -> dict[str, Model]:
    """The models of a program in a folder, or in a file if it has one alone."""
    from inkling.fitting.files import load_model

    names = sorted({event.forecast.model for event in program.plan.events if event.forecast is not None})
    if path.is_dir():
        return {name: load_model(path / f"{name}.parquet") for name in names}
    if len(names) > 1:
        raise typer.BadParameter(
            f"the program reads {', '.join(names)}: name a folder that holds them", param_hint="--models"
        )
    return {name: load_model(path) for name in names}


def orders_of(text: str) -> tuple[int, ...]:
    """Orders as they are written: one, a range, or several.

    >>> orders_of("2"), orders_of("0..3"), orders_of("0,2,5")
    ((2,), (0, 1, 2, 3), (0, 2, 5))
    """
    between = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if between:
        return tuple(range(int(between[1]), int(between[2]) + 1))
    if re.fullmatch(r"\d+(,\d+)*", text):
        return tuple(int(part) for part in text.split(","))
    raise typer.BadParameter(f"expected an order, or some as in 0..5 or 0,2,5, found {text!r}", param_hint="--order")


CHANCES = {
    "forecasts": "n",
    "base_rate": "came\ntrue",
    "brier_score": "Brier",
    "log_loss": "log\nloss",
    "auc": "AUC",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "mcc": "MCC",
}
INTERVALS = {
    "forecasts": "n",
    "coverage": "hold",
    "mean_spread": "spread",
    "interval_score": "score",
    "rmse": "RMSE",
    "loss": "loss",
}
"""What fits a terminal of 80 columns; the page has the rest."""


def print_scores(scores: Mapping[str, Scores]) -> None:
    from rich.console import Console

    console = Console()
    for name, one in scores.items():
        at = "" if one.has_intervals else f"; yes from {one.threshold:g} on"
        console.print(f"{name}: {one.asked}{at}", highlight=False)
        console.print(_table(one))
        best = best_order(one)
        if best is not None:
            console.print(best, highlight=False)
        console.print()


def best_order(scores: Scores) -> str | None:
    """Which model has the best chances; the simplest of equals, nothing where there is no choice."""
    losses = [(card.tally.log_loss, card.order) for card in scores.models if card.tally.log_loss is not None]
    if scores.has_intervals or len(losses) < 2:
        return None
    return f"best by log loss: order {min(losses)[1]}"


def _table(scores: Scores) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    columns = INTERVALS if scores.has_intervals else CHANCES
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=0)
    table.add_column("", no_wrap=True)
    for told in columns.values():
        table.add_column(told, justify="right", vertical="bottom")
    for row in scores.to_table().to_pylist():
        table.add_row(row["name"], *(_cell(row[column]) for column in columns))
    return table


def _cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
