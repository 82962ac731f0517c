"""The formats of files, by their names."""

from collections.abc import Sequence
from enum import Enum
from pathlib import PurePath

from inkling.errors import InputError
from inkling.io.readers.compression import compression_of


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
    ".tsv": Format.CSV,
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".json": Format.JSON_LINES,
    ".parquet": Format.PARQUET,
    ".nt": Format.N_TRIPLES,
    ".nq": Format.N_QUADS,
    ".ttl": Format.TURTLE,
    ".trig": Format.TRIG,
    ".rdf": Format.RDF_XML,
    ".owl": Format.RDF_XML,
}

READABLE = (
    ".csv, .tsv, .jsonl, .json, .ndjson (also with .gz, .bz2, .xz or .zst), .parquet, "
    "or RDF: .nt, .nq, .ttl, .trig, .rdf"
)


def format_of_name(name: str) -> Format | None:
    """Format of a file by its name, or None.

    >>> format_of_name("readings.csv.gz"), format_of_name("readings.xlsx")
    (<Format.CSV: 'CSV'>, None)
    """
    compression = compression_of(name)
    kind = SUFFIXES.get(PurePath(name.lower().removesuffix(compression)).suffix)
    return None if compression and kind is Format.PARQUET else kind


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
