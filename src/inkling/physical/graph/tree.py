"""A network of agents as text: under each event what it takes from, and what is shared once."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.physical.graph.agents import Agent, Kind, Network

_GIVEN = (Kind.STREAM, Kind.TABLE, Kind.RULE, Kind.TIME, Kind.AGAIN, Kind.EVENT)


def network_text(network: Network) -> str:
    """One tree per event; an agent of several events is told once and then named by its number."""
    told: set[int] = set()
    return "\n\n".join("\n".join(_event(network, event, told)) for event in network.events)


def _event(network: Network, event: Agent, told: set[int]) -> Iterator[str]:
    yield f"{event.title} ({', '.join(event.details)})"
    yield from _inputs(network, event, "", told)


def _inputs(network: Network, agent: Agent, indent: str, told: set[int]) -> Iterator[str]:
    inputs = network.inputs(agent)
    for place, (giver, name) in enumerate(inputs):
        last = place == len(inputs) - 1
        again = giver.number in told and giver.kind not in _GIVEN
        yield f"{indent}{'└─ ' if last else '├─ '}{_line(network, giver, name, again)}"
        if not again and giver.kind not in _GIVEN:
            told.add(giver.number)
            yield from _inputs(network, giver, indent + ("   " if last else "│  "), told)


def _line(network: Network, agent: Agent, name: str, again: bool) -> str:
    number = f" #{agent.number}" if agent.kind not in _GIVEN and network.uses(agent) > 1 else ""
    if again:
        return f"{agent.title}{number}, as above{f': {name}' if name else ''}"
    kind = f"{agent.kind.value} " if agent.kind in (Kind.STREAM, Kind.TABLE, Kind.RULE, Kind.EVENT) else ""
    details = f" ({'; '.join(agent.details)})" if agent.details and agent.kind not in _GIVEN else ""
    return f"{kind}{agent.title}{number}{details}{f': {name}' if name else ''}"
