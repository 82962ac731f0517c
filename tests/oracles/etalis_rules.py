"""The cases of the ETALIS thesis as rule files, by the ids of its tables."""

from __future__ import annotations

from tests.oracles.ele_case import RuleCase
from tests.oracles.etalis_numbers import DRAWN, POINTS

_LASTING = "".join(f":- stream({name}, interval). " for name in ("p1", "p2", "p3"))
_DRAWING = "p1[0,2] p1[3,5] p1[6,10] p2[1,3] p2[4,10] p3[3,4] p3[6,10]"

_DRAWN_PATTERNS = {
    "F01": "(p1).3",
    "F02": "p1 SEQ p3",
    "F03": "p2 AND p3",
    "F04": "p1 PAR p2",
    "F05": "p2 OR p3",
    "F06": "p1 DURING (0 SEQ 6)",
    "F07": "p3 STARTS p1",
    "F08": "p1 EQUALS p3",
    "F09": "NOT(p3).[p1, p1]",
    "F10": "p3 FINISHES p2",
    "F11": "p2 MEETS p3",
}

_PURE = "(a SEQ b SEQ c) EQUALS NOT(a OR c).[a, c]"
_POINT_PATTERNS = {
    "O01": "a SEQ (b SEQ c)",
    "O02": "a SEQ (b SEQ c)",
    "O03": "a SEQ b",
    "O04": "a EQUALS b",
    "O05": "a MEETS b",
    "O06": "a AND b",
    "O07": "a PAR b",
    "O08": "(a SEQ b) PAR c",
    "O09": "(a SEQ b) PAR c",
    "O10": "(a SEQ b) DURING (d SEQ e)",
    "O11": "b DURING (a SEQ c)",
    "O12": "(a SEQ b) STARTS (a SEQ c)",
    "O13": "(a SEQ b) STARTS (a SEQ b)",
    "O14": "(b SEQ c) FINISHES (a SEQ c)",
    "O15": "c FINISHES (a SEQ c)",
    "O16": "(a SEQ b) MEETS b",
    "O23": "a SEQ b SEQ c",
    "O24": "a SEQ b SEQ c",
    "O25": _PURE,
    "O26": _PURE,
    "O39": "a AND a",
    "O48": "(a SEQ b) FINISHES (a SEQ b)",
    "O49-three": "(a SEQ b).3",
    "O49-less-than-three": "(a SEQ b).2.999",
    "O50-inner": "(a SEQ b).2 SEQ c",
    "O50-outer": "(a SEQ b SEQ c).2",
}


def _at(events: str) -> str:
    """`a1 b2` as `a@1 b@2`"""
    return " ".join(f"{event[0]}@{event[1:]}" for event in events.split())


OPERATORS = [
    RuleCase(id, f"{_LASTING}x <- {pattern}.", _DRAWING, {"x": DRAWN[id]}) for id, pattern in _DRAWN_PATTERNS.items()
] + [
    RuleCase(
        id,
        "".join(f":- stream({name}). " for name in "abcde") + f"x <- {pattern}.",
        _at(POINTS[id][0]),
        {"x": POINTS[id][1]},
    )
    for id, pattern in _POINT_PATTERNS.items()
]

