"""Results as HTML for notebooks: tables with bars for probabilities, and a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SHOWN_CHARACTERS = 80
"""The most characters of a cell."""

MOST_MARKS = 400
"""The most results of an event in a timeline, chosen evenly."""

WIDTH, LANE, LABEL = 720, 20, 150
"""Pixels of a timeline: its width, the height of the lane of an event, and the width of the names."""

BAR, MARK = "#9ecae9", "#1f77b4"


@dataclass(frozen=True, slots=True)
class BarCell:
    """A number with a bar behind it that fills a share of the cell."""

    share: float
    text: str


def table_html(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; values are escaped, and long ones cut.

    >>> table_html(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_text(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, BarCell):
        share = f"{100 * min(max(value.share, 0.0), 1.0):.1f}%"
        style = f"background:linear-gradient(to right,{BAR} {share},transparent {share})"
        return f'<td style="{style}">{escape(value.text)}</td>'
    return f"<td>{_text(value)}</td>"


def _text(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return escape(text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…")


def timeline_html(tables: Mapping[str, pa.Table]) -> str:
    """When results happened: a lane for each event, with a mark from start to end of each result.

    Improbable results are pale. Nothing if there are no results.

    >>> timeline_html({"e": pa.table({"start": [1], "end": [3], "probability": [0.5]})}).count("<rect")
    1
    """
    lanes = {name: table for name, table in tables.items() if len(table)}
    if not lanes:
        return ""
    since = min(_number(table["start"]).min() for table in lanes.values())
    until = max(_number(table["end"]).max() for table in lanes.values())
    height = LANE * len(lanes) + LANE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" style="max-width:100%;font:11px sans-serif"><title>When results happened</title>'
    ]
    for place, (name, table) in enumerate(lanes.items()):
        parts += _lane(name, table, place * LANE, since, max(until - since, 1))
    first, last = (_time(lanes, "start", since), _time(lanes, "end", until))
    base = height - 6
    parts.append(f'<text x="{LABEL}" y="{base}" fill="currentColor">{escape(first)}</text>')
    parts.append(f'<text x="{WIDTH}" y="{base}" fill="currentColor" text-anchor="end">{escape(last)}</text></svg>')
    return "".join(parts)


def _lane(name: str, table: pa.Table, top: int, since: int, length: int) -> Iterable[str]:
    label = name if len(name) <= 22 else f"{name[:21]}…"
    yield f'<text x="0" y="{top + 14}" fill="currentColor">{escape(label)}</text>'
    yield f'<line x1="{LABEL}" x2="{WIDTH}" y1="{top + 19}" y2="{top + 19}" stroke="#8884"/>'
    chosen = table.take(np.linspace(0, len(table) - 1, min(len(table), MOST_MARKS)).astype(np.int64))
    scale = (WIDTH - LABEL - 3) / length
    left = LABEL + (_number(chosen["start"]) - since) * scale
    wide = np.maximum((_number(chosen["end"]) - _number(chosen["start"])) * scale, 3)
    shades = 0.25 + 0.75 * np.nan_to_num(chosen["probability"].to_numpy(), nan=1.0)
    for x, width, shade in zip(left.tolist(), wide.tolist(), shades.tolist(), strict=True):
        box = f'x="{x:.1f}" y="{top + 4}" width="{width:.1f}" height="12"'
        yield f'<rect {box} fill="{MARK}" fill-opacity="{shade:.2f}"/>'


def _number(times: pa.ChunkedArray) -> NDArray[np.int64]:
    found: NDArray[np.int64] = times.cast(pa.int64()).to_numpy()
    return found


def _time(lanes: Mapping[str, pa.Table], column: str, number: int) -> str:
    kind = next(iter(lanes.values()))[column].type
    return str(pa.scalar(int(number), pa.int64()).cast(kind).as_py())
