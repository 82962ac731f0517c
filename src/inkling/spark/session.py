"""The Spark session: its settings with their reasons, a fast start, and no output of its own."""

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from inkling.caches import cache_directory
from inkling.errors import InputError, nearest
from inkling.evaluators.memory import VARIABLE, limit_bytes
from inkling.machine import memory_bytes
from inkling.spark.jvm.class_archive import class_archive
from inkling.spark.jvm.java import Java, find_java, launch_home

# a warning about pandas 3 whenever Spark meets Arrow; the paths used here hold no pandas frames
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)

_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
_EXTRA_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_MB = 1 << 20
NO_BYTE_LIMIT = str(2**31 - 1)


def spark_session(
    *,
    master: str = "local[*]",
    app_name: str = "inkling",
    partitions: int | None = None,
    config: Mapping[str, str] | None = None,
    quick: bool = False,
    memory: str | int | None = None,
) -> SparkSession:
    """A new session, or the running one with these settings.

    Parameters
    ----------
    master
        Where Spark runs: ``local[*]`` is this machine with all its cores.
    partitions
        The number of partitions of keyed data; by default, one for each core of a local master.
    config
        Spark settings that override those chosen here.
    quick
        Start faster and compile less: for tests and small inputs, not for long jobs. Like all settings of the virtual
        machine, it holds for the life of the process.
    memory
        The memory that the Python workers may take together, such as ``"4GB"``; by default 75 % of the machine. On a
        cluster, what each of them may take. An event that needs more ends the run with an error that names it.
    """
    check_master(master)
    settings = session_settings(master=master, partitions=partitions, quick=quick, memory=memory)
    user_options = (config or {}).get(_EXTRA_JAVA_OPTIONS, "")
    settings |= config or {}
    if SparkContext._gateway is not None:
        settings.pop(_EXTRA_JAVA_OPTIONS, None)
        with environment(worker_environment(master)):
            return start_session(master, app_name, settings)

    cache = cache_directory()
    java = find_java()
    archive = class_archive(java, cache)
    options = [*shlex.split(user_options), *java_options(quick=quick)]
    with environment(launch_environment(java, cache) | worker_environment(master)):
        if archive.recorded:
            try:
                return start_session(master, app_name, settings, [*options, *archive.reading_options()])
            except PySparkRuntimeError as problem:
                if problem.getCondition() != "JAVA_GATEWAY_EXITED":
                    raise
                # a damaged file in the cache must not keep Spark from starting
                archive.discard()
        return start_session(master, app_name, settings, options)


def session_settings(
    *, master: str, partitions: int | None = None, quick: bool = False, memory: str | int | None = None
) -> dict[str, str]:
    """Spark settings, each with its reason."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # a re-planned stage would move keys between partitions, which must stay as the shuffle made them
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        # a bad cast or a division by zero is null, and an unknown condition is no match
        "spark.sql.ansi.enabled": "false",
        # records the Python line of every column with several calls to Java; plans here have thousands of columns
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        # the largest value means no limit; any other is checked after every row, which doubles the cost of a batch
        # and, where a column holds lists, makes it quadratic
        "spark.sql.execution.arrow.maxBytesPerBatch": NO_BYTE_LIMIT,
        "spark.python.daemon.module": "inkling.spark.worker_daemon",
        "spark.python.worker.reuse": "true",
        # a worker of an overloaded machine may need longer than the usual 15 seconds to start
        "spark.python.authenticate.socketTimeout": "60s",
        "spark.python.worker.faulthandler.enabled": "true",
        "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
        # Spark's default, and the logins of Kafka
        "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas|credential",
        "spark.driver.memory": f"{driver_memory_mb(memory_bytes() // _MB, quick=quick)}m",
    }
    cores = local_cores(master)
    if cores is not None:
        # a local run must not depend on host names and networks
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    # each Python worker may take a share of the memory, because as many run at once as there are cores
    settings[f"spark.executorEnv.{VARIABLE}"] = str(limit_bytes(memory) // (cores or 1))
    if n_partitions := partitions or cores:
        settings |= {"spark.sql.shuffle.partitions": str(n_partitions), "spark.default.parallelism": str(n_partitions)}
    return settings


def java_options(*, quick: bool) -> list[str]:
    """Options of the virtual machine, class archive aside."""
    options = [f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}", "-Xlog:disable"]
    if quick:
        options += ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return options


_MASTER = re.compile(
    r"local(?:\[\s*(?:\*|[1-9]\d*)\s*(?:,\s*\d+\s*)?\])?|local-cluster\[.+\]|yarn|(?:spark|k8s|mesos)://.+"
)


def check_master(master: str) -> None:
    """Raise `InputError` for an invalid master, before a virtual machine starts."""
    if _MASTER.fullmatch(master) is None:
        close = nearest(master, ("local[*]", "local", "yarn", "spark://HOST:PORT", "k8s://URL"), n=1)
        if re.fullmatch(r"[\w.-]+:\d+", master):
            close = (f"spark://{master}",)
        raise InputError.of(
            "INK0607",
            f"`{master}` is not a Spark master",
            notes=("masters are `local`, `local[N]`, `local[*]`, `spark://HOST:PORT`, `k8s://URL` and `yarn`",),
            helps=(f"write `--master '{(close or ('local[*]',))[0]}'`",),
        )


def local_cores(master: str) -> int | None:
    """The number of tasks that a local master runs at once; None for a cluster.

    >>> local_cores("local[3]"), local_cores("local"), local_cores("spark://host:7077")
    (3, 1, None)
    """
    found = re.fullmatch(r"local(?:\[\s*(\*|\d+)\s*(?:,.*)?\])?", master)
    if not found:
        return None
    if found[1] == "*":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(found[1] or 1)


def driver_memory_mb(machine_mb: int, *, quick: bool) -> int:
    """A quarter of the machine: Python workers, the file cache and the user's other programs need the rest.

    >>> driver_memory_mb(24 * 1024, quick=False), driver_memory_mb(8 * 1024, quick=False)
    (6144, 2048)
    """
    return max(1024, min(machine_mb // 4, 2048 if quick else 8192))


def launch_environment(java: Java, cache: Path) -> dict[str, str]:
    """Environment variables that name the Java for Spark's start-up scripts."""
    return {
        "JAVA_HOME": str(launch_home(java, cache)),
        # for the short-lived virtual machine that computes the command line of the real one
        "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    }


def worker_environment(master: str) -> dict[str, str]:
    """Environment variables that name the Python of local workers; a cluster has its own Python."""
    if local_cores(master) is None:
        return {}
    return {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables in this context."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def start_session(master: str, app_name: str, settings: Mapping[str, str], options: Sequence[str] = ()) -> SparkSession:
    """Starts Spark, in a virtual machine with `options` if there is none yet."""
    builder = SparkSession.builder.master(master).appName(app_name)
    for name, value in settings.items():
        builder = builder.config(name, value)
    if options:
        builder = builder.config(_EXTRA_JAVA_OPTIONS, shlex.join(options))
    return builder.getOrCreate()
