"""`inkling infer`: probable streams from raw readings and a model of movement and readers."""

from __future__ import annotations

import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli.failures import with_messages
from inkling.cli.messages import counted, counting
from inkling.cli.options import Debug, Quiet
from inkling.cli.outputs import check_output, write_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from inkling.infer import Model, Options
    from inkling.infer.estimates import Question

infer = typer.Typer(no_args_is_help=True, help="Make probable streams of raw readings.")

ReadingsPath = Annotated[
    Path, typer.Option("--readings", metavar="PATH", help="Rows of a key, a time and a reader.", show_default=False)
]
MovementPath = Annotated[
    Path, typer.Option("--movement", metavar="PATH", help="Rows of previous, state, p.", show_default=False)
]
SensorsPath = Annotated[
    Path, typer.Option("--sensors", metavar="PATH", help="Rows of reader, state, p.", show_default=False)
]
PriorPath = Annotated[
    Path | None,
    typer.Option("--prior", metavar="PATH", help="Rows of state, p; by default all are equal.", show_default=False),
]
Output = Annotated[
    str,
    typer.Option(
        "--out", "-o", metavar="PATH", help=".jsonl, .csv, .parquet, a folder/, or - for JSON lines on stdout."
    ),
]
Keys = Annotated[str, typer.Option("--key", metavar="COLUMN,…", help="Whose readings they are.")]
Time = Annotated[str, typer.Option("--time", metavar="COLUMN", help="When something was read.")]
Reader = Annotated[str, typer.Option("--reader", metavar="COLUMN", help="What read it.")]
State = Annotated[str, typer.Option("--state", metavar="COLUMN", help="What states are called in the result.")]
Every = Annotated[str, typer.Option("--every", metavar="LENGTH", help='A step: ticks, or such as "5 seconds".')]
Start = Annotated[str | None, typer.Option("--start", metavar="TIME", help="When all keys begin.", show_default=False)]
Stop = Annotated[str | None, typer.Option("--stop", metavar="TIME", help="When all keys end.", show_default=False)]
Nothing = Annotated[
    str | None,
    typer.Option("--nothing", metavar="STATE", help="The state that means not being there.", show_default=False),
]
Prune = Annotated[
    float, typer.Option("--prune", metavar="SHARE", help="How much of each distribution may be left out.")
]


class PathKind(Enum):
    """How one state per step is chosen."""

    VITERBI = "viterbi"
    MLE = "mle"


def _add_estimate(name: str, kind: str, about: str) -> None:
    """A command that gives the distribution of each step."""

    @infer.command(name, help=about)
    @with_messages
    def estimate(
        readings: ReadingsPath,
        movement: MovementPath,
        sensors: SensorsPath,
        out: Output,
        prior: PriorPath = None,
        key: Keys = "key",
        time: Time = "t",
        reader: Reader = "reader",
        state: State = "state",
        every: Every = "1",
        start: Start = None,
        stop: Stop = None,
        nothing: Nothing = None,
        prune: Prune = 0.0,
        quiet: Quiet = False,
        debug: Debug = False,
    ) -> None:
        options = _options(key, time, reader, state, every, start, stop)
        _run(readings, _question(_model(movement, sensors, prior, nothing), kind, options, prune), options, out, quiet)


_add_estimate("filter", "filtered", "Where each key is, by what was read up to each step: a stream with PROBABILITY p.")
_add_estimate(
    "smooth", "smoothed", "How each key moved, by all that was read: a stream with PROBABILITY p GIVEN previous."
)


