"""Results by event: the way to read the results of every runner.

`EventResults` is a mapping from the names of events to tables. The local runner and a pushed stream hold Arrow tables,
Spark holds DataFrames; events, rejected rows and conversions are read alike from all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeVar, overload

import pyarrow as pa
import pyarrow.compute as pc

from inkling.results_html import BarCell, table_html, timeline_html

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

T = TypeVar("T")
Converted = TypeVar("Converted")

SHOWN_ROWS = 10
SHOWN_EVENTS = 20
"""The most rows of a table in HTML, and the most tables."""


class EventResults(Mapping[str, T]):
    """Results by event, as a mapping from names to tables.

    The keys are the events of the program in their order, then the outputs of ON RETRACT. A table has the same columns
    on every runner.

    Examples
    --------
    >>> import inkling
    >>> program = inkling.parse('''
    ...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
    ...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
    ... ''')
    >>> results = program.run_local([{"person": "ada", "room": "lab", "t": 1}])
    >>> list(results), "visit" in results, len(results)
    (['visit'], True, 1)
    >>> results["visit"]["person"].to_pylist()
    ['ada']
    >>> results.to_pandas("visit")[["person", "start"]].values.tolist()
    [['ada', 1]]
    """

    __slots__ = ()

    @property
    @abstractmethod
    def tables(self) -> Mapping[str, T]:
        """The same tables as a plain mapping."""

    @property
    @abstractmethod
    def rejects(self) -> T:
        """Rows that violate the declaration of their stream, with the reason."""

    @abstractmethod
    def _event_to_arrow(self, event: str) -> pa.Table: ...

    def __getitem__(self, event: str) -> T:
        if event not in self.tables:
            raise KeyError(f"unknown event {event!r}; the events are {', '.join(self.tables) or 'none'}")
        return self.tables[event]

    def __contains__(self, event: object) -> bool:
        return event in self.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    @overload
    def to_arrow(self, event: str) -> pa.Table: ...
    @overload
    def to_arrow(self, event: None = None) -> dict[str, pa.Table]: ...
    def to_arrow(self, event: str | None = None) -> pa.Table | dict[str, pa.Table]:
        """The results of an event as an Arrow table; without an event, those of all events by name.

        On Spark this runs the program and collects the results in this process.
        """
        return self._converted(event, lambda table: table)

    @overload
    def to_pandas(self, event: str) -> pd.DataFrame: ...
    @overload
    def to_pandas(self, event: None = None) -> dict[str, pd.DataFrame]: ...
    def to_pandas(self, event: str | None = None) -> pd.DataFrame | dict[str, pd.DataFrame]:
        """The results of an event as a pandas DataFrame; without an event, those of all events by name.

        On Spark this runs the program and collects the results in this process.
        """
        return self._converted(event, lambda table: table.to_pandas())

    @overload
    def to_polars(self, event: str) -> pl.DataFrame: ...
    @overload
    def to_polars(self, event: None = None) -> dict[str, pl.DataFrame]: ...
    def to_polars(self, event: str | None = None) -> pl.DataFrame | dict[str, pl.DataFrame]:
        """The results of an event as a polars DataFrame; without an event, those of all events by name.

        polars is not a dependency of inkling: `pip install polars`. On Spark this runs the program and collects the
        results in this process.
        """
        try:
            import polars
        except ImportError:
            raise ImportError("to_polars() needs polars, which is not installed: pip install polars") from None

        def as_polars(table: pa.Table) -> pl.DataFrame:
            frame = polars.from_arrow(table)
            assert isinstance(frame, polars.DataFrame)
            return frame

        return self._converted(event, as_polars)

    def _converted(
        self, event: str | None, convert: Callable[[pa.Table], Converted]
    ) -> Converted | dict[str, Converted]:
        if event is not None:
            _ = self[event]  # an error that lists the events
            return convert(self._event_to_arrow(event))
        return {name: convert(table) for name, table in self._events_to_arrow().items()}

    def _events_to_arrow(self) -> dict[str, pa.Table]:
        return {name: self._event_to_arrow(name) for name in self}

    @abstractmethod
    def _repr_html_(self) -> str: ...


class ArrowResults(EventResults[pa.Table]):
    """Results in this process: an Arrow table for each event, and the rejected rows."""

    __slots__ = ()

    @property
    def n_results(self) -> int:
        """The number of results of all events."""
        return sum(map(len, self.tables.values()))

    def __bool__(self) -> bool:
        """Whether any event has a result."""
        return self.n_results > 0

    def _event_to_arrow(self, event: str) -> pa.Table:
        return self.tables[event]

    def _remarks(self) -> Iterable[str]:
        """Remarks under the tables."""
        if len(self.rejects):
            yield f"{counted(len(self.rejects), 'rejected row')}: <code>.rejects</code>"

    def _counts(self) -> list[str]:
        found = [f"{name}: {len(table)}" for name, table in self.tables.items()]
        return [*found, f"rejects: {len(self.rejects)}"]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._counts())}>"

    def _repr_html_(self) -> str:
        found = {name: table for name, table in self.tables.items() if len(table)}
        parts = [_event_html(name, table) for name, table in list(found.items())[:SHOWN_EVENTS]]
        if len(found) > SHOWN_EVENTS:
            parts.append(_paragraph(f"and results of {_names(list(found)[SHOWN_EVENTS:])}"))
        if empty := [name for name in self.tables if name not in found]:
            parts.append(_paragraph(f"no results: {_names(empty)}"))
        parts += map(_paragraph, self._remarks())
        parts.append(timeline_html(dict(list(found.items())[:SHOWN_EVENTS])))
        return f"<div>{''.join(parts)}</div>"


def counted(n: int, noun: str) -> str:
    """
    >>> counted(1, "late row"), counted(2000, "result")
    ('1 late row', '2,000 results')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _event_html(name: str, table: pa.Table) -> str:
    shown = table.slice(0, SHOWN_ROWS)
    columns = {column: shown[column].to_pylist() for column in _shown_columns(table)}
    if "probability" in columns:
        pairs = zip(columns["probability"], shown["error"].to_pylist(), strict=True)
        columns["probability"] = [BarCell(pair[0], _probability(*pair)) for pair in pairs]
    left_out = len(table) - len(shown)
    more = _paragraph(counted(left_out, "more row")) if left_out else ""
    title = f"<p><strong>{escape(name)}</strong>: {counted(len(table), 'result')}</p>"
    return title + table_html(list(columns), zip(*columns.values(), strict=True)) + more


def _shown_columns(table: pa.Table) -> list[str]:
    """All columns but those that are the same for every result, or repeat another column."""
    is_certain = pc.all(pc.equal(table["probability"], 1.0)).as_py() and pc.all(pc.equal(table["error"], 0.0)).as_py()
    hidden = {"event", "error", "method"}
    hidden |= {"probability"} if is_certain else set()
    hidden |= {"detected_at"} if table["detected_at"].equals(table["end"]) else set()
    hidden |= set() if "-" in table["op"].unique().to_pylist() else {"op"}
    return [name for name in table.column_names if name not in hidden]


def _probability(probability: float, error: float) -> str:
    """
    >>> _probability(0.125, 0.0), _probability(0.4, 0.01)
    ('0.125', '0.4 ± 0.01')
    """
    return f"{probability:.4g}" + (f" ± {error:.2g}" if error else "")


def _paragraph(html: str) -> str:
    return f"<p>{html}</p>"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(map(escape, names[:SHOWN_EVENTS]))
    return shown if len(names) <= SHOWN_EVENTS else f"{shown} and {len(names) - SHOWN_EVENTS} others"
