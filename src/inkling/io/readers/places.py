"""The files of an input: one file, or all files in and below a folder."""

from pathlib import Path, PurePath

from inkling.errors import InputError, nearest
from inkling.io.readers.formats import READABLE, Format, format_of_folder, format_of_name, is_visible
from inkling.io.readers.options import FileOptions, options_apart
from inkling.io.readers.storage import REMOTE, is_stored, plain_name, stored_files, uri_of

_SPREADSHEETS = (".xlsx", ".xls", ".ods")


def files_at(path: Path, *, what: str) -> tuple[Format, tuple[Path, ...]]:
    """The files at a path in the order of their names, and their format.

    Where the path has options, the path of each file has them.
    """
    plain, options = options_apart(path)
    if is_stored(plain):
        return _stored_at(plain, options, what=what)
    if plain.is_dir():
        inside = (one for one in plain.rglob("*") if one.is_file())
        files = tuple(sorted(one for one in inside if is_visible(one.relative_to(plain))))
        kind = options.format or format_of_folder(plain, [one.name for one in files], what=what)
    elif not plain.exists():
        raise stream_address(plain, what=what) or missing_file(plain, what=what)
    else:
        files, kind = (plain,), options.format or _format_of_file(plain, plain.name, what=what)
    options.require_fit(kind, str(path), what=what)
    return kind, tuple(options.at(one) for one in files)


def _stored_at(path: Path, options: FileOptions, *, what: str) -> tuple[Format, tuple[Path, ...]]:
    found = [one.path for one in stored_files(path, what=what)]
    if not found:
        raise InputError.of("INK0550", f"there is no file or folder `{uri_of(path)}` for `{what}`")
    names = [plain_name(one) for one in found]
    if options.format is not None:
        kind = options.format
    elif found == [path]:
        kind = _format_of_file(path, names[0], what=what)
    else:
        kind = format_of_folder(PurePath(uri_of(path)), names, what=what)
    options.require_fit(kind, uri_of(path), what=what)
    return kind, tuple(options.at(one) for one in found)


def _format_of_file(path: Path, name: str, *, what: str) -> Format:
    kind = format_of_name(name)
    if kind is None:
        raise InputError.of(
            "INK0502",
            f"the name of `{path}` for `{what}` does not show its format",
            notes=(f"a file of rows ends with {READABLE}",),
            helps=(
                f"save it as `{path.stem}.csv`"
                if path.suffix.lower() in _SPREADSHEETS
                else f"name the format, as in `{path}?format=csv`",
            ),
        )
    return kind


def stream_address(address: str | Path, *, what: str) -> InputError | None:
    """The error for an address of a stream, such as `kafka://host:9092/trips`, where files are expected, or None."""
    found = REMOTE.fullmatch(str(address))
    if found is None or Path(address).exists() or is_stored(address):
        return None
    text = f"{found['scheme'].lower()}://{found['rest']}"
    helps = (f"write `inkling stream PROGRAM.ink --input {what}={text}` to read a topic",)
    return InputError.of(
        "INK0515",
        f"`{text}` for `{what}` is not a file",
        notes=("inputs of a run are files; in Python, also Spark DataFrames",),
        helps=helps if found["scheme"].lower() == "kafka" else (),
    )


def missing_file(path: Path, *, what: str) -> InputError:
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, beside, n=3)
    return InputError.of(
        "INK0550",
        f"there is no file or folder `{path}` for `{what}`",
        helps=(f"did you mean {' or '.join(f'`{path.parent / name}`' for name in close)}?",) if close else (),
    )
