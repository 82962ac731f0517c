"""A program from text to answer: parse, bind, rewrite, analyze, plan, run.

>>> program = parse('''
...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
... ''')
>>> rows = [{"person": "ada", "room": "lab", "t": 1}, {"person": "bob", "room": "hall", "t": 2}]
>>> program.run_local(rows)["visit"]["person"].to_pylist()
['ada']
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from inkling import language
from inkling.analysis.inputs import inputs_by_stream, only_event, only_stream, require_inputs
from inkling.errors import Diagnostic, InputError, ProgramError
from inkling.language import sre, syntax
from inkling.language.build.events import Builder
from inkling.language.build.streams import StatementBuilder
from inkling.logical import bind
from inkling.logical.plan import ProgramPlan, retracted_outputs
from inkling.logical.printing.explain import explain as explain_logical
from inkling.logical.rewrites.in_worlds import uncertain_events
from inkling.logical.rewrites.rules import Rewritten, rewrite
from inkling.model.time import Clock
from inkling.physical.checks import require_bounded, require_forecastable
from inkling.physical.graph.agents import network_of, network_text
from inkling.physical.graph.svg import network_svg
from inkling.physical.groups import TaskLayout, layout_of
from inkling.physical.growth import growth_warnings
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program
from inkling.physical.printing.explain import explain_physical
from inkling.physical.printing.verdicts import Looks, explain_verdicts
from inkling.program_files import ProgramFiles, require_inside
from inkling.shown import ShownInNotebooks
from inkling.source import SourceText

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from inkling.evaluators.protocol import OnWorlds
    from inkling.evaluators.sampling import Sampling
    from inkling.forecasting.adaptation.online import OnlineLearning
    from inkling.forecasting.backtest import ScoreSettings
    from inkling.forecasting.learning.rejected_rows import RejectedRows
    from inkling.forecasting.learning.settings import FitSettings, Moment
    from inkling.forecasting.models.model import ForecastModel
    from inkling.forecasting.scoring.scorecard import Scores
    from inkling.io import Data
    from inkling.local_stream import LocalStream
    from inkling.results import Results
    from inkling.spark.batch import SparkResults
    from inkling.spark.streaming.query import LiveQuery
    from inkling.spark.streaming.settings import StreamSettings
    from inkling.spark.streaming.sinks.protocol import Sink
    from inkling.why.explanation import Why


T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Program(ShownInNotebooks):
    """A program without errors, made by `load`, `parse` or `program`.

    Attributes
    ----------
    source, syntax
        The text, and the statements that it consists of.
    plan, rewritten, physical
        The logical plan, the simplified one, and the plan that runners execute.
    warnings
        Findings that do not prevent a run.
    files
        The folder of the files of its tables, and the root that confines them.

    Examples
    --------
    >>> program = parse('''
    ...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
    ...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
    ... ''')
    >>> results = program.run_local([{"person": "ada", "room": "lab", "t": 1}])
    >>> results["visit"]["person"].to_pylist()
    ['ada']
    """

    source: SourceText
    syntax: syntax.Program
    plan: ProgramPlan
    warnings: tuple[Diagnostic, ...]
    rewritten: Rewritten
    physical: PhysicalPlan
    files: ProgramFiles

    def __repr__(self) -> str:
        return f"<Program {self.name}: {', '.join(event.name for event in self.plan.events) or 'no event'}>"

    @property
    def folder(self) -> Path:
        """The folder of the files of its tables."""
        return self.files.folder

    @property
    def name(self) -> str:
        """The name of the source, such as that of the file."""
        return self.source.name

    @property
    def text(self) -> str:
        """The text as written."""
        return self.source.text

    def explain(
        self, stage: str = "all", *, sampling: Sampling | None = None, layout: TaskLayout | str | None = None
    ) -> str:
        """The plans of the program and the reasons for them, as stable text.

        Parameters
        ----------
        stage
            ``"logical"``, ``"rewritten"``, ``"verdicts"`` or ``"physical"``; ``"all"`` gives each under its title.
        sampling
            The precision of sampled probabilities, as in a run.
        layout
            How work is split across Spark tasks, as in `run`.

        Examples
        --------
        >>> program = parse('''
        ...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
        ...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
        ... ''')
        >>> print(program.explain("logical"))
        r0 := Stream[Door](person STRING, room STRING, t INTEGER; time t)
        r1 := Leaf[r0](d; d.room = 'lab')
        r2 := Event visit[r1](per MATCH; over Door; head person = d.person)
        """
        sections = dict(self.explain_sections(sampling, layout))
        if stage == "all":
            return "\n\n".join(f"== {title} ==\n{text}" for title, text in sections.items())
        if stage not in sections:
            raise ValueError(f"expected stage to be all or one of {', '.join(sections)}, found {stage!r}")
        return sections[stage]

    def explain_sections(
        self, sampling: Sampling | None = None, layout: TaskLayout | str | None = None
    ) -> tuple[tuple[str, str], ...]:
        """The title and text of every stage, in the order of the stages."""
        return (
            ("logical", explain_logical(self.plan)),
            ("rewritten", _rewritten_text(self.rewritten)),
            ("verdicts", explain_verdicts(self.physical, self._looks(sampling))),
            ("physical", explain_physical(self.physical, layout_of(layout))),
        )

    def graph(self) -> str:
        """The network of agents of the program as an SVG picture."""
        return network_svg(network_of(self.rewritten.plan), self.name)

    def graph_text(self) -> str:
        """The network of agents of the program as text: a tree for each event."""
        return network_text(network_of(self.rewritten.plan))

    def run(
        self,
        spark: SparkSession,
        inputs: Mapping[str, Data] | Data,
        tables: Mapping[str, Data] | None = None,
        *,
        partitions: int | None = None,
        layout: TaskLayout | str | None = None,
        sampling: Sampling | None = None,
    ) -> SparkResults:
        """Run the program on Spark; nothing is computed until results are read.

        Parameters
        ----------
        spark
            The session, for example from `spark_session`.
        inputs
            Data by stream: a DataFrame, the name of a table, or anything that `run_local` reads. Data without a name is
            that of the only stream.
        tables
            Data of tables by name, in place of the files that the program names.
        partitions
            The number of partitions of keys or patterns.
        layout
            How work is split across Spark tasks: by ``"key"``, by ``"pattern"`` or by ``"both"``. Results do not
            depend on it.
        sampling
            The precision of sampled probabilities over uncertain streams.

        Returns
        -------
        SparkResults
            A DataFrame for each event.
        """
        from inkling.spark import batch

        return batch.run(
            self,
            spark,
            self._by_stream(inputs),
            tables,
            partitions=partitions,
            layout=layout_of(layout),
            sampling=sampling,
        )

    def on(
        self,
        stream: str | None = None,
        *,
        event: str | None = None,
        tables: Mapping[str, Data] | None = None,
        partitions: int | None = None,
        layout: TaskLayout | str | None = None,
        sampling: Sampling | None = None,
    ) -> Callable[[DataFrame], DataFrame]:
        """The program as a function from the rows of a stream to the results of an event, for `DataFrame.transform`.

        ``doors.transform(program.on("Door", event="back"))`` is the DataFrame of `back` over the rows of `doors`.

        Parameters
        ----------
        stream
            The stream that the program reads; may be left out if there is one.
        event
            The event whose results are returned; may be left out if there is one.
        tables, partitions, layout, sampling
            As in `run`.
        """
        name = only_stream(self.plan) if stream is None else stream
        require_inputs(self.plan, {name: None})
        wanted = only_event(self.plan, event)

        def results_of(rows: DataFrame) -> DataFrame:
            results = self.run(
                rows.sparkSession, {name: rows}, tables, partitions=partitions, layout=layout, sampling=sampling
            )
            results.close()  # caches are for several DataFrames
            return results[wanted]

        return results_of

    def run_local(
        self,
        inputs: Mapping[str, Data] | Data,
        tables: Mapping[str, Data] | None = None,
        *,
        sampling: Sampling | None = None,
        on_worlds: OnWorlds | None = None,
        on_phase: Callable[[str], None] | None = None,
        memory: str | int | None = None,
    ) -> Results:
        """Run the program in this process, without Spark.

        Parameters
        ----------
        inputs
            Data by stream: a path (`.csv`, `.jsonl`, `.parquet`, or a folder of one kind), a pandas, polars or Arrow
            table, or a list of rows. Data without a name is that of the only stream.
        tables
            Data of tables by name, in place of the files that the program names.
        sampling
            The precision of sampled probabilities over uncertain streams.
        on_worlds
            Receives the number of sampled worlds that are done, and of all.
        on_phase
            Receives a text when another phase begins, such as ``"reading Door"``.
        memory
            The most memory that this process may take, such as ``"4GB"``; by default 75 % of the machine. An event that
            needs more ends the run with an error that names it.

        Returns
        -------
        Results
            An Arrow table for each event.

        Examples
        --------
        >>> program = parse('''
        ...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
        ...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
        ... ''')
        >>> program.run_local({"Door": [{"person": "ada", "room": "lab", "t": 1}]})
        <Results visit: 1, rejects: 0>
        """
        from inkling import local

        return local.run(self, self._by_stream(inputs), tables, sampling, on_worlds, on_phase, memory)

    def chances_during(
        self,
        event: str,
        inputs: Mapping[str, Data] | Data,
        spans: Sequence[tuple[Moment, Moment]],
        tables: Mapping[str, Data] | None = None,
        *,
        sampling: Sampling | None = None,
    ) -> pa.Table:
        """The probability that an event over probable streams happens at least once in a span of time.

        Parameters
        ----------
        event
            The name of the event.
        inputs, tables, sampling
            As in `run_local`.
        spans
            Pairs of times: integers, dates or texts such as ``2026-03-01T12:00:00``. Both ends belong to a span.

        Returns
        -------
        pyarrow.Table
            A row for each span and value of the head: `since`, `until`, `probability`, `method`, `error`.
        """
        from inkling.evaluators.protocol import EvaluatorContext
        from inkling.evaluators.query.during import chances_during
        from inkling.forecasting.learning.settings import on_clock
        from inkling.local import ingest

        if any(len([*span]) != 2 or not all(isinstance(end, int | str | date) for end in span) for span in spans):
            raise InputError.of(
                "INK0657", "a span is a pair of times: integers, dates, or texts such as 2026-03-01T12:00:00"
            )
        ends = [(on_clock(since), on_clock(until)) for since, until in spans]
        clocks = {clock for span in ends for _, clock in span} or {Clock.TICKS}
        if len(clocks) > 1:
            raise InputError.of("INK0657", "some spans are given in integers, others in times of day")
        (clock,) = clocks
        named = [(since, until) for (since, _), (until, _) in ends]
        ingested = ingest(self, self._by_stream(inputs), tables)
        context = EvaluatorContext(ingested.facts, ingested.context, ingested.unit, sampling)
        return chances_during(self.physical, event, context, ingested.sources, named, clock)

    def fit(
        self,
        inputs: Mapping[str, Data] | Data,
        tables: Mapping[str, Data] | None = None,
        *,
        models: Collection[str] | None = None,
        settings: FitSettings | None = None,
        spark: SparkSession | None = None,
        partitions: int | None = None,
    ) -> dict[str, ForecastModel]:
        """Learn the models of the program's forecasts.

        Models can be passed as `tables` of a run, or saved for later. Rejected rows are logged.

        Parameters
        ----------
        inputs, tables
            As in `run_local`.
        models
            The models or forecasts to learn; all by default.
        settings
            The order and kind of the models, and the rows to learn from.
        spark
            Learn on Spark; by default, in this process.
        partitions
            The number of partitions on Spark.

        Examples
        --------
        >>> program = parse('''
        ...     STREAM Press(key STRING, t BIGINT) TIME t ORDER BY t;
        ...     EVENT ab AS PATTERN SEQ STRICT(Press x[key = 'a'], Press y[key = 'b']);
        ...     FORECAST ab WITHIN 2 EVENTS;
        ... ''')
        >>> rows = [{"key": key, "t": t} for t, key in enumerate("abcabcabc")]
        >>> from inkling import FitSettings
        >>> models = program.fit(rows, settings=FitSettings(order=1))
        >>> models["ab_model"].n_events
        9.0
        """
        from inkling.forecasting.learning.learn import learn

        learned = learn(
            self, self._by_stream(inputs), tables, settings, spark=spark, partitions=partitions, names=models
        )
        if learned.rejected:
            _log_rejected(learned.rejected)
        return learned.models

    def score(
        self,
        inputs: Mapping[str, Data] | Data,
        tables: Mapping[str, Data] | None = None,
        *,
        models: Mapping[str, ForecastModel] | None = None,
        settings: ScoreSettings | None = None,
        spark: SparkSession | None = None,
    ) -> dict[str, Scores]:
        """Learn models from the first part of the inputs, forecast the rest, and score the forecasts.

        Simple baselines are scored on the same rows. Rejected rows are logged.

        Parameters
        ----------
        inputs, tables
            As in `run_local`.
        models
            Models by name: nothing is learned, and all forecasts are scored.
        settings
            The orders to compare, and the rows to learn from.
        spark
            Learn and forecast on Spark; by default, in this process.
        """
        from inkling.forecasting.backtest import tried

        return tried(
            self, self._by_stream(inputs), tables, settings, spark=spark, models=models, on_rejected=_log_rejected
        )

    def why(
        self,
        event: str,
        inputs: Mapping[str, Data] | Data,
        tables: Mapping[str, Data] | None = None,
        *,
        sampling: Sampling | None = None,
    ) -> Why:
        """Explain why an event has its results over these inputs, or none; runs in this process.

        Parameters
        ----------
        event
            The name of the event.
        inputs, tables
            As in `run_local`.
        sampling
            For an event over uncertain streams: when to enumerate all possible worlds, and the precision otherwise.
        """
        from inkling.why.uncertain import why

        return why(self, event, self._by_stream(inputs), tables, sampling)

    def open(
        self,
        tables: Mapping[str, Data] | None = None,
        *,
        unbounded: bool = False,
        sampling: Sampling | None = None,
        learn: OnlineLearning | None = None,
        ahead: str | None = None,
        memory: str | int | None = None,
    ) -> LocalStream:
        """Start the program in this process, to push rows to it.

        Parameters
        ----------
        tables
            Data of tables by name, in place of the files that the program names.
        unbounded
            Start the program although its state has no limit: for streams that end.
        sampling
            The precision of sampled probabilities over uncertain streams.
        learn
            Let the models of forecasts learn from the rows of the stream.
        ahead
            How far in the future a row may be, such as ``"2 HOURS"``, in place of what the streams declare; ``"none"``
            accepts every time.
        memory
            The most memory that this process may take during a push, such as ``"4GB"``; by default 75 % of the machine.
            A push that needs more raises an error, and the stream has ended.

        Examples
        --------
        >>> program = parse('''
        ...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
        ...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
        ... ''')
        >>> stream = program.open()
        >>> stream.push([{"person": "ada", "room": "lab", "t": 1}]).n_results
        0
        >>> stream.finish()["visit"]["person"].to_pylist()
        ['ada']
        """
        from inkling.local_stream import LocalStream

        self.require_streamable(unbounded=unbounded, sampling=sampling)
        return LocalStream(self, tables, sampling, learn, ahead, memory)

    def stream(
        self,
        spark: SparkSession,
        inputs: Mapping[str, DataFrame | str | Path] | DataFrame | str | Path,
        tables: Mapping[str, Data] | None = None,
        *,
        checkpoint: str | Path,
        to: Sink | str | Path | Callable[[str, DataFrame, int], None],
        settings: StreamSettings | None = None,
        sampling: Sampling | None = None,
        learn: OnlineLearning | None = None,
    ) -> LiveQuery:
        """Start the program on Structured Streaming; it runs until it is stopped.

        Parameters
        ----------
        inputs
            By stream, a streaming DataFrame, a folder to which files are added, or an address:
            ``kafka://HOST:PORT/TOPIC``, ``table://NAME``, ``rate://ROWS-PER-SECOND``. Options follow a `?`, as in
            ``incoming?format=csv``. Without a name if the program reads one stream.
        tables
            The data of tables that the program does not read from files.
        checkpoint
            The folder for offsets and state; an existing checkpoint is resumed.
        to
            A folder with a folder per event, ``out?format=json`` or csv, ``table://PREFIX``,
            ``kafka://HOST:PORT/TOPIC``, ``-`` for the terminal, a sink of `inkling.spark.streaming.sinks`, or a
            function of (name, DataFrame, batch number) that may receive a batch twice. Late rows are written to the
            output `late`, rejected rows to `rejects`.
        settings
            Trigger, buckets and other options.
        sampling
            The precision of sampled probabilities; fixed by the first run with a checkpoint.
        learn
            Let the models of forecasts learn from the rows of the stream. Models are saved in the checkpoint.
        """
        from inkling.spark.streaming import query
        from inkling.spark.streaming.addresses import absolute
        from inkling.spark.streaming.settings import StreamSettings
        from inkling.spark.streaming.sinks.protocol import sink_of

        settings = settings or StreamSettings()
        self.require_streamable(unbounded=settings.unbounded, sampling=sampling)
        return query.start(
            *(self, spark, self._by_stream(inputs), tables, settings),
            checkpoint=absolute(checkpoint),
            sink=sink_of(to),
            sampling=sampling,
            learn=learn,
        )

    def _by_stream(self, inputs: Mapping[str, T] | T) -> Mapping[str, T]:
        return inputs_by_stream(self.plan, inputs)

    def _looks(self, sampling: Sampling | None) -> Looks | None:
        if not uncertain_events(self.plan):
            return None
        from inkling.evaluators.sampling import Sampling

        chosen = sampling or Sampling()
        n_worlds, _ = chosen.plan(self.plan.events)
        n_streamed, _ = chosen.once.plan(self.plan.events)
        return Looks(n_worlds, n_streamed, chosen.epsilon, chosen.delta, chosen.exact_up_to, chosen.budget)

    def without_forecasts(self, names: Collection[str] | None = None) -> Program:
        """The program without its forecasts, or without those of these names: it only recognizes events.

        Examples
        --------
        >>> program = parse(";(hot,hot){order:2}", name="pair.sre")
        >>> [event.name for event in program.plan.events]
        ['p1', 'p1_forecast']
        >>> [event.name for event in program.without_forecasts().plan.events]
        ['p1']
        """
        kept = tuple(
            one
            for one in self.syntax.statements
            if not isinstance(one, syntax.ForecastDecl) or (names is not None and one.result.text not in names)
        )
        return _compile(replace(self.syntax, statements=kept), self.source, self.files)

    def without_event(self, name: str) -> Program:
        """The program without an event, and without all events that depend on it.

        Examples
        --------
        >>> program = parse('''
        ...     STREAM Door(room STRING, t BIGINT) TIME t;
        ...     EVENT visit AS PATTERN Door d;
        ...     EVENT two AS PATTERN SEQ(visit a, visit b);
        ...     EVENT lab AS PATTERN Door d[room = 'lab'];
        ... ''')
        >>> [event.name for event in program.without_event("visit").plan.events]
        ['lab']
        """
        gone = {name}
        for event in self.plan.events:  # an event may read itself and all events before it
            if not gone.isdisjoint(event.sources) or (event.forecast is not None and event.forecast.of in gone):
                gone.add(event.name)
        kept = tuple(
            one
            for one in self.syntax.statements
            if not (isinstance(one, syntax.EventDecl) and one.name.text in gone)
            and not (isinstance(one, syntax.ForecastDecl) and one.result.text in gone)
        )
        return _compile(replace(self.syntax, statements=kept), self.source, self.files)

    def with_hidden(self) -> Program:
        """The program whose runs also show the results of hidden events.

        Examples
        --------
        >>> program = parse('''
        ...     STREAM Door(room STRING, t BIGINT) TIME t;
        ...     EVENT visit AS PATTERN Door d HIDDEN;
        ...     EVENT two AS PATTERN SEQ(visit a, visit b);
        ... ''')
        >>> [event.name for event in program.plan.shown], [event.name for event in program.with_hidden().plan.shown]
        (['two'], ['visit', 'two'])
        """
        if len(self.plan.shown) == len(self.plan.events):
            return self
        shown = tuple(
            replace(one, hidden=False) if isinstance(one, syntax.EventDecl) else one for one in self.syntax.statements
        )
        # the text of a program is what a stream stores and what its workers read
        text = language.format_program(replace(self.syntax, statements=shown))
        name = f"{Path(self.source.name).stem}.ink"
        return _compile(language.parse(text, name), SourceText(name, text), self.files)

    def growth_warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings about events whose matches multiply with the rows, because nothing limits which belong together."""
        return tuple(growth_warnings(self.physical, self.syntax, self.source))

    def to_ink(self) -> str:
        """The program in the standard layout, which `inkling fmt` writes."""
        return language.format_program(self.syntax)

    def require_streamable(self, *, unbounded: bool = False, sampling: Sampling | None = None) -> None:
        """Raise an error if the program cannot run on a stream; `unbounded` permits state without a limit."""
        from inkling.evaluators.sampling import Sampling
        from inkling.evaluators.worlds.streamable import require_worlds_streamable

        self._reject_names_of_outputs()
        settings = sampling or Sampling()
        require_worlds_streamable(self.physical, self.syntax, self.source, settings, unbounded=unbounded)
        if not unbounded:
            require_bounded(self.physical, self.syntax, self.source)

    def _reject_names_of_outputs(self) -> None:
        named = [event.name for event in self.plan.shown]
        for name in (*named, *retracted_outputs(self.plan).values()):
            if name.casefold() in ("late", "rejects"):
                raise ProgramError.of(
                    "INK0327",
                    f"`{name}` cannot run on a stream under this name",
                    span=self.syntax.event_name(name).span,
                    source=self.source,
                    label=f"every stream has an output called `{name.casefold()}`",
                    helps=(f"give the {'event' if name in named else 'output'} another name",),
                )


