"""`inkling infer`: probable streams from raw readings and a model of movement and readers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli.options import FORMATS, Debug, OptionGroup, Quiet, with_groups
from inkling.cli.outputs import check_output, write_rows
from inkling.cli.terminal.failures import with_messages
from inkling.cli.terminal.messages import counted, counting

if TYPE_CHECKING:
    import pyarrow as pa

    from inkling.infer import Model, Options
    from inkling.infer.estimates import InferenceTask

infer = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Infer probabilistic streams from raw sensor readings."
)


@dataclass(frozen=True)
class ModelOptions(OptionGroup):
    """The readings, and the model of movement and sensors."""

    readings: Annotated[
        Path, typer.Option("--readings", metavar="PATH", help="Readings: rows of key, time and reader.")
    ]
    movement: Annotated[
        Path, typer.Option("--movement", metavar="PATH", help="Transition probabilities: rows of previous, state, p.")
    ]
    sensors: Annotated[Path, typer.Option("--sensors", metavar="PATH", help="Sensor model: rows of reader, state, p.")]
    prior: Annotated[
        Path | None, typer.Option("--prior", metavar="PATH", help="Prior: rows of state, p; uniform by default.")
    ] = None

    def model(self, nothing: str | None = None) -> Model:
        from inkling.infer import Model

        return Model.of(self.movement, self.sensors, self.prior, nothing=nothing)


@dataclass(frozen=True)
class StepOptions(OptionGroup):
    """The columns of readings, and the steps into which time is divided."""

    key: Annotated[
        str, typer.Option("--key", metavar="COLUMN,…", help="Columns that identify the object that a reading is about.")
    ] = "key"
    time: Annotated[str, typer.Option("--time", metavar="COLUMN", help="Column with the time of a reading.")] = "t"
    reader: Annotated[str, typer.Option("--reader", metavar="COLUMN", help="Column with the name of the reader.")] = (
        "reader"
    )
    every: Annotated[
        str,
        typer.Option(
            "--every", metavar="LENGTH", help='Length of a step: a number of ticks, or a time such as "5 seconds".'
        ),
    ] = "1"
    start: Annotated[str | None, typer.Option("--start", metavar="TIME", help="First step of all keys.")] = None
    stop: Annotated[str | None, typer.Option("--stop", metavar="TIME", help="Last step of all keys.")] = None

    def options(self, state: str = "state") -> Options:
        keys = [name.strip() for name in self.key.split(",")]
        return {
            "key": keys,
            "time": self.time,
            "reader": self.reader,
            "state": state,
            "every": self.every,
            "start": self.start,
            "stop": self.stop,
        }


@dataclass(frozen=True)
class OutputOptions(OptionGroup):
    """The output of inferred rows, and the name of its state column."""

    out: Annotated[str, typer.Option("--out", "-o", metavar="PATH", help=FORMATS)]
    state: Annotated[str, typer.Option("--state", metavar="COLUMN", help="Name of the state column in the output.")] = (
        "state"
    )
    nothing: Annotated[str | None, typer.Option("--nothing", metavar="STATE", help="State that means absence.")] = None


Prune = Annotated[
    float, typer.Option("--prune", metavar="SHARE", help="Probability mass that may be dropped from each distribution.")
]


class PathKind(Enum):
    """How one state per step is chosen."""

    VITERBI = "viterbi"
    MLE = "mle"


Command = Callable[..., None]


def _command(name: str, about: str | None = None) -> Callable[[Command], Command]:
    """Adds a command of this name."""
    return lambda command: infer.command(name, help=about)(with_messages(with_groups(command)))


def _add_estimate(name: str, kind: str, about: str) -> None:
    """A command that gives the distribution of each step."""

    @_command(name, about)
    def estimate(
        sources: ModelOptions,
        output: OutputOptions,
        steps: StepOptions,
        prune: Prune = 0.0,
        quiet: Quiet = False,
        debug: Debug = False,
    ) -> None:
        _run(sources, output, steps, kind, prune=prune, quiet=quiet)


_add_estimate(
    "filter",
    "filtered",
    "Filter: the distribution of each step given the readings up to it, as a stream with PROBABILITY p.",
)
_add_estimate(
    "smooth",
    "smoothed",
    "Smooth: the distribution of each step given all readings, as a stream with PROBABILITY p GIVEN previous.",
)


@_command("path")
def path(
    sources: ModelOptions,
    output: OutputOptions,
    steps: StepOptions,
    kind: Annotated[
        PathKind,
        typer.Option(metavar="viterbi|mle", help="The most likely path, or the most likely state of each step."),
    ] = PathKind.VITERBI,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Decode one state per step: a deterministic stream, as a baseline."""
    _run(sources, output, steps, "path" if kind is PathKind.VITERBI else "likeliest", quiet=quiet)


