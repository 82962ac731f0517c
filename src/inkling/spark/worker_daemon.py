"""Spark's Python worker daemon, with slow imports done once before it forks instead of in each worker.

Spark runs this module because the session setting ``spark.python.daemon.module`` names it.
"""

import gc
import importlib
import os
import pkgutil
import socket
import warnings
from collections.abc import Iterable

LIBRARIES = (
    *("numpy", "pyarrow", "numba", "pyspark.worker"),
    *("inkling.runtime.registry", "inkling.spark.worker", "inkling.spark.streaming.operator"),
)
"""The modules that workers import, in batch and on streams, evaluators included."""
KERNELS = "inkling.kernels"


def preload(libraries: Iterable[str] = LIBRARIES, package: str = KERNELS) -> list[str]:
    """Import `libraries` and the modules of `package`; a failed import is left to the worker that needs it."""
    return [name for name in (*libraries, *_modules_of(package)) if _imports(name)]


def _modules_of(package: str) -> list[str]:
    if not _imports(package):
        return []
    root = importlib.import_module(package)
    return [module.name for module in pkgutil.walk_packages(getattr(root, "__path__", ()), f"{package}.")]


def _imports(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:
        # a daemon that dies here would fail every Python task without naming the cause
        return False
    return True


def run() -> None:
    """Load what workers need, then serve Spark's requests for workers until Spark stops."""
    # threads do not survive a fork
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    preload()
    # garbage collection in a worker would write to the memory that it shares with the daemon, and so copy it
    gc.freeze()

    from pyspark import daemon

    work = daemon.worker

    def work_until_closed(sock: socket.socket, authenticated: bool) -> int:
        try:
            return work(sock, authenticated)
        except BrokenPipeError:
            # Spark has the rows it wanted, as after LIMIT; the daemon would exit too, with a traceback
            os._exit(1)

    daemon.worker = work_until_closed
    daemon.manager()


if __name__ == "__main__":
    run()
