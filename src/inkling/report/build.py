"""The HTML page of a report, which contains its styles, scripts and data and loads nothing."""

import base64
import hashlib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeAlias

from jinja2 import Environment
from markupsafe import Markup, escape

from inkling.language.parser.tokens import keywords
from inkling.language.syntax import RELATIONS, TIME_UNITS
from inkling.model.types import TYPE_NAMES
from inkling.pages import page_style, templates, written
from inkling.report.data import ReportData, Scalar
from inkling.report.payload import payload_json

STYLES = (
    "base.css",
    "timeline.css",
    "details.css",
    "uncertainty.css",
    "moments.css",
    "segments.css",
    "chances.css",
    "tables.css",
    "print.css",
)
SCRIPTS = (
    "elements.js",
    "report_data.js",
    "format.js",
    "colors.js",
    "view.js",
    "axis.js",
    "lanes.js",
    "paint.js",
    "overview.js",
    "timeline.js",
    "gestures.js",
    "uncertainty.js",
    "moments.js",
    "segments.js",
    "chances.js",
    "details.js",
    "match_table.js",
    "page.js",
)


def build_report(data: ReportData) -> str:
    """The page as text, ready to be written as UTF-8.

    Examples
    --------
    >>> page = build_report(ReportData(title="six.ink", program_text="", time_kind="ticks"))
    >>> "No matches" in page
    True
    """
    style = f"{page_style()}\n{_joined_assets(STYLES)}"
    script = f'"use strict";\n(() => {{\n{_joined_assets(SCRIPTS)}\n}})();\n'
    template = _environment().get_template("report.html.j2")
    page = template.render(
        data=data,
        event_names=data.event_names,
        program_lines=highlight(data.program_text, data.event_names),
        n_results=sum(count.results for count in data.counts),
        n_emitted=sum(count.emitted for count in data.counts),
        n_shown=len(data.matches),
        n_keys=len({match.key for match in data.matches}),
        n_rows=sum(stream.rows for stream in data.inputs),
        n_rejected=sum(stream.rejected for stream in data.inputs),
        most_results=max((count.results for count in data.counts), default=0),
        style=Markup(style),
        script=Markup(script),
        payload=Markup(payload_json(data)),
        content_policy=_content_policy(style, script),
    )
    # a Python string can contain a lone surrogate, a UTF-8 file cannot
    return page.encode("utf-8", "replace").decode("utf-8")


def write_report(data: ReportData, path: str | os.PathLike[str]) -> Path:
    """Writes the page to `path`, and creates its folder if needed."""
    return written(build_report(data), path)


def _content_policy(style: str, script: str) -> str:
    """The Content Security Policy: only the style and script of this page, and no requests."""
    return (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _joined_assets(names: tuple[str, ...]) -> str:
    return "\n".join((files("inkling.report") / "assets" / name).read_text(encoding="utf-8") for name in names)


@cache
def _environment() -> Environment:
    environment = templates("inkling.report")
    environment.filters |= {"backticks": _backticks_as_code, "cell": _cell, "seconds": _spoken_seconds}
    return environment


def _backticks_as_code(text: str) -> Markup:
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    quoted = Markup("<code>{}</code>")
    return Markup("").join(quoted.format(part) if index % 2 else escape(part) for index, part in enumerate(parts))


def _cell(value: Scalar) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.4g}"
        case int():
            return f"{value:,}"
        case str():
            return value


def _spoken_seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


WordKind: TypeAlias = Literal["keyword", "type", "event", "string", "number", "comment", "plain"]

TOKEN = re.compile(
    r"""
      (?P<comment>--.*)
    | (?P<string>'(?:[^']|'')*'?)
    | (?P<number>(?<![\w.])\d+(?:\.\d+)?(?!\w))
    | (?P<word>[^\W\d]\w*)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a line with one color."""

    kind: WordKind
    text: str


def highlight(program_text: str, event_names: Collection[str] = ()) -> list[list[Word]]:
    """The lines of a program as colored words; the texts of a line's words concatenate to the line.

    Examples
    --------
    >>> [(word.kind, word.text) for word in highlight("EVENT stop AS", {"stop"})[0]]
    [('keyword', 'EVENT'), ('plain', ' '), ('event', 'stop'), ('plain', ' '), ('keyword', 'AS')]
    """
    lines = program_text.rstrip().replace("\r\n", "\n").split("\n")
    # in programs with keywords in capitals, lower-case words such as `id` or `end` are columns
    keywords_in_capitals = re.search(r"\b(STREAM|EVENT)\b", program_text) is not None
    return [_words(line, event_names, keywords_in_capitals) for line in lines]


def _words(line: str, event_names: Collection[str], keywords_in_capitals: bool) -> list[Word]:
    words: list[Word] = []
    position = 0
    for token in TOKEN.finditer(line):
        if token.start() > position:
            words.append(Word("plain", line[position : token.start()]))
        words.append(Word(_kind(token, event_names, keywords_in_capitals), token.group()))
        position = token.end()
    if position < len(line):
        words.append(Word("plain", line[position:]))
    return words


def _kind(token: re.Match[str], event_names: Collection[str], keywords_in_capitals: bool) -> WordKind:
    match token.lastgroup:
        case "comment":
            return "comment"
        case "string":
            return "string"
        case "number":
            return "number"
        case _:
            word = token.group()
            if word in event_names:
                return "event"
            is_column = token.string[: token.start()].endswith(".")
            if is_column or (keywords_in_capitals and not word.isupper()):
                return "plain"
            if word.upper() in _reserved_words():
                return "keyword"
            return "type" if word.upper() in TYPE_NAMES else "plain"


@cache
def _reserved_words() -> frozenset[str]:
    units = {"POINTS", "EVENTS", *TIME_UNITS}
    return keywords().union(RELATIONS, units, (unit.removesuffix("S") for unit in units))
