"""Streams and detections of the fleet paper and the public Wayeb engine, without the patterns.

Where two values stand side by side, the first is with overlap, the second that of the engine's restart.
"""

from __future__ import annotations

from tests.kit.rows import Rows

from inkling.model.event import Value

DEMO = "AABAAACCCBBCCCCAAAACABCAACAABBCABBCACBBCCCACBCACCBABCBBAAACCACCAACCCABACBBBBBCBCCCBABBBAABCAABCCABBA"
"""The 100 events that come with the engine."""

Ends = list[int]

ENDS: dict[str, tuple[str, Ends, Ends]] = {
    "O1": ("abcabc", [2, 5], [2, 5]),
    "O3-pair": ("HHHHH", [2, 3, 4, 5], [2, 4]),
    "O3-run": ("HHHHHLHHHHHH", [3, 4, 5, 9, 10, 11, 12], [3, 9, 12]),
}

WORDS = ("acbb", "abcacbcab", "aabbcc")
SMALL_WORDS: dict[str, tuple[tuple[Ends, ...], tuple[Ends, ...]]] = {
    "a;b": (([], [2, 9], [3]), ([], [2, 9], [3])),
    "any(a,b)": (([3, 4], [2, 6, 9], [3, 4]), ([3], [2, 6, 9], [3])),
    "next(a,b)": (([3], [2, 6, 9], [3]), ([3], [2, 6, 9], [3])),
    "any(a,b,c)": (([], [3, 5, 7], [5, 6]), ([], [3, 7], [5])),
    "next(a,b,c)": (([], [3, 7], [5]), ([], [3, 7], [5])),
    "a;!b;c": (([2], [5], []), ([2], [5], [])),
    "a;b+;c": (([], [3], [5]), ([], [3], [5])),
    "any(a;b,c)": (([], [3, 5, 7], [5, 6]), ([], [3], [5])),
    "next(a|b,c)": (([2], [3, 5, 7], [5]), ([2], [3, 5, 7], [5])),
}
"""O4."""

EMPTY_WORDS: dict[str, tuple[Ends, ...]] = {
    "a*": ([1], [1, 4, 8], [1, 2]),
    "!a": ([2, 3, 4], [2, 3, 4, 5, 6, 7, 8, 9], [2, 3, 4, 5, 6]),
    "(a;b)*": ([], [2, 9], [3]),
}
"""O5, by the definition: no match is empty."""

KEYED = [(1, "a"), (2, "a"), (1, "b"), (2, "c"), (2, "a"), (1, "a"), (2, "b"), (1, "b")]
"""O7."""
KEYED_APART, KEYED_TOGETHER = [3, 7, 8], [3, 7]

DEMO_COUNTS: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "A;(B|C)": ((20, 1017), (20, 1017)),
    "A;B;C": ((4, 262), (4, 262)),
    "any(A,B)": ((30, 1751), (15, 792)),
    "next(A,B)": ((15, 792), (15, 792)),
    "any(A,B,C)": ((36, 1733), (10, 493)),
    "next(A,B,C)": ((12, 583), (10, 493)),
    "A;B+;C": ((6, 328), (6, 328)),
    "C{3,}": ((6, 230), (5, 215)),
    "A;!B;C": ((17, 765), (10, 441)),
    "(A|B);C;(A|B)": ((12, 568), (10, 483)),
    "(A or B);not C;C": ((15, 708), (15, 708)),
    "A;any(B*);C": ((21, 1025), (16, 769)),
    "A;next(B*);C": ((21, 1025), (16, 769)),
}
"""O8: how many detections, and the sum of their places."""

DEMO_PAIRS = [3, 7, 20, 22, 26, 29, 33, 37, 44, 48, 52, 59, 62, 66, 70, 72, 85, 90, 94, 98]
DEMO_RUNS = ([9, 14, 15, 42, 68, 82], [9, 14, 42, 68, 82])

DEMO_MATCHES: dict[str, tuple[int, int, int | None]] = {
    "any(A,B)": (5, 34, 25),
    "any(A,B,C)": (6, 27, 15),
    "next(A,B)": (5, 22, None),
    "A;B+;C": (10, 6, None),
}
"""O9: events in the window, matches, and how many ends they have."""
FIRST_PAIRS = ["1 3", "2 3", "6 10"]

