"""Programs distinguish Allen's relations as SimpMatch does, and count the segments that share time.

One row is one segment here, and nothing is lost: the relations themselves (2.1, 2.2), recorded ties (O12), the matrix
of O14 and the interleavings of O4. Quantifiers and lost events are in `test_simpmatch_losses.py`.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest

from inkling import parse

Segment = tuple[int, int]
Signature = tuple[int, int, int, int]

SIGNATURES: dict[str, Signature] = {
    "PRECEDES": (-1, -1, -1, -1),
    "MEETS": (-1, -1, 0, -1),
    "OVERLAPS": (-1, -1, 1, -1),
    "FINISHED_BY": (-1, -1, 1, 0),
    "CONTAINS": (-1, -1, 1, 1),
    "STARTS": (0, -1, 1, -1),
    "EQUALS": (0, -1, 1, 0),
    "STARTED_BY": (0, -1, 1, 1),
    "DURING": (1, -1, 1, -1),
    "FINISHES": (1, -1, 1, 0),
    "OVERLAPPED_BY": (1, -1, 1, 1),
    "MET_BY": (1, 0, 1, 1),
    "PRECEDED_BY": (1, 1, 1, 1),
}
"""Signs of a.start - b.start, a.start - b.end, a.end - b.start, a.end - b.end."""

COMPOSITES = {
    "STARTS_BEFORE": {"PRECEDES", "MEETS", "OVERLAPS", "CONTAINS", "FINISHED_BY"},
    "ENDS_AFTER": {"PRECEDED_BY", "MET_BY", "OVERLAPPED_BY", "CONTAINS", "STARTED_BY"},
    "INTERSECTS": set(SIGNATURES) - {"PRECEDES", "PRECEDED_BY"},
}

STREAMS = "\n".join(
    f"STREAM {name}(id BIGINT, w BIGINT, begun BIGINT, ended BIGINT) ID id KEY w TIME FROM begun TO ended;"
    for name in ("A", "B")
)


def rows(segments: list[Segment], world: int = 0) -> list[dict[str, int]]:
    return [
        {"id": number, "w": world, "begun": begun, "ended": ended} for number, (begun, ended) in enumerate(segments)
    ]


def related(left: list[Segment], right: list[Segment]) -> dict[str, set[tuple[Segment, Segment]]]:
    """The pairs of segments in each relation, all from one program."""
    names = [*SIGNATURES, *COMPOSITES]
    events = "\n".join(f"EVENT {name.lower()} AS PATTERN A x {name} B y;" for name in names)
    tables = parse(f"{STREAMS} {events}").run_local({"A": rows(left), "B": rows(right)}).tables
    return {name: {(left[a], right[b]) for a, b in tables[name.lower()]["lineage"].to_pylist()} for name in names}


def signature(left: Segment, right: Segment) -> Signature:
    (a, b), (c, d) = left, right
    signs = ((one > other) - (one < other) for one, other in ((a, c), (a, d), (b, c), (b, d)))
    return tuple(signs)  # type: ignore[return-value]


def test_every_pair_of_segments_is_in_exactly_one_relation() -> None:
    segments = list(combinations(range(5), 2))
    found = related(segments, segments)
    pairs = list(product(segments, repeat=2))
    for name, signs in SIGNATURES.items():
        assert found[name] == {pair for pair in pairs if signature(*pair) == signs}, name
    for name, members in COMPOSITES.items():
        assert found[name] == {pair for member in members for pair in found[member]}, name


def test_O12_recorded_ties() -> None:
    found = related([(0, 4), (6, 8)], [(4, 6)])
    assert found["MEETS"] == {((0, 4), (4, 6))}
    assert found["MET_BY"] == {((6, 8), (4, 6))}
    assert found["PRECEDES"] | found["PRECEDED_BY"] == set()
    assert len(found["INTERSECTS"]) == 2
    touching = related([(0, 2)], [(2, 4)])
    assert (len(touching["INTERSECTS"]), len(touching["PRECEDES"])) == (1, 0)


def test_O14_the_matrix_of_relations() -> None:
    left, right = [(0, 2), (4, 6), (8, 10)], [(1, 5), (7, 9)]
    found = related(left, right)
    matrix = [[next(name for name in SIGNATURES if (a, b) in found[name]) for b in right] for a in left]
    assert matrix == [["OVERLAPS", "PRECEDES"], ["OVERLAPPED_BY", "PRECEDES"], ["PRECEDED_BY", "OVERLAPPED_BY"]]
    assert len({a for a, _ in found["INTERSECTS"]}) == 3
    assert max(Counter(a for a, _ in found["INTERSECTS"]).values()) == 1


def test_O15_sharing_is_not_symmetric() -> None:
    found = related([(0, 10)], [(1, 2), (4, 5)])["INTERSECTS"]
    assert (len({a for a, _ in found}), len({b for _, b in found})) == (1, 2)


@pytest.mark.parametrize(
    ("n_segments", "expected"),
    [
        (1, {0: 2, 1: 4}),
        (2, {0: 6, 1: 32, 2: 32}),
        (3, {0: 20, 1: 180, 2: 408, 3: 316}),
        (4, {0: 70, 1: 896, 2: 3360, 3: 5184, 4: 3360}),
    ],
)
def test_O4_interleavings_by_how_many_segments_share_time(n_segments: int, expected: dict[int, int]) -> None:
    """Every order of the events is a world of its own, so that all of them run at once."""
    n_events = 2 * n_segments
    a_rows: list[dict[str, int]] = []
    b_rows: list[dict[str, int]] = []
    worlds = list(combinations(range(2 * n_events), n_events))
    for world, places in enumerate(worlds):
        others = sorted(set(range(2 * n_events)) - set(places))
        a_rows += rows(list(zip(places[::2], places[1::2], strict=True)), world)
        b_rows += rows(list(zip(others[::2], others[1::2], strict=True)), world)
    program = f"{STREAMS} EVENT shares(w, x.id AS segment) AS PATTERN A x INTERSECTS B y PARTITION BY w PER VALUES;"
    found = parse(program).run_local({"A": a_rows, "B": b_rows}).tables["shares"]
    per_world = Counter(found["w"].to_pylist())
    assert Counter(per_world[world] for world in range(len(worlds))) == expected
