"""How far Spark is with what it works on, reported every second."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pyspark.sql import SparkSession

EVERY_S = 1.0


@contextmanager
def saying_tasks(spark: SparkSession, what: str, say: Callable[[str], None]) -> Iterator[None]:
    """Say what is done in this context, and every second how many tasks of it are done."""
    say(what)
    ended = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def follow() -> None:
        with suppress(Exception):  # Spark may have ended, which others report
            while not ended.wait(EVERY_S):
                stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
                known = [one for one in stages if one is not None]
                if known:
                    done, all_tasks = sum(one.numCompletedTasks for one in known), sum(one.numTasks for one in known)
                    say(f"{what}: {done:,} of {all_tasks:,} tasks")

    thread = threading.Thread(target=follow, name="inkling-tasks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