@_command("particles")
def particles(
    sources: ModelOptions,
    output: OutputOptions,
    steps: StepOptions,
    n: Annotated[int, typer.Option("--n", "-n", metavar="N", help="Particles per key.")] = 1000,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the particles; the same seed gives the same estimates.")
    ] = 0,
    prune: Prune = 0.0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Filter with particles instead of exact sums."""
    from inkling.infer.settings import require_particles

    require_particles(n, seed)
    _run(sources, output, steps, "particles", prune=prune, quiet=quiet, n_particles=n, seed=seed)


@_command("learn")
def learn(
    sources: ModelOptions,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the tables of the model.")],
    steps: StepOptions,
    rounds: Annotated[int, typer.Option(metavar="N", help="Maximum number of iterations.")] = 20,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn the transition and sensor probabilities from readings, starting from the given ones."""
    from inkling.infer import learn as learned_from

    with counting("learning", quiet=quiet) as progress:
        found = learned_from(sources.readings, sources.model(), rounds=rounds, progress=progress, **steps.options())
    out.mkdir(parents=True, exist_ok=True)
    for name, table in found.model.tables().items():
        write_rows(table, str(out / f"{name}.csv"))
    if not quiet:
        first, *_, last = found.log_likelihood
        done = counted(len(found.log_likelihood) - 1, "round")
        typer.echo(f"{done}: log-likelihood from {first:,.1f} to {last:,.1f}: {out}", err=True)


def _run(
    sources: ModelOptions,
    output: OutputOptions,
    steps: StepOptions,
    kind: str,
    *,
    quiet: bool,
    prune: float = 0.0,
    n_particles: int | None = None,
    seed: int = 0,
) -> None:
    """Infers the states of all steps and writes them."""
    from inkling.infer.estimates import EstimateKind, InferenceTask
    from inkling.infer.functions import answered, names_of
    from inkling.infer.settings import require_share
    from inkling.io import read_table

    options, model = steps.options(output.state), sources.model(output.nothing)
    require_share(prune)
    question = InferenceTask(model, EstimateKind(kind), names_of(options), prune)
    if n_particles is not None:
        question = replace(question, n_particles=n_particles, seed=seed)
    check_output(output.out)
    started = time.monotonic()
    rows = read_table(sources.readings, what="readings")
    with counting("inferring", quiet=quiet) as progress:
        found = answered(rows, question, options, progress)
    write_rows(found, output.out, question.kind.value)
    if not quiet:
        typer.echo(_summary(rows, question, found, time.monotonic() - started), err=True)


def _summary(readings: pa.Table, question: InferenceTask, found: pa.Table, seconds: float) -> str:
    import pyarrow.compute as pc

    keys = found.group_by(list(question.names.key)).aggregate([])
    summary = f"{counted(len(readings), 'reading')} of {counted(len(keys), 'key')}: {counted(len(found), 'row')}"
    if question.names.left_out in found.column_names and len(found):
        summary += f", left out at most {pc.max(found[question.names.left_out]).as_py():.3g} of any key"
    return f"{summary}, {seconds:.1f} s"
