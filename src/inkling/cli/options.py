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


Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code a failure arose.")]
ProgramFile = Annotated[Path, typer.Argument(metavar="PROGRAM.ink", help="The program.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but mistakes.")]
Master = Annotated[str, typer.Option("--master", metavar="URL", help="Where Spark runs.")]
