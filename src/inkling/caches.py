"""The folder for files that can be made again: parser tables, class archives, jars."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def cache_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder for files that can be made again; a private temporary one if that folder is not writable."""
    return writable_cache(environ) or Path(tempfile.mkdtemp(prefix="inkling-"))


def writable_cache(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder for files that can be made again, if it is writable.

    It is ``INKLING_CACHE_DIR``, else a folder in ``XDG_CACHE_HOME``, else one in ``~/.cache``.
    """
    if chosen := environ.get("INKLING_CACHE_DIR"):
        wanted = Path(chosen)
    else:
        wanted = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inkling"
    try:
        wanted.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return wanted.resolve() if os.access(wanted, os.W_OK | os.X_OK) else None