def _log_rejected(rejected: RejectedRows) -> None:
    logging.getLogger("inkling").warning("%s; `rejects` of a run shows them", rejected)


def load(path: str | Path, *, declarations: str | Path | None = None, root: str | Path | None = None) -> Program:
    """Read a program from a file; the files of its tables are searched for in the same folder.

    The suffix names the language: `.ink`, `.ele` (ETALIS), `.epsparql` or `.rq` (EP-SPARQL), `.sre` (Wayeb),
    `.lahar` (Lahar) or `.sase` (SASE).
    `declarations` is the file of declarations of Wayeb patterns. With a `root`, neither the program nor any file that
    it names may lie outside of this folder; links are followed.
    """
    path = Path(path)
    if root is not None:
        require_inside(path, Path(root))
        if declarations is not None:
            require_inside(Path(declarations), Path(root))
    text = read_program(path)
    if declarations is not None:
        if path.suffix.lower() != sre.SUFFIX:
            raise InputError.of("INK0550", f"`{path}` is not a pattern file (.sre), which a file of declarations needs")
        text = sre.with_declarations(text, SourceText(Path(declarations).name, read_program(Path(declarations))))
    return parse(text, name=path.name, folder=path.parent, root=root)


def parse(text: str, *, name: str = "<string>", folder: str | Path = ".", root: str | Path | None = None) -> Program:
    """Read a program from text.

    Parameters
    ----------
    text
        The program.
    name
        The name in messages.
    folder
        The folder of the files of its tables.
    root
        The folder that these files must not leave, also not through links.

    Examples
    --------
    >>> parse("STREAM A(t BIGINT) TIME t; EVENT e AS PATTERN A a;", name="mine.ink").name
    'mine.ink'
    """
    return _compile(language.parse(text, name), SourceText(name, text), _files(folder, root))


