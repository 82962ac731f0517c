"""Options that several commands share, alone or in groups, so that they read the same everywhere.

Groups of options: a command takes a group as one parameter, and Typer sees the options in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from inkling.examples import NAMES
from inkling.physical.groups import Layout

if TYPE_CHECKING:
    from inkling.evaluators.sampling import Sampling


class OptionGroup:
    """The base of groups, which are dataclasses with a field per option."""


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups in its signature, which is where Typer looks for options."""
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

    SPARK = "spark"
    LOCAL = "local"


class ModelKind(Enum):
    """How a model uses the past."""

    TREE = "tree"
    FULL = "full"
    WEIGHTED = "weighted"


KindOfModel = Annotated[
    ModelKind,
    typer.Option(
        "--kind", metavar="tree|full|weighted", help="Variable-length context, fixed order, or a mixture of orders."
    ),
]
RunnerChoice = Annotated[
    Runner, typer.Option("--runner", metavar="spark|local", help="Run on Spark, or in this process without Java.")
]
Events = Annotated[int, typer.Option(min=1, metavar="N", help="Rows of the main stream.")]
Seed = Annotated[
    int, typer.Option(min=0, metavar="N", help="Seed of the generator; the same seed gives the same data.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]
ProgramFile = Annotated[
    Path,
    typer.Argument(
        metavar="PROGRAM.ink",
        help="The program, or rules of ETALIS (.ele), patterns of Wayeb (.sre) or queries of Lahar (.lahar).",
        show_default=False,
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
        show_default=False,
    ),
]
Tables = Annotated[
    list[str],
    typer.Option(
        "--table", "-t", metavar="NAME=PATH", help="Rows of a table: .csv, .jsonl or .parquet.", show_default=False
    ),
]
Example = Annotated[str, typer.Argument(metavar="[NAME]", help=f"One of {', '.join(NAMES)}.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
LayoutChoice = Annotated[
    Layout | None,
    typer.Option(
        "--layout", metavar="key|pattern|both", help="How work is split across Spark tasks.", show_default=False
    ),
]
Master = Annotated[
    str, typer.Option("--master", metavar="URL", help="Spark master, such as local[4] or spark://HOST:PORT.")
]
PythonFiles = Annotated[
    list[Path],
    typer.Option(
        "--python",
        metavar="FILE.py",
        help="Aggregates written in Python, imported before the program is read.",
        show_default=False,
    ),
]
FORMATS = ".jsonl, .csv, .parquet, a folder/, or - for JSON lines on stdout."
"""The help of options that say where rows are written."""


@dataclass(frozen=True)
class ProgramAndFiles(OptionGroup):
    """A program, and the files that it is run over."""

    program: ProgramFile
    inputs: Inputs
    tables: Tables = field(default_factory=list)
    python: PythonFiles = field(default_factory=list)


@dataclass(frozen=True)
class Place(OptionGroup):
    """Where a program runs."""

    runner: RunnerChoice = Runner.SPARK
    master: Master = "local[*]"

    def __str__(self) -> str:
        return "local" if self.runner is Runner.LOCAL else f"Spark ({self.master})"


_UNCERTAINTY = "Uncertain streams"

Epsilon = Annotated[
    float, typer.Option(metavar="E", help="Error bound of sampled probabilities.", rich_help_panel=_UNCERTAINTY)
]
Delta = Annotated[
    float,
    typer.Option(
        metavar="D", help="Chance that an estimate is off by more than epsilon.", rich_help_panel=_UNCERTAINTY
    ),
]
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
ExactUpTo = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Enumerate up to N possible worlds exactly, otherwise sample.",
        rich_help_panel=_UNCERTAINTY,
    ),
]
Budget = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Sample up to N times as many worlds for results near the CONFIDENCE threshold.",
        rich_help_panel=_UNCERTAINTY,
    ),
]


def sampling_of(
    epsilon: float = 0.01, delta: float = 0.01, seed: int = 0, exact_up_to: int = 1024, budget: int = 4
) -> Sampling:
    """The settings that options ask for; a value that makes no sense is an error in the command line."""
    from inkling.evaluators.sampling import Sampling

    try:
        return Sampling(epsilon, delta, seed, exact_up_to, budget)
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
