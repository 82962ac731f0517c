"""Exceptions of Spark, its workers and the operating system, as diagnostics that say what happened."""

import errno
import re
import sys
import traceback
from itertools import takewhile
from urllib.parse import unquote

from inkling.errors import Diagnostic

WORKER_ERROR = re.compile(r"\binkling\.errors\.\w+: error\[(?P<code>INK(?!09)\d{4})\]: (?P<message>.+)")
WORKER_ERROR_MORE = re.compile(r"\s*= (?P<kind>note|help): (?P<text>.+)")
"""An error of inkling in the traceback of a worker; codes that begin with INK09 are bugs in inkling."""

NOT_INSTALLED = re.compile(r"No module named '(?P<package>inkling|numba|numpy|pyarrow|pandas)\b")
"""A package that the Python of a worker lacks."""

WORKER_DIED = re.compile(r"Python worker exited unexpectedly|Python worker process terminated|Executor heartbeat timed")
WORKER_LATE = re.compile(
    r"[Tt]imed out while waiting for the Python worker to connect back|Python worker failed to connect back"
    r"|Python daemon failed to launch worker|STREAMING_PYTHON_RUNNER_INITIALIZATION_(?:TIMEOUT|COMMUNICATION)_FAILURE"
)
JAVA_MEMORY = re.compile(r"java\.lang\.OutOfMemoryError|GC overhead limit exceeded|Java heap space")
JAVA_ENDED = re.compile(
    r"Answer from Java side is empty|Error while (?:sending or receiving|receiving)|Py4JNetworkError"
    r"|An error occurred while trying to connect to the Java server|JAVA_GATEWAY_EXITED"
)
FULL = re.compile(r"No space left on device|Disk quota exceeded|quota of \S+ is exceeded", re.IGNORECASE)
NO_MEMORY = re.compile(r"\b(?:malloc|realloc) of size \d+ failed|Unable to allocate [\d.]+ \w+ for an array")


DAMAGED = re.compile(
    r"FAILED_READ_FILE[^\]]*\] Encountered error while reading file (?:file:)?(?P<file>\S+?)\.(?:\s|$)"
)
JAVA_CAUSE = re.compile(r"^Caused by: [\w.$]+(?:Exception|Error): (?P<cause>.+)$", re.MULTILINE)


def foreign_diagnostic(problem: BaseException) -> Diagnostic | None:
    """What an exception of another program means for the user; None for an unexpected one."""
    text = f"{type(problem).__name__}: {problem}"
    return _of_worker(text) or unreadable_file(text) or _no_file_system(text) or _of_machine(problem, text)


def unreadable_file(text: str) -> Diagnostic | None:
    """The message for an exception of Spark about a file that is damaged or of another format, else None."""
    found = DAMAGED.search(text)
    if found is None or FULL.search(text) or JAVA_MEMORY.search(text):
        return None
    causes = [one["cause"] for one in JAVA_CAUSE.finditer(text) if "FAILED_READ_FILE" not in one["cause"]]
    return Diagnostic(
        "INK0503",
        f"`{unquote(found['file'])}` cannot be read",
        notes=(causes[-1][:300],) if causes else (),
        helps=("the file is damaged, or was not written completely: use an intact copy",),
    )


NO_FILE_SYSTEM = re.compile(
    r"No FileSystem for scheme \"?(?P<scheme>[\w+.-]+)"
    r"|ClassNotFoundException: Class (?P<type>org\.apache\.hadoop\.fs\.\S+)"
)
_CONNECTORS = {
    "s3": "hadoop-aws",
    "s3a": "hadoop-aws",
    "s3n": "hadoop-aws",
    "abfs": "hadoop-azure",
    "abfss": "hadoop-azure",
}


def _no_file_system(text: str) -> Diagnostic | None:
    """The message for an address whose kind of storage Spark cannot reach without a connector."""
    found = NO_FILE_SYSTEM.search(text)
    if found is None:
        return None
    scheme = found["scheme"] or ("s3a" if "s3a" in found["type"] else found["type"].split(".")[4])
    connector = _CONNECTORS.get(scheme)
    as_s3a = ("write `s3a://` instead, which is how Spark names S3",) if scheme in ("s3", "s3n") else ()
    package = (
        f"add `spark.jars.packages org.apache.hadoop:{connector}:VERSION`, with the version of Spark's "
        "hadoop-client-api, to the file spark-defaults.conf in the folder SPARK_CONF_DIR"
        if connector
        else f"add the connector for `{scheme}://` to `spark.jars.packages` in spark-defaults.conf"
    )
    return Diagnostic(
        "INK0515",
        f"Spark has no connector for addresses that begin with `{scheme}://`",
        notes=("Spark reads and writes object stores with a connector, which is a package of Java",),
        helps=(*as_s3a, package),
    )


