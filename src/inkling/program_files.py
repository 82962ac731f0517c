"""The files that a program names: they lie in its folder, and with a root, nowhere outside of the root."""

import re
from dataclasses import dataclass
from pathlib import Path

from inkling.errors import InputError


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """The folder to which paths in a program are relative, and the folder that they must not leave, if any."""

    folder: Path = Path()
    root: Path | None = None

    def path(self, name: str) -> Path:
        """The place of a file or folder that the program names."""
        found = Path(name) if _ELSEWHERE.match(name) else self.folder / name
        if self.root is not None:
            require_inside(found, self.root)
        return found


_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""How addresses of other storage begin, such as `s3://bucket/rooms.csv`."""

_WITH_OPTIONS = re.compile(r"(?P<path>[^?]+)\?(?P<options>\w+=[^?]*)", re.DOTALL)


def with_options_apart(path: Path) -> tuple[Path, str | None]:
    """The place of a file or folder, and the options after it if the path ends with some.

    >>> with_options_apart(Path("Door.csv?encoding=latin-1"))
    (PosixPath('Door.csv'), 'encoding=latin-1')
    """
    found = _WITH_OPTIONS.fullmatch(str(path))
    return (path, None) if found is None or path.exists() else (Path(found["path"]), found["options"])


def require_inside(path: Path, root: Path) -> None:
    """Raise an error if a file, or a file in a folder, lies outside of the root; links are followed."""
    path, _ = with_options_apart(path)
    if _ELSEWHERE.match(str(path)) and not path.exists():
        raise _outside(path, root)
    top = root.resolve()
    for one in (path, *(sorted(path.rglob("*")) if path.is_dir() else ())):
        if not one.resolve().is_relative_to(top):
            raise _outside(one, root)


def _outside(path: Path, root: Path) -> InputError:
    return InputError.of(
        "INK0580",
        f"`{path}` lies outside of `{root}`",
        notes=("`--root` confines what a program may read, also through links",),
        helps=(
            "put the file inside, or give its rows by name with `-t NAME=PATH`; "
            "without `--root`, a program may read every file of its user",
        ),
    )
