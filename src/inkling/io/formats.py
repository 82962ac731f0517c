"""Which files hold the rows of an input, and in which format, told from their names."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path, PurePath

from inkling.errors import InputError, nearest


class Format(Enum):
    CSV = "CSV"
    JSON_LINES = "JSON lines"
    PARQUET = "Parquet"


SUFFIXES = {
    ".csv": Format.CSV,
    ".csv.gz": Format.CSV,
    ".jsonl": Format.JSON_LINES,
    ".jsonl.gz": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".ndjson.gz": Format.JSON_LINES,
    ".json": Format.JSON_LINES,
    ".json.gz": Format.JSON_LINES,
    ".parquet": Format.PARQUET,
}

READABLE = ".csv, .jsonl, .json, .ndjson (each also with .gz) or .parquet"


def format_of(name: str) -> Format | None:
    """Format of a file by its name, or None.

    >>> format_of("readings.csv.gz"), format_of("readings.xlsx")
    (<Format.CSV: 'CSV'>, None)
    """
    lower = name.lower()
    return next((kind for suffix, kind in SUFFIXES.items() if lower.endswith(suffix)), None)


def files_at(path: Path) -> tuple[Format, tuple[Path, ...]]:
    """The files at a path in the order of their names: one file, or all files of a folder."""
    if path.is_dir():
        files = sorted(one for one in path.iterdir() if one.is_file() and is_visible(one.name))
        return format_of_folder(str(path), [one.name for one in files]), tuple(files)
    if not path.exists():
        raise missing_file(path)
    return format_of_file(str(path)), (path,)


def is_visible(name: str) -> bool:
    """Whether a file of a folder holds rows: others, such as `_SUCCESS`, stand beside them."""
    return not name.startswith(("_", "."))


def format_of_file(path: str) -> Format:
    kind = format_of(PurePath(path).name)
    if kind is None:
        raise InputError.of(
            "INK0502",
            f"the format of `{path}` cannot be told from its name",
            helps=(f"a file of rows ends with {READABLE}",),
        )
    return kind


def format_of_folder(folder: str, names: Sequence[str]) -> Format:
    """The one format of all visible files of a folder."""
    kinds = {kind: name for name in names if (kind := format_of(name)) is not None}
    unknown = [name for name in names if format_of(name) is None]
    if not names or unknown:
        raise InputError.of(
            "INK0503",
            f"the folder `{folder}` has no files of rows"
            if not names
            else f"the folder `{folder}` has a file of unknown format, `{unknown[0]}`",
            notes=("files whose names start with `_` or `.` are left out",),
            helps=(f"every file ends with {READABLE}",),
        )
    if len(kinds) > 1:
        one, other, *_ = kinds.values()
        raise InputError.of(
            "INK0503",
            f"the folder `{folder}` mixes formats: `{one}` and `{other}`",
            helps=("keep the files of one input in one format, in a folder of their own",),
        )
    return next(iter(kinds))


def missing_file(path: Path) -> InputError:
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, beside, n=3)
    return InputError.of(
        "INK0501",
        f"there is no file or folder `{path}`",
        helps=(f"did you mean {' or '.join(f'`{path.parent / name}`' for name in close)}?",) if close else (),
    )
