"""The options that several commands share, each declared once with its help and its default.

Options that belong together are a group, a dataclass with a field per option. A command takes a group as one parameter;
`with_groups` shows Typer the options in it:

    def run(asked: ProgramAndFiles, runner: RunnerOptions, quiet: Quiet = False) -> None: ...

is `inkling run PROGRAM.ink --input … --table … --python … --runner … --master … --quiet`.
"""

import functools
import os
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from inkling.evaluators.memory import VARIABLE
from inkling.evaluators.sampling import Sampling
from inkling.examples import NAMES
from inkling.machine import bytes_of
from inkling.physical.groups import TaskLayout

USUAL = Sampling()
"""The defaults of the options about sampling."""

SEED = USUAL.seed
MASTER = "local[*]"


class OptionGroup:
    """The base class of groups of options, which are dataclasses with a field per option."""


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups as parameters, because Typer reads options from the signature."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, OptionGroup)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            parameters += _parameters(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def flat(**options: Any) -> None:
        given = {
            name: group(**{field.name: options.pop(field.name) for field in _fields(group)})
            for name, group in groups.items()
        }
        command(**options, **given)

    flat.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return flat


def _parameters(group: type[OptionGroup]) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name])
        for field in _fields(group)
    ]


def _fields(group: type[OptionGroup]) -> tuple[Field[Any], ...]:
    return fields(group)  # type: ignore[arg-type]


def _default(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default


class Runner(Enum):
    """Where a program runs."""

    AUTO = "auto"
    LOCAL = "local"
    SPARK = "spark"


class ModelKind(Enum):
    """How a model uses the past."""

    TREE = "tree"
    FULL = "full"
    WEIGHTED = "weighted"
    WAYEB = "wayeb"


KindOfModel = Annotated[
    ModelKind,
    typer.Option(
        "--kind",
        metavar="tree|full|weighted|wayeb",
        help="Variable-length context, fixed order, a mixture of orders, or as the public Wayeb engine.",
    ),
]
RunnerChoice = Annotated[
    Runner,
    typer.Option(
        "--runner",
        metavar="auto|local|spark",
        help="Run in this process, or on Spark. auto runs small files here, and large ones or a --master on Spark.",
    ),
]
Events = Annotated[int, typer.Option(min=1, metavar="N", help="Rows of the main stream.")]
DataSeed = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="Seed of the generator; the same seed gives the same data.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]
ProgramFile = Annotated[
    Path,
    typer.Argument(
        metavar="PROGRAM.ink",
        help="The program: `.ink`, or `.ele` (ETALIS), `.epsparql` (EP-SPARQL), `.sre` (Wayeb), `.lahar` (Lahar),"
        " `.sase` (SASE).",
    ),
]
Inputs = Annotated[
    list[str],
    typer.Option(
        "--input",
        "-i",
        metavar="NAME=PATH",
        help="Rows of a stream: .csv, .jsonl, .parquet or a folder of them. "
        "A folder without NAME= holds one file per stream.",
    ),
]
Tables = Annotated[
    list[str], typer.Option("--table", "-t", metavar="NAME=PATH", help="Rows of a table: .csv, .jsonl or .parquet.")
]
Example = Annotated[str, typer.Argument(metavar="[NAME]", help=f"One of {', '.join(NAMES)}.")]
Hidden = Annotated[bool, typer.Option("--hidden", help="Also write the results of hidden events.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
LayoutChoice = Annotated[
    TaskLayout | None,
    typer.Option("--layout", metavar="key|pattern|both", help="How work is split across Spark tasks."),
]
Master = Annotated[
    str, typer.Option("--master", metavar="URL", help="Spark master, such as local[4] or spark://HOST:PORT.")
]
ChosenMaster = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", show_default=MASTER, help="Spark master, such as local[4] or spark://HOST:PORT."
    ),
]


def _limit_memory(text: str | None) -> str | None:
    """Limit the memory of this process, and of the workers that it starts."""
    if text is not None:
        try:
            os.environ[VARIABLE] = str(bytes_of(text))
        except ValueError:
            raise typer.BadParameter(f"expected a size such as 4GB, found {text!r}", param_hint="--memory") from None
    return text


Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        callback=_limit_memory,
        help="Memory for partial matches, such as 4GB; by default 75 % of the machine. "
        "An event that needs more ends the run with a message.",
    ),
]
PythonFiles = Annotated[
    list[Path],
    typer.Option(
        "--python", metavar="FILE.py", help="Aggregates written in Python, imported before the program is read."
    ),
]
FORMATS = (
    ".jsonl, .csv (?formulas=escape guards spreadsheets), .parquet, .nt, .ttl (RDF), a folder/, or - for JSON lines on"
    " stdout."
)
"""The help of options that say where rows are written."""


Root = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Confine what the program may read: its own file, those of its tables, of --python and --declarations.",
    ),
]
Declarations = Annotated[
    Path | None,
    typer.Option("--declarations", metavar="FILE.sre", help="Declarations of Wayeb patterns: features for forecasts."),
]


@dataclass(frozen=True)
class ProgramAndFiles(OptionGroup):
    """A program, and the files that it is run over."""

    program: ProgramFile
    inputs: Inputs
    tables: Tables = field(default_factory=list)
    python: PythonFiles = field(default_factory=list)
    declarations: Declarations = None
    root: Root = None


@dataclass(frozen=True)
class RunnerOptions(OptionGroup):
    """Where a program runs."""

    runner: RunnerChoice = Runner.AUTO
    master: ChosenMaster = None
    memory: Memory = None

    def __str__(self) -> str:
        return "local" if self.runner is Runner.LOCAL else f"Spark ({self.master})"


_UNCERTAINTY = "Uncertain streams"

WorldSeed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Seed of the sampler; the same seed gives the same estimates.",
        rich_help_panel=_UNCERTAINTY,
    ),
]


@dataclass(frozen=True)
class PrecisionOptions(OptionGroup):
    """How precise sampled probabilities are."""

    epsilon: Annotated[
        float, typer.Option(metavar="E", help="Error bound of sampled probabilities.", rich_help_panel=_UNCERTAINTY)
    ] = USUAL.epsilon
    delta: Annotated[
        float,
        typer.Option(
            metavar="D", help="Chance that an estimate is off by more than epsilon.", rich_help_panel=_UNCERTAINTY
        ),
    ] = USUAL.delta

    def sampling(self, seed: int = SEED) -> Sampling:
        """The settings of a run; a value outside its range is an error in the command line."""
        try:
            return Sampling(seed=seed, **{field.name: getattr(self, field.name) for field in fields(self)})
        except ValueError as problem:
            raise typer.BadParameter(str(problem)) from None


@dataclass(frozen=True)
class SamplingOptions(PrecisionOptions):
    """How precise sampled probabilities are, and when worlds are sampled at all."""

    exact_up_to: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Enumerate up to N possible worlds exactly, otherwise sample.",
            rich_help_panel=_UNCERTAINTY,
        ),
    ] = USUAL.exact_up_to
    budget: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Sample up to N times as many worlds for results near the CONFIDENCE threshold.",
            rich_help_panel=_UNCERTAINTY,
        ),
    ] = USUAL.budget
