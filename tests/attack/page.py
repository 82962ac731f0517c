"""The section on the attack of the page on what was tried: its figures are kept there, and each run adds to them."""

import fcntl
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from tests.attack import programs
from tests.attack.findings import Finding, by_place
from tests.attack.seed_programs import NOTATIONS
from tests.kit.tried_page import PAGE, section, write_section

OUT = Path(__file__).parents[2] / "out" / "attack"
_SECTION = "python -m tests.attack"
_FIGURES = "<!-- figures: "

Figures: TypeAlias = dict[str, Any]
"""`counts` by name, what was `found` by place and whether it was mended since, and the `seconds` of all runs."""

_EMPTY: Figures = {"counts": {}, "found": {}, "seconds": 0.0}


def begin() -> None:
    _write(_EMPTY)


def add(counts: Counter[str], found: Iterable[Finding], seconds: float) -> None:
    with _changed() as figures:
        figures["counts"] = dict(Counter(figures["counts"]) + counts)
        for one in by_place(found):
            figures["found"][f"{one.what}: `{one.kind}`, {one.place}"] = "open"
        figures["seconds"] += seconds


def put(counts: Mapping[str, int]) -> None:
    with _changed() as figures:
        figures["counts"].update(counts)


def tried_again(tried: Collection[tuple[str, str]], still: Collection[tuple[str, str]]) -> None:
    """Mark the places where all examples ended well this time, and those that were found still; others stay."""
    status = {f"`{kind}`, {place}": "open" if (kind, place) in still else "mended" for kind, place in tried}
    with _changed() as figures:
        for one, before in figures["found"].items():
            figures["found"][one] = status.get(one.partition(": ")[2], before)


@contextmanager
def _changed() -> Iterator[Figures]:
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        figures = figures_in(PAGE)
        yield figures
        _write(figures)


def figures_in(page: Path) -> Figures:
    lines = section(_SECTION, page).splitlines()
    line = next((one for one in lines if one.startswith(_FIGURES)), None)
    found: Figures = _EMPTY if line is None else json.loads(line.removeprefix(_FIGURES).removesuffix(" -->"))
    return found


def _write(figures: Figures) -> None:
    counts: dict[str, int] = figures["counts"]
    of_programs = [
        (
            notation,
            counts.get(f"seeds {notation}", 0),
            sum(counts.get(f"programs {one}", 0) for one in _suffixes(notation)),
            sum(counts.get(f"programs {one} that compiled", 0) for one in _suffixes(notation)),
        )
        for notation in NOTATIONS
    ]
    n_programs = sum(tried for _, _, tried, _ in of_programs)
    rows = "\n".join(
        f"| {' '.join(f'`{one}`' for one in _suffixes(notation))} | {seeds:,} | {tried:,} | {compiled:,} |"
        for notation, seeds, tried, compiled in of_programs
    )
    others = "\n".join(
        f"| {name} | {count:,} | {f'{counts[ran]:,}' if (ran := f'{name} that ran') in counts else ''} |"
        for name, count in sorted(counts.items())
        if not name.startswith(("programs", "seeds")) and not name.endswith("that ran")
    )
    write_section(
        _SECTION,
        f"""\
## Programs, files and stored states changed at random

The attack of `tests/attack` changes programs, files and stored states at random, with fixed seeds. A program must
compile or end in a message, a run must end in a message or account for every row (*rows in = used + rejected + late*),
and damage of anything stored must be rejected by name or, in a checkpoint, leave the results as they are. A foreign
exception, `INK0901`, a wrong number of rows, the end of a process, or a program that takes more than
{programs.SECONDS} seconds to compile is a finding. `make test` runs a few hundred cases, `make test-full` some
thousands, and `python -m tests.attack` as many as asked for. That command wrote this section.

{n_programs:,} programs, made of programs that compile:

| notation | programs to change | changed programs | compiled |
|---|---|---|---|
{rows}

The others ended in messages, but for what is named below.

| also tried | how many | ran to the end |
|---|---|---|
{others}

{_ends(figures["found"])}

The last run ended on {datetime.now(UTC):%Y-%m-%d}; all runs together took {figures["seconds"] / 60:.0f} minutes.

{_FIGURES}{json.dumps(figures)} -->
""",
    )


def _suffixes(notation: str) -> tuple[str, ...]:
    return (notation, programs.ALSO[notation]) if notation in programs.ALSO else (notation,)


def _ends(found: Mapping[str, str]) -> str:
    parts = []
    for status, title in (
        ("open", "These ended otherwise when the command ran:"),
        ("mended", "These ended otherwise when the command ran, were mended, and end in messages now:"),
    ):
        if some := sorted(name for name, one in found.items() if one == status):
            parts.append("\n".join([title, "", *(f"- {name}" for name in some)]))
    return "\n\n".join(parts) or "None of them ended otherwise."
