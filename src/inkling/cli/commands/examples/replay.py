"""`inkling replay`: sends the rows of files to a folder or a topic at their original pace, or faster."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.execution import session
from inkling.cli.options import MASTER, Debug, Master, Quiet
from inkling.cli.terminal.failures import EXIT_INTERRUPTED, stopping_politely
from inkling.cli.terminal.messages import counted, counting, working
from inkling.masking import masked
from inkling.scenarios.recording import Recording


def replay(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Rows: CSV, JSON lines, Parquet, N-Quads or TriG.")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="PLACE",
            help="A folder, which `inkling stream` can read, or kafka://HOST:PORT/TOPIC?key=COLUMN.",
        ),
    ],
    time: Annotated[str, typer.Option("--time", metavar="COLUMN", help="Time column; a tick is a second.")],
    speed: Annotated[float, typer.Option(min=0, metavar="X", help="Speed factor; 0 is as fast as possible.")] = 60.0,
    every: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Send the rows of this many seconds together.")
    ] = 1.0,
    master: Master = MASTER,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Send the rows of files to a folder or a topic at their original pace, times a speed factor."""
    from inkling.scenarios.replay import replay as send
    from inkling.spark.streaming.addresses import address_of

    kind = address_of(to).kind
    if "://" in to and kind != "kafka":
        raise typer.BadParameter(f"--to must be a folder or kafka://HOST:PORT/TOPIC, found {masked(to)}")
    recording = Recording.of(files, time)
    place = _topic(recording, to, master, quiet=quiet, debug=debug) if kind else Path(to)
    with stopping_politely() as stop, counting("replaying", quiet=quiet) as progress:
        n_sent = send(recording, place, speed=speed, every=every, stopped=lambda: stop.wanted, progress=progress)
    if not quiet:
        left = len(recording.seconds) - n_sent
        rest = f", {counted(left, 'row')} left" if left else ""
        typer.echo(f"{masked(to)}: {counted(n_sent, 'row')} sent{rest}", err=True)
    if stop.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)


def _topic(recording: Recording, to: str, master: str, *, quiet: bool, debug: bool) -> Callable[[int, int], None]:
    """Sends rows as JSON messages, with the values of a column as keys if the address names one."""
    from inkling.spark.kafka.connector import kafka_settings
    from inkling.spark.kafka.messages import KEY, TopicWriter
    from inkling.spark.streaming.addresses import address_of

    address = address_of(to)
    key = address.options.get(KEY)
    next(recording.messages(0, 1, key), None)  # rejects an unknown column before Spark starts
    with working(quiet) as say:
        spark = session(master, debug=debug, say=say, config=kafka_settings())
    writer = TopicWriter.of(spark, address)
    return lambda first, stop: writer.send(recording.messages(first, stop, key))
