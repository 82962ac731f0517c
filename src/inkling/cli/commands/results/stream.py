"""`inkling stream`: the results of a program over streams, until it is stopped."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from enum import Enum
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli import options as o
from inkling.cli.execution import session
from inkling.cli.inputs import given_addresses, load_program, recognizing
from inkling.cli.terminal.failures import EXIT_ERROR, EXIT_INTERRUPTED, StopRequest, diagnostics_of, stopping_politely
from inkling.cli.terminal.live_line import ProgressView, live_line, withdrawn_note
from inkling.cli.terminal.messages import counted, log_as_json, note, print_diagnostics, working
from inkling.cli.terminal.retries import OF_RUNS, OF_STREAMS, Retries
from inkling.forecasting.adaptation.online import OnlineLearning, every_of
from inkling.masking import masked
from inkling.model.time import Clock
from inkling.query import Program, load
from inkling.spark.streaming.places import place_of
from inkling.spark.streaming.settings import StreamSettings

if TYPE_CHECKING:
    from inkling.spark.streaming.metrics import StreamMetrics
    from inkling.spark.streaming.progress import BatchProgress
    from inkling.spark.streaming.query import LiveQuery

SECONDS_TO_ANSWER = 5.0
USUAL_SETTINGS, USUAL_LEARNING = StreamSettings(), OnlineLearning()
"""The defaults of the options that set one of their fields."""


class LogFormat(Enum):
    """What is printed on stderr."""

    TEXT = "text"
    JSON = "json"


def _print_health(place: str | None) -> None:
    """Ask a running stream for its health, and exit with 0 if it is healthy, otherwise with 1."""
    if place is None:
        return
    address = place_of(place)
    if address is None:
        raise typer.BadParameter(f"expected :PORT or HOST:PORT, found {place}", param_hint="--health")
    connection = HTTPConnection(address[0] or "127.0.0.1", address[1], timeout=SECONDS_TO_ANSWER)
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        typer.echo(answer.read().decode(errors="replace"))
        is_healthy = answer.status == 200
    except OSError as problem:
        typer.echo(f"no answer at {place}: {problem.strerror or problem}", err=True)
        is_healthy = False
    finally:
        connection.close()
    raise typer.Exit(0 if is_healthy else EXIT_ERROR)


def stream(
    *,
    program: o.ProgramFile,
    inputs: Annotated[
        list[str],
        typer.Option(
            "--input",
            "-i",
            metavar="NAME=SOURCE",
            help="A stream: a folder in which files appear, kafka://HOST:PORT/TOPIC, table://NAME or "
            "rate://ROWS-PER-SECOND; options after ?, as in incoming?format=csv.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="SINK",
            help="A folder, also with ?format=json or csv, or ?keep=current for tables of currently valid matches; "
            "table://PREFIX, kafka://HOST:PORT/TOPIC, postgresql://USER:PASSWORD@HOST:PORT/DATABASE, "
            "or - for JSON lines on stdout.",
        ),
    ],
    tables: o.Tables = [],  # noqa: B006  (typer reads the default and never changes it)
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for offsets and state, where later runs resume; by default _checkpoint in the output folder.",
        ),
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help='Time between micro-batches, such as "5 seconds"; by default as soon as the last one is done.',
        ),
    ] = None,
    available_now: Annotated[
        bool,
        typer.Option(
            "--available-now", help="Process the rows that are available now, then stop; the next run resumes there."
        ),
    ] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="Process available data, resolve pending matches, stop.")
    ] = False,
    idle_after: Annotated[
        float,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop waiting for a stream after this many silent seconds; 0 waits forever."
        ),
    ] = USUAL_SETTINGS.idle_after or 0,
    buckets: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of partitions of keys; 4 per core by default.")
    ] = None,
    ahead: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help='How far in the future a row may be, such as "2 HOURS", in place of what streams declare; '
            "none accepts every time.",
        ),
    ] = None,
    unbounded: Annotated[
        bool, typer.Option("--unbounded", help="Allow state without an upper limit, for streams that end.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch/--no-watch", help="Reload the program and its tables when their files change.")
    ] = True,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Serve metrics for Prometheus at :PORT or HOST:PORT, with /health; "
            "or append those of every micro-batch to a file, numbers.jsonl.",
        ),
    ] = None,
    health: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            is_eager=True,
            callback=_print_health,
            help="Ask the stream that serves metrics at :PORT for its health, and exit with 0 or 1.",
        ),
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option("--log", metavar="text|json", help="Progress and messages as text, or as JSON lines.")
    ] = LogFormat.TEXT,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Messages that change settings of forecasts: a CSV or JSON file that grows, or "
            "kafka://HOST:PORT/TOPIC.",
        ),
    ] = None,
    learn: Annotated[
        str | None,
        typer.Option(
            metavar="EVERY",
            help='Keep learning forecast models, with a new version every N events, or every "10 minutes"; '
            '"never" only measures drift.',
        ),
    ] = None,
    forget: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Weight of the old counts in a new version of a model; 1 keeps them all.",
        ),
    ] = USUAL_LEARNING.forget,
    alarm: Annotated[
        float,
        typer.Option(
            metavar="BITS",
            min=0,
            help="Report drift if the log-loss exceeds that on training data by this many bits per event.",
        ),
    ] = USUAL_LEARNING.alarm,
    master: o.Master = o.MASTER,
    memory: o.Memory = None,
    precision: o.PrecisionOptions,
    seed: o.WorldSeed = o.SEED,
    python: o.PythonFiles = [],  # noqa: B006
    declarations: o.Declarations = None,
    root: o.Root = None,
    hidden: o.Hidden = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Run a program over streams until it is stopped with Ctrl-C."""
    if log_format is LogFormat.JSON:
        log_as_json()
        quiet = False
    sampling = precision.sampling(seed)
    served = None if metrics is None else place_of(metrics)
    loaded = load_program(program, python, declarations, root, quiet=quiet)
    given = given_addresses(loaded, inputs, tables)
    loaded = recognizing(loaded, given.tables, quiet=quiet)
    loaded = loaded.with_hidden() if hidden else loaded
    place = checkpoint or _checkpoint_of(output)
    now = available_now or finish
    if now and trigger is not None:
        raise typer.BadParameter("--trigger runs forever, --available-now and --finish stop: give one of them")
    settings = StreamSettings(
        trigger=trigger,
        available_now=now,
        idle_after=idle_after or None,
        buckets=buckets,
        ahead=ahead,
        unbounded=unbounded,
        control=control,
        on_rejected=lambda rejected: note(str(rejected)),
        on_steered=lambda text: None if quiet else note(text),
    )
    learning = None if learn is None else OnlineLearning(every_of(learn), forget=forget, alarm=alarm)
    loaded.require_streamable(unbounded=unbounded, sampling=sampling)
    with working(quiet) as say:
        config = _settings([*given.streams.values(), output, control or ""])
        spark = session(master, debug=debug, say=say, config=config)
        say("starting the stream")

    def start() -> LiveQuery:
        query = loaded.stream(
            spark,
            given.streams,
            given.tables,
            checkpoint=place,
            to=output,
            settings=settings,
            sampling=sampling,
            learn=learning,
        )
        if query.changes and not quiet:
            note(f"{program.name} has changed since the last run; {query.changes}")
        return query

    last: BatchProgress | None = None
    file = Path(metrics) if metrics is not None and served is None else None
    with _serving(served) as numbers, stopping_politely() as stop:
        retries = Retries(OF_RUNS, lambda: not stop.wanted)  # a wrong address is reported at once
        while True:
            try:
                with stop.not_waiting():
                    query = start()
                retries.codes = OF_STREAMS
                watching = (
                    _watching(query, program, loaded, given.tables, hidden=hidden)
                    if watch and not now
                    else nullcontext()
                )
                as_json = log_format is LogFormat.JSON
                with live_line(query.clock, quiet=quiet, metrics=file, as_json=as_json) as show, watching:
                    for progress in _followed(query, show, stop, finish=finish):
                        last = progress
                        retries.progressed()
                        numbers.take(progress, has_timestamps=query.clock is Clock.TIMESTAMP)
                break
            except Exception as problem:
                numbers.stopped(diagnostics_of(problem)[0].message)
                if not retries.pause_after(problem):
                    raise
        if not quiet:
            for line in _summary(last):
                note(line)
            if not finish:
                note(f"the same command resumes from here; its checkpoint is {masked(place)}")
    if stop.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)


