"""A network of agents as a picture: SVG that is readable on light and on dark ground, without scripts or fonts."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from inkling.physical.graph.agents import Agent, Kind, Network
from inkling.physical.graph.layers import LINE, Box, Drawing, drawn, lines_of

LONGEST = 27
"""Letters of a line that fit into a box."""

_STYLE = """
svg { color-scheme: light dark; font: 12px ui-sans-serif, system-ui, sans-serif }
rect { fill: #f6f8fa; stroke: #57606a } text { fill: #1f2328 } .more { fill: #57606a }
path { fill: none; stroke: #57606a } .head { fill: #57606a; stroke: none }
.stream rect { fill: #ddf4ff; stroke: #0969da } .event rect { fill: #dafbe1; stroke: #1a7f37; stroke-width: 2 }
.table rect, .rule rect { fill: #fff8c5; stroke: #9a6700 } .shared rect { stroke-width: 3; stroke-dasharray: 6 3 }
.not path { stroke: #cf222e; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
  rect { fill: #161b22; stroke: #8b949e } text { fill: #e6edf3 } .more { fill: #9198a1 }
  path { stroke: #8b949e } .head { fill: #8b949e }
  .stream rect { fill: #0c2d6b; stroke: #58a6ff } .event rect { fill: #033a16; stroke: #3fb950 }
  .table rect, .rule rect { fill: #3b2300; stroke: #d29922 } .not path { stroke: #ff7b72 }
}
"""


def network_svg(network: Network, title: str) -> str:
    """The picture as text; every box also tells all it says when pointed at."""
    drawing = drawn(network)
    size = f"{drawing.width:.0f} {drawing.height:.0f}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{drawing.width:.0f}"'
            f' height="{drawing.height:.0f}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path class="head" d="M0 0 8 4 0 8z"/></marker>',
            *_flows(drawing),
            *(_agent(network, agent, drawing.boxes[agent.number]) for agent in network.agents),
            "</svg>",
            "",
        ]
    )


def _flows(drawing: Drawing) -> Iterator[str]:
    for flow, points in drawing.paths:
        (x, y), *others = points
        way = [f"M{x:.0f} {y:.0f}"]
        for to_x, to_y in others:
            bend = (x + to_x) / 2
            way.append(f"C{bend:.0f} {y:.0f} {bend:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}")
            x, y = to_x, to_y
        kind = ' class="not"' if flow.name == "NOT" else ""
        label = ""
        if flow.name:
            label = f'<text class="more" text-anchor="end" x="{x - 12:.0f}" y="{y - 5:.0f}">{escape(flow.name)}</text>'
        yield f'<g{kind}><path marker-end="url(#head)" d="{" ".join(way)}"/>{label}</g>'


def _agent(network: Network, agent: Agent, box: Box) -> str:
    is_shared = (
        agent.kind not in (Kind.STREAM, Kind.TABLE, Kind.RULE, Kind.AGAIN, Kind.EVENT) and network.uses(agent) > 1
    )
    words = [agent.title, *agent.details]
    lines = []
    for place, line in enumerate(lines_of(agent)):
        shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
        kind = "" if place == 0 else ' class="more"'
        weight = ' font-weight="600"' if place == 0 else ""
        y = box.y + 4 + LINE * (place + 0.8)
        lines.append(f'<text{kind}{weight} x="{box.x + 10:.0f}" y="{y:.0f}">{escape(shown)}</text>')
    name = quoteattr(f"{agent.kind.value}{' shared' if is_shared else ''}")
    corner = f'x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}"'
    return f'<g class={name}><title>{escape(chr(10).join(words))}</title><rect rx="5" {corner}/>{"".join(lines)}</g>'
