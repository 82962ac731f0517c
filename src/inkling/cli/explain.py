"""`inkling explain`: what a program will do and why, before it does it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from inkling.cli.messages import print_diagnostics
from inkling.cli.options import Budget, Debug, Delta, Epsilon, ExactUpTo, ProgramFile, sampling_of
from inkling.query import load


class Stage(Enum):
    """How far along the way from text to answer."""

    LOGICAL = "logical"
    REWRITTEN = "rewritten"
    VERDICTS = "verdicts"
    PHYSICAL = "physical"
    ALL = "all"


def explain(
    program: ProgramFile,
    stage: Annotated[
        Stage, typer.Option("--stage", "-s", metavar="STAGE", help="logical, rewritten, verdicts, physical or all.")
    ] = Stage.ALL,
    epsilon: Epsilon = 0.01,
    delta: Delta = 0.01,
    exact_up_to: ExactUpTo = 1024,
    budget: Budget = 4,
    debug: Debug = False,
) -> None:
    """Print the plan of a program: what is asked, what is proved, and how it will run."""
    loaded = load(program)
    if loaded.warnings:
        print_diagnostics(loaded.warnings)
    sampling = sampling_of(epsilon, delta, exact_up_to=exact_up_to, budget=budget)
    typer.echo(loaded.explain(stage.value, sampling=sampling))
