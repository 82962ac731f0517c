"""Queries printed in the paper on intervals with lost events (Busany et al.): SimpMatch, and SASE+ beside it.

`∃k εA − I − ∃ εB` is `AT LEAST k E x INTERSECTS SOME E y`, and `∀ εB − D − ∃ εA` is `ALL E x DURING SOME E y`.
"""

from collections.abc import Sequence

from tests.oracles.printed.printed_text import PrintedText

_SEGMENTS = "STREAM E(k STRING, begun BIGINT, ended BIGINT) KEY k TIME FROM begun TO ended;"
_HALF_DAYS = "".join(f"STREAM {name}(type STRING, t BIGINT) TIME t TICK 12 HOURS;\n" for name in "AB")
_PHASES = ("start", "suspend", "resume", "end")
_SHARED_TWICE = """
        PATTERN
        SEQ(A e1, B e1', A e2, B e2', A e3, B e3', A e4, B e4')
        WHERE
        e1.type = "start" AND e1'.type = "start" AND
        e2.type = "suspend" AND e2'.type = "suspend" AND
        e3.type = "resume" AND e3'.type = "resume" AND
        e4.type = "end" AND e4'.type = "end"
        WITHIN 5 days
        """


def _asked(
    id: str, place: str, pattern: str, a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]], *found: str
) -> PrintedText:
    return PrintedText(
        id,
        place,
        f"EVENT q(x.k, y.k AS other) AS PATTERN {pattern};",
        ".ink",
        setting=_SEGMENTS,
        rows={"E": [{"k": key, "begun": x, "ended": y} for key, some in (("A", a), ("B", b)) for x, y in some]},
        found={"q": [tuple(pair) for pair in found]},
        columns=("k", "other"),
        by_definition=False,
    )


_TWO, _ONE = [(0, 4), (6, 10)], [(3, 7)]

TEXTS = [
    _asked("intersection", "4.2", "SOME E x INTERSECTS SOME E y", _TWO, _ONE, "AB", "BA"),
    _asked("apart", "4.2", "SOME E x INTERSECTS SOME E y", _TWO, [(5, 5), (11, 12)]),
    _asked("sharing", "2.2, example 2", "AT LEAST 2 E x INTERSECTS SOME E y", _TWO, _ONE, "AB"),
    _asked("containment", "2.2, example 3", "ALL E x DURING SOME E y", [(0, 10), (20, 30)], [(1, 3), (4, 5)], "BA"),
    _asked("no-containment", "2.2, example 3", "ALL E x DURING SOME E y", [(0, 10)], [(1, 3), (8, 11)]),
    PrintedText(
        "two-segments",
        "2.2",
        _SHARED_TWICE,
        ".sase",
        setting=_HALF_DAYS,
        rows={
            "A": [{"type": phase, "t": t} for t, phase in zip((1, 3, 5, 7), _PHASES, strict=True)],
            "B": [{"type": phase, "t": t} for t, phase in zip((2, 4, 6, 8), _PHASES, strict=True)],
        },
        found={"query1": [(1, 8)]},
    ),
]
