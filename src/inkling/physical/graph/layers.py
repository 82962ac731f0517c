"""Where the agents of a network stand: in layers from what is given to what comes out, with few crossings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from inkling.physical.graph.agents import Agent, Flow, Network

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


def lines_of(agent: Agent) -> tuple[str, ...]:
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
    return 12 + LINE * max(len(lines_of(agent)), len(network.inputs(agent)))


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
