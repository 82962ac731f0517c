"""Spark's own logs in a checkpoint: which inputs belong to which micro-batch, and which micro-batches are done."""

import json
import re

from py4j.protocol import Py4JJavaError

from inkling.errors import Diagnostic
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder

_HEAD = re.compile(rb"\0?v[12]\n")  # Kafka's first offsets begin with a zero byte
_NUMBERED = re.compile(r"(\d+)(?:\.compact)?")


def damaged_log(spark: CheckpointFolder) -> Diagnostic | None:
    """The diagnostic of the first damaged file among those that Spark reads when it resumes; None if all are intact."""
    offsets, commits = (_numbered(spark.inside(name)) for name in ("offsets", "commits"))
    metadata = _read(spark, "metadata")
    if (metadata is None and offsets) or (metadata is not None and not _is_json(metadata)):
        return _beyond_repair(spark, "metadata")
    done = max(commits, default=-1)
    if commits and not _is_log(_read(spark.inside("commits"), commits[done])):
        return _can_move_away(spark, f"commits/{commits[done]}")
    last = max(offsets, default=-1)
    if offsets and last < done:
        return _beyond_repair(spark, f"offsets/{done}")
    for number in (last - 1, last):
        is_needed = number in offsets or number == done
        name = offsets.get(number, str(number))
        if is_needed and number >= 0 and not _is_log(_read(spark.inside("offsets"), name)):
            repair = _can_move_away if number == last > done else _beyond_repair
            return repair(spark, f"offsets/{name}")
    for source in spark.inside("sources").names():
        log = spark.inside("sources").inside(source)
        for name in _numbered(log).values():
            if not _is_log(_read(log, name)):
                return _beyond_repair(spark, f"sources/{source}/{name}")
    return None


def _read(folder: CheckpointFolder, name: str) -> bytes | None:
    try:
        return folder.read(name)
    except Py4JJavaError:  # the bytes do not fit their checksum
        return b""


def _numbered(folder: CheckpointFolder) -> dict[int, str]:
    found = {name: _NUMBERED.fullmatch(name) for name in folder.names()}
    return {int(number[1]): name for name, number in found.items() if number is not None}


def _is_log(data: bytes | None) -> bool:
    """Whether the bytes are a version and lines of JSON; `-` stands for a source without an offset."""
    if data is None or not _HEAD.match(data):
        return False
    lines = data.splitlines()[1:]
    return bool(lines) and all(line == b"-" or _is_json(line) for line in lines if line.strip())


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def _can_move_away(spark: CheckpointFolder, name: str) -> Diagnostic:
    return _damaged(
        spark,
        name,
        "move this file away, with its `.crc` file if it has one: the last micro-batch is repeated, without lost or "
        "duplicate results",
    )


def _beyond_repair(spark: CheckpointFolder, name: str) -> Diagnostic:
    return _damaged(spark, name, "restore the checkpoint from a copy, or start with a new checkpoint and a new output")


def _damaged(spark: CheckpointFolder, name: str, help: str) -> Diagnostic:
    place = spark.path.removeprefix("file:")
    return Diagnostic(
        "INK0611",
        f"`{place}/{name}` of the checkpoint is missing or damaged",
        notes=("Spark reads from it which inputs belong to which micro-batch, so a restart fails in the same way",),
        helps=(help,),
    )
