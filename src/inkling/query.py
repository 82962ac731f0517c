"""A program from text to answer: parse, bind, rewrite, analyze, plan, run.

>>> program = parse('''
...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
... ''')
>>> rows = [{"person": "ada", "room": "lab", "t": 1}, {"person": "bob", "room": "hall", "t": 2}]
>>> program.run_local({"Door": rows}).tables["visit"]["person"].to_pylist()
['ada']
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from inkling import language
from inkling.errors import Diagnostic, InputError, ProgramError
from inkling.language import syntax
from inkling.language.build.clauses import StatementBuilder
from inkling.language.build.events import Builder
from inkling.logical import bind
from inkling.logical.explain import explain as explain_logical
from inkling.logical.in_worlds import doubtful_events
from inkling.logical.plan import ProgramPlan
from inkling.logical.rules import Rewritten, rewrite
from inkling.model.time import Clock
from inkling.physical.bounded import require_bounded
from inkling.physical.explain import explain_physical
from inkling.physical.forecasts import require_forecastable
from inkling.physical.graph.agents import network_of, network_text
from inkling.physical.graph.svg import network_svg
from inkling.physical.groups import Layout, layout_of
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program
from inkling.physical.verdicts import explain_verdicts
from inkling.physical.world_verdicts import Looks
from inkling.source import SourceText

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from inkling.evaluators.protocol import OnWorlds
    from inkling.evaluators.sampling import Sampling
    from inkling.fitting.refusals import Refusals
    from inkling.fitting.settings import Moment
    from inkling.io import Data
    from inkling.local_stream import LocalStream
    from inkling.markov.model import Learner, Model
    from inkling.results import Results
    from inkling.runtime.adaptation.online import OnlineLearning
    from inkling.runtime.adaptation.steering import Refused
    from inkling.scoring.scorecard import Scores
    from inkling.spark.batch import SparkResults
    from inkling.spark.streaming.outputs import Tally
    from inkling.spark.streaming.query import LiveQuery
    from inkling.spark.streaming.sinks import Sink
    from inkling.why.account import Why


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is known to be right, with everything that was decided about it."""

    source: SourceText
    syntax: syntax.Program
    plan: ProgramPlan
    warnings: tuple[Diagnostic, ...]
    rewritten: Rewritten
    physical: PhysicalPlan
    folder: Path  # where the files of its tables are looked for

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def text(self) -> str:
        return self.source.text

    def explain(
        self, stage: str = "all", *, sampling: Sampling | None = None, layout: Layout | str | None = None
    ) -> str:
        """What will be done and why, as stable text.

        `stage` is `logical`, `rewritten`, `verdicts` or `physical`; `all` gives each under its title. `sampling` is how
        closely probabilities over uncertain streams are to be known; `layout` is that of a run.
        """
        sections = dict(self.explain_sections(sampling, layout))
        if stage == "all":
            return "\n\n".join(f"== {title} ==\n{text}" for title, text in sections.items())
        if stage not in sections:
            raise ValueError(f"expected stage to be all or one of {', '.join(sections)}, found {stage!r}")
        return sections[stage]

    def explain_sections(
        self, sampling: Sampling | None = None, layout: Layout | str | None = None
    ) -> tuple[tuple[str, str], ...]:
        """The title and text of every stage, in the order of the stages."""
        return (
            ("logical", explain_logical(self.plan)),
            ("rewritten", _rewritten_text(self.rewritten)),
            ("verdicts", explain_verdicts(self.physical, self._looks(sampling))),
            ("physical", explain_physical(self.physical, layout_of(layout))),
        )

    def graph(self) -> str:
        """The network of agents behind the program as a picture, in SVG."""
        return network_svg(network_of(self.rewritten.plan), self.name)

    def graph_text(self) -> str:
        """The same network as text: a tree for each event."""
        return network_text(network_of(self.rewritten.plan))

    def run(
        self,
        spark: SparkSession,
        inputs: Mapping[str, Data],
        tables: Mapping[str, Data] | None = None,
        *,
        partitions: int | None = None,
        layout: Layout | str | None = None,
        sampling: Sampling | None = None,
    ) -> SparkResults:
        """Results on Spark, as one DataFrame per event.

        `layout` says what tasks share out among them: keys (`key`), patterns (`pattern`) or both (`both`); `partitions`
        how many of these there are. Results do not depend on it. `sampling` says how closely probabilities over
        uncertain streams must be known.
        """
        from inkling.spark import batch

        return batch.run(
            self, spark, inputs, tables, partitions=partitions, layout=layout_of(layout), sampling=sampling
        )

    def run_local(
        self,
        inputs: Mapping[str, Data],
        tables: Mapping[str, Data] | None = None,
        *,
        sampling: Sampling | None = None,
        on_worlds: OnWorlds | None = None,
    ) -> Results:
        """Results in this process, without a Java virtual machine, as one Arrow table per event.

        `sampling` says how closely probabilities over uncertain streams must be known; `on_worlds` is told how many of
        how many sampled worlds are done.
        """
        from inkling import local

        return local.run(self, inputs, tables, sampling, on_worlds)

    def chances_during(
        self,
        event: str,
        inputs: Mapping[str, Data],
        spans: Sequence[tuple[Moment, Moment]],
        tables: Mapping[str, Data] | None = None,
        *,
        sampling: Sampling | None = None,
    ) -> pa.Table:
        """How probable it is that an event over probable streams happens at least once from one time to another.

        A row per span and value of the head: `since`, `until`, `probability`, `method`, `error`. Times are integers, or
        dates or texts such as `2026-03-01T12:00:00`; both ends belong to a span.
        """
        from inkling.evaluators.protocol import Context
        from inkling.evaluators.query.during import chances_during
        from inkling.fitting.settings import on_clock
        from inkling.local import taken_in

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
        given = taken_in(self, inputs, tables)
        context = Context(given.facts, given.around, given.measure, sampling)
        return chances_during(self.physical, event, context, given.sources, named, clock)

    def fit(
        self,
        inputs: Mapping[str, Data],
        tables: Mapping[str, Data] | None = None,
        *,
        spark: SparkSession | None = None,
        order: int | Literal["auto"] | None = None,
        kind: Learner = "tree",
        names: Collection[str] | None = None,
        until: Moment | None = None,
        share: float | None = None,
        by: str | None = None,
        p_min: float = 0.001,
        alpha: float = 0.0,
        gamma_min: float = 0.001,
        ratio: float = 1.05,
        shrinkage: float | None = None,
        partitions: int | None = None,
    ) -> dict[str, Model]:
        """The models that forecasts read, learned from inputs in this process or, with `spark`, on Spark.

        They can be given as `tables` of a run as they are, or saved for later. Rows that are refused are logged.

        Parameters
        ----------
        order
            How many events a model looks back: by default what the program says, or 3. With `auto` it is the one that
            does best on the latest fifth of the rows when the others are learned from.
        kind
            `tree` (as far back as it pays), `full` (as far back as `order`) or `weighted` (all trees at once).
        names
            Models or forecasts, if not all are to be learned.
        until, share
            Learn from rows up to a time, or from an earliest share of them, and leave the others for tests.
        by
            A column: models are learned for each of its values too, in place of the `BY` of the program.
        p_min, alpha, gamma_min, ratio
            When a context earns a node of a tree.
        shrinkage
            How many events the model of all weighs in the model of a group.
        """
        from inkling.fitting.learn import learn
        from inkling.fitting.settings import FitSettings

        settings = FitSettings(order, kind, until, share, by, p_min, alpha, gamma_min, ratio, shrinkage)
        learned = learn(self, inputs, tables, settings, spark=spark, partitions=partitions, names=names)
        if learned.refused:
            _log_refused(learned.refused)
        return learned.models

    def score(
        self,
        inputs: Mapping[str, Data],
        tables: Mapping[str, Data] | None = None,
        *,
        spark: SparkSession | None = None,
        orders: int | Collection[int] | None = None,
        kind: Learner = "tree",
        until: Moment | None = None,
        share: float | None = None,
        threshold: float | None = None,
        censored: bool = False,
        models: Mapping[str, Model] | None = None,
    ) -> dict[str, Scores]:
        """How good forecasts are: models learned from the first part of the inputs, tried on the rest.

        Rows that are refused are logged.

        Parameters
        ----------
        models
            Models that were learned before, by name: nothing is learned, and they are tried on all of the inputs, each
            with the order that it was learned with unless `orders` says otherwise.
        orders
            How many events models look back, one model each: 0 to 3 by default. Simple rules are tried beside them.
        kind
            `tree`, `full` or `weighted`, as in `fit`.
        until, share
            Learn from rows up to a time, or from an earliest share of them: a half by default. Forecasts made later
            are judged.
        threshold
            From which chance on a forecast counts as a yes: `CONFIDENCE`, or a half.
        censored
            Leave out forecasts that look past the end of their key.
        """
        from inkling.trials import ORDERS, TrialSettings, orders_learned, tried

        if orders is None:
            orders = ORDERS if models is None else orders_learned(models)
        chosen = tuple(orders) if isinstance(orders, Collection) else (orders,)
        settings = TrialSettings(chosen, kind, until, share, threshold, censored)
        return tried(self, inputs, tables, settings, spark=spark, models=models, on_refused=_log_refused)

    def why(
        self,
        event: str,
        inputs: Mapping[str, Data],
        tables: Mapping[str, Data] | None = None,
        *,
        sampling: Sampling | None = None,
    ) -> Why:
        """Why an event has the results that it has over these inputs, or none: run in this process.

        For an event that depends on an uncertain stream, `sampling` says when to enumerate all possible worlds, and
        how closely probabilities must be known otherwise.
        """
        from inkling.why.uncertain import why

        return why(self, event, inputs, tables, sampling)

    def open(
        self,
        tables: Mapping[str, Data] | None = None,
        *,
        unbounded: bool = False,
        sampling: Sampling | None = None,
        learn: OnlineLearning | None = None,
    ) -> LocalStream:
        """A stream in this process: rows are pushed as they come, and what they prove is returned at once.

        `unbounded` opens a program although nothing limits its state: for streams that end. `sampling` says how
        closely probabilities over uncertain streams must be known; `learn` has the models of forecasts learn from the
        rows that they forecast on.
        """
        from inkling.local_stream import LocalStream

        self.require_streamable(unbounded=unbounded, sampling=sampling)
        return LocalStream(self, tables, sampling, learn)

    def stream(
        self,
        spark: SparkSession,
        inputs: Mapping[str, DataFrame | str | Path],
        tables: Mapping[str, Data] | None = None,
        *,
        checkpoint: str | Path,
        to: Sink | str | Path | Callable[[str, DataFrame, int], None],
        trigger: Mapping[str, object] | None = None,
        buckets: int | None = None,
        idle_after: float | None = 60.0,
        unbounded: bool = False,
        sampling: Sampling | None = None,
        on_tally: Callable[[Tally], None] | None = None,
        learn: OnlineLearning | None = None,
        control: str | Path | None = None,
        on_refused: Callable[[Refused], None] | None = None,
        on_steered: Callable[[str], None] | None = None,
    ) -> LiveQuery:
        """Runs on Structured Streaming until it is stopped.

        Parameters
        ----------
        inputs
            For each stream a streaming frame, a folder in which files appear, or an address: `kafka://HOST:PORT/TOPIC`,
            `table://NAME`, `rate://ROWS-PER-SECOND`. Options follow a `?`, as in ``incoming?format=csv``.
        checkpoint
            A folder where Spark keeps offsets and state; an existing one is continued.
        to
            A folder for one folder per event, ``out?format=json`` or csv, `table://PREFIX`, `kafka://HOST:PORT/TOPIC`,
            `-` for the terminal, a sink of `inkling.spark.streaming.sinks`, or a function of (name, frame, batch
            number) that copes with hearing of a batch twice. Rows that came too late go to the output `late`, refused
            ones to `rejects`.
        trigger
            As Spark's `trigger`, for example ``{"processingTime": "5 seconds"}`` or ``{"availableNow": True}``.
        buckets
            Into how many parts keys and their state are divided; fixed by the first run with a checkpoint.
        idle_after
            Seconds without rows after which a stream no longer holds the others back; None waits forever.
        unbounded
            Run a program although nothing limits its state: for streams that end.
        sampling
            How closely probabilities over uncertain streams must be known; fixed by the first run with a checkpoint.
        learn
            Have the models of forecasts learn from the rows that they forecast on. What they learn is kept beside the
            checkpoint, and the next run goes on from there.
        control
            Messages that change settings of forecasts: a file to which lines are added, CSV or JSON, or
            `kafka://HOST:PORT/TOPIC`. They have the fields forecast, parameter and value. `on_refused` is told of those
            that make no sense, `on_steered` of what others change and when; otherwise both are logged.
        """
        from inkling.evaluators.sampling import Sampling
        from inkling.spark.streaming import query
        from inkling.spark.streaming.addresses import absolute
        from inkling.spark.streaming.sinks import sink_of

        self.require_streamable(unbounded=unbounded, sampling=sampling)
        settings = query.StreamSettings(
            absolute(checkpoint),
            sink_of(to),
            dict(trigger or {"processingTime": "0 seconds"}),
            buckets,
            idle_after,
            on_tally,
            unbounded,
            sampling or Sampling(),
            learn,
            control,
            on_refused,
            on_steered,
        )
        return query.start(self, spark, inputs, tables, settings)

    def _looks(self, sampling: Sampling | None) -> Looks | None:
        if not doubtful_events(self.plan):
            return None
        from inkling.evaluators.sampling import Sampling

        chosen = sampling or Sampling()
        n_worlds, _ = chosen.plan(self.plan.events)
        n_streamed, _ = chosen.once.plan(self.plan.events)
        return Looks(n_worlds, n_streamed, chosen.epsilon, chosen.delta, chosen.exact_up_to, chosen.budget)

    def to_ink(self) -> str:
        """The program in the one layout that `inkling fmt` gives every program."""
        return language.format_program(self.syntax)

    def require_streamable(self, *, unbounded: bool = False, sampling: Sampling | None = None) -> None:
        """Refuse what cannot run on a stream; `unbounded` permits state without a limit."""
        from inkling.evaluators.sampling import Sampling
        from inkling.evaluators.worlds.streamable import require_worlds_streamable

        self._refuse_names_of_outputs()
        settings = sampling or Sampling()
        require_worlds_streamable(self.physical, self.syntax, self.source, settings, unbounded=unbounded)
        if not unbounded:
            require_bounded(self.physical, self.syntax, self.source)

    def _refuse_names_of_outputs(self) -> None:
        named = [event.name for event in self.plan.events]
        for name in (*named, *(event.retracted_as for event in self.plan.events if event.retracted_as is not None)):
            if name.casefold() in ("late", "rejects"):
                raise ProgramError.of(
                    "INK0327",
                    f"`{name}` cannot run on a stream under this name",
                    span=self.syntax.event_name(name).span,
                    source=self.source,
                    label=f"every stream has an output called `{name.casefold()}`",
                    helps=(f"give the {'event' if name in named else 'output'} another name",),
                )


