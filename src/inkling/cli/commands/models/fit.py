"""`inkling fit`: learns the models of the forecasts of a program from files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from inkling.cli import options as o
from inkling.cli.execution import decided, session_at
from inkling.cli.inputs import given_paths, load_program, resetting
from inkling.cli.terminal.messages import counted, working
from inkling.cli.terminal.retries import retrying
from inkling.errors import InputError
from inkling.whole_files import file_name

if TYPE_CHECKING:
    from inkling.forecasting.learning.learn import LearnedModels
    from inkling.forecasting.models.model import ForecastModel


def fit(
    asked: o.ProgramAndFiles,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Folder for the models; by default that of the program, where runs look for them.",
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="N|auto",
            help="Order of the model: the number of past events that it uses. auto chooses by log-loss on the latest "
            "rows. By default ORDER in the program, or 3.",
        ),
    ] = None,
    kind: o.KindOfModel = o.ModelKind.TREE,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Learn from rows up to this time only.")] = None,
    share: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Learn from this share of the rows only, the earliest ones.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Also learn a model for each value of this column.")
    ] = None,
    shrinkage: Annotated[
        float | None,
        typer.Option(
            metavar="EVENTS", help="Weight, in events, of the overall model in the model of one value; 20 by default."
        ),
    ] = None,
    models: Annotated[
        list[str], typer.Option("--model", "-m", metavar="NAME", help="Learn only this model; may be repeated.")
    ] = [],  # noqa: B006  (typer reads the default and never changes it)
    symbols: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Kinds of events for smoothing, including those that never occur."),
    ] = None,
    runner: o.RunnerOptions,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Learn the models of a program's forecasts from files."""
    from inkling.forecasting.learning.files import save_model
    from inkling.forecasting.learning.learn import learn
    from inkling.forecasting.learning.program import LearningProgram, learning_event, subjects_of
    from inkling.forecasting.learning.settings import FitSettings

    try:
        settings = FitSettings(
            order=_order(order), kind=kind.value, until=until, share=share, by=by, shrinkage=shrinkage, symbols=symbols
        )
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
    program = load_program(asked.program, asked.python, asked.declarations, asked.root, quiet=quiet)
    names = models or None
    wanted = [learning_event(subject, 0) for subject in subjects_of(program, names)]
    given = given_paths(LearningProgram.of(program, wanted), asked.inputs, asked.tables)
    program = resetting(program, given)
    folder = asked.program.parent if out is None else out
    _require_folder(folder)
    started = time.monotonic()
    runner = decided(runner, given, quiet=quiet)
    with working(quiet) as say:
        spark = session_at(runner, debug=debug, say=say)
        say("learning in this process" if spark is None else "learning on Spark")
        learned = retrying(lambda: learn(program, given.streams, given.tables, settings, spark=spark, names=names))
        saved = {
            name: save_model(model, folder / f"{file_name(name)}.parquet") for name, model in learned.models.items()
        }
    if not quiet:
        for line in _summary(learned, saved, folder):
            typer.echo(line, err=True)
        typer.echo(f"{time.monotonic() - started:.1f} s on {runner}", err=True)


def _order(text: str | None) -> int | Literal["auto"] | None:
    if text is None:
        return None
    if text == "auto":
        return "auto"
    if text.isdecimal():
        return int(text)
    raise typer.BadParameter(f"expected a number or auto, found {text!r}", param_hint="--order")


def _require_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError.of("INK0556", f"`{folder}` is a file, expected a folder for models")
    folder.mkdir(parents=True, exist_ok=True)


def _summary(learned: LearnedModels, saved: dict[str, ForecastModel], folder: Path) -> Iterator[str]:
    if learned.rejected:
        yield f"warning: {learned.rejected}; `inkling run` with `--rejects FILE` shows them"
    for name, model in saved.items():
        losses = learned.losses.get(name)
        if losses:
            yield f"{name}: bits per event on the latest rows, by order"
            for order, loss in losses.items():
                yield f"  {order}  {loss:.4f}{'  least' if order == model.learning.order else ''}"
        groups = len(model.counts.group)
        of_each = f", {counted(groups, 'group')}" if model.learning.shrinkage is not None else ""
        yield (
            f"{name}: {model.learning.kind}, order {model.learning.order}, "
            f"{counted(round(model.n_events), 'event')}{of_each}, version {model.version}: "
            f"{folder / file_name(name)}.parquet"
        )