JOINS = [
    RuleCase(
        "O17-O18", "c <- a SEQ b. d <- b SEQ c. e <- b AND c.", "a@1 b@2", {"c": [(1, 2)], "d": [], "e": [(1, 2)]}
    ),
    RuleCase("O19", "d(X) <- NOT(c(Y)).[a(X), b(X)].", "a(1)@1 b(1)@2 a(2)@3 c(2)@4 b(2)@5", {"d": [("1", 1, 2)]}),
    RuleCase(
        "O20", "d(X) <- NOT(c(X)).[a(X), b(X)].", "a(1)@1 c(2)@2 b(1)@3 a(1)@4 c(1)@5 b(1)@6", {"d": [("1", 1, 3)]}
    ),
    RuleCase("O21", ":- stream(p2, interval). x <- NOT(p1)[p2, p3].", "p2[1,2] p2[1,5] p1@3 p3@6", {"x": [(1, 6)]}),
    RuleCase("O22", "located(L) <- NOT(fl(L)).[fr(L), fl(L)].", "fr(l)@1 fl(l)@4 fl(l)@9", {"located": [("l", 1, 4)]}),
    RuleCase(
        "O27",
        "rise(X) <- (price(X, Y) SEQ price(X, Z)).7 WHERE Z > 1.5 * Y.",
        "price(x,100)@0 price(x,160)@5 price(x,300)@9",
        {"rise": [("x", 0, 5), ("x", 5, 9)]},
    ),
    RuleCase(
        "O28",
        "storm(K, W2) <- wind(K, W1) SEQ wind(K, W2) WHERE {W2 > 1.1 * W1}.",
        "wind(k,10)@1 wind(k,11)@2 wind(k,11.5)@3",
        {"storm": [("k", 11.5, 1, 3)]},
    ),
    RuleCase("O29", "ia(X, Y) <- buys(Z, Y) AND buys(X, Z).", "buys(z,y)@1 buys(x,z)@2", {"ia": [("x", "y", 1, 2)]}),
    RuleCase(
        "O30",
        "wd <- NOT(closes).[opens, closes]. both(X, Y) <- (bankrupt(X) SEQ bankrupt(Y)) DURING wd.",
        "opens@1 bankrupt(p)@2 bankrupt(q)@4 closes@6",
        {"wd": [(1, 6)], "both": [("p", "q", 1, 6)]},
    ),
    RuleCase(
        "O47",
        ":- stream(i, interval). :- stream(o, interval). x <- i DURING o.",
        "i[0,2] i[4,6] i[0,6] o[0,6]",
        {"x": []},
    ),
    RuleCase("C01", "e <- a SEQ b SEQ c.", "a@1 a@2 a@3 b@4 b@5 c@6", {"e": [(1, 6), (2, 6), (3, 6)]}),
    RuleCase(
        "C11", ":- policy(unrestricted). c <- a SEQ b.", "a@1 a@2 b@3 b@4", {"c": [(1, 3), (2, 3), (1, 4), (2, 4)]}
    ),
    RuleCase(
        "X03",
        """
        ce1 <- g(P1) SEQ g(P2) WHERE P2 > 1.2 * P1.
        ce2 <- m(P1) SEQ m(P2) WHERE P2 > 1.2 * P1.
        ce3 <- ce1 AND ce2.
        """,
        "g(125)@4 g(100)@2 m(100)@8 m(125)@6",
        {"ce1": [(2, 4)], "ce2": [], "ce3": []},
    ),
    RuleCase(
        "S04",
        "downrated(C, A) <- rated(A, C, R1) SEQ rated(A, C, R2) WHERE R2 < R1.",
        "rated(mdy,acme,7)@1 rated(mdy,acme,5)@4",
        {"downrated": [("acme", "mdy", 1, 4)]},
    ),
    RuleCase(
        "S12",
        "rise(C) <- price(C, P1) SEQ price(C, P2) WHERE P1 < P2.",
        "price(company1,1)@1 price(company1,2)@2",
        {"rise": [("company1", 1, 2)]},
    ),
]

TRANSFORMATION = [
    RuleCase(
        "8.2-projection",
        """
        :- stream(stock(id: string, exchange: string, currency: string, price: double)).
        stock(Id, Price) <- stock(Id, _, _, Price).
        """,
        "stock(goog,nasdaq,USD,515)@1",
        {"stock_2": [("goog", 515, 1, 1)]},
    ),
    RuleCase(
        "8.3-translation",
        """
        :- stream(stock(id: string, currency: string, price: double)).
        stock(Id, 'EUR', P2) <- stock(Id, 'USD', P1) WHERE P2 is P1 * 1.5.
        dear(Id, C) <- stock(Id, C, P) WHERE P > 120.
        """,
        "stock(goog,USD,100)@1 stock(ibm,USD,200)@2 stock(sap,EUR,130)@3",
        {
            "stock_derived": [("goog", "EUR", 150, 1, 1), ("ibm", "EUR", 300, 2, 2)],
            "dear": [("goog", "EUR", 1, 1), ("ibm", "USD", 2, 2), ("ibm", "EUR", 2, 2), ("sap", "EUR", 3, 3)],
        },
    ),
    RuleCase(
        "8.5-split",
        """
        :- stream(stock(id: string, currency: string, price: double)).
        stock(Id, 'EUR', P2) <- stock(Id, 'USD', P1) WHERE P2 is P1 * 0.75.
        stock(Id, 'CNY', P2) <- stock(Id, 'USD', P1) WHERE P2 is P1 * 6.5.
        stock(Id, 'CHF', P2) <- stock(Id, 'USD', P1) WHERE P2 is P1 * 0.875.
        both(Id) <- stock(Id, 'CNY', _) AND stock(Id, 'CHF', _).
        """,
        "stock(goog,USD,512)@1 stock(sap,EUR,64)@2",
        {
            "stock_derived": [("goog", "EUR", 384, 1, 1), ("goog", "CNY", 3328, 1, 1), ("goog", "CHF", 448, 1, 1)],
            "both": [("goog", 1, 1)],
        },
    ),
]