FLEET = """
off 0 0 F 9 31 F F .90|moving 60 500 T 9 1 F F .90|moving 0 40 T 0 1 F F .80|moving 55 40 T 0 1 T F .80
moving 0 40 T 0 1 T F .70|moving 0 40 F 8 1 F F .70|moving 0 45 F 8 1 F T .45|off 0 0 F 9 45 F T .45
parked 0 50 F 9 2 F T .40|moving 70 50 T 9 2 T F .40|parked 0 50 F 9 2 T F .40|moving 80 50 T 9 2 T F .40
parked 0 31 F 9 2 F F .40|parked 0 31 F 9 2 F F .40|parked 0 31 F 9 2 F F .40|idle 0 0 F 9 2 F F .40
parked 0 0 F 9 2 F F .40|idle 0 0 F 9 2 F F .40|parked 0 0 F 9 2 F F .40|moving 61 900 T 9 1 T F .40
moving 65 900 T 9 1 T F .40|moving 66 900 T 9 1 T F .40
"""
FLEET_COLUMNS: dict[str, type] = {
    "engine": str,
    "speed": int,
    "distance": int,
    "accelerating": bool,
    "satellites": int,
    "duration": int,
    "ice": bool,
    "gas": bool,
    "fuel": float,
}


def fleet_rows() -> Rows:
    """O11: one vehicle."""
    rows: list[dict[str, Value]] = []
    for t, line in enumerate(FLEET.strip().replace("\n", "|").split("|"), start=1):
        row: dict[str, Value] = {"id": str(t), "t": t, "seq": t}
        for text, (name, kind) in zip(line.split(), FLEET_COLUMNS.items(), strict=True):
            row[name] = text == "T" if kind is bool else kind(text)
        rows.append(row)
    return {"V": rows}


FLEET_ENDS: dict[str, tuple[Ends, Ends]] = {
    "F1 Route": ([8], [8]),
    "F2 ParkedMovingSwing": ([12], [12]),
    "F3 IdleParkedSwing": ([19], [19]),
    "F4 SpeedSwing": ([5, 13], [5, 13]),
    "F5 MovingWithZeroSpeed": ([7], [7]),
    "F6 MovingWithBadSignal": ([5], [5]),
    "F7 PossibleTheft": ([15], [15]),
    "F8 DangerousDriving": ([21, 22], [21]),
    "F9 RefuelOpportunity": ([8, 9], [8]),
}

HEADINGS = [
    (359.0, 1.0, 5.0), (355.0, 5.0, 5.0), (2.0, 358.0, 5.0), (10.0, 50.0, 5.0),
    (10.0, 50.0, 0.5), (10.0, 50.0, 5.0), (10.0, 41.0, 5.0), (350.0, 25.0, 5.0),
]  # fmt: skip
"""O12: heading, course, speed. The plain difference takes 359 and 1 for a wide angle, the circular one does not."""
PLAIN_DRIFT, CIRCULAR_DRIFT = ([3, 4, 8], [3, 8]), ([8], [8])

DISTANCES = (12, 6, 4, 8, 6.5, 5.5, 4.9, 4, 6, 8, 7.5, 4.5, 9, 6, 7, 6.9, 4.99, 9.9, 5.0, 4)
APPROACHES: dict[str, Ends] = {"open bands": [7], "more than 7": [3, 7], "half-open bands": [7, 17, 20]}
"""Distances in km, and where the bands of 7 to 10, 5 to 7 and less than 5 km end, by what belongs to a band."""

TRAWLING = [(1.0, True), (1.1, True), (5.0, True), (8.9, True), (9.0, True), (4.0, True), (4.0, False)]
TRAWLING_ENDS = [4]

RESCUE = [(True, 3.0), (True, 2.7), (True, 2.8), (True, 9.0), (True, 9.0), (False, 9.0)]
RESCUE_ENDS = [5]

ANCHORED = [(True, False, 0.4), (False, True, 0.3), (True, True, 0.2)]
ANCHORED_ENDS = [3]
