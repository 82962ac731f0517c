"""Work in child processes: one that crashes, hangs or takes too much memory is a finding, and the others go on."""

import multiprocessing
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TypeAlias

from tests.attack.findings import Finding

Tried: TypeAlias = tuple[Counter[str], list[Finding]]
Work: TypeAlias = Callable[[range, Callable[[int], object]], Tried]
"""Tries the cases with these numbers, and reports each number when it begins."""

PATIENCE = 90
"""Seconds for one case, after which its process is ended."""
MEMORY = 12 * 2**30

_CONTEXT = multiprocessing.get_context("fork")


class _Child:
    def __init__(self, work: Work, numbers: range) -> None:
        self.numbers = numbers
        self.at = _CONTEXT.Value("q", numbers.start, lock=False)
        self.since = _CONTEXT.Value("d", time.monotonic(), lock=False)
        self.receiver, sender = _CONTEXT.Pipe(duplex=False)
        self.process = _CONTEXT.Process(target=self._run, args=(work, sender), daemon=True)
        self.process.start()
        sender.close()

    def _run(self, work: Work, sender: Connection) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sender.send(work(self.numbers, self._begin))

    def _begin(self, number: int) -> None:
        self.at.value, self.since.value = number, time.monotonic()

    def result(self) -> Tried | None:
        """What the child found; None if it ended without a word."""
        try:
            tried: Tried = self.receiver.recv()
        except EOFError:
            return None
        finally:
            self.process.join()
        return tried


def in_children(
    work: Work, tasks: Sequence[range], at_once: int, example: Callable[[int], tuple[str, str]]
) -> Iterator[Tried]:
    """What the tasks found, in any order; `example` gives what a case is, and its text."""
    waiting, running = list(reversed(tasks)), list[_Child]()
    while waiting or running:
        while waiting and len(running) < at_once:
            running.append(_Child(work, waiting.pop()))
        ready = wait([one.receiver for one in running], timeout=5)
        for child in list(running):
            is_late = time.monotonic() - child.since.value > PATIENCE
            if child.receiver not in ready and not is_late:
                continue
            running.remove(child)
            if is_late and child.receiver not in ready:
                child.process.kill()
            tried = child.result()
            if tried is None:
                number, status = int(child.at.value), child.process.exitcode
                kind = "hang" if is_late else f"crash with status {status}"
                what, text = example(number)
                yield Counter(), [Finding(what, kind, "a child process", text)]
                # what came before has to be counted, and what comes after has to be tried
                for rest in (range(child.numbers.start, number), range(number + 1, child.numbers.stop)):
                    if rest:
                        waiting.append(rest)
            else:
                yield tried