KNOWLEDGE = [
    RuleCase(
        "first-match",
        """
        e(X, L) <- a(X) WHERE level(X, L).
        level(X, low) :- X < 3, !.
        level(X, mid) :- X < 6, !.
        level(_, high).
        f(X, F) <- b(X, Y) WHERE fee(X, Y, F).
        fee(1, Y, 0) :- Y > 5, !.
        fee(2, Y, 3) :- Y > 2, !.
        fee(_, Y, Y).
        """,
        "a(1)@0 a(3)@3 a(7)@7 b(1,6)@1 b(1,4)@2 b(2,4)@3 b(3,9)@4",
        {
            "e": [(1, "low", 0, 0), (3, "mid", 3, 3), (7, "high", 7, 7)],
            "f": [(1, 0, 1, 1), (1, 4, 2, 2), (2, 3, 3, 3), (3, 9, 4, 4)],
        },
    ),
    RuleCase(
        "choice-of-facts",
        "g(X) <- a(X) WHERE (near(X, Y), Y > 2 ; X > 5). near(1, 3). near(2, 2).",
        "a(1)@0 a(2)@1 a(7)@7",
        {"g": [(1, 0, 0), (7, 7, 7)]},
    ),
    RuleCase(
        "O31",
        """
        bottleneckArea(A) <- (slow(R, A) SEQ slow(R, A)).30 min.
        slow(R, A) <- te(R, S, X, Y) WHERE threshold(R, T), S < T, area(A, X1, X2, Y1, Y2),
            X1 < X, X < X2, Y1 < Y, Y < Y2.
        :- tick(1 min).
        threshold(rd1, 40). threshold(rd2, 30). threshold(rd3, 50).
        area(a1, 4042, 4045, 7358, 7361).
        area(a2, 4045, 4048, 7361, 7363).
        area(a3, 4048, 4051, 7363, 7365).
        """,
        "te(rd1,35,4043,7359)@0 te(rd1,30,4044,7360)@20 te(rd1,45,4044,7360)@25 te(rd1,20,4046,7362)@30 "
        "te(rd1,20,4043,7360)@55",
        {"bottleneckArea": [("a1", 0, 20)]},
    ),
    RuleCase(
        "O40",
        """
        :- tick(1 h).
        jetStreamWarning(L1, L2) <- (cat(L1) AND plane(L2)).5h WHERE jetLink(L2, L1).
        jetLink(X, Y) :- linked(X, Y).
        jetLink(X, Z) :- linked(X, Y), jetLink(Y, Z).
        linked(1, 2). linked(2, 3). linked(3, 4).
        """,
        "cat(4)@0 plane(1)@3 plane(4)@4 cat(2)@9",
        {"jetStreamWarning": [(4, 1, 0, 3)]},
    ),
    RuleCase(
        "O41",
        """
        :- tick(30 min).
        enhancedFire(L) <- (af(L) AND wo(L, O)).3h WHERE type(O, windObservation).
        type(O, C) :- isA(O, C).
        type(O, C) :- subClassOf(D, C), type(O, D).
        isA(o1, diablo). isA(o2, sundowner).
        subClassOf(diablo, wind). subClassOf(sundowner, wind). subClassOf(wind, windObservation).
        """,
        "af(l)@0 wo(l,o1)@4 wo(l,rain)@5 wo(m,o2)@4 wo(l,o2)@8",
        {"enhancedFire": [("l", 0, 4)]},
    ),
    RuleCase(
        "O42",
        """
        class(H, C) <- heat(H) WHERE range(Low, High, C), Low =< H, H < High.
        range(80, 90, caution). range(90, 105, extremeCaution). range(105, 130, danger).
        range(130, 1000, extremeDanger).
        """,
        "heat(79.9)@1 heat(80)@2 heat(89.9)@3 heat(90)@4 heat(105)@5 heat(129)@6 heat(130)@7",
        {
            "class": [
                (80, "caution", 2, 2),
                (89.9, "caution", 3, 3),
                (90, "extremeCaution", 4, 4),
                (105, "danger", 5, 5),
                (129, "danger", 6, 6),
                (130, "extremeDanger", 7, 7),
            ]
        },
    ),
    RuleCase(
        "O43",
        """
        :- stream(stock(id: string, price: double)).
        offer(C, S, P, V) <- stock(S, P) EVENT_MULTIPLY client(C, S, V).
        client(kavx, goog, 3815). client(kblu, msft, 2995). client(kcqt, goog, 1815).
        """,
        "stock(goog,515)@1",
        {"offer": [("kavx", "goog", 515, 3815, 1, 1), ("kcqt", "goog", 515, 1815, 1, 1)]},
    ),
]

