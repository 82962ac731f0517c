"""The program that a command line names, and the file or address of each of its streams and tables.

Streams are given as `-i NAME=PATH`, or as `-i FOLDER` with one file per stream. Files of `--python`, which declare
aggregates, are imported before the program is read.
"""

import atexit
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Generic, TypeVar

import typer

from inkling.cli.options import ProgramAndFiles
from inkling.cli.python_files import import_files
from inkling.cli.terminal.messages import print_diagnostics
from inkling.errors import InputError, nearest
from inkling.io.readers.options import options_apart
from inkling.io.readers.places import stream_address
from inkling.io.readers.storage import is_stored, stored_files
from inkling.io.readers.wayeb import RESET, layout_of, read_wayeb
from inkling.language.syntax import StreamDecl
from inkling.logical.plan import ProgramPlan
from inkling.physical.plan import Runnable
from inkling.query import Program, load, parse
from inkling.source import SourceText
from inkling.whole_files import file_name

SUFFIXES = (".parquet", ".csv", ".jsonl")
MOST_SHOWN = 8
_NAMED = re.compile(r"([^\W\d]\w*)=(.+)", re.DOTALL)


Origin = TypeVar("Origin", Path, str)


@dataclass(frozen=True, slots=True)
class GivenInputs(Generic[Origin]):
    """What a command line gives for each stream and table of a program: files, or addresses of streams."""

    streams: dict[str, Origin] = field(default_factory=dict)
    tables: dict[str, Path] = field(default_factory=dict)
    resetting: set[str] = field(default_factory=set)  # streams from files of the Wayeb engine with rows of type RESET


def given_paths(program: Runnable, inputs: Iterable[str], tables: Iterable[str]) -> GivenInputs[Path]:
    """The files that a command line names; every stream that an event reads must have one."""
    plan = program.plan
    given: GivenInputs[Path] = GivenInputs()
    folders: list[Path] = []
    for text in inputs:
        named = _NAMED.fullmatch(text)
        if named:
            name = _known_stream(named[1], plan)
            given.streams[name], has_resets = _with_header(_existing(named[2], named[1]))
            given.resetting.update([name] if has_resets else [])
        else:
            folders.append(_existing(text, _first_stream(plan)))
            _look_in_folder(folders[-1], plan, given)
    given.tables.update(_given_tables(plan, tables))
    _require_streams(plan, given.streams, folders)
    return given


def given_addresses(program: Runnable, inputs: Iterable[str], tables: Iterable[str]) -> GivenInputs[str]:
    """The addresses of streams that a command line names; every stream that an event reads must have one."""
    plan = program.plan
    given: GivenInputs[str] = GivenInputs()
    for text in inputs:
        named = _NAMED.fullmatch(text)
        if not named:
            raise InputError.of(
                "INK0553",
                f"expected `-i NAME=SOURCE`, found `{text}`",
                helps=(f"name its stream: `-i {_first_stream(plan)}={text}`",),
            )
        given.streams[_known_stream(named[1], plan)] = named[2]
    given.tables.update(_given_tables(plan, tables))
    _require_streams(plan, given.streams)
    return given


def _known_stream(name: str, plan: ProgramPlan) -> str:
    return _known(name, [stream.schema.name for stream in plan.streams], "stream", "-i")


def _given_tables(plan: ProgramPlan, tables: Iterable[str]) -> dict[str, Path]:
    given = {}
    for text in tables:
        named = _NAMED.fullmatch(text)
        if not named:
            raise InputError.of(
                "INK0553", f"expected `-t NAME=PATH`, found `{text}`", helps=("name the table before the path",)
            )
        name = _known(named[1], [table.name for table in plan.tables], "table", "-t")
        given[name] = _existing(named[2], named[1])
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


def _existing(text: str, what: str) -> Path:
    path = Path(text)
    plain, _ = options_apart(path)
    if is_stored(plain):
        stored_files(plain, what=what)  # reports at once what cannot be reached
    elif not plain.exists():
        stream = stream_address(text, what=what)
        if stream is not None:
            raise stream
        raise InputError.of("INK0550", f"there is no file or folder `{text}`")
    return path