def program(
    *statements: Builder | syntax.Statement | str,
    name: str = "<program>",
    folder: str | Path = ".",
    root: str | Path | None = None,
) -> Program:
    """Make a program from statements.

    A statement is a text, a node of `inkling.language.syntax` or a builder of `inkling.language.build`. Errors
    are shown in the text of the statements.

    Examples
    --------
    >>> from inkling.language.build import event, leaf, stream
    >>> door = stream("Door").column("room", "STRING").column("t", "BIGINT").time("t")
    >>> print(program(door, event("opened").pattern(leaf("Door", "d"))).to_ink())
    STREAM Door(room STRING, t BIGINT) TIME t;
    <BLANKLINE>
    EVENT opened AS
      PATTERN Door d;
    <BLANKLINE>
    """
    text = "\n\n".join(_statement_text(statement) for statement in statements)
    return parse(text, name=name, folder=folder, root=root)


def _files(folder: str | Path, root: str | Path | None) -> ProgramFiles:
    return ProgramFiles(Path(folder), None if root is None else Path(root))


def _statement_text(statement: Builder | syntax.Statement | str) -> str:
    if isinstance(statement, str):
        return statement
    node = statement.node if isinstance(statement, StatementBuilder) else statement
    return language.format_statement(node)


def read_program(path: Path) -> str:
    """The text of a program file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError.of("INK0550", f"there is no file `{path}`") from None
    except IsADirectoryError:
        raise InputError.of(
            "INK0550",
            f"`{path}` is a folder, expected a program",
            helps=("name a file that ends with `.ink`, `.ele`, `.epsparql`, `.sre`, `.lahar` or `.sase`",),
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError.of("INK0550", f"`{path}` cannot be read", notes=(str(problem),)) from None


def _compile(tree: syntax.Program, source: SourceText, files: ProgramFiles) -> Program:
    bound = bind(tree, source)
    rewritten = rewrite(bound.plan)
    physical = plan_program(rewritten.plan)
    require_forecastable(physical, tree, source)
    return Program(source, tree, bound.plan, bound.warnings, rewritten, physical, files)


def _rewritten_text(rewritten: Rewritten) -> str:
    if not rewritten.applied:
        return "nothing to rewrite"
    rules = [f"{event}: {', '.join(names)}" for event, names in rewritten.applied]
    return "\n".join([*rules, explain_logical(rewritten.plan)])
