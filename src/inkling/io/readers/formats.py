"""The files of an input and their format, by their names."""

import codecs
import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path, PurePath

from inkling.errors import InputError, nearest
from inkling.program_files import with_encoding_apart


class Format(Enum):
    CSV = "CSV"
    JSON_LINES = "JSON lines"
    PARQUET = "Parquet"
    N_TRIPLES = "N-Triples"
    N_QUADS = "N-Quads"
    TURTLE = "Turtle"
    TRIG = "TriG"
    RDF_XML = "RDF/XML"


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
    ".nt": Format.N_TRIPLES,
    ".nt.gz": Format.N_TRIPLES,
    ".nq": Format.N_QUADS,
    ".nq.gz": Format.N_QUADS,
    ".ttl": Format.TURTLE,
    ".ttl.gz": Format.TURTLE,
    ".trig": Format.TRIG,
    ".trig.gz": Format.TRIG,
    ".rdf": Format.RDF_XML,
    ".rdf.gz": Format.RDF_XML,
    ".owl": Format.RDF_XML,
}

READABLE = ".csv, .jsonl, .json, .ndjson (each also with .gz), .parquet, or RDF: .nt, .nq, .ttl, .trig, .rdf"


def format_of_name(name: str) -> Format | None:
    """Format of a file by its name, or None.

    >>> format_of_name("readings.csv.gz"), format_of_name("readings.xlsx")
    (<Format.CSV: 'CSV'>, None)
    """
    lower = name.lower()
    return next((kind for suffix, kind in SUFFIXES.items() if lower.endswith(suffix)), None)


def files_at(path: Path, *, what: str) -> tuple[Format, tuple[Path, ...]]:
    """The files at a path in the order of their names: one file, or all files in and below a folder.

    Where the path names an encoding, the path of each file does.
    """
    plain, encoding = without_encoding(path)
    if plain != path:
        its_format, files = files_at(plain, what=what)
        require_encoded(its_format, str(path), what=what)
        return its_format, files if encoding is None else tuple(Path(f"{one}?encoding={encoding}") for one in files)
    if path.is_dir():
        inside = (one for one in path.rglob("*") if one.is_file())
        files = tuple(sorted(one for one in inside if is_visible(one.relative_to(path))))
        return format_of_folder(path, [one.name for one in files], what=what), files
    if not path.exists():
        raise remote_address(path, what=what) or missing_file(path, what=what)
    kind = format_of_name(path.name)
    if kind is None:
        raise InputError.of(
            "INK0502",
            f"the name of `{path}` for `{what}` does not show its format",
            helps=(f"a file of rows ends with {READABLE}",),
        )
    return kind, (path,)


ENCODED_FORMATS = frozenset({Format.CSV, Format.JSON_LINES})
_COMMON = ("latin-1", "cp1252", "utf-16", "utf-32", "utf-8", "iso8859-15", "gbk", "shift_jis")


def without_encoding(path: Path) -> tuple[Path, str | None]:
    """The path of a file or folder, and the encoding that it names, None for UTF-8.

    >>> without_encoding(Path("Door.csv?encoding=latin-1"))
    (PosixPath('Door.csv'), 'iso8859-1')
    """
    plain, name = with_encoding_apart(path)
    return plain, None if name is None else encoding_of(name, str(path))


def encoding_of(name: str, address: str) -> str | None:
    """The encoding of this name, None for UTF-8; `address` says in messages where it is named."""
    try:
        found = codecs.lookup(name)
        "a".encode(found.name)  # hex is a codec, too
    except (LookupError, ValueError):
        close = nearest(name, _COMMON, n=1) or _COMMON[:1]
        raise InputError.of(
            "INK0515",
            f"`{name}` is not a valid encoding for `{address}`",
            helps=(f"write for example `encoding={close[0]}`",),
        ) from None
    return None if found.name in ("utf-8", "utf-8-sig") else found.name


def require_encoded(kind: Format, address: str, *, what: str) -> None:
    """Reject an encoding for a format whose text has always the same."""
    if kind not in ENCODED_FORMATS:
        raise InputError.of(
            "INK0515",
            f"`{address}` for `{what}` names an encoding, which {kind.value} does not have",
            helps=("an encoding is named for CSV and JSON lines",),
        )


def is_visible(path: PurePath) -> bool:
    """Whether a file of a folder contains rows, unlike `_SUCCESS` or hidden files."""
    return not any(part.startswith(("_", ".")) for part in path.parts)


def format_of_folder(folder: PurePath, names: Sequence[str], *, what: str) -> Format:
    """The one format of all visible files of a folder."""
    kinds = {format_of_name(name): name for name in names}
    helps = (f"every file of one input ends with the same of {READABLE}",)
    if not kinds:
        raise InputError.of("INK0502", f"the folder `{folder}` for `{what}` has no files of rows", helps=helps)
    if None in kinds:
        message = f"the folder `{folder}` for `{what}` has a file of unknown format, `{kinds[None]}`"
        raise InputError.of(
            "INK0502", message, notes=("files whose names start with `_` or `.` are left out",), helps=helps
        )
    if len(kinds) > 1:
        one, other, *_ = kinds.values()
        message = f"the folder `{folder}` for `{what}` mixes formats: `{one}` and `{other}`"
        raise InputError.of("INK0502", message, helps=helps)
    return next(kind for kind in kinds if kind is not None)


REMOTE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/{1,2}(?P<rest>[^/].*)")


def remote_address(address: str | Path, *, what: str) -> InputError | None:
    """The error for an address such as `s3://bucket/rows.csv` where a path of this machine is expected, or None."""
    found = REMOTE.fullmatch(str(address))
    if found is None or Path(address).exists():
        return None
    scheme, rest = found["scheme"].lower(), found["rest"]
    text = f"{scheme}://{rest}"
    name = PurePath(rest).name
    match scheme:
        case "kafka":
            help = f"write `inkling stream PROGRAM.ink --input {what}={text}` to read a topic"
        case "s3" | "s3a" | "s3n":
            help = f"copy it first, for example with `aws s3 cp s3://{rest} {name}`"
        case "gs":
            help = f"copy it first, for example with `gcloud storage cp {text} {name}`"
        case "http" | "https":
            help = f"download it first, for example with `curl -O {text}`"
        case _:
            help = "copy it first"
    return InputError.of(
        "INK0515",
        f"`{text}` for `{what}` is not a path of this machine",
        notes=("inputs of a run are local files; in Python, a Spark DataFrame can be read from any storage",),
        helps=(help,),
    )


def missing_file(path: Path, *, what: str) -> InputError:
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, beside, n=3)
    return InputError.of(
        "INK0550",
        f"there is no file or folder `{path}` for `{what}`",
        helps=(f"did you mean {' or '.join(f'`{path.parent / name}`' for name in close)}?",) if close else (),
    )