@contextmanager
def _serving(place: tuple[str, int] | None) -> Iterator[StreamMetrics | NoMetrics]:
    """The metrics of the stream, served while the context lasts if there is a place for it."""
    if place is None:
        yield NoMetrics()
        return
    from inkling.spark.streaming.metrics import StreamMetrics, serve

    metrics = StreamMetrics()
    port, end = serve(metrics, *place)
    note(f"metrics at http://{place[0] or 'localhost'}:{port}/metrics")
    try:
        yield metrics
    finally:
        end()


class NoMetrics:
    """Takes the progress of a stream whose metrics nobody asked for."""

    def take(self, progress: BatchProgress, *, has_timestamps: bool = True) -> None: ...
    def stopped(self, reason: str) -> None: ...


def _followed(query: LiveQuery, show: ProgressView, stop: StopRequest, *, finish: bool) -> Iterator[BatchProgress]:
    """Shows the progress of each micro-batch until the end."""
    last = -1

    def latest() -> Iterator[BatchProgress]:
        nonlocal last
        for progress in query.progress_after(last):
            show(progress)
            last = progress.batch
            yield progress

    try:
        while not stop.wanted and not query.await_end(1):
            yield from latest()
        if finish and not stop.wanted:
            yield from latest()
            query.finish()
    finally:
        with _saying_that_it_stops(stop):
            query.stop()
    yield from latest()