_TICKS = " ".join(f"price({value})@{time}" for time, value in enumerate((10, 12, 9, 8, 9.5, 13), 1))
_WIND = " ".join(f"wind({30 * n},{speed})@{30 * n}" for n, speed in enumerate((40, 38, 20, 45, 37, 36, 41, 50)))
_SEVEN = " ".join(f"a@{n}" for n in range(1, 8))
_COUNTED = "start@0 a(1)@1 a(2)@2 a(3)@3"

RECURSION = [
    RuleCase(
        "O32",
        "it(1) <- a. it(N) <- a SEQ it(K) WHERE K < 5, N is K + 1. five <- it(5).",
        _SEVEN,
        {"five": [(1, 5), (1, 6), (1, 7), (2, 6), (2, 7), (3, 7)]},
    ),
    RuleCase("O32-ntimes", "five <- a ntimes 5.", _SEVEN, {"five": [(1, 5), (1, 6), (1, 7), (2, 6), (2, 7), (3, 7)]}),
    RuleCase(
        "O33",
        "it(1) <- a. it(N) <- NOT(a).[a, it(K)] WHERE K < 5, N is K + 1. five <- it(5).",
        _SEVEN,
        {"five": [(1, 5), (2, 6), (3, 7)]},
    ),
    RuleCase(
        "O34",
        "m(T) <- temp(T). m(T2) <- m(T1) SEQ temp(T2) WHERE T2 > T1. tempAlarm(T) <- m(T) WHERE T > 100.",
        "temp(70)@1 temp(65)@2 temp(90)@3 temp(101)@4",
        {"tempAlarm": [(101, 1, 4), (101, 2, 4), (101, 3, 4), (101, 4, 4)]},
    ),
    RuleCase(
        "O37",
        "tc(X, Y) <- edge(X, Y). tc(X, Y) <- tc(X, Z) SEQ edge(Z, Y).",
        "edge(1,2)@1 edge(2,3)@2 edge(3,4)@3",
        {
            "tc": [
                ("1", "2", 1, 1),
                ("1", "3", 1, 2),
                ("1", "4", 1, 3),
                ("2", "3", 2, 2),
                ("2", "4", 2, 3),
                ("3", "4", 3, 3),
            ]
        },
    ),
    RuleCase(
        "O38",
        "d(X) <- a(X) AND b(X). d(X) <- d(X) AND c(X).",
        "a(1)@1 b(1)@2 c(1)@3",
        {"d": [("1", 1, 2), ("1", 1, 3)]},
    ),
    RuleCase(
        "O35",
        """
        falling(P1, P2) <- NOT(price(_)).[price(P1), price(P2)] WHERE P1 > P2.
        falling(P1, P3) <- NOT(price(_)).[falling(P1, P2), price(P3)] WHERE P2 > P3.
        rising(P1, P3) <- NOT(price(_)).[falling(P1, P2), price(P3)] WHERE P3 > P2, P3 =< P1.
        rising(P1, P3) <- NOT(price(_)).[rising(P1, P2), price(P3)] WHERE P3 > P2, P3 =< P1.
        tick <- NOT(price(_)).[(falling(P1, P2) OR rising(P1, P2)), price(P3)] WHERE P3 > P1.
        """,
        _TICKS,
        {"tick": [(2, 6), (3, 5)]},
    ),
    RuleCase(
        "O44",
        """
        bs(S, S, 1) <- wind(S, W) WHERE W > 35.
        bs(S, E, N) <- bs(S, _, C) SEQ wind(E, W) WHERE W > 35, N is C + 1.
        warning <- bs(S, E, C) WHERE C > 4, E - S > 180.
        """,
        _WIND,
        {"warning": [(0, 210)]},
    ),
    RuleCase(
        "A08-count",
        "n(0) <- start. n(N) <- NOT(a(_)).[n(M), a(_)] WHERE N is M + 1.",
        _COUNTED,
        {"n": [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3)]},
    ),
    RuleCase(
        "A08-sum",
        "total(0) <- start. total(S) <- NOT(a(_)).[total(R), a(X)] WHERE S is R + X.",
        _COUNTED,
        {"total": [(0, 0, 0), (1, 0, 1), (3, 0, 2), (6, 0, 3)]},
    ),
    RuleCase(
        "A08-max",
        """
        most(-99) <- start.
        most(X) <- NOT(a(_)).[most(M), a(X)] WHERE X > M.
        most(M) <- NOT(a(_)).[most(M), a(X)] WHERE X =< M.
        """,
        _COUNTED,
        {"most": [(-99, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3)]},
    ),
    RuleCase(
        "A08-min",
        """
        least(99) <- start.
        least(X) <- NOT(a(_)).[least(M), a(X)] WHERE X < M.
        least(M) <- NOT(a(_)).[least(M), a(X)] WHERE X >= M.
        """,
        _COUNTED,
        {"least": [(99, 0, 0), (1, 0, 1), (1, 0, 2), (1, 0, 3)]},
    ),
    RuleCase(
        "S14",
        "level(C, L) <- start(C, L). level(C, N) <- level(C, L) WHERE L < 4, N is L + 1.",
        "start(company1,1)@1",
        {"level": [("company1", 1, 1, 1), ("company1", 2, 1, 1), ("company1", 3, 1, 1), ("company1", 4, 1, 1)]},
    ),
]


