"""Where a run takes place if `--runner` leaves it open, and why.

Starting Spark takes longer than most runs, so small files are read in this process. Large files would take too much
memory there: some 25 bytes for each byte that is read, estimated from one example.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from inkling.cli.options import MASTER, Runner, RunnerOptions
from inkling.extras import is_installed
from inkling.io.readers.compression import compression_of
from inkling.io.readers.options import options_apart
from inkling.io.readers.storage import is_stored, plain_name, stored_files
from inkling.machine import memory_bytes, size_text
from inkling.physical.groups import TaskLayout

MOST_BYTES = 256_000_000
"""The largest input that is read in this process, however much memory there is: Spark uses all cores."""

SHARE_OF_MEMORY = 0.01
"""The largest input that is read in this process, as a share of the memory of the machine."""

EXPANSION = {".gz": 6, ".bz2": 8, ".xz": 8, ".zst": 6}
"""How many times larger than its file compressed text is, roughly."""


def decide(
    asked: RunnerOptions, files: Iterable[Path], layout: TaskLayout | None = None
) -> tuple[RunnerOptions, str | None]:
    """The options with a runner, and a line that says which and why if the command line leaves it open."""
    if asked.runner is not Runner.AUTO:
        return replace(asked, master=asked.master or MASTER), None
    runner, reason = _chosen(asked, files, layout)
    return replace(asked, runner=runner, master=asked.master or MASTER), f"runner: {runner.value}, {reason}"


def _chosen(asked: RunnerOptions, files: Iterable[Path], layout: TaskLayout | None) -> tuple[Runner, str]:
    if asked.master is not None:
        return Runner.SPARK, f"because of --master {asked.master}"
    if layout is not None:
        return Runner.SPARK, f"because of --layout {layout.value}"
    n_bytes, limit = sum(map(input_bytes, files)), largest_local()
    given = f"for {size_text(n_bytes)} of input"
    if n_bytes <= limit:
        return Runner.LOCAL, f"{given} (Spark above {size_text(limit)})"
    if not is_installed("pyspark"):
        return Runner.LOCAL, f"{given}, because Spark is not installed"
    return Runner.SPARK, f"{given} (local up to {size_text(limit)})"


def largest_local() -> int:
    """The largest input, in bytes, that is read in this process."""
    return min(MOST_BYTES, int(SHARE_OF_MEMORY * memory_bytes()))


def input_bytes(path: Path) -> int:
    """The size of a file or folder without compression: stated in Parquet files, estimated for compressed text."""
    path, _ = options_apart(path)
    if is_stored(path):
        found = stored_files(path, what="input")
        return sum(one.n_bytes * EXPANSION.get(compression_of(plain_name(one.path)), 1) for one in found)
    if path.is_dir():
        return sum(input_bytes(file) for file in path.iterdir() if not file.name.startswith(("_", ".")))
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            footer = pq.read_metadata(path)
        except (OSError, pa.ArrowException):
            return path.stat().st_size  # the reader of the file says what is wrong with it
        return sum(footer.row_group(number).total_byte_size for number in range(footer.num_row_groups))
    return path.stat().st_size * EXPANSION.get(path.suffix, 1) if path.is_file() else 0
