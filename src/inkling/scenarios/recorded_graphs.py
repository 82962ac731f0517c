"""Recorded RDF files: each graph with its time is one observation, which is written again as N-Quads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from inkling.errors import InputError
from inkling.io.readers.compression import decompressed
from inkling.io.readers.formats import Format
from inkling.io.readers.rdf import ENDED, STARTED, TIME, TIMES, as_quads
from inkling.io.readers.rdf_lines import DOCUMENT, GRAPH, statements_of
from inkling.io.readers.records import MALFORMED
from inkling.model.terms import read


@dataclass(frozen=True, slots=True, eq=False)
class RecordedGraphs:
    """Graphs in the order of their first statements; a line that belongs to none stays behind the line before it."""

    graphs: list[str]
    lines: list[list[str]]
    times: dict[str, list[str | None]]  # by column

    @classmethod
    def of(cls, kind: Format, files: Sequence[Path]) -> RecordedGraphs:
        found = cls([], [], {TIME: [], STARTED: [], ENDED: []})
        for number, file in enumerate(files):
            data = decompressed(file, pa.py_buffer(file.read_bytes())).to_pybytes()
            if kind is not Format.N_QUADS:
                data = as_quads(kind, pa.py_buffer(data))
            found._add(data, f"f{number}_" if len(files) > 1 else "")
        if not found.graphs:
            raise InputError.of("INK0509", "the files have no graph, so there is nothing to replay")
        return found

    def _add(self, data: bytes, scope: str) -> None:
        written = [line for line in data.splitlines() if line.strip() and not line.lstrip().startswith(b"#")]
        if not written:
            return
        rows = statements_of(Format.N_QUADS, written).to_pylist()
        known = {row[GRAPH] for row in rows if row[GRAPH] is not None}
        places: dict[str, int] = {}
        moments: dict[str, dict[str, str]] = {}
        before = len(self.graphs)
        for row in rows:
            graph = row[GRAPH]
            is_time = graph is None and row["p"] in TIMES and row["s"] in known
            if is_time:
                graph = row["s"]
                literal = row["o"]
                moments.setdefault(graph, {})[TIMES[row["p"]]] = read(literal).text if literal[0] == '"' else literal
            if graph is not None and graph not in places:
                places[graph] = len(self.graphs)
                self.graphs.append(_scoped(graph, scope))
                self.lines.append([])
            if row.get(MALFORMED) is not None:
                text = written[row[DOCUMENT]].decode(errors="replace").rstrip("\r")
            else:
                terms = (row[name] for name in ("s", "p", "o", GRAPH) if row[name] is not None)
                text = f"{' '.join(_scoped(term, scope) for term in terms)} ."
            place = places[graph] if graph is not None else max(len(self.graphs) - 1, before)
            if place == len(self.lines):  # before the first graph
                self.graphs.append("")
                self.lines.append([])
            self.lines[place].append(text)
        for graph in self.graphs[before:]:
            own = next((one for one in moments if _scoped(one, scope) == graph), None)
            known_times = moments[own] if own is not None else {}
            generated, started, ended = (known_times.get(name) for name in TIMES.values())
            self.times[TIME].append(generated or ended)
            self.times[STARTED].append(started or generated)
            self.times[ENDED].append(ended or generated)

    @property
    def columns(self) -> Sequence[str]:
        return [GRAPH, *(name for name, values in self.times.items() if any(values))]

    def column(self, name: str) -> pa.ChunkedArray:
        values: Sequence[str | None] = self.graphs if name == GRAPH else self.times[name]
        return pa.chunked_array([pa.array(values, pa.string())])

    def write(self, first: int, stop: int, path: Path) -> None:
        path.write_text("".join(self.messages(first, stop)), encoding="utf-8", newline="")

    def messages(self, first: int, stop: int) -> list[str]:
        return ["".join(f"{line}\n" for line in lines) for lines in self.lines[first:stop]]


def _scoped(term: str, scope: str) -> str:
    """A blank node of one of several files under a label of its own."""
    return f"_:{scope}{term[2:]}" if scope and term.startswith("_:") else term
