"""A network of agents as a picture: SVG that is readable on a light and on a dark background, without scripts or fonts.

Agents stand in layers from what is given to what comes out, with few crossings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from inkling.physical.graph.agents import Agent, AgentKind, Flow, Network

LONGEST = 27
"""The number of characters of a line that fit into a box."""

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
    """The picture as SVG text; every box has its full text as a tooltip."""
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
        agent.kind not in (AgentKind.STREAM, AgentKind.TABLE, AgentKind.RULE, AgentKind.AGAIN, AgentKind.EVENT)
        and network.uses(agent) > 1
    )
    words = [agent.title, *agent.details]
    lines = []
    for place, line in enumerate(_lines_of(agent)):
        shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
        kind = "" if place == 0 else ' class="more"'
        weight = ' font-weight="600"' if place == 0 else ""
        y = box.y + 4 + LINE * (place + 0.8)
        lines.append(f'<text{kind}{weight} x="{box.x + 10:.0f}" y="{y:.0f}">{escape(shown)}</text>')
    name = f"{agent.kind.value}{' shared' if is_shared else ''}"
    corner = f'x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}"'
    return f'<g class="{name}"><title>{escape(chr(10).join(words))}</title><rect rx="5" {corner}/>{"".join(lines)}</g>'


WIDTH = 190
LINE = 16
MARGIN = 10
BESIDE = 70
"""Room between two layers, where the flows are."""
BETWEEN = 22
"""Room between two agents of a layer."""
MOST_LINES = 4
SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Box:
    """The place of an agent, by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes by the number of their agent, and the points that each flow passes."""

    boxes: dict[int, Box]
    paths: tuple[tuple[Flow, tuple[tuple[float, float], ...]], ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Stop:
    """A place in a layer: an agent, or the passage of a flow that goes further."""

    agent: int | None
    flow: int | None = None


def _lines_of(agent: Agent) -> tuple[str, ...]:
    """What a box says, one line each."""
    shown = agent.details if len(agent.details) <= MOST_LINES else (*agent.details[: MOST_LINES - 1], "…")
    return (agent.title, *shown)


def drawn(network: Network) -> Drawing:
    """Give every agent a box, no two of which overlap, and every flow a way that avoids them."""
    layer = _layers(network)
    columns, ways = _columns(network, layer)
    _uncross(columns, ways)
    boxes: dict[int, Box] = {}
    passes: dict[int, list[tuple[float, float]]] = {}
    heights = [sum(_height(network, stop) + BETWEEN for stop in column) for column in columns]
    tallest = max(heights, default=0)
    for number, column in enumerate(columns):
        x = MARGIN + number * (WIDTH + BESIDE)
        y = MARGIN + (tallest - heights[number]) / 2
        for stop in column:
            height = _height(network, stop)
            if stop.agent is not None:
                boxes[stop.agent] = Box(x, y, WIDTH, height)
            elif stop.flow is not None:
                passes.setdefault(stop.flow, []).extend([(x, y + height / 2), (x + WIDTH, y + height / 2)])
            y += height + BETWEEN
    paths = []
    entries = _entries(network, boxes, passes)
    for number, flow in enumerate(network.flows):
        giver, taker = boxes[flow.giver], boxes[flow.taker]
        ends = ((giver.x + giver.width, giver.middle), (taker.x, entries[number]))
        paths.append((flow, (ends[0], *passes.get(number, ()), ends[1])))
    width = 2 * MARGIN + len(columns) * WIDTH + max(0, len(columns) - 1) * BESIDE
    return Drawing(boxes, tuple(paths), width, tallest + 2 * MARGIN)


def _height(network: Network, stop: _Stop) -> float:
    if stop.agent is None:
        return 4.0
    agent = network.agents[stop.agent]
    return 12 + LINE * max(len(_lines_of(agent)), len(network.inputs(agent)))


def _entries(network: Network, boxes: dict[int, Box], passes: dict[int, list[tuple[float, float]]]) -> dict[int, float]:
    """How high each flow enters its taker: one under the other, in the order in which they come."""
    entries: dict[int, float] = {}
    for agent in network.agents:
        arriving = [number for number, flow in enumerate(network.flows) if flow.taker == agent.number]
        heights = {
            number: passes[number][-1][1] if number in passes else boxes[network.flows[number].giver].middle
            for number in arriving
        }
        box = boxes[agent.number]
        for rank, number in enumerate(sorted(arriving, key=heights.__getitem__)):
            entries[number] = box.y + box.height * (rank + 1) / (len(arriving) + 1)
    return entries


def _layers(network: Network) -> dict[int, int]:
    """Each agent right of all it takes from; what is given stands right before its first use."""
    layer: dict[int, int] = {}
    for agent in network.agents:
        givers = [layer[flow.giver] for flow in network.flows if flow.taker == agent.number]
        layer[agent.number] = max(givers, default=-1) + 1
    for agent in network.agents:
        takers = [layer[flow.taker] for flow in network.flows if flow.giver == agent.number]
        if takers and not network.inputs(agent):
            layer[agent.number] = max(0, min(takers) - 1)
    return layer


def _columns(network: Network, layer: dict[int, int]) -> tuple[list[list[_Stop]], list[list[_Stop]]]:
    """The stops of each layer, and those that each flow makes from its giver to its taker."""
    columns: list[list[_Stop]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    at = {agent.number: _Stop(agent.number) for agent in network.agents}
    for agent in network.agents:
        columns[layer[agent.number]].append(at[agent.number])
    ways = []
    for number, flow in enumerate(network.flows):
        way = [at[flow.giver]]
        for between in range(layer[flow.giver] + 1, layer[flow.taker]):
            stop = _Stop(None, number)
            columns[between].append(stop)
            way.append(stop)
        ways.append([*way, at[flow.taker]])
    return columns, ways


def _uncross(columns: list[list[_Stop]], ways: list[list[_Stop]]) -> None:
    """Sort each layer by where its neighbors stand, forth and back a few times."""
    layer_of = {id(stop): number for number, column in enumerate(columns) for stop in column}
    before: dict[tuple[int, _Stop], list[_Stop]] = {}
    behind: dict[tuple[int, _Stop], list[_Stop]] = {}
    for way in ways:
        for number, (stop, following) in enumerate(pairwise(way), layer_of[id(way[0])]):
            behind.setdefault((number, stop), []).append(following)
            before.setdefault((number + 1, following), []).append(stop)
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        for number in range(1, len(columns)) if forth else range(len(columns) - 2, -1, -1):
            beside = {stop: rank for rank, stop in enumerate(columns[number - 1 if forth else number + 1])}
            wanted: dict[_Stop, float] = {}
            for rank, stop in enumerate(columns[number]):
                near = [beside[other] for other in (before if forth else behind).get((number, stop), ())]
                wanted[stop] = sum(near) / len(near) if near else float(rank)
            columns[number].sort(key=wanted.__getitem__)
