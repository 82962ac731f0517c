"""Where results go. A micro-batch may be delivered twice, after a crash; what a sink holds must not show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame

from inkling.spark.streaming.outputs import Output


class Sink(Protocol):
    """Takes what a micro-batch left; called again with the same batch number after a crash."""

    def deliver(self, outputs: Iterable[Output], batch: int) -> None: ...


@dataclass(frozen=True, slots=True)
class FileSink:
    """A folder per event; each micro-batch is a folder in it, which a repeated delivery replaces."""

    path: str
    format: str = "parquet"

    def deliver(self, outputs: Iterable[Output], batch: int) -> None:
        for output in outputs:
            target = f"{self.path}/{output.name}/batch={batch}"
            output.frame.write.mode("overwrite").format(self.format).save(target)


@dataclass(frozen=True, slots=True)
class CallbackSink:
    """A function of (name, frame, batch); it must cope with hearing of a batch twice."""

    function: Callable[[str, DataFrame, int], None]

    def deliver(self, outputs: Iterable[Output], batch: int) -> None:
        for output in outputs:
            self.function(output.name, output.frame, batch)


def sink_of(to: Sink | str | Path | Callable[[str, DataFrame, int], None]) -> Sink:
    """What a user gave as a place for results: a folder, a sink, or a function."""
    if isinstance(to, str | Path):
        return FileSink(str(to))
    return to if hasattr(to, "deliver") else CallbackSink(to)
