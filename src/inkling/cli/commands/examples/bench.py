"""`inkling bench`: how fast an example runs on this machine."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.commands.examples.data import example_program, infer_streams, learn_models, n_events, require_scenario
from inkling.cli.execution import execute
from inkling.cli.inputs import given_paths
from inkling.cli.options import SEED, DataSeed, Debug, Example, RunnerOptions
from inkling.cli.terminal.messages import counting
from inkling.query import load

USUAL_EVENTS = 1_000_000


def bench(
    *,
    name: Example = "fleet",
    events: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Rows of the main stream.", show_default="1000000; fewer for some"),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Number of runs; the first one also compiles.")] = 3,
    seed: DataSeed = SEED,
    runner: RunnerOptions,
    debug: Debug = False,
) -> None:
    """Time the runs of an example, one line per run."""
    require_scenario(name)
    from inkling.scenarios import write

    program = load(example_program(name))
    with tempfile.TemporaryDirectory(prefix="inkling-bench-") as scratch:
        with counting(f"generating {name}", quiet=False) as progress:
            write(name, Path(scratch), events=n_events(name, events, USUAL_EVENTS), seed=seed, progress=progress)
        infer_streams(Path(scratch), lambda _: None)
        learn_models(program, Path(scratch), lambda _: None)
        given = given_paths(program, [scratch], [])
        for number in range(1, repeat + 1):
            found = execute(program, given, runner, debug=debug)
            rows = sum(found.results.input_rows.values())
            matches = sum(table.num_rows for table in found.tables.values())
            typer.echo(
                f"{name} run {number} on {found.runner}, seed {seed}: {rows:,} rows, {matches:,} results, "
                f"{found.seconds:.2f} s, {rows / found.seconds:,.0f} rows/s"
            )
