"""The picture of a network: everything is in it, shared agents once, and no box stands on another."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.kit.programs import seeded_cases
from typer.testing import CliRunner

import inkling
from inkling.cli import app
from inkling.physical.graph.agents import AgentKind, Network, network_of
from inkling.physical.graph.svg import drawn

PROGRAM = """
STREAM S(id STRING, k STRING, kind STRING, x INT, t INT) ID id TIME t;
STREAM R(id STRING, k STRING, t INT) ID id TIME t;
TABLE place(k STRING, region STRING) FROM 'place.csv';
EVENT rising(a.k AS k) AS PATTERN SEQ(S a[kind = 'w'], S b[kind = 'w' AND k = a.k AND x > a.x]) WITHIN 9 TICKS;
EVENT climbing(p.k AS key) AS PATTERN SEQ(S p[kind = 'w'], S q[kind = 'w' AND k = p.k AND x > p.x]) WITHIN 9 TICKS;
EVENT left(a.k AS k) AS
  PATTERN SEQ(S a[kind = 'w'], S b[kind = 'w' AND k = a.k AND x > a.x], NOT R[k = a.k], S c[k = a.k]) WITHIN 9 TICKS;
EVENT where_(r.k AS k, region) AS PATTERN rising r[place(k, region)] CONSUME RESTART;
EVENT odd AS PATTERN (S s EXCEPT R r) DURING SEQ(AT 3, AT 9);
"""


@pytest.fixture
def network() -> Network:
    return network_of(inkling.parse(PROGRAM).rewritten.plan)


def titles(network: Network, kind: AgentKind) -> list[str]:
    return [agent.title for agent in network.agents if agent.kind is kind]


def test_every_stream_table_and_event_is_one_agent(network: Network) -> None:
    assert titles(network, AgentKind.STREAM) == ["S", "R"]
    assert titles(network, AgentKind.TABLE) == ["place"]
    assert titles(network, AgentKind.EVENT) == ["rising", "climbing", "left", "where_", "odd"]


def test_agents_of_every_kind(network: Network) -> None:
    assert "enrich" in titles(network, AgentKind.ENRICH)
    assert "CONSUME RESTART" in titles(network, AgentKind.CONSUME)
    assert {"AT 3", "AT 9"} == set(titles(network, AgentKind.TIME))
    assert {"SEQ", "EXCEPT", "DURING"} == set(titles(network, AgentKind.JOIN))
    assert "WITHIN 9 TICKS" in titles(network, AgentKind.WINDOW)


def test_equal_parts_are_one_agent_whatever_they_are_called(network: Network) -> None:
    rising = [agent for agent in network.agents if agent.kind is AgentKind.JOIN and len(agent.details) == 2]
    (shared,) = [agent for agent in rising if "b.x > a.x" in agent.details]
    assert network.uses(shared) == 2  # by the window of rising and climbing, and by the rest of left
    assert not any("q.x > p.x" in agent.details for agent in network.agents)


def test_a_negated_input_is_called_not(network: Network) -> None:
    (repairs,) = [agent for agent in network.agents if agent.title == "R"]
    assert "NOT" in [flow.name for flow in network.flows if flow.giver == repairs.number]


def test_the_picture_is_xml_that_names_everything() -> None:
    picture = ElementTree.fromstring(inkling.parse(PROGRAM).graph())
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"S", "R", "place", "rising", "climbing", "left", "where_", "odd"} <= set(words)
    assert "prefers-color-scheme: dark" in (picture.findtext("{http://www.w3.org/2000/svg}style") or "")


def test_the_text_tells_shared_agents_once() -> None:
    text = inkling.parse(PROGRAM).graph_text()
    assert text.count("b.x > a.x") == 1
    assert text.count("as above") >= 2
    assert [block.split(" ")[0] for block in text.split("\n\n")] == ["rising", "climbing", "left", "where_", "odd"]


@pytest.mark.parametrize("seed", range(3))
def test_boxes_of_random_programs_do_not_overlap_and_flows_go_on(seed: int) -> None:
    for case in seeded_cases(seed + 90, 30):
        network = network_of(case.plan)
        drawing = drawn(network)
        assert len(drawing.boxes) == len(network.agents)
        for one, other in combinations(drawing.boxes.values(), 2):
            apart = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y
        for flow, points in drawing.paths:
            assert drawing.boxes[flow.giver].x < drawing.boxes[flow.taker].x
            assert all(x < y for (x, _), (y, _) in pairwise(points))
        for box in drawing.boxes.values():
            assert 0 <= box.x <= drawing.width - box.width
            assert 0 <= box.y <= drawing.height - box.height
        assert {agent.title for agent in network.events} == {event.name for event in case.plan.events}


def test_the_command_draws_prints_and_rejects(tmp_path: Path) -> None:
    program, picture = tmp_path / "p.ink", tmp_path / "p.svg"
    program.write_text(PROGRAM)
    runner = CliRunner()
    assert "rising (per MATCH)" in runner.invoke(app, ["explain", str(program), "--graph"]).output
    assert runner.invoke(app, ["explain", str(program), "--graph", str(picture)]).exit_code == 0
    assert picture.read_text().startswith("<svg")
    assert runner.invoke(app, ["explain", str(program), str(picture)]).exit_code == 2


def test_a_recursion_gives_its_results_to_itself() -> None:
    program = inkling.parse(
        "STREAM A(id STRING, x INT, t INT) ID id TIME t;"
        "EVENT top(a.x AS x) AS PATTERN A a PER INTERVAL;"
        "EVENT top(a.x) AS PATTERN SEQ(top p, A a[x > p.x]) PER INTERVAL;"
    )
    network = network_of(program.plan)
    (again,) = [agent for agent in network.agents if agent.kind is AgentKind.AGAIN]
    assert again.title == "top"
    assert [agent.title for agent in network.events] == ["top"]
    assert "again" in program.graph()
