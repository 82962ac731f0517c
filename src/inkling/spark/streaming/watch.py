"""Watches the files of a running program: when the program or its tables change, the query is replaced."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from inkling.runtime.replacement import Changes
from inkling.spark.streaming.checkpoint.versions import Replaceable

PAUSE_S = 1.0

Stamp = tuple[int, int]  # when a file was written, and its size


class Replacing(Protocol):
    """A running query whose program can be replaced."""

    def replace(self, program: Replaceable) -> Changes: ...


def files_of(path: Path, program: Replaceable, tables: Mapping[str, object]) -> list[Path]:
    """The file of the program and those of its tables; `tables` override the paths in the program."""
    given = {name: data for name, data in tables.items() if isinstance(data, str | Path)}
    own = {table.name: program.files.path(table.path) for table in program.plan.tables if table.name not in tables}
    return [path, *(Path(place) for place in (own | given).values())]


@dataclass(slots=True)
class Watcher:
    """Checks files at intervals; a change counts once a file is the same in two successive checks."""

    query: Replacing
    load: Callable[[], Replaceable]
    files: Callable[[Replaceable], Iterable[Path]]
    on_replaced: Callable[[Changes], None]
    on_rejected: Callable[[Exception], None]
    program: Replaceable
    pause: float = PAUSE_S
    _known: dict[Path, Stamp | None] = field(default_factory=dict)
    _seen: dict[Path, Stamp | None] = field(default_factory=dict)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        self._known = self._seen = self._stamps()

    def start(self) -> None:
        """Check files in a thread until `stop`."""
        self._thread = threading.Thread(target=self._watch, name="inkling-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def look(self) -> None:
        """Check once, and replace the program if a file has changed and is not being written."""
        before, self._seen = self._seen, self._stamps()
        if self._seen == self._known or self._seen != before or self._is_being_written():
            return
        self._known = self._seen
        try:
            program = self.load()
            changed = self.query.replace(program)
        except Exception as rejection:
            self.on_rejected(rejection)
            return
        self.program = program
        # a file that changed in the meantime counts as changed, unless it was not watched before
        self._known = self._seen = {path: self._known.get(path, stamp) for path, stamp in self._stamps().items()}
        if changed:
            self.on_replaced(changed)

    def _is_being_written(self) -> bool:
        """Whether a file that existed is missing; a file that never existed is not waited for."""
        return any(stamp is None and self._known.get(path) is not None for path, stamp in self._seen.items())

    def _watch(self) -> None:
        while not self._ended.wait(self.pause):
            self.look()

    def _stamps(self) -> dict[Path, Stamp | None]:
        return {path: _stamp(path) for path in self.files(self.program)}


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
