"""Which file holds the rows of which stream: `-i NAME=PATH`, or `-i FOLDER` with one file per stream."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from inkling.errors import InputError, nearest
from inkling.logical.plan import ProgramPlan
from inkling.query import Program

SUFFIXES = (".parquet", ".csv", ".jsonl")
_NAMED = re.compile(r"([^\W\d]\w*)=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Given:
    """Paths by the name of the stream or table."""

    streams: dict[str, Path] = field(default_factory=dict)
    tables: dict[str, Path] = field(default_factory=dict)


def given_paths(program: Program, inputs: Iterable[str], tables: Iterable[str]) -> Given:
    """The files that a command line names; every stream that an event reads must have one."""
    plan = program.plan
    given = Given()
    for text in inputs:
        named = _NAMED.fullmatch(text)
        if named:
            name = _known(named[1], [stream.schema.name for stream in plan.streams], "stream", "-i")
            given.streams[name] = _existing(named[2])
        else:
            _look_in_folder(_existing(text), plan, given)
    for text in tables:
        named = _NAMED.fullmatch(text)
        if not named:
            raise InputError.of(
                "INK0553",
                f"expected `-t NAME=PATH`, found `{text}`",
                helps=("name the table before the path",),
            )
        name = _known(named[1], [table.name for table in plan.tables], "table", "-t")
        given.tables[name] = _existing(named[2])
    _require_streams(plan, given)
    return given


def _known(name: str, names: list[str], kind: str, option: str) -> str:
    if name in names:
        return name
    close = nearest(name, names, n=1)
    notes = (f"the {kind}s of the program are {', '.join(names)}",) if names else ()
    raise InputError.of(
        "INK0554",
        f"the program has no {kind} called `{name}`",
        notes=notes,
        helps=(f"write `{option} {close[0]}=…`",) if close else (),
    )


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise InputError.of("INK0550", f"there is no file or folder `{text}`")
    return path


def _look_in_folder(folder: Path, plan: ProgramPlan, given: Given) -> None:
    """Take `<Stream>.parquet` and the like, and the files that tables name, from a folder."""
    if not folder.is_dir():
        raise InputError.of(
            "INK0553",
            f"expected `-i NAME=PATH` or a folder, found the file `{folder}`",
            helps=(f"say which stream it holds: `-i {_first_stream(plan)}={folder}`",),
        )
    for stream in plan.streams:
        name = stream.schema.name
        found = next((path for path in _candidates(folder, name) if path.exists()), None)
        if found is not None:
            given.streams.setdefault(name, found)
    for table in plan.tables:
        path = folder / Path(table.path).name
        if path.exists():
            given.tables.setdefault(table.name, path)


def _candidates(folder: Path, name: str) -> Iterable[Path]:
    yield from (folder / f"{name}{suffix}" for suffix in SUFFIXES)
    yield folder / name


def _first_stream(plan: ProgramPlan) -> str:
    return plan.streams[0].schema.name if plan.streams else "NAME"


def _require_streams(plan: ProgramPlan, given: Given) -> None:
    used = {source for event in plan.events for source in event.sources}
    names = [stream.schema.name for stream in plan.streams if stream.schema.name in used]
    missing = [name for name in names if name not in given.streams]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        options = " ".join(f"`-i {name}=PATH`" for name in missing)
        raise InputError.of(
            "INK0555",
            f"no data for stream{'' if len(missing) == 1 else 's'} {listed}",
            helps=(f"add {options}, or `-i FOLDER` with all of them",),
        )
