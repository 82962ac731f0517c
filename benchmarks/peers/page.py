"""The published table of peers as a page of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.meter import load_average
from benchmarks.peers.workloads import BY_KEY, DEVICES, WORKLOADS
from benchmarks.results import hardware

OURS = "inkling"
Figures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""What each workload cost each engine: by workload, by engine, by figure."""

NOTES = f"""\
All engines are given the same readings, which are already in memory: one per millisecond, of {DEVICES:,} devices and
ten kinds at random. They find the same number of matches. Each engine runs in a process of its own, and engines take
turns. Programs and statements are compiled before the time is taken; of each pattern, the first run is not counted,
and of the others the least is.

In favor of the others:

- inkling checks every row, looks for repeated ids, sorts by time, and gives every match as a row with its values and
  the ids of its events. Esper and Flink CEP only count matches, and take it that rows come in the order of time.
- polars and duckdb answer a query written by hand for each pattern. Neither follows a stream, nor answers patterns that
  no as-of join or window function expresses.

In favor of inkling:

- It is given all rows at once, as polars and duckdb are; Esper and Flink CEP take one event after the other and could
  answer each at once. *One event at a time* shows what that costs.
- All work of Python engines is on one core. The threads of Java's compiler and garbage collector count as processor
  time of Esper and Flink CEP.
- Flink CEP starts a job in each run, which is most of the cost where events are few. It has no checkpoints, holds its
  state in memory, and objects are reused.
"""


def page(found: Figures, versions: Mapping[str, str], missing: Sequence[str], command: str, events: int) -> str:
    here = hardware()
    parts = [
        "# Beside other engines",
        f"Written by `{command}`: processor seconds of inkling and of other engines for the same patterns over the same"
        " data. [Benchmarks](benchmarks.md) has the rest.",
        f"{here['date']}; {here['processor']}, {here['memory']}; python {here['python']}; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + ". Flink CEP comes from the Python package `apache-flink-libraries`, Esper from Maven Central."
        + "".join(f" Not measured: {one}." for one in missing),
        "*×* is the time of an engine by that of inkling: above 1, inkling is cheaper. When this was written, "
        f"{load_average():.1f} processes had wanted to run in the minute before; above the number of cores, wall times"
        " and the slowest calls say more about the neighbors than about the engines.",
        "\n".join(_table(found, events)),
        "## Growth\n\nTen times the events of the first pattern; 10 would be in proportion.",
        "\n".join(_growth(found)),
        "## One event at a time\n\nThe first pattern; what a call with one event takes.",
        "\n".join(_latency(found)),
        "## Where inkling loses",
        "\n".join(_losses(found)),
        "## What was compared",
        NOTES.rstrip(),
        "## Patterns",
        "\n\n".join(
            f"{one.title.capitalize()}:\n\n```ink\n{one.text.rstrip()}\n```" for one in WORKLOADS if _shown(one.key)
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _shown(key: str) -> bool:
    return key in ("sequence", "repetition", "absence", "patterns-1")


def _table(found: Figures, events: int) -> Iterator[str]:
    yield "| pattern | events | matches | engine | CPU s | wall s | CPU × | wall × |"
    yield "|---|---:|---:|---|---:|---:|---:|---:|"
    for workload in WORKLOADS:
        engines = found.get(workload.key, {})
        for engine, row in engines.items():
            ours, first = engines[OURS], engine == OURS
            lead = (
                (workload.title, f"{int(events * workload.shares):,}", f"{int(row['matches']):,}")
                if first
                else ("",) * 3
            )
            ratios = ("", "") if first else [_ratio(row[one] / ours[one]) for one in ("cpu_seconds", "seconds")]
            cells = (*lead, engine, f"{row['cpu_seconds']:.3f}", f"{row['seconds']:.3f}", *ratios)
            yield f"| {' | '.join(cells)} |"


def _ratio(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _growth(found: Figures) -> Iterator[str]:
    yield "| engine | CPU × | wall × |"
    yield "|---|---:|---:|"
    for engine, row in found.get("sequence", {}).items():
        less = found["sequence-tenth"][engine]
        yield f"| {engine} | {' | '.join(_ratio(row[one] / less[one]) for one in ('cpu_seconds', 'seconds'))} |"


def _latency(found: Figures) -> Iterator[str]:
    yield "| engine | p50 µs | p99 µs |"
    yield "|---|---:|---:|"
    for engine, row in found.get("latency", {}).items():
        yield f"| {engine} | {row['p50_us']:.1f} | {row['p99_us']:.1f} |"


def _losses(found: Figures) -> Iterator[str]:
    """The workloads that cost another engine less processor time."""
    for key, engines in found.items():
        ours = engines.get(OURS)
        if ours is None:
            continue
        figure = "p50_us" if key == "latency" else "cpu_seconds"
        lost = {engine: ours[figure] / row[figure] for engine, row in engines.items() if row[figure] < ours[figure]}
        title = "one event at a time" if key == "latency" else BY_KEY[key].title
        for engine, times in lost.items():
            yield f"- {title}: {engine} is {_ratio(times)} × as fast."
