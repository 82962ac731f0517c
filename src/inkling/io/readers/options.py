"""How the files of an input are written, as options after `?` in its path: `old.csv?sep=;&header=no&columns=id,at`."""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from inkling.errors import InputError, nearest
from inkling.io.readers.csv_text import Dialect
from inkling.io.readers.formats import Format
from inkling.io.readers.storage import is_stored
from inkling.program_files import with_options_apart

NAMES = ("format", "encoding", "sep", "header", "columns")

FORMATS = {
    "csv": Format.CSV,
    "tsv": Format.CSV,
    "json": Format.JSON_LINES,
    "jsonl": Format.JSON_LINES,
    "parquet": Format.PARQUET,
    "ntriples": Format.N_TRIPLES,
    "nquads": Format.N_QUADS,
    "turtle": Format.TURTLE,
    "trig": Format.TRIG,
    "rdfxml": Format.RDF_XML,
}

_ENCODED_FORMATS = frozenset({Format.CSV, Format.JSON_LINES})
_COMMON = ("latin-1", "cp1252", "utf-16", "utf-32", "utf-8", "iso8859-15", "gbk", "shift_jis")
_NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_OTHER_NAMES = {"separator": "sep", "seperator": "sep", "delimiter": "sep", "delim": "sep", "names": "columns"}
_TRUTHS = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class FileOptions:
    """The options of an input; `text` is how they were written, None stands for what the files show themselves."""

    format: Format | None = None
    encoding: str | None = None
    dialect: Dialect | None = None
    text: str = ""

    def at(self, file: Path) -> Path:
        """The path of a file of the input with the same options."""
        return Path(f"{file}{'&' if '?' in str(file) else '?'}{self.text}") if self.text else file

    def require_fit(self, kind: Format, address: str, *, what: str) -> None:
        """Reject options that files of a format do not have."""
        if self.encoding is not None and kind not in _ENCODED_FORMATS:
            raise InputError.of(
                "INK0515",
                f"`{address}` for `{what}` names an encoding, which {kind.value} does not have",
                helps=("an encoding is named for CSV and JSON lines",),
            )
        if self.dialect is not None and kind is not Format.CSV:
            raise InputError.of(
                "INK0515",
                f"`{address}` for `{what}` has options of CSV, but the files are {kind.value}",
                helps=("write `sep`, `header` and `columns` only for CSV",),
            )


def options_apart(path: Path) -> tuple[Path, FileOptions]:
    """The path of a file or folder, and the options after it.

    >>> options_apart(Path("Door.csv?encoding=latin-1"))[1].encoding
    'iso8859-1'
    """
    plain, text = with_options_apart(path)
    if text is None:
        return path, FileOptions()
    pairs = text.split("&")
    if is_stored(plain):  # its file system has settings, too
        others = [pair for pair in pairs if pair.partition("=")[0] not in NAMES]
        pairs = [pair for pair in pairs if pair not in others]
        plain = Path(f"{plain}?{'&'.join(others)}") if others else plain
    given = dict(pair.partition("=")[::2] for pair in pairs)
    return plain, options_of(given, str(path), "&".join(pairs))


def options_of(given: Mapping[str, str], address: str, text: str = "") -> FileOptions:
    """The options that names and values state; `address` says in messages where they are."""
    unknown = next((name for name in given if name not in NAMES), None)
    if unknown is not None:
        close = [_OTHER_NAMES[unknown]] if unknown in _OTHER_NAMES else nearest(unknown, NAMES, n=1)
        raise InputError.of(
            "INK0515",
            f"`{unknown}` is not an option of `{address}`",
            notes=(f"options of files are {', '.join(NAMES)}",),
            helps=(f"write `{close[0]}={given[unknown]}`",) if close else (),
        )
    values = {name: unquote(value) for name, value in given.items()}
    kind = _format_of(values["format"], address) if "format" in values else None
    encoding = encoding_of(values["encoding"], address) if "encoding" in values else None
    is_tsv = values.get("format") == "tsv"
    dialect = _dialect_of(values, address) if values.keys() & {"sep", "header", "columns"} or is_tsv else None
    return FileOptions(kind, encoding, dialect, text)


def _format_of(name: str, address: str) -> Format:
    if name in FORMATS:
        return FORMATS[name]
    raise InputError.of(
        "INK0515",
        f"`{name}` is not a valid format for `{address}`",
        notes=(f"choices are {', '.join(FORMATS)}",),
        helps=tuple(f"write `format={one}`" for one in nearest(name, FORMATS, n=1)),
    )


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


def _dialect_of(values: Mapping[str, str], address: str) -> Dialect:
    usual = "tab" if values.get("format") == "tsv" else ","
    written = values.get("sep", usual)
    separator = _NAMED_SEPARATORS.get(written.lower(), written)
    if not re.fullmatch(r"[\t -~]", separator) or separator == '"':
        raise InputError.of(
            "INK0515",
            f"`{written}` is not a valid separator for `{address}`",
            notes=("a separator is one ASCII character",),
            helps=("write for example `sep=;`, `sep=tab` or `sep=|`",),
        )
    has_header = _TRUTHS.get(values.get("header", "yes").lower())
    if has_header is None:
        raise InputError.of(
            "INK0515",
            f"`{values['header']}` is not a valid header for `{address}`",
            helps=("write `header=no` if the first line is a row, otherwise leave it out",),
        )
    names = tuple(name.strip() for name in values["columns"].split(",")) if "columns" in values else ()
    if not has_header and not any(names):
        raise InputError.of(
            "INK0515",
            f"`{address}` has no header, and its columns have no names",
            helps=("name the columns in the order of the file, as in `header=no&columns=id,value,at`",),
        )
    return Dialect(separator, has_header, names)