@contextmanager
def _saying_that_it_stops(stop: StopRequest) -> Iterator[None]:
    """Answers Ctrl-C while Spark takes longer than a second to stop."""
    timer = threading.Timer(1, note, ["stopping the stream; Ctrl-C again ends it at once, and the next run resumes"])
    if stop.wanted:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _watching(
    query: LiveQuery, path: Path, loaded: Program, tables: Mapping[str, Path], *, hidden: bool
) -> Iterator[None]:
    """Watches the files of the program: a changed program replaces the running one if it is valid."""
    from inkling.spark.streaming.watch import Watcher, files_of

    def report_rejection(problem: Exception) -> None:
        print_diagnostics(diagnostics_of(problem))
        note(f"{path.name} is not used; the running program continues")

    def changed() -> Program:
        program = load(path, root=loaded.files.root)
        return program.with_hidden() if hidden else program

    watcher = Watcher(
        query,
        changed,
        lambda program: files_of(path, program, tables),
        lambda changes: note(f"{path.name} has changed; {changes}"),
        report_rejection,
        loaded,
    )
    watcher.start()
    try:
        yield
    finally:
        watcher.stop()


def _summary(last: BatchProgress | None) -> Iterable[str]:
    if last is None:
        yield "no rows arrived"
        return
    widest = max(map(len, last.matches), default=0)
    for name, n in last.matches.items():
        yield f"{name:<{widest}}  {counted(n, 'result')}{withdrawn_note(last, name)}"
    summary = [f"{counted(last.total_rows, 'row')} read"]
    ahead = f" ({last.ahead:,} too far ahead)" if last.ahead else ""
    summary += [f"{counted(last.rejects, 'row')} rejected{ahead}"] if last.rejects else []
    summary += [f"{counted(last.late, 'row')} too late"] if last.late else []
    yield ", ".join(summary)


def _settings(addresses: Iterable[str]) -> Mapping[str, str]:
    """The Spark configuration that these sources and sinks need."""
    if not any(address.startswith("kafka://") for address in addresses):
        return {}
    from inkling.spark.kafka.connector import kafka_settings

    return kafka_settings()


def _checkpoint_of(output: str) -> str:
    """The checkpoint inside the folder of results; Spark skips names with an underscore when it reads results."""
    from inkling.spark.streaming.addresses import address_of

    if output == "-":
        return tempfile.mkdtemp(prefix="inkling-")
    address = address_of(output)
    if address.kind:
        raise typer.BadParameter(f"--checkpoint must be given for {address.text}")
    return f"{address.place.rstrip('/')}/_checkpoint"
