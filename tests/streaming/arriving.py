"""Files that arrive in a folder one after the other."""

import os
from pathlib import Path


def arrive(folder: Path, name: str, content: str | bytes, at: int) -> None:
    """Put a file into a folder whole, as a writer should; Spark takes files in the order of their times."""
    folder.mkdir(exist_ok=True)
    hidden = folder / f".{name}"
    hidden.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(hidden, (at, at))
    hidden.rename(folder / name)