def _with_header(path: Path) -> tuple[Path, bool]:
    """The file, or a copy with column names if it is one of the Wayeb engine; and whether some of its rows reset."""
    if not path.exists() or layout_of(path) is None:  # a path that names an encoding
        return path, False
    import pyarrow.parquet as pq

    folder = Path(mkdtemp(prefix="inkling-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    copy = folder / f"{path.stem}.parquet"
    rows = read_wayeb(path)
    pq.write_table(rows, copy)
    return copy, RESET in rows["type"].unique().to_pylist()


def _look_in_folder(folder: Path, plan: ProgramPlan, given: GivenInputs[Path]) -> None:
    """Add the files of a folder that are named after streams, such as `Door.parquet`, and the files of tables."""
    if not folder.is_dir():
        raise InputError.of(
            "INK0553",
            f"expected `-i NAME=PATH` or a folder, found the file `{folder}`",
            helps=(f"name its stream: `-i {_first_stream(plan)}={folder}`",),
        )
    for stream in plan.streams:
        name = stream.schema.name
        found = next((path for path in _candidates(folder, name) if path.exists()), None)
        if found is not None:
            given.streams.setdefault(name, found)
    for table in plan.tables:
        path = folder / _inside(Path(table.path).name)
        if path.exists():
            given.tables.setdefault(table.name, path)


def _inside(name: str) -> str:
    """The name of a stream or table as that of a file in a folder, which cannot lead out of it."""
    return name if Path(name).name == name and name.strip(".") else file_name(name)


def _candidates(folder: Path, name: str) -> Iterable[Path]:
    name = _inside(name)
    yield from (folder / f"{name}{suffix}" for suffix in SUFFIXES)
    yield folder / name


def _first_stream(plan: ProgramPlan) -> str:
    return plan.streams[0].schema.name if plan.streams else "NAME"


def _looked_for(folder: Path, missing: Iterable[str]) -> Iterable[str]:
    """The names under which a stream was looked for in a folder, and what the folder holds."""
    for name in missing:
        yield f"`{folder}` holds none of {', '.join(path.name for path in _candidates(folder, name))}"
    there = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    more = f" and {len(there) - MOST_SHOWN:,} more" if len(there) > MOST_SHOWN else ""
    yield f"it holds {', '.join(there[:MOST_SHOWN]) or 'nothing'}{more}"


def _require_streams(plan: ProgramPlan, given: Iterable[str], folders: Iterable[Path] = ()) -> None:
    used = {source for event in plan.events for source in event.sources}
    names = [stream.schema.name for stream in plan.streams if stream.schema.name in used]
    missing = [name for name in names if name not in given]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        options = " ".join(f"`-i {name}=PATH`" for name in missing)
        raise InputError.of(
            "INK0555",
            f"no data for stream{'' if len(missing) == 1 else 's'} {listed}",
            notes=tuple(note for folder in folders for note in _looked_for(folder, missing)),
            helps=(f"add {options}, or `-i FOLDER` with all of them",),
        )


def _require_root(root: Path) -> None:
    if not root.is_dir():
        raise InputError.of("INK0550", f"there is no folder `{root}`", helps=("`--root` names an existing folder",))


def load_with_files(asked: ProgramAndFiles, *, quiet: bool) -> tuple[Program, GivenInputs[Path]]:
    """The program that options name, and the files that hold its streams and tables."""
    program = load_program(asked.program, asked.python, asked.declarations, asked.root, quiet=quiet)
    given = given_paths(program, asked.inputs, asked.tables)
    return resetting(program, given), given


def resetting(program: Program, given: GivenInputs[Path]) -> Program:
    """Wayeb patterns whose stream is not declared, with resets if the rows of the stream have some."""
    is_declared = any(isinstance(one, StreamDecl) and one.reset_when is not None for one in program.syntax.statements)
    if not given.resetting or is_declared or not program.name.lower().endswith(".sre"):
        return program
    from inkling.language.sre import RESETS, with_declarations

    return parse(
        with_declarations(program.text, SourceText("", RESETS)),
        name=program.name,
        folder=program.folder,
        root=program.files.root,
    )


def recognizing(program: Program, models: Iterable[str], *, quiet: bool = False) -> Program:
    """Wayeb patterns without the forecasts whose models do not exist yet; `models` are given as tables."""
    if not program.name.lower().endswith(".sre"):
        return program
    given = {*models}
    paths = {
        one.name: program.files.path(one.path) for one in program.plan.tables if one.made_by and one.name not in given
    }
    forecasts = {one.name: one.forecast.model for one in program.plan.events if one.forecast is not None}
    missing = {name: model for name, model in forecasts.items() if model in paths and not paths[model].exists()}
    if not missing:
        return program
    if not quiet:
        names = ", ".join(f"`{model}`" for model in dict.fromkeys(missing.values()))
        typer.echo(f"no forecasts: there is no model {names}; `inkling fit` learns it", err=True)
    return program.without_forecasts(missing)


def load_program(
    path: Path, python: list[Path], declarations: Path | None = None, root: Path | None = None, *, quiet: bool = False
) -> Program:
    """The program in a file; its warnings go to stderr."""
    if root is not None:
        _require_root(root)
    import_files(python, root)
    program = load(path, declarations=declarations, root=root)
    warnings = (*program.warnings, *program.growth_warnings())
    if warnings and not quiet:
        print_diagnostics(warnings)
    return program
