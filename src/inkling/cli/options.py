"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.examples import NAMES
from inkling.physical.groups import Layout

if TYPE_CHECKING:
    from inkling.evaluators.sampling import Sampling


class Runner(Enum):
    """Where a program runs."""

    SPARK = "spark"
    LOCAL = "local"


class ModelKind(Enum):
    """How a model looks back."""

    TREE = "tree"
    FULL = "full"
    WEIGHTED = "weighted"


KindOfModel = Annotated[
    ModelKind,
    typer.Option(
        "--kind",
        metavar="tree|full|weighted",
        help="Variable-length context, fixed order, or a mixture of orders.",
    ),
]
RunnerChoice = Annotated[Runner, typer.Option("--runner", metavar="spark|local", help="On Spark, or in this process.")]
Events = Annotated[int, typer.Option(min=1, metavar="N", help="Rows of the main stream.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same data.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code a failure arose.")]
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
    list[str], typer.Option("--table", "-t", metavar="NAME=PATH", help="Facts of a table.", show_default=False)
]
Example = Annotated[str, typer.Argument(metavar="[NAME]", help=f"One of {', '.join(NAMES)}.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
LayoutChoice = Annotated[
    Layout | None,
    typer.Option(
        "--layout", metavar="key|pattern|both", help="How work is split across Spark tasks.", show_default=False
    ),
]
Master = Annotated[str, typer.Option("--master", metavar="URL", help="Where Spark runs.")]

_DOUBT = "Uncertain streams"

Epsilon = Annotated[
    float, typer.Option(metavar="E", help="Sampled probabilities are known to ± E.", rich_help_panel=_DOUBT)
]
Delta = Annotated[
    float,
    typer.Option(metavar="D", help="Chance that an estimate is off by more than epsilon.", rich_help_panel=_DOUBT),
]
WorldSeed = Annotated[
    int,
    typer.Option("--seed", min=0, metavar="N", help="The same seed samples the same worlds.", rich_help_panel=_DOUBT),
]
ExactUpTo = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Enumerate up to N possible worlds exactly, otherwise sample.", rich_help_panel=_DOUBT
    ),
]
Budget = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Undecided results may take N times as many worlds.", rich_help_panel=_DOUBT),
]


def sampling_of(
    epsilon: float = 0.01, delta: float = 0.01, seed: int = 0, exact_up_to: int = 1024, budget: int = 4
) -> Sampling:
    """The settings that options ask for; a value that makes no sense is a mistake of the command line."""
    from inkling.evaluators.sampling import Sampling

    try:
        return Sampling(epsilon, delta, seed, exact_up_to, budget)
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
