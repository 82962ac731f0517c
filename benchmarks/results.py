"""What a benchmark says: a cost, the cost of a baseline, and how both stand to the goals."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

import psutil

import inkling
from benchmarks.meter import Measured, load_average

LIBRARIES = ("pyspark", "numba", "numpy", "pyarrow", "polars", "pyoxigraph", "rdflib")


@dataclass(frozen=True, slots=True)
class Goal:
    """A number and the bound it should keep: at least `least`, or at most `most`."""

    what: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def __str__(self) -> str:
        bound = f"≥ {quantity(self.least)}" if self.least is not None else f"≤ {quantity(self.most)}"
        return (
            f"{self.what}: {quantity(self.value)} {bound}"
            if self.met
            else f"{self.what}: {quantity(self.value)}, not {bound}"
        )


@dataclass(frozen=True, slots=True)
class Baseline:
    """Another way to the same matches."""

    name: str
    seconds: float
    cpu_seconds: float

    @classmethod
    def of(cls, name: str, cost: Measured[object]) -> Baseline:
        return cls(name, cost.seconds, cost.cpu_seconds)


@dataclass(frozen=True, slots=True)
class Row:
    """One benchmark; the first baseline is the one that ratios are taken to."""

    name: str
    data: str
    seconds: float
    cpu_seconds: float
    events: int | None = None
    found: str = ""
    baselines: tuple[Baseline, ...] = ()
    goals: tuple[Goal, ...] = ()
    load: float = field(default_factory=load_average)

    @property
    def rate(self) -> float | None:
        return None if self.events is None else self.events / self.seconds


@dataclass(frozen=True, slots=True)
class Report:
    """All rows of a run, by suite, and the machine they were measured on."""

    suites: Mapping[str, Sequence[Row]]
    machine: Mapping[str, str] = field(default_factory=lambda: machine())
    quick: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Report:
        raw = json.loads(text)
        suites = {name: [row_of(row) for row in rows] for name, rows in raw["suites"].items()}
        return cls(suites, raw["machine"], raw["quick"])

    @classmethod
    def read(cls, path: Path) -> Report:
        return cls.from_json(path.read_text())

    def updated(self, newer: Report, whole: Collection[str] = ()) -> Report:
        """These rows, with those that were measured again in their places.

        Of suites that were run as a `whole`, no older row stays. A library that was not there now keeps its version.
        """
        suites = {name: list(rows) for name, rows in self.suites.items()}
        suites |= {name: [] for name in whole}
        for name, rows in newer.suites.items():
            fresh = {(row.name, row.data): row for row in rows}
            kept = [fresh.pop((row.name, row.data), row) for row in suites.get(name, ())]
            suites[name] = [*kept, *fresh.values()]
        return Report(suites, {**self.machine, **newer.machine}, newer.quick)

    @property
    def missed(self) -> int:
        return sum(not goal.met for rows in self.suites.values() for row in rows for goal in row.goals)


def row_of(raw: Mapping[str, object]) -> Row:
    """A row from its JSON form."""
    values = dict(raw)
    values["baselines"] = tuple(Baseline(**one) for one in raw["baselines"])
    values["goals"] = tuple(Goal(**one) for one in raw["goals"])
    return Row(**values)


def machine() -> dict[str, str]:
    """Where and with what the figures were taken."""
    installed = {one.name.lower(): one.version for one in distributions()}
    libraries = {name: installed[name] for name in LIBRARIES if name in installed}
    return {**hardware(), "inkling": inkling.__version__, **libraries}


def hardware() -> dict[str, str]:
    """The day, the processor, the memory, and the version of Python."""
    memory = psutil.virtual_memory().total / 2**30
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": f"{_processor()}, {len(os.sched_getaffinity(0))} cores",
        "memory": f"{memory:.0f} GB",
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def quantity(number: float | None) -> str:
    """A number with three digits and a word for its size.

    >>> quantity(51_300_000), quantity(4.0), quantity(0.456)
    ('51.3 M', '4', '0.456')
    """
    assert number is not None
    for size, word in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{word}"
    return f"{number:.3g}"
