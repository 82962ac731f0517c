"""The HTML page of a report, which contains its styles, scripts and data and loads nothing."""

import base64
import hashlib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup, escape

from inkling.pages import page_style, templates, written
from inkling.report.data import ReportData, Scalar
from inkling.report.payload import payload_json
from inkling.report.program_text import highlight

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
        program_lines=highlight(data.program_text, data.event_names, name=data.title),
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
