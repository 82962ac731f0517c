"""Rows and intervals of the ETALIS thesis (F: drawing of the operators, O: small cases), without the patterns."""

from tests.kit.rows import Rows, intervals

Spans = list[tuple[int, int]]

DRAWING: Rows = intervals("p1[0,2] p1[3,5] p1[6,10] p2[1,3] p2[4,10] p3[3,4] p3[6,10] q[0,0] r[6,6]")
"""F06 has the time points 0 and 6, which are written as events here: the container is `[0, 6]` all the same."""

DRAWN: dict[str, Spans] = {
    "F01": [(0, 2), (3, 5)],
    "F02": [(0, 4), (0, 10), (3, 10)],
    "F03": [(1, 4), (1, 10), (3, 10), (4, 10)],
    "F04": [(0, 3), (3, 10), (4, 10)],
    "F05": [(1, 3), (3, 4), (4, 10), (6, 10)],
    "F06": [(0, 6)],
    "F07": [(3, 5)],
    "F08": [(6, 10)],
    "F09": [(0, 5), (3, 10)],
    "F10": [(4, 10)],
    "F11": [(1, 4)],
}

POINTS: dict[str, tuple[str, Spans]] = {
    "O01": ("a1 b2 c3", [(1, 3)]),
    "O02": ("b1 a2 c3", []),
    "O03": ("a1 b1", []),
    "O04": ("a1 b1", [(1, 1)]),
    "O05": ("a1 b1", [(1, 1)]),
    "O06": ("a1 b1", [(1, 1)]),
    "O07": ("a1 b1", []),
    "O08": ("a1 c2 b3", [(1, 3)]),
    "O09": ("a1 b2 c3", []),
    "O10": ("d1 a2 b3 e4", [(1, 4)]),
    "O11": ("a1 b2 c3", [(1, 3)]),
    "O12": ("a1 b2 c3", [(1, 3)]),
    "O13": ("a1 b2 c3", []),
    "O14": ("a1 b2 c3", [(1, 3)]),
    "O15": ("a1 b2 c3", [(1, 3)]),
    "O16": ("a1 b2", [(1, 2)]),
    "O23": ("a1 b2 b3 c4", [(1, 4)]),
    "O24": ("a1 c2 b3 b4 c5", [(1, 5)]),
    "O25": ("a1 c2 b3 b4 c5", []),
    "O26": ("a1 b2 b3 c4", [(1, 4)]),
    "O32": ("a1 a2 a3 a4 a5 a6 a7", [(1, 5), (1, 6), (1, 7), (2, 6), (2, 7), (3, 7)]),
    "O33": ("a1 a2 a3 a4 a5 a6 a7", [(1, 5), (2, 6), (3, 7)]),
    "O39": ("a1", [(1, 1)]),
    "O48": ("a1 b2", []),
    "O49-three": ("a1 b4", [(1, 4)]),
    "O49-less-than-three": ("a1 b4", []),
    "O50-inner": ("a0 b1 c5", [(0, 5)]),
    "O50-outer": ("a0 b1 c5", []),
}

CROSSING = ("p2[1,2] p2[1,5] p1[3,3] p3[6,6]", [(1, 6)])
"""O21: an absence is checked pair by pair."""

NOTHING_INSIDE = ("i[0,2] i[4,6] i[0,6] o[0,6]", [])
"""O47: DURING asks for both ends strictly inside."""
