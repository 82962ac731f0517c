"""The HTML of each kind of object that a notebook shows."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter

from inkling.cli.terminal.explanation import forecast_lines, overview_lines, progress_lines, tree_lines
from inkling.forecasting.learning.description import model_lines, model_svg
from inkling.forecasting.models.model import ForecastModel
from inkling.language.highlight import lexer_of
from inkling.query import Program
from inkling.results_html import table_html
from inkling.why.explanation import Why
from inkling.why.forecasts import ForecastWhy
from inkling.why.uncertain import UncertainWhy

PAGE = "background:#fff;color:#1f2328;padding:6px 10px;border:1px solid #8884;border-radius:4px;overflow-x:auto"
"""The style of boxes with text, which is the same in light and dark notebooks."""

MOST_NODES, MOST_TREES = 30, 3
"""The most contexts of a model, and the most results of an explanation."""


def html_of(thing: object) -> str:
    """The HTML of a program, a model, an explanation or a running stream."""
    match thing:
        case Program():
            return _program(thing)
        case ForecastModel():
            return _model(thing)
        case Why():
            return _why(thing)
        case _:
            return _live(thing)


def _program(program: Program) -> str:
    formatter = HtmlFormatter(noclasses=True, style="default", cssstyles=PAGE)
    text = highlight(program.text.strip("\n"), lexer_of(program.name), formatter)
    warnings = "".join(f"<p>warning: {escape(one.message)}</p>" for one in program.warnings)
    graph = _picture(program.graph(), f"network of agents of {program.name}")
    return f"<div>{text}{warnings}<details><summary>graph</summary>{graph}</details></div>"


def _model(model: ForecastModel) -> str:
    picture = _picture(model_svg(model), f"contexts of the model of {model.event}")
    return f"<div>{_lines(model_lines(model, MOST_NODES))}<details><summary>tree</summary>{picture}</details></div>"


def _why(why: Why) -> str:
    if isinstance(why, UncertainWhy):
        return _lines(overview_lines(why, why.event))
    shown = range(1, min(why.possible.num_rows, MOST_TREES) + 1)
    if isinstance(why, ForecastWhy):
        found = [forecast_lines(why.reasons(number), why.tree(number)) for number in shown]
    else:
        found = [tree_lines(why.tree(number)) for number in shown]
    left_out = why.possible.num_rows - len(found)
    more = [f"… and {left_out:,} more"] if left_out > 0 else []
    trees = [line for one in found for line in one]
    return _lines([*progress_lines(why.progress), *([""] if trees else []), *trees, *more])


def _live(thing: object) -> str:
    from inkling.spark.streaming.query import LiveQuery

    assert isinstance(thing, LiveQuery)
    progress = thing.progress()
    state = "running" if thing.query.isActive else "stopped"
    if progress is None:
        return f"<p>stream {state}: no micro-batch yet</p>"
    rows: list[tuple[str, object]] = [
        ("micro-batch", progress.batch),
        ("rows", f"{progress.total_rows:,} ({progress.input_rows_per_second:,.0f} per second)"),
        *((f"results of {name}", f"{n:,}") for name, n in progress.matches.items()),
        ("late rows", f"{progress.late:,}"),
        ("rejected rows", f"{progress.rejects:,}"),
        ("rows of state", f"{progress.state_rows:,}"),
        ("seconds of the last micro-batch", f"{progress.seconds:.1f}"),
    ]
    return f"<div><p>stream {state}</p>{table_html(('', 'so far'), rows)}</div>"


def _lines(lines: Iterable[str]) -> str:
    return f'<pre style="{PAGE}">{escape(chr(10).join(lines))}</pre>'


def _picture(svg: str, title: str) -> str:
    """An image of its own, so that its styles do not leak into the notebook."""
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(title)}" style="{PAGE};max-width:100%" src="data:image/svg+xml;base64,{data}">'
