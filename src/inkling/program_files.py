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
        found = self.folder / name
        if self.root is not None:
            require_inside(found, self.root)
        return found


_ENCODED = re.compile(r"(?P<path>.+)\?encoding=(?P<encoding>[^?&/]*)", re.DOTALL)


def with_encoding_apart(path: Path) -> tuple[Path, str | None]:
    """The place of a file or folder, and the name of its encoding if the path ends with one.

    >>> with_encoding_apart(Path("Door.csv?encoding=latin-1"))
    (PosixPath('Door.csv'), 'latin-1')
    """
    found = _ENCODED.fullmatch(str(path))
    return (path, None) if found is None or path.exists() else (Path(found["path"]), found["encoding"])


def require_inside(path: Path, root: Path) -> None:
    """Raise an error if a file, or a file in a folder, lies outside of the root; links are followed."""
    path, _ = with_encoding_apart(path)
    top = root.resolve()
    for one in (path, *(sorted(path.rglob("*")) if path.is_dir() else ())):
        if not one.resolve().is_relative_to(top):
            raise InputError.of(
                "INK0580",
                f"`{one}` lies outside of `{root}`",
                notes=("`--root` confines what a program may read, also through links",),
                helps=(
                    "put the file inside, or give its rows by name with `-t NAME=PATH`; "
                    "without `--root`, a program may read every file of its user",
                ),
            )
