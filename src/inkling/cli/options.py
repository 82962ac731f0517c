"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Runner(Enum):
    """Where a program runs."""

    SPARK = "spark"
    LOCAL = "local"


RunnerChoice = Annotated[Runner, typer.Option("--runner", metavar="spark|local", help="On Spark, or in this process.")]
Events = Annotated[int, typer.Option(min=1, metavar="N", help="Rows of the main stream.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same data.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code a failure arose.")]
ProgramFile = Annotated[Path, typer.Argument(metavar="PROGRAM.ink", help="The program.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but mistakes.")]
Master = Annotated[str, typer.Option("--master", metavar="URL", help="Where Spark runs.")]
