"""Definitions of the running program: texts and facts beside the checkpoint, so that a replay uses the same ones."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import pyarrow as pa

from inkling import language
from inkling.analysis.clock import time_unit
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.state import table_bytes, table_of
from inkling.forecasting.adaptation.counting import with_counting
from inkling.knowledge.materialize import expression_context, known
from inkling.logical import bind
from inkling.logical.plan import ProgramPlan
from inkling.logical.rewrites.rules import rewrite
from inkling.logical.settings import Settings, with_settings
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan
from inkling.physical.stages import Placement
from inkling.runtime.ahead import guards_of_ticks
from inkling.runtime.replacement import placed_plan, read_cohorts, running_of, stored_cohorts
from inkling.runtime.uncertain import Cohort
from inkling.source import SourceText
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.job import Job
from inkling.stored import Stored
from inkling.whole_files import file_name

_PROGRAM, _ABOUT, _TABLES = "program.ink", "about.json", "tables"


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """A program with its facts and settings, as it computes micro-batches from `first_batch` on."""

    number: int
    first_batch: int  # the first micro-batch that it computes
    name: str
    text: str
    tables: Mapping[str, pa.Table]
    placement: Placement  # of certain events
    n_buckets: int
    clocks: Mapping[str, Clock]  # of the streams that are given
    sampling: Sampling = field(default_factory=Sampling)
    settings: Settings = field(default_factory=dict)  # of forecasts, which override the text
    counting: Mapping[str, int] = field(default_factory=dict)  # models that keep learning, with the order of counting
    heard: int | str = 0  # position up to which control messages are read
    cohorts: tuple[Cohort, ...] = ()  # of events over uncertain streams
    is_guarded: bool = False  # whether rows with integer times pass a guard, from the first micro-batch on

    @property
    def program(self) -> ProgramPlan:
        return self.adapted(program_of(self.text, self.name))

    def adapted(self, program: ProgramPlan) -> ProgramPlan:
        """The program with the settings, and with the events that count for models."""
        return with_counting(with_settings(program, self.settings), self.counting)

    @property
    def plan(self) -> PhysicalPlan:
        return placed_plan(self.program, self.placement)

    def job(self, earlier: Job | None, ahead: str | None = None) -> Job:
        """The job for workers, which may still have states of the `earlier` job; `ahead` overrides the declared one."""
        plan = self.plan
        unit = time_unit(plan.program, self.clocks)
        tables = known(plan.program, self.tables, unit)
        context = expression_context(tables, unit)
        running = running_of(plan, self.placement, self.cohorts)
        guards = guards_of_ticks(plan.program, self.clocks, ahead) if self.is_guarded else None
        job = Job.of(plan, running, self.clocks, tables, context, unit.clock, self.n_buckets, self.sampling, guards)
        return replace(job, definition=self.number, earlier=earlier)


def program_of(text: str, name: str) -> ProgramPlan:
    """The plan of a text that has no errors."""
    return rewrite(bind(language.parse(text, name), SourceText(name, text)).plan).plan


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions of a checkpoint, one folder each."""

    folder: CheckpointFolder

    def numbers(self) -> list[int]:
        """The numbers of complete definitions."""
        names = [name for name in self.folder.names() if name.isdigit()]
        return [int(name) for name in names if self.folder.inside(name).has(_ABOUT)]

    def read(self, number: int) -> StoredDefinition:
        here = self.folder.inside(_folder_name(number))
        text, about = here.get(_PROGRAM, Stored.DEFINITION), here.get(_ABOUT, Stored.DEFINITION)
        assert text is not None, f"definition {number} has no text"
        assert about is not None, f"definition {number} is not complete"
        found = json.loads(about)
        facts = here.inside(_TABLES)
        return StoredDefinition(
            number,
            found["first_batch"],
            found["name"],
            text.decode(),
            {name: _table(facts, name) for name in found["tables"]},
            Placement(**found["placement"]),
            found["n_buckets"],
            {name: Clock(value) for name, value in found["clocks"].items()},
            Sampling(**found.get("sampling", {})),
            found.get("settings", {}),
            found.get("counting", {}),
            found.get("heard", 0),
            read_cohorts(found["cohorts"]),
            found.get("is_guarded", False),
        )

    def write(self, definition: StoredDefinition) -> None:
        """Write a definition; it is complete once its last file is written."""
        here = self.folder.inside(_folder_name(definition.number))
        facts = here.inside(_TABLES)
        facts.make()
        for name, table in definition.tables.items():
            facts.put(f"{file_name(name)}.arrow", table_bytes(table), Stored.TABLE)
        here.put(_PROGRAM, definition.text.encode(), Stored.DEFINITION)
        about = {
            "first_batch": definition.first_batch,
            "name": definition.name,
            "tables": sorted(definition.tables),
            "placement": asdict(definition.placement),
            "n_buckets": definition.n_buckets,
            "clocks": {name: clock.value for name, clock in definition.clocks.items()},
            "sampling": asdict(definition.sampling),
            "settings": definition.settings,
            "counting": dict(definition.counting),
            "heard": definition.heard,
            "cohorts": stored_cohorts(definition.cohorts),
            "is_guarded": definition.is_guarded,
        }
        here.put(_ABOUT, json.dumps(about, indent=1).encode(), Stored.DEFINITION)


def _folder_name(number: int) -> str:
    return f"{number:09d}"


def _table(folder: CheckpointFolder, name: str) -> pa.Table:
    data = folder.get(f"{file_name(name)}.arrow", Stored.TABLE)
    assert data is not None, f"the facts of {name} are missing"
    return table_of(data)
