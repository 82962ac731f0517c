"""Descriptions of models for people: as text, as differences between two models, and as an SVG picture of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.choice import Evaluator
from inkling.errors import InputError
from inkling.evaluators.forecast.families import Families, ForecastFamily
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.counts import code_of, word_of
from inkling.forecasting.models.model import ForecastModel
from inkling.forecasting.models.prediction_tree import CounterTree
from inkling.physical.plan import Runnable

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, eq=False)
class ContextNode:
    """A context: its symbols, oldest first, its count, and the distribution of the next symbol."""

    word: tuple[int, ...]
    count: float
    law: NDArray[np.float64]
    children: tuple[ContextNode, ...]  # contexts with one more event of the past

    def __iter__(self) -> Iterator[ContextNode]:
        yield self
        for child in self.children:
            yield from child


def symbol_name(symbol: int) -> str:
    """A short name of a symbol.

    >>> symbol_name(0), symbol_name(25), symbol_name(26)
    ('a', 'z', 'a1')
    """
    turn, place = divmod(symbol, len(LETTERS))
    return LETTERS[place] + (str(turn) if turn else "")


def context_text(word: tuple[int, ...]) -> str:
    return " ".join(map(symbol_name, word)) or "anything"


def nodes_of(model: ForecastModel) -> ContextNode:
    """The root of the tree of contexts; a full-order model has a node for every context with a next symbol."""
    counted = CounterTree.of(model.counts.total().shallower(model.learning.order))
    if model.learning.kind == "full":
        laws = dict(_followed(counted, model.learning.order))
    else:
        tree = model.tree()
        laws = dict(zip(tree.words(), tree.gamma, strict=True))
    below: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for word in laws:
        if word:
            below.setdefault(word[1:], []).append(word)

    def node(word: tuple[int, ...]) -> ContextNode:
        count = float(counted.followers(len(word), np.array([code_of(word, counted.n_symbols)])).sum())
        return ContextNode(word, count, laws[word], tuple(node(longer) for longer in sorted(below.get(word, []))))

    return node(())


def _followed(counted: CounterTree, order: int) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64]]]:
    for length in range(order + 1):
        codes = np.unique(counted.level(length + 1)[0] // counted.n_symbols)
        follow = counted.followers(length, codes)
        for code, law in zip(codes.tolist(), follow / follow.sum(axis=1, keepdims=True), strict=True):
            yield word_of(code, length, counted.n_symbols), law


MOST_NODES = 60
LEAST_SHOWN = 0.0005
"""Smaller probabilities are not shown."""


def model_lines(model: ForecastModel, most: int = MOST_NODES) -> list[str]:
    """The whole description."""
    return [*about_lines(model), "", *symbol_lines(model), "", *tree_lines(model, most)]


def about_lines(model: ForecastModel) -> list[str]:
    learning = model.learning
    lines = [
        f"a model of `{model.event}`, version {model.version}",
        f"  learned    {learning.kind}, order {learning.order}, from {model.n_events:,.0f} events",
        f"  counted    {len(model.counts.code):,} sequences of at most {model.counts.order + 1} events, "
        f"{model.gaps.count.sum():,.0f} times between events",
    ]
    if learning.kind in ("tree", "wayeb"):
        lines.append(
            f"  a node     occurs with frequency {learning.p_min:g} or more, and changes a probability of "
            f"{learning.gamma_min:g} or more by a factor of {learning.ratio:g}"
        )
    if learning.shrinkage is not None:
        names = ", ".join(model.counts.group[:5]) + (", …" if len(model.counts.group) > 5 else "")
        weight = f"the overall model weighs {learning.shrinkage:g} events"
        lines.append(f"  groups     {len(model.counts.group):,}: {names}; {weight}")
    return [*lines, f"  automaton  {model.n_states} states, {model.fingerprint[:12]}"]


def symbol_lines(model: ForecastModel) -> list[str]:
    """Every symbol, its condition and its count."""
    counts = np.bincount(model.counts.code % model.counts.n_symbols, model.counts.count, model.counts.n_symbols)
    numbers = [f"{count:,.0f}" for count in counts]
    wide, high = max(map(len, model.alphabet)), max(map(len, numbers))
    rows = zip(range(len(numbers)), model.alphabet, numbers, strict=True)
    return ["events", *(f"  {symbol_name(symbol):<3}{word:<{wide}}  {number:>{high}}" for symbol, word, number in rows)]


def tree_lines(model: ForecastModel, most: int = MOST_NODES) -> list[str]:
    """The tree of contexts with distributions of the next event; the newest event of a context is on the right."""
    root = nodes_of(model)
    n_nodes = sum(1 for _ in root)
    rows = list(islice(_rows(root, "", ""), most))
    wide, high = max(len(name) for name, *_ in rows), max(len(count) for _, count, _ in rows)
    lines = [f"  {name:<{wide}}  {count:>{high}}  {law}".rstrip() for name, count, law in rows]
    more = [] if n_nodes <= most else [f"  and {n_nodes - most:,} more"]
    return [f"next event, by the last ones ({n_nodes:,} node{'' if n_nodes == 1 else 's'})", *lines, *more]


def compared_lines(one: ForecastModel, other: ForecastModel) -> list[str]:
    """The differences between two models."""
    differences = list(_differences(one, other))
    return differences or ["no difference"]


def _rows(node: ContextNode, branch: str, indent: str) -> Iterator[tuple[str, str, str]]:
    yield f"{branch}{context_text(node.word)}", f"{node.count:,.0f}", law_text(node)
    for place, child in enumerate(node.children, start=1):
        is_last = place == len(node.children)
        yield from _rows(child, f"{indent}{'└─ ' if is_last else '├─ '}", indent + ("   " if is_last else "│  "))


def law_text(node: ContextNode) -> str:
    shares = [(share, symbol) for symbol, share in enumerate(node.law.tolist()) if share >= LEAST_SHOWN]
    return "  ".join(f"{symbol_name(symbol)} {share:.3f}" for share, symbol in shares)


def _differences(one: ForecastModel, other: ForecastModel) -> Iterator[str]:
    for name, left, right in (
        ("event", one.event, other.event),
        ("version", one.version, other.version),
        ("kind", one.learning.kind, other.learning.kind),
        ("order", one.learning.order, other.learning.order),
        ("order of counts", one.counts.order, other.counts.order),
        ("events", f"{one.n_events:,.0f}", f"{other.n_events:,.0f}"),
        ("groups", len(one.counts.group), len(other.counts.group)),
        ("automaton", one.fingerprint[:12], other.fingerprint[:12]),
    ):
        if left != right:
            yield f"{name:<15}  {left} → {right}"
    for sign, words, others in (("-", one.alphabet, other.alphabet), ("+", other.alphabet, one.alphabet)):
        yield from (f"{sign} {word}" for word in words if word not in others)
    if one.alphabet == other.alphabet:
        yield from _other_laws(one, other)


def _other_laws(one: ForecastModel, other: ForecastModel) -> Iterator[str]:
    """Contexts that only one model has, and the contexts with the largest differences in their distributions."""
    left = {node.word: node for node in nodes_of(one)}
    right = {node.word: node for node in nodes_of(other)}
    for sign, mine, others in (("-", left, right), ("+", right, left)):
        own = [context_text(word) for word in mine if word not in others]
        if own:
            yield f"{sign} contexts       {len(own):,}: {', '.join(own[:8])}{', …' if len(own) > 8 else ''}"
    apart = {word: float(np.abs(left[word].law - right[word].law).sum() / 2) for word in left.keys() & right.keys()}
    farthest = sorted(apart, key=lambda word: (-apart[word], word))
    for word in [word for word in farthest if apart[word] >= LEAST_SHOWN][:8]:
        yield f"after {context_text(word):<11}{law_text(left[word])} → {law_text(right[word])}"


def forecast_lines(program: Runnable, model: ForecastModel) -> list[str]:
    """The forecasts of a program with a model; forecasts within a duration need the clock of data and are left out."""
    lines: list[str] = []
    problems = []
    for stage in program.physical.stages:
        for step in stage.steps:
            forecast = step.event.forecast
            if step.evaluator is not Evaluator.FORECAST or forecast is None or forecast.of != model.event:
                continue
            reader = SymbolReader.of(step, len(stage.inputs), stage.resets)
            try:
                families = Families.of(step, reader, model.to_arrow(), lambda span: 0)
            except InputError as problem:
                problems.append(problem)  # it may have another model
                continue
            if forecast.within is None:
                chain = MarkovChain.of(reader.delta, reader.dfa.final, families.model.contexts())
                lines += [f"{step.event.name}", *_forecast_rows(chain, families.member(0))]
    if not lines and problems:
        raise problems[0]
    if not lines:
        raise InputError.of(
            "INK0618",
            f"the program has no forecast of `{model.event}` that counts events",
            notes=("the model was learned for this event",),
        )
    return lines


def _forecast_rows(chain: MarkovChain, family: ForecastFamily) -> Iterator[str]:
    table = family.table
    words = chain.contexts.words()
    names = [context_text(words[context]) for context in chain.context]
    wide = max(map(len, names))
    yield f"  {'state':<6}{'after':<{wide}}  {'first':>5}  {'last':>5}  {'chance':>7}  {'expected':>8}"
    for row, name in enumerate(names):
        if family.issued[row]:
            yield (
                f"  {chain.state[row]:<6}{name:<{wide}}  {table.first[row]:>5}  {table.last[row]:>5}  "
                f"{table.chance[row]:>7.4f}  {table.expected[row]:>8.2f}"
            )


WIDTH, HEIGHT, ACROSS, DOWN, MARGIN, HEAD = 150, 44, 46, 10, 16, 24
"""Sizes of a box, distances between boxes, the margin, and the height of the heading."""

_COLORS = ("#0969da", "#1a7f37", "#9a6700", "#cf222e", "#8250df", "#bf3989", "#0a7ea4", "#57606a")
_STYLE = """
svg { color-scheme: light dark; font: 12px ui-sans-serif, system-ui, sans-serif }
.box { fill: #f6f8fa; stroke: #57606a } text { fill: #1f2328 } .more { fill: #57606a }
path { fill: none; stroke: #57606a }
@media (prefers-color-scheme: dark) {
  .box { fill: #161b22; stroke: #8b949e } text { fill: #e6edf3 } .more { fill: #9198a1 } path { stroke: #8b949e }
}
"""


def model_svg(model: ForecastModel) -> str:
    """The tree of contexts from left to right; the bars in a box are the distribution of the next event."""
    root = nodes_of(model)
    rows = dict(_placed(root, [0.0]))
    depth, lowest = max(len(word) for word in rows), max(rows.values())
    legend = HEAD + 18 * len(model.alphabet)
    width = 2 * MARGIN + (depth + 1) * WIDTH + depth * ACROSS
    height = 2 * MARGIN + legend + (lowest + 1) * (HEIGHT + DOWN)
    top = MARGIN + legend
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
            f' height="{height:.0f}" role="img">',
            f"<title>{escape(f'{model.event}: the next event')}</title>",
            f"<style>{_STYLE}</style>",
            *_legend(model),
            *_lines(root, rows, top),
            *(_box(model, node, rows[node.word], top) for node in root),
            "</svg>",
            "",
        ]
    )


def _placed(node: ContextNode, free: list[float]) -> Iterator[tuple[tuple[int, ...], float]]:
    """The row of each context: leaves below each other, inner nodes centered on their children."""
    if not node.children:
        yield node.word, free[0]
        free[0] += 1
        return
    below = [pair for child in node.children for pair in _placed(child, free)]
    own = [row for word, row in below if len(word) == len(node.word) + 1]
    yield node.word, (own[0] + own[-1]) / 2
    yield from below


def _corner(word: tuple[int, ...], row: float, top: float) -> tuple[float, float]:
    return MARGIN + len(word) * (WIDTH + ACROSS), top + row * (HEIGHT + DOWN)


def _legend(model: ForecastModel) -> Iterator[str]:
    kind = f"{model.learning.kind}, order {model.learning.order}, {model.n_events:,.0f} events"
    yield f'<text font-weight="600" x="{MARGIN}" y="{MARGIN + 8}">{escape(model.event)}</text>'
    yield f'<text class="more" x="{MARGIN + WIDTH}" y="{MARGIN + 8}">{escape(kind)}</text>'
    for symbol, word in enumerate(model.alphabet):
        y = MARGIN + HEAD + 18 * symbol
        yield f'<rect x="{MARGIN}" y="{y - 9:.0f}" width="10" height="10" fill="{_color(symbol)}"/>'
        yield f'<text x="{MARGIN + 16}" y="{y:.0f}">{escape(f"{symbol_name(symbol)}  {word}")}</text>'


def _lines(root: ContextNode, rows: dict[tuple[int, ...], float], top: float) -> Iterator[str]:
    for node in root:
        x, y = _corner(node.word, rows[node.word], top)
        for child in node.children:
            to_x, to_y = _corner(child.word, rows[child.word], top)
            start, end, bend = y + HEIGHT / 2, to_y + HEIGHT / 2, (x + WIDTH + to_x) / 2
            way = f"{bend:.0f} {start:.0f} {bend:.0f} {end:.0f} {to_x:.0f} {end:.0f}"
            yield f'<path d="M{x + WIDTH:.0f} {start:.0f}C{way}"/>'


def _box(model: ForecastModel, node: ContextNode, row: float, top: float) -> str:
    x, y = _corner(node.word, row, top)
    tooltip = [f"after {context_text(node.word)}: {node.count:,.0f} events"]
    tooltip += [f"{share:.4f}  {word}" for share, word in zip(node.law.tolist(), model.alphabet, strict=True)]
    bars, at = [], x + 8
    for symbol, share in enumerate(node.law.tolist()):
        wide = share * (WIDTH - 16)
        bars.append(f'<rect x="{at:.1f}" y="{y + 28:.0f}" width="{wide:.1f}" height="9" fill="{_color(symbol)}"/>')
        at += wide
    return (
        f"<g><title>{escape(chr(10).join(tooltip))}</title>"
        f'<rect class="box" rx="5" x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<text font-weight="600" x="{x + 8:.0f}" y="{y + 18:.0f}">{escape(context_text(node.word))}</text>'
        f'<text class="more" text-anchor="end" x="{x + WIDTH - 8:.0f}" y="{y + 18:.0f}">{node.count:,.0f}</text>'
        f"{''.join(bars)}</g>"
    )


def _color(symbol: int) -> str:
    return _COLORS[symbol % len(_COLORS)]