def _of_worker(text: str) -> Diagnostic | None:
    """The diagnostic in the traceback of a Spark worker, if there is one."""
    lines = iter(text.splitlines())
    for line in lines:
        if found := WORKER_ERROR.search(line):
            more = [one for one in takewhile(bool, map(WORKER_ERROR_MORE.match, lines)) if one]
            by_kind = {kind: tuple(one["text"] for one in more if one["kind"] == kind) for kind in ("note", "help")}
            return Diagnostic(found["code"], found["message"], notes=by_kind["note"], helps=by_kind["help"])
    if missing := NOT_INSTALLED.search(text):
        version = ".".join(map(str, sys.version_info[:2]))
        return Diagnostic(
            "INK0608",
            f"the Python of the Spark workers has no package `{missing['package']}`",
            notes=("the code of a run is executed by the Python of every worker, not only by this one",),
            helps=(
                f"install inkling of the same version for Python {version} on every machine of the cluster, and point "
                "PYSPARK_PYTHON to that Python",
            ),
        )
    return None


def _of_machine(problem: BaseException, text: str) -> Diagnostic | None:
    if full := FULL.search(text):
        return Diagnostic(
            "INK0595",
            "a disk is full",
            notes=(_place(problem) or full[0],),
            helps=("free space for the results and for Spark's own files, whose folder SPARK_LOCAL_DIRS names",),
        )
    if JAVA_MEMORY.search(text):
        return Diagnostic(
            "INK0594",
            "the Java process of Spark is out of memory",
            notes=("it holds the plan, shuffled rows, and the results until they are written",),
            helps=(
                "write results with `inkling stream --finish`, which collects none of them, or use a larger machine",
            ),
        )
    if WORKER_LATE.search(text):
        return Diagnostic(
            "INK0592",
            "a Python worker of Spark did not start in time",
            notes=("the machine is overloaded, or something blocks connections of the machine to itself",),
            helps=("use fewer cores, `--master 'local[2]'`, and check that a firewall permits 127.0.0.1",),
        )
    if WORKER_DIED.search(text):
        return Diagnostic(
            "INK0591",
            "a Python worker of Spark died",
            notes=("the operating system kills workers when memory runs out; its log says so",),
            helps=(
                "lower `--memory`, so that the event that needs it is named; use fewer cores, `--master 'local[2]'`, "
                "so that each worker has more",
            ),
        )
    if _is_from_java(problem, text):
        return Diagnostic(
            "INK0593",
            "the Java process of Spark has ended",
            notes=("the operating system kills it when memory runs out, or somebody ended it",),
            helps=(
                "run the same command again; a stream resumes from its checkpoint, without lost or duplicate results",
            ),
        )
    if isinstance(problem, MemoryError) or type(problem).__name__ == "ArrowMemoryError" or NO_MEMORY.search(text):
        return Diagnostic(
            "INK0596",
            "the memory of this machine is exhausted",
            notes=(text.splitlines()[0],) if str(problem) else (),
            helps=(
                "lower `--memory`, so that the event that needs it is named; `inkling check` names events that grow",
                "read fewer rows, or use `inkling stream`, which holds only what is still open",
            ),
        )
    return None


def _place(problem: BaseException) -> str:
    name = getattr(problem, "filename", None)
    return f"no space left for `{name}`" if name and getattr(problem, "errno", None) == errno.ENOSPC else ""


def _is_from_java(problem: BaseException, text: str) -> bool:
    """Whether the connection to the Java process is gone; other connections can be lost, too."""
    if JAVA_ENDED.search(text):
        return True
    if not isinstance(problem, ConnectionError | EOFError):
        return False
    return any("py4j" in frame.filename for frame in traceback.extract_tb(problem.__traceback__))