def _policy(id: str, policy: str, expected: list[tuple[int, int]]) -> RuleCase:
    return RuleCase(id, f":- policy({policy}). c <- a SEQ b.", "a@1 a@2 b@3 b@4", {"c": expected})


def _chain(id: str, policy: str, expected: list[tuple[int, int]]) -> RuleCase:
    return RuleCase(id, f":- policy({policy}). e <- a SEQ b SEQ c.", "a@1 a@2 a@3 b@4 b@5 c@6", {"e": expected})


_LASTING_A = ":- stream(a(v: double), interval). :- stream(b, interval)."
_BIDS = """
    :- policy(recent).
    best(-1, -1) <- bidStart.
    best(I, P) <- best(J, Q) SEQ bid(I, P) WHERE Q < P.
    winner(I, P) <- best(I, P) SEQ bidEnd.
"""

POLICIES = [
    _chain("C02", "recent", [(3, 6)]),
    _chain("C03", "recent, keeping", [(2, 6)]),
    _chain("C04", "chronological", [(1, 6)]),
    _chain("C05", "chronological, keeping", [(1, 6)]),
    _policy("C10", "recent", [(2, 3)]),
    _policy("C12", "recent, keeping", [(2, 3), (1, 4)]),
    _policy("C13", "chronological, keeping", [(1, 3), (2, 4)]),
    _policy("C14", "chronological", [(1, 3)]),
    *(
        RuleCase(
            f"C20-{preference}",
            f"{_LASTING_A} :- policy(recent, prefer({preference})). c <- a(V) SEQ b.",
            "a(1000)[1,30] a(10000)[15,30] b[35,50]",
            {"c": expected},
        )
        for preference, expected in (("longer", [(1, 50)]), ("shorter", [(15, 50)]), ("V", [(15, 50)]))
    ),
    *(
        RuleCase(
            f"C21-{preference}",
            f"{_LASTING_A} :- policy(chronological, prefer({preference})). c <- a(V) SEQ b. chosen(V) <- a(V) SEQ b.",
            "a(1)[1,10] a(2)[1,30] b[35,50]",
            {"c": [(1, 50)], "chosen": [expected]},
        )
        for preference, expected in (("longer", (2, 1, 50)), ("shorter", (1, 1, 50)))
    ),
    RuleCase(
        "C30",
        _BIDS,
        "bidStart@1 bid(2,4)@2 bid(29,4)@3 bid(33,3)@4 bid(66,4)@5 bid(56,5)@6 bidEnd@7",
        {"winner": [(56, 5, 1, 7)]},
    ),
    RuleCase(
        "C31",
        _BIDS,
        "bidStart@1 bid(2,4)@2 bid(29,4)@3 bid(33,3)@4 bid(66,4)@5 bidEnd@6 bid(56,5)@7",
        {"winner": [(2, 4, 1, 6)]},
    ),
]