def _log_refused(refused: Refusals) -> None:
    logging.getLogger("inkling").warning("%s; `rejects` of a run shows them", refused)


def load(path: str | Path) -> Program:
    """Reads a program from a file; its tables are looked for beside it."""
    path = Path(path)
    return parse(read_program(path), name=path.name, folder=path.parent)


def parse(text: str, *, name: str = "<string>", folder: str | Path = ".") -> Program:
    """Reads a program from text; its tables are looked for in `folder`."""
    return _compile(language.parse(text, name), SourceText(name, text), Path(folder))


def program(
    *statements: Builder | syntax.Statement | str, name: str = "<program>", folder: str | Path = "."
) -> Program:
    """A program from statements: texts, nodes of `inkling.language.syntax` or builders of `inkling.language.build`.

    Mistakes are shown in the text that the statements print as.
    """
    text = "\n\n".join(_statement_text(statement) for statement in statements)
    return parse(text, name=name, folder=folder)


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
            helps=("name a file that ends with `.ink`, `.ele`, `.sre` or `.lahar`",),
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError.of("INK0550", f"`{path}` cannot be read", notes=(str(problem),)) from None


def _compile(tree: syntax.Program, source: SourceText, folder: Path) -> Program:
    bound = bind(tree, source)
    rewritten = rewrite(bound.plan)
    physical = plan_program(rewritten.plan)
    require_forecastable(physical, tree, source)
    return Program(source, tree, bound.plan, bound.warnings, rewritten, physical, folder)


def _rewritten_text(rewritten: Rewritten) -> str:
    if not rewritten.applied:
        return "nothing to rewrite"
    rules = [f"{event}: {', '.join(names)}" for event, names in rewritten.applied]
    return "\n".join([*rules, explain_logical(rewritten.plan)])
