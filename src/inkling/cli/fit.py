"""`inkling fit`: the models that the forecasts of a program read, learned from files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from inkling.cli import options as o
from inkling.cli.execution import session
from inkling.cli.inputs import given_paths
from inkling.cli.messages import counted, working
from inkling.cli.programs import PythonFiles, load_program
from inkling.errors import InputError

if TYPE_CHECKING:
    from inkling.fitting.learn import Learned
    from inkling.markov.model import Model


def fit(
    program: o.ProgramFile,
    inputs: o.Inputs,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Where the models go; by default beside the program, where runs look for them.",
            show_default=False,
        ),
    ] = None,
    tables: o.Tables = [],  # noqa: B006  (typer reads the default and never changes it)
    order: Annotated[
        str | None,
        typer.Option(
            metavar="N|auto",
            help="How many events a model looks back; auto tries which does best on the latest rows. "
            "By default what the program says, or 3.",
            show_default=False,
        ),
    ] = None,
    kind: o.KindOfModel = o.ModelKind.TREE,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Learn from rows up to this time only.", show_default=False),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Learn from this share of the rows only, the earliest.", show_default=False),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Learn a model for each value of it too.", show_default=False),
    ] = None,
    shrinkage: Annotated[
        float | None,
        typer.Option(
            metavar="EVENTS",
            help="How many events the model of all weighs in the model of one value; 20 by default.",
            show_default=False,
        ),
    ] = None,
    models: Annotated[
        list[str],
        typer.Option("--model", "-m", metavar="NAME", help="A model, if not all of them.", show_default=False),
    ] = [],  # noqa: B006
    runner: o.RunnerChoice = o.Runner.SPARK,
    master: o.Master = "local[*]",
    python: PythonFiles = [],  # noqa: B006
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Learn the models of a program's forecasts from files."""
    from inkling.fitting.files import save_model
    from inkling.fitting.learn import learn
    from inkling.fitting.program import LearningProgram, learning_event, subjects_of
    from inkling.fitting.settings import FitSettings

    try:
        settings = FitSettings(_order(order), kind.value, until, share, by, shrinkage=shrinkage)
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
    loaded = load_program(program, python, quiet=quiet)
    names = models or None
    wanted = [learning_event(subject, 0) for subject in subjects_of(loaded, names)]
    given = given_paths(LearningProgram.of(loaded, wanted), inputs, tables)
    folder = program.parent if out is None else out
    _require_folder(folder)
    started = time.monotonic()
    with working(quiet) as say:
        spark = None if runner is o.Runner.LOCAL else session(master, debug=debug, say=say)
        say("learning in this process" if spark is None else "learning on Spark")
        learned = learn(loaded, given.streams, given.tables, settings, spark=spark, names=names)
        saved = {name: save_model(model, folder / f"{name}.parquet") for name, model in learned.models.items()}
    if not quiet:
        for line in _summary(learned, saved, folder):
            typer.echo(line, err=True)
        where = "local" if runner is o.Runner.LOCAL else f"Spark ({master})"
        typer.echo(f"{time.monotonic() - started:.1f} s on {where}", err=True)


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


def _summary(learned: Learned, saved: dict[str, Model], folder: Path) -> Iterator[str]:
    if learned.refused:
        yield f"warning: {learned.refused}; `inkling run` with `--rejects FILE` shows them"
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
            f"{counted(round(model.n_events), 'event')}{of_each}, version {model.version}: {folder / name}.parquet"
        )