def _window(id: str, function: str, window: str, events: str, expected: list[tuple[float, int, int]]) -> RuleCase:
    rules = f":- stream(a(x: double)). r([window({window})]): r(S) <- aggregate({function}, a(X), S)."
    return RuleCase(id, rules, events, {"r": expected})


_TWELVE = " ".join(f"a({n})@{n}" for n in range(1, 13))
_SUMS = (1, 3, 6, 10, 15, 20, 25, 30, 35, 40, 45, 50)
_SOME = " ".join(f"a({x})@{n}" for n, x in enumerate((5, 1, 4, 9, 2, 2, 7), 1))
_LAST_THREE = [(max(1, n - 2), n) for n in range(1, 8)]

WINDOWS = [
    _window("A01", "sum(X)", "5 events", _TWELVE, [(v, max(1, n - 4), n) for n, v in enumerate(_SUMS, 1)]),
    *(
        _window(id, function, "3 events", _SOME, [(v, *span) for v, span in zip(values, _LAST_THREE, strict=True)])
        for id, function, values in (
            ("A02", "sum(X)", (5, 6, 10, 14, 15, 13, 11)),
            ("A03", "max(X)", (5, 5, 5, 9, 9, 9, 7)),
            ("A04", "min(X)", (5, 1, 1, 1, 2, 2, 2)),
            ("A05", "avg(X)", (5, 3, 10 / 3, 14 / 3, 5, 13 / 3, 11 / 3)),
        )
    ),
    _window(
        "A06",
        "count",
        "3",
        "a(1)@0 a(1)@1 a(1)@3 a(1)@4 a(1)@7",
        [(1, 0, 0), (2, 0, 1), (3, 0, 3), (3, 1, 4), (2, 4, 7)],
    ),
    RuleCase(
        "A07",
        ":- stream(a(x: double)). r([half_open_window(3)]): r(N) <- aggregate(count, a(X), N).",
        "a(1)@0 a(1)@1 a(1)@3 a(1)@4 a(1)@7",
        {"r": [(1, 0, 0), (2, 0, 1), (2, 1, 3), (2, 3, 4), (1, 7, 7)]},
    ),
    RuleCase(
        "A08-without-a-window",
        """
        :- stream(start). :- stream(a(x: double)).
        n(N) <- start SEQ aggregate(count, a(_), N).
        total(S) <- aggregate(sum(X), a(X), S).
        """,
        _COUNTED,
        {"n": [(1, 0, 1), (2, 0, 2), (3, 0, 3)], "total": [(1, 1, 1), (3, 1, 2), (6, 1, 3)]},
    ),
    RuleCase(
        "alarms",
        """
        exceptionAlarm(tardy(X), 5) <- a(X).
        exceptionAlarm(unanswered(X), 5) <- a(X) CNOT b(X).
        exceptionAlarmAbsoluteDatime(closing(X), 10) <- a(X).
        """,
        "a(i)@1 b(i)@4 a(j)@7",
        {"tardy": [("i", 1, 6), ("j", 7, 12)], "unanswered": [("j", 7, 12)], "closing": [("i", 1, 10), ("j", 7, 10)]},
    ),
    RuleCase(
        "A08-windows",
        """
        :- stream(start). :- stream(a(x: double)).
        n([window(100)]): n(N) <- start SEQ aggregate(count, a(_), N).
        total([window(100)]): total(S) <- start SEQ aggregate(sum(X), a(X), S).
        most([window(100)]): most(M) <- start SEQ aggregate(max(X), a(X), M) WHERE M >= 2.
        """,
        _COUNTED,
        {
            "n": [(1, 0, 1), (2, 0, 2), (3, 0, 3)],
            "total": [(1, 0, 1), (3, 0, 2), (6, 0, 3)],
            "most": [(2, 0, 2), (3, 0, 3)],
        },
    ),
]
