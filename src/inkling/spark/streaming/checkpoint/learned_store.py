"""Models that keep learning, stored beside a checkpoint: versions, and the counts since the last version.

Counts are written under the number of their micro-batch, and a version records the last micro-batch that it includes.
So a micro-batch that is repeated after a crash is counted once.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq

from inkling.evaluators.state import table_bytes, table_of
from inkling.forecasting.adaptation.drift import Drift
from inkling.forecasting.adaptation.learner import ModelCounts, as_table
from inkling.forecasting.adaptation.models import LearningModels
from inkling.forecasting.adaptation.online import OnlineLearning
from inkling.forecasting.models.model import ForecastModel
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.stored import Stored, readable

KEPT_VERSIONS = 100
_COUNTS = "counts"


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A version of a model, the last micro-batch that it includes, and a digest of the table that it began with."""

    model: ForecastModel
    batch: int
    began_with: str
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The versions of one model."""

    folder: CheckpointFolder

    def newest(self) -> ModelVersion | None:
        numbers = self._numbers()
        if not numbers:
            return None
        name = f"{numbers[-1]:09d}"
        about, data = self.folder.get(f"{name}.json", Stored.MODEL), self.folder.read(f"{name}.parquet")
        assert about is not None, f"version {numbers[-1]} is not complete"
        assert data is not None, f"version {numbers[-1]} is not complete"
        found = json.loads(about)
        with readable(Stored.MODEL, f"{self.folder.path}/{name}.parquet"):
            model = ForecastModel.from_arrow(pq.read_table(pa.BufferReader(data), page_checksum_verification=True))
        return ModelVersion(model, found["batch"], found["began_with"], found["since"], found["until"])

    def write(self, stored: ModelVersion) -> None:
        """Write a version, which is complete with its second file; then delete counts that it includes.

        The first file is a model like any other, so its checksums are those of models, not those of the container.
        """
        sink = pa.BufferOutputStream()
        pq.write_table(stored.model.to_arrow(), sink, write_page_checksum=True)
        self.folder.make()
        name = f"{stored.model.version:09d}"
        self.folder.write(f"{name}.parquet", bytes(sink.getvalue()))
        about = {name: getattr(stored, name) for name in ("batch", "began_with", "since", "until")}
        self.folder.put(f"{name}.json", json.dumps(about).encode(), Stored.MODEL)
        for batch in self._batches():
            if batch <= stored.batch:
                self._counts.remove(f"{batch:09d}.arrow")
        for number in self._numbers()[:-KEPT_VERSIONS]:
            self.folder.remove(f"{number:09d}.json")
            self.folder.remove(f"{number:09d}.parquet")

    def add(self, batch: int, counted: pa.Table, times: tuple[int, int]) -> None:
        self._counts.make()
        described = counted.replace_schema_metadata({"first": str(times[0]), "last": str(times[1])})
        self._counts.put(f"{batch:09d}.arrow", table_bytes(described), Stored.TABLE)

    def added_after(self, batch: int) -> list[tuple[int, pa.Table, tuple[int, int]]]:
        found = []
        for number in self._batches():
            data = self._counts.get(f"{number:09d}.arrow", Stored.TABLE) if number > batch else None
            if data is not None:
                table = table_of(data)
                about = table.schema.metadata
                found.append((number, table, (int(about[b"first"]), int(about[b"last"]))))
        return found

    @property
    def _counts(self) -> CheckpointFolder:
        return self.folder.inside(_COUNTS)

    def _batches(self) -> list[int]:
        return [int(name.removesuffix(".arrow")) for name in self._counts.names() if name.endswith(".arrow")]

    def _numbers(self) -> list[int]:
        return [int(name.removesuffix(".json")) for name in self.folder.names() if name.endswith(".json")]


class StoredLearning:
    """The models of a streaming query that keep learning, on the driver."""

    def __init__(self, folder: CheckpointFolder, online: OnlineLearning) -> None:
        self._folder, self.online = folder, online
        self._stored: dict[str, ModelVersion] = {}
        self._taken: dict[str, int] = {}  # by model, the last micro-batch that was counted
        self._models: LearningModels | None = None
        self._busy = threading.RLock()  # a program may be replaced while a micro-batch is delivered

    def begin(self, given: Mapping[str, pa.Table], names: list[str], done: int) -> dict[str, pa.Table]:
        """The tables of the models: the learned ones, unless the given ones have changed; `done` is the last batch."""
        with self._busy:
            tables = {name: self._begun(name, given[name], done) for name in names}
            models = LearningModels(self.online, tables, names)
            for name in names:
                stored = self._stored[name]
                learned = replace(ModelCounts.of(stored.model), since=stored.since, until=stored.until)
                self._taken[name] = stored.batch
                for batch, counted, times in ModelFolder(self._folder.inside(name)).added_after(stored.batch):
                    learned = learned.and_counted(counted, times)
                    self._taken[name] = batch
                models.resume(name, learned)
            self._models = models
            return tables

    @property
    def orders(self) -> dict[str, int]:
        return {} if self._models is None else self._models.orders

    @property
    def drift(self) -> dict[str, Drift]:
        return {} if self._models is None else self._models.drift

    def use(self, tables: Mapping[str, pa.Table]) -> None:
        """Forecasts use these versions from now on."""
        if self._models is not None:
            self._models.use(tables)

    def take(self, batch: int, counted: Mapping[str, tuple[pa.Table, tuple[int, int]]]) -> dict[str, pa.Table]:
        """Add the counts of a micro-batch, by model; returns the tables of models that have a new version."""
        with self._busy:
            models = self._models
            assert models is not None, "begin first"
            for name, (table, times) in counted.items():
                if name in models.learned and batch > self._taken[name]:
                    ModelFolder(self._folder.inside(name)).add(batch, table, times)
                    models.take(name, table, times)
                    self._taken[name] = batch
            renewed = models.renewed()
            for name in renewed:
                one = models.learned[name]
                began = self._stored[name].began_with
                self._write(name, ModelVersion(one.model, self._taken[name], began, one.since, one.until))
            return renewed

    def _begun(self, name: str, given: pa.Table, done: int) -> pa.Table:
        newest, digest = ModelFolder(self._folder.inside(name)).newest(), _digest(given)
        if newest is None or newest.began_with != digest:
            model = ForecastModel.from_arrow(given)
            fresh = model if newest is None else replace(model, version=max(model.version, newest.model.version + 1))
            first = ModelCounts.of(fresh)
            self._write(name, ModelVersion(fresh, done, digest, first.since, first.until))
        else:
            self._stored[name] = newest
        return as_table(name, self._stored[name].model)

    def _write(self, name: str, stored: ModelVersion) -> None:
        ModelFolder(self._folder.inside(name)).write(stored)
        self._stored[name] = stored


def _digest(table: pa.Table) -> str:
    return sha256(table_bytes(table.combine_chunks())).hexdigest()
