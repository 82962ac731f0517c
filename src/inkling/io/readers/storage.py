"""Files of object stores and other file systems, such as `s3://bucket/trips.csv`, read with Arrow or fsspec.

A path keeps such an address with one slash after the colon, because that is how `Path` writes it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import pyarrow as pa
import pyarrow.fs

from inkling.errors import InputError
from inkling.io.readers.formats import is_visible

REMOTE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/{1,3}(?P<rest>[^/].*)", re.DOTALL)

_STREAMS = ("kafka", "postgresql", "rate", "table")
_OF_ARROW = ("abfs", "abfss", "file", "gs", "hdfs", "s3", "viewfs")
_OTHER_NAMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}


@dataclass(frozen=True, slots=True)
class StoredFile:
    path: Path
    n_bytes: int


def is_stored(path: Path | str) -> bool:
    """Whether a path is an address of another file system than that of this machine."""
    found = REMOTE.fullmatch(str(path))
    return found is not None and found["scheme"].lower() not in _STREAMS and not Path(path).exists()


def uri_of(path: Path | str) -> str:
    """The address that a path stands for.

    >>> uri_of(Path("s3a://bucket/trips.csv"))
    's3://bucket/trips.csv'
    """
    found = REMOTE.fullmatch(str(path))
    assert found is not None
    scheme = found["scheme"].lower()
    root = "/" if scheme == "file" else ""
    return f"{_OTHER_NAMES.get(scheme, scheme)}://{root}{found['rest']}"


def plain_name(path: Path | str) -> str:
    """The name of a file without the settings of its file system."""
    return PurePath(str(path).partition("?")[0]).name


def stored_files(path: Path, *, what: str) -> list[StoredFile]:
    """The file at an address, or the files in and below a folder in the order of their names; empty if none exists."""
    uri = uri_of(path)
    try:
        system, place = _system(uri)
        info = system.get_file_info(place)
        if info.type is pyarrow.fs.FileType.File:
            return [StoredFile(path, info.size)]
        if info.type is pyarrow.fs.FileType.NotFound:
            return []
        found = system.get_file_info(pyarrow.fs.FileSelector(place, recursive=True))
    except (OSError, pa.ArrowException, ImportError, ValueError) as problem:
        raise _unreachable(uri, problem, what=what) from None
    top, question, settings = str(path).partition("?")
    files = {}
    for one in found:
        below = PurePath(one.path).relative_to(PurePath(place))
        if one.type is pyarrow.fs.FileType.File and is_visible(below):
            files[str(below)] = StoredFile(Path(f"{top.rstrip('/')}/{below}{question}{settings}"), one.size)
    return [files[name] for name in sorted(files)]


def opened(path: Path) -> pa.NativeFile:
    """A file at an address, for reading."""
    system, place = _system(uri_of(path))
    return system.open_input_file(place)


def _system(uri: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """The file system of an address and the place in it: one of Arrow's, otherwise one of fsspec."""
    scheme = uri.partition("://")[0]
    system, place = pyarrow.fs.FileSystem.from_uri(uri if scheme in _OF_ARROW else f"fsspec+{uri}")
    return system, place


def _unreachable(uri: str, problem: Exception, *, what: str) -> InputError:
    scheme, _, rest = uri.partition("://")
    helps: Sequence[str]
    match scheme:
        case "s3":
            helps = (
                "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, or write `?region=eu-central-1` after it",
                f"or copy it first: `aws s3 cp s3://{rest.partition('?')[0]} .`",
            )
        case "gs":
            helps = ("run `gcloud auth application-default login`", f"or copy it first: `gcloud storage cp {uri} .`")
        case "http" | "https":
            helps = (f"download it first: `curl -O {uri}`", "or `pip install fsspec aiohttp`, which reads it")
        case "abfs" | "abfss" | "hdfs":
            helps = ("copy it to this machine first",)
        case _ if isinstance(problem, ImportError):
            helps = (f"copy it to this machine first, or `pip install fsspec` if fsspec knows `{scheme}://`",)
        case _:
            helps = ("copy it to this machine first",)
    reason = (str(problem).splitlines() or [type(problem).__name__])[0]
    return InputError.of("INK0515", f"`{uri}` for `{what}` cannot be reached", notes=(reason,), helps=helps)