@infer.command("path")
@with_messages
def path(
    readings: ReadingsPath,
    movement: MovementPath,
    sensors: SensorsPath,
    out: Output,
    prior: PriorPath = None,
    kind: Annotated[
        PathKind,
        typer.Option(metavar="viterbi|mle", help="The likeliest path, or the likeliest state of each step."),
    ] = PathKind.VITERBI,
    key: Keys = "key",
    time: Time = "t",
    reader: Reader = "reader",
    state: State = "state",
    every: Every = "1",
    start: Start = None,
    stop: Stop = None,
    nothing: Nothing = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """One state per step: a certain stream, to compare with."""
    chosen = "path" if kind is PathKind.VITERBI else "likeliest"
    options = _options(key, time, reader, state, every, start, stop)
    _run(readings, _question(_model(movement, sensors, prior, nothing), chosen, options), options, out, quiet)


@infer.command("particles")
@with_messages
def particles(
    readings: ReadingsPath,
    movement: MovementPath,
    sensors: SensorsPath,
    out: Output,
    prior: PriorPath = None,
    n: Annotated[int, typer.Option("--n", "-n", metavar="N", help="Particles per key.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed moves particles the same way.")] = 0,
    key: Keys = "key",
    time: Time = "t",
    reader: Reader = "reader",
    state: State = "state",
    every: Every = "1",
    start: Start = None,
    stop: Stop = None,
    nothing: Nothing = None,
    prune: Prune = 0.0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """What `filter` gives, estimated by particles."""
    from dataclasses import replace

    from inkling.infer.settings import require_particles

    require_particles(n, seed)
    options = _options(key, time, reader, state, every, start, stop)
    question = _question(_model(movement, sensors, prior, nothing), "particles", options, prune)
    _run(readings, replace(question, n_particles=n, seed=seed), options, out, quiet)


@infer.command("learn")
@with_messages
def learn(
    readings: ReadingsPath,
    movement: MovementPath,
    sensors: SensorsPath,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the tables of the model go.")],
    prior: PriorPath = None,
    rounds: Annotated[int, typer.Option(metavar="N", help="Rounds at most.")] = 20,
    key: Keys = "key",
    time: Time = "t",
    reader: Reader = "reader",
    every: Every = "1",
    start: Start = None,
    stop: Stop = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn chances of movement and readers from readings, beginning with those given."""
    from inkling.infer import learn as learned_from

    model = _model(movement, sensors, prior, None)
    options = _options(key, time, reader, "state", every, start, stop)
    with counting("learning", quiet=quiet) as progress:
        found = learned_from(readings, model, rounds=rounds, progress=progress, **options)
    out.mkdir(parents=True, exist_ok=True)
    for name, table in found.model.tables().items():
        write_rows(table, str(out / f"{name}.csv"))
    if not quiet:
        first, *_, last = found.log_likelihood
        done = counted(len(found.log_likelihood) - 1, "round")
        typer.echo(f"{done}: log-likelihood from {first:,.1f} to {last:,.1f}: {out}", err=True)


def _model(movement: Path, sensors: Path, prior: Path | None, nothing: str | None) -> Model:
    from inkling.infer import Model

    return Model.of(movement, sensors, prior, nothing=nothing)


def _options(key: str, time: str, reader: str, state: str, every: str, start: str | None, stop: str | None) -> Options:
    keys = [name.strip() for name in key.split(",")]
    return {"key": keys, "time": time, "reader": reader, "state": state, "every": every, "start": start, "stop": stop}


def _question(model: Model, kind: str, options: Options, prune: float = 0.0) -> Question:
    from inkling.infer.doors import names_of
    from inkling.infer.estimates import Kind, Question
    from inkling.infer.settings import require_share

    require_share(prune)
    return Question(model, Kind(kind), names_of(options), prune)


def _run(readings: Path, question: Question, options: Options, out: str, quiet: bool) -> None:
    from inkling.infer.doors import answered
    from inkling.io import read_table

    check_output(out)
    started = time.monotonic()
    rows = read_table(readings, what="readings")
    with counting("inferring", quiet=quiet) as progress:
        found = answered(rows, question, options, progress)
    write_rows(found, out, question.kind.value)
    if not quiet:
        typer.echo(_summary(rows, question, found, time.monotonic() - started), err=True)


def _summary(readings: pa.Table, question: Question, found: pa.Table, seconds: float) -> str:
    import pyarrow.compute as pc

    keys = found.group_by(list(question.names.key)).aggregate([])
    told = f"{counted(len(readings), 'reading')} of {counted(len(keys), 'key')}: {counted(len(found), 'row')}"
    if question.names.left_out in found.column_names and len(found):
        told += f", left out at most {pc.max(found[question.names.left_out]).as_py():.3g} of any key"
    return f"{told}, {seconds:.1f} s"
