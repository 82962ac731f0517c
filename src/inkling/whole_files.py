"""Files that are written whole or not at all, and their names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from inkling.errors import InputError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to, which replaces the file when the block is complete.

    If the block fails, the file is as it was. What is not a regular file, such as a pipe, is written to directly.
    """
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name[:100]}.{os.getpid()}.unfinished")
        try:
            yield unfinished
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as problem:
        raise InputError.of(
            "INK0565",
            f"`{path}` cannot be written",
            notes=(_reason(problem),),
            helps=("choose another place for it; if there was such a file before, it has not changed",),
        ) from problem


def _reason(problem: OSError) -> str:
    if isinstance(problem, FileExistsError | NotADirectoryError):
        return f"`{Path(problem.filename).name}` is not a folder"
    return problem.strerror or str(problem)


def write_whole(text: str, path: Path) -> None:
    with written_whole(path) as place:
        place.write_text(text, encoding="utf-8", newline="\n")


def file_name(name: str) -> str:
    """The name of an event as that of a file, which can lie in no other folder.

    >>> file_name("fast car"), file_name("../x"), file_name("..")
    ('fast car', '..%2Fx', '%2E%2E')
    """
    encoded = quote(name, safe=" ")
    return encoded if encoded.strip(".") else encoded.replace(".", "%2E")
