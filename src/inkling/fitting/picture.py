"""A model as a picture: its tree in SVG, readable on light and on dark ground, without scripts or fonts."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from inkling.fitting.nodes import Node, letter, nodes_of, spelled
from inkling.markov.model import Model

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN, HEAD = 150, 44, 46, 10, 16, 24
"""Of a box, of the room between boxes, and around all of them."""

_COLORS = ("#0969da", "#1a7f37", "#9a6700", "#cf222e", "#8250df", "#bf3989", "#0a7ea4", "#57606a")
_STYLE = """
svg { color-scheme: light dark; font: 12px ui-sans-serif, system-ui, sans-serif }
.box { fill: #f6f8fa; stroke: #57606a } text { fill: #1f2328 } .more { fill: #57606a }
path { fill: none; stroke: #57606a }
@media (prefers-color-scheme: dark) {
  .box { fill: #161b22; stroke: #8b949e } text { fill: #e6edf3 } .more { fill: #9198a1 } path { stroke: #8b949e }
}
"""


def model_svg(model: Model) -> str:
    """Contexts from left to right, one more event of the past each; bars are shares of the next event."""
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
            f"<title>{escape(f'{model.event}: what comes next')}</title>",
            f"<style>{_STYLE}</style>",
            *_legend(model),
            *_lines(root, rows, top),
            *(_box(model, node, rows[node.word], top) for node in root),
            "</svg>",
            "",
        ]
    )


def _placed(node: Node, free: list[float]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Which row each context stands in: leaves below each other, others in the middle of what is right of them."""
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


def _legend(model: Model) -> Iterator[str]:
    kind = f"{model.learning.kind}, order {model.learning.order}, {model.n_events:,.0f} events"
    yield f'<text font-weight="600" x="{MARGIN}" y="{MARGIN + 8}">{escape(model.event)}</text>'
    yield f'<text class="more" x="{MARGIN + WIDTH}" y="{MARGIN + 8}">{escape(kind)}</text>'
    for symbol, word in enumerate(model.alphabet):
        y = MARGIN + HEAD + 18 * symbol
        yield f'<rect x="{MARGIN}" y="{y - 9:.0f}" width="10" height="10" fill="{_color(symbol)}"/>'
        yield f'<text x="{MARGIN + 16}" y="{y:.0f}">{escape(f"{letter(symbol)}  {word}")}</text>'


def _lines(root: Node, rows: dict[tuple[int, ...], float], top: float) -> Iterator[str]:
    for node in root:
        x, y = _corner(node.word, rows[node.word], top)
        for child in node.children:
            to_x, to_y = _corner(child.word, rows[child.word], top)
            start, end, bend = y + HEIGHT / 2, to_y + HEIGHT / 2, (x + WIDTH + to_x) / 2
            way = f"{bend:.0f} {start:.0f} {bend:.0f} {end:.0f} {to_x:.0f} {end:.0f}"
            yield f'<path d="M{x + WIDTH:.0f} {start:.0f}C{way}"/>'


def _box(model: Model, node: Node, row: float, top: float) -> str:
    x, y = _corner(node.word, row, top)
    told = [f"after {spelled(node.word)}: {node.count:,.0f} events"]
    told += [f"{share:.4f}  {word}" for share, word in zip(node.law.tolist(), model.alphabet, strict=True)]
    bars, at = [], x + 8
    for symbol, share in enumerate(node.law.tolist()):
        wide = share * (WIDTH - 16)
        bars.append(f'<rect x="{at:.1f}" y="{y + 28:.0f}" width="{wide:.1f}" height="9" fill="{_color(symbol)}"/>')
        at += wide
    return (
        f"<g><title>{escape(chr(10).join(told))}</title>"
        f'<rect class="box" rx="5" x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<text font-weight="600" x="{x + 8:.0f}" y="{y + 18:.0f}">{escape(spelled(node.word))}</text>'
        f'<text class="more" text-anchor="end" x="{x + WIDTH - 8:.0f}" y="{y + 18:.0f}">{node.count:,.0f}</text>'
        f"{''.join(bars)}</g>"
    )


def _color(symbol: int) -> str:
    return _COLORS[symbol % len(_COLORS)]
