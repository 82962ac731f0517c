"""Rules printed in the ETALIS thesis (Anicic, Karlsruhe 2011) on the language and its execution, chapters 3 to 7.

Subscripts are digits (`T1`), `·` is `*`, `≤` is `=<`, `∧` is a comma. Rules that only show how the engine compiles
operators and policies (7.7 to 7.10, 7.14 to 7.19, 7.28 to 7.33, 11.9 to 11.16, the algorithms) are not texts that users
write; (7.2) to (7.4) stand for them.
"""

from tests.oracles.etalis_numbers import DRAWN
from tests.oracles.printed.printed_text import PrintedText

_DRAWN = {
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

_SUPPLY = """
        shipment(s1, s2).
        shipment(s2, s3).
        dlvPath(X, Y) :- shipment(X, Y).
        dlvPath(X, Y) :- shipment(X, Z), dlvPath(Z, Y).
        """

_CHAPTER_3 = [
    PrintedText(
        "delivery-path",
        "3.2, figures 3.1 and 3.6",
        _SUPPLY,
        ".ele",
        setting="path(X, Y) <- sent(X) WHERE dlvPath(X, Y).",
        events="sent(s1)@1 sent(s2)@2 sent(s3)@3",
        found={"path": [("s1", "s2", 1, 1), ("s1", "s3", 1, 1), ("s2", "s3", 2, 2)]},
    ),
    PrintedText("delivery-path-goal", "3.2.3", f"{_SUPPLY}:- dlvPath(s1, Y).", ".ele"),
    PrintedText(
        "delivery-path-to-others",
        "3.2, figure 3.2",
        """
        dlvPath(X, Y) :- shipment(X, Y), X \\= Y.
        dlvPath(X, Y) :- shipment(X, Z), dlvPath(Z, Y), X \\= Z.
        """,
        ".ele",
        setting="shipment(s1, s2). shipment(s2, s3). shipment(s3, s3). path(X, Y) <- sent(X) WHERE dlvPath(X, Y).",
        events="sent(s1)@1 sent(s3)@3",
        found={"path": [("s1", "s2", 1, 1), ("s1", "s3", 1, 1)]},
    ),
]

_CHAPTER_5 = [
    PrintedText(
        "ce1-ce2",
        "5.7",
        """
        ce1(Result) <- e(Name, Result) SEQ e(Name, Result) WHERE (Name = 'a', Result = 1).
        ce2(Result) <- ce1(Result) AND ce1(Result) WHERE (Result = 1).
        """,
        ".ele",
        events="e(a,1)@1 e(b,1)@2 e(a,2)@3 e(a,1)@4",
        found={"ce1": [(1, 1, 4)], "ce2": [(1, 1, 4)]},
    )
]

_CHAPTER_6 = [
    PrintedText(
        "figure-6.2",
        "6.2, figure 6.2",
        "\n".join(f"{name.lower()} <- {pattern}." for name, pattern in _DRAWN.items()),
        ".ele",
        setting="".join(f":- stream({name}, interval). " for name in ("p1", "p2", "p3")),
        events="p1[0,2] p1[3,5] p1[6,10] p2[1,3] p2[4,10] p3[3,4] p3[6,10]",
        found={name.lower(): DRAWN[name] for name in _DRAWN},
    ),
    PrintedText(
        "wind-speed-increase",
        "6.4",
        "windSpeedIncrease(Loc, WSpd2) <- wind(Loc, WSpd1) SEQ wind(Loc, WSpd2) WHERE WSpd2 > WSpd1 * 1.1.",
        ".ele",
        events="wind(k,10)@1 wind(k,11)@2 wind(k,11.5)@3",
        found={"windSpeedIncrease": [("k", 11.5, 1, 3)]},
    ),
    PrintedText(
        "active-fire",
        "6.4",
        "activeFire(Loc) <- NOT(fireLocalized(Loc))[fireReported(Loc), fireLocalized(Loc)].",
        ".ele",
        events="fireReported(l)@1 fireLocalized(l)@4 fireLocalized(l)@9",
        found={"activeFire": [("l", 1, 4)]},
    ),
    PrintedText(
        "fire-alarm",
        "6.4",
        "fireAlarm(Loc) <- NOT(fireLocalized(Loc, WSpd)).[fireReported(Loc), windSpeedIncrease(Loc, WSpd)].",
        ".ele",
        events="fireReported(l)@1 windSpeedIncrease(l,12)@3 fireLocalized(l,20)@4 windSpeedIncrease(l,20)@6",
        found={"fireAlarm": [("l", 1, 3)]},
        misprint="one parenthesis too many after the last `WSpd`",
    ),
    PrintedText(
        "heat-index",
        "6.4",
        "heatIndex(Loc, index(Tmp, Hum)) <- (temperature(Loc, Tmp) AND humidity(Loc, Hum)).30min.",
        ".ele",
        setting=":- tick(1 min).",
        events="temperature(l,90)@0 humidity(l,50)@20 humidity(l,60)@40",
        found={"heatIndex": [("l", "90", "50", 0, 20)]},
        misprint="`Index` has a capital letter, which makes it a variable; the full stop is missing",
    ),
    PrintedText(
        "working-day",
        "6.4",
        """
        workingDay() <- NOT(marketCloses())[marketOpens(), marketCloses()].
        dieTogether(X, Y) <- (bankrupt(X) SEQ bankrupt(Y)) DURING workingDay().
        """,
        ".ele",
        events="marketOpens@1 bankrupt(p)@2 bankrupt(q)@4 marketCloses@6",
        found={"workingDay": [(1, 6)], "dieTogether": [("p", "q", 1, 6)]},
    ),
    PrintedText(
        "indirectly-acquires",
        "6.4",
        "indirectlyAcquires(X, Y) <- buys(Z, Y) AND buys(X, Z).",
        ".ele",
        events="buys(z,y)@1 buys(x,z)@2",
        found={"indirectlyAcquires": [("x", "y", 1, 2)]},
    ),
    PrintedText(
        "remarkable-increase",
        "6.4",
        "remarkableIncrease(X) <- (price(X, Y1) SEQ price(X, Y2)).7 WHERE Y2 > Y1 * 1.5.",
        ".ele",
        events="price(x,100)@0 price(x,160)@5 price(x,300)@9",
        found={"remarkableIncrease": [("x", 0, 5), ("x", 5, 9)]},
    ),
    PrintedText(
        "bottleneck-area",
        "6.4.1, (6.1) to (6.5)",
        """
        bottleneckArea(Area) <-
            (trafficEvent(Rd, S1, N1, W1) SEQ
             trafficEvent(Rd, S2, N2, W2)).30min
            WHERE {slowTraffic(Rd, S1), slowTraffic(Rd, S2), areaCheck(Area, N1, W1), areaCheck(Area, N2, W2)}.
        threshold(rd1, 40).
        threshold(rd2, 30).
        threshold(rd3, 50).
        slowTraffic(Rd, S) :- threshold(Rd, X), S < X.
        area(a1, 4042, 4045, 7358, 7361).
        area(a2, 4045, 4048, 7361, 7363).
        area(a3, 4048, 4051, 7363, 7365).
        areaCheck(Area, N, W) :- area(Area, X1, X2, Y1, Y2), X1 < N, N < X2, Y1 < W, W < Y2, !.
        """,
        ".ele",
        setting=":- tick(1 min).",
        events="trafficEvent(rd1,35,4043,7359)@0 trafficEvent(rd1,30,4044,7360)@20 trafficEvent(rd1,45,4044,7360)@25"
        " trafficEvent(rd1,20,4046,7362)@30 trafficEvent(rd1,20,4043,7360)@55",
        found={"bottleneckArea": [("a1", 0, 20)]},
        misprint="the comma before `!` is missing",
    ),
]

_SKETCHED_WINDOW = """
        window(WndwSize, OldCntr, CurrSum, NewSum) :-
            OldCntr + 1 >= WindowSize -> retract(LastItem), NewSum = CurrSum - LastItem ; NewSum = CurrSum - LastItem.
        """

_CHAPTER_7 = [
    PrintedText(
        "sequence",
        "7.2.1, (7.1), and (7.27), (13.1)",
        "e <- a SEQ b SEQ c.",
        ".ele",
        events="a@1 a@2 a@3 b@4 b@5 c@6",
        found={"e": [(1, 6), (2, 6), (3, 6)]},
    ),
    PrintedText(
        "compiled-sequence",
        "7.2.1, (7.2) to (7.4)",
        """
        a(T1, T2) :- for_each(a, 1, [T1, T2]).
        a(1, T1, T2) :- assert(goal(b(_, _), a(T1, T2), ie(_, _))).
        b(T3, T4) :- for_each(b, 1, [T3, T4]).
        b(1, T3, T4) :- goal(b(T3, T4), a(T1, T2), ie), T2 < T3,
            retract(goal(b(T3, T4), a(T1, T2), ie(_, _))), ie(T1, T4).
        """,
        ".ele",
    ),
    PrintedText(
        "static-condition",
        "7.2.1, (7.6)",
        "e <- a SEQ b WHERE q.",
        ".ele",
        setting="q.",
        events="a@1 b@2",
        found={"e": [(1, 2)]},
    ),
    PrintedText(
        "alternative", "7.2.4, (7.12)", "e <- a OR b.", ".ele", events="a@1 b@2", found={"e": [(1, 1), (2, 2)]}
    ),
    PrintedText(
        "disjuncts", "7.2.4, (7.13)", "e <- a. e <- b.", ".ele", events="a@1 b@2", found={"e": [(1, 1), (2, 2)]}
    ),
    PrintedText(
        "shared-input",
        "7.2.2, (7.11)",
        "c <- a SEQ b. d <- b SEQ c. e <- b AND c.",
        ".ele",
        events="a@1 b@2",
        found={"c": [(1, 2)], "d": [], "e": [(1, 2)]},
    ),
    PrintedText(
        "kleene-plus",
        "7.3.1",
        "x <- a SEQ b+ SEQ c. y <- a SEQ b* SEQ c.",
        ".ele",
        events="a@1 c@2 b@3 b@4 c@5",
        found={"x": [(1, 5)], "y": [(1, 2), (1, 5)]},
    ),
    PrintedText(
        "pure-sequence",
        "7.3.1, footnote 11",
        "x <- (a SEQ b SEQ c) EQUALS NOT(a OR c).[a, c].",
        ".ele",
        events="a@1 b@2 b@3 c@4 a@5 c@6 b@7 c@8",
        found={"x": [(1, 4)]},
    ),
    PrintedText(
        "new-maximum",
        "7.3.1, (7.20)",
        """
        tempIncrease(T) <- temp(T).
        tempIncrease(T2) <- tempIncrease(T1) SEQ temp(T2) WHERE T2 > T1.
        tempAlarm(T) <- tempIncrease(T) WHERE T > 100.
        """,
        ".ele",
        events="temp(70)@1 temp(65)@2 temp(90)@3 temp(101)@4",
        found={
            "tempIncrease": [
                (70, 1, 1),
                (65, 2, 2),
                (90, 3, 3),
                (101, 4, 4),
                (90, 1, 3),
                (90, 2, 3),
                (101, 1, 4),
                (101, 2, 4),
                (101, 3, 4),
            ],
            "tempAlarm": [(101, 1, 4), (101, 2, 4), (101, 3, 4), (101, 4, 4)],
        },
    ),
    PrintedText(
        "iteration",
        "7.3.1",
        "iteration(a, 1) <- a. iteration(a, K + 1) <- a SEQ iteration(a, K).",
        ".ele",
        events="a@1 a@2 a@3",
        found={
            "iteration": [
                ("a", 1, 1, 1),
                ("a", 1, 2, 2),
                ("a", 1, 3, 3),
                ("a", 2, 1, 2),
                ("a", 2, 1, 3),
                ("a", 2, 2, 3),
                ("a", 3, 1, 3),
            ]
        },
        misprint="the variable `k` is a small letter",
    ),
    PrintedText(
        "length-window",
        "7.3.1",
        "iteration(a, 1) <- a. iteration(a, K + 1) <- NOT(a).[a, iteration(a, K)]. e <- iteration(a, 3).",
        ".ele",
        events="a@1 a@2 a@3 a@4",
        found={"e": [(1, 3), (2, 4)]},
        misprint="the variable `k` and the length `n` are small letters",
    ),
    PrintedText(
        "tick-shape",
        "7.3.1.1, (7.21)",
        """
        down(I, P1, P2) <- NOT(stock(I, P)).[stock(I, P1), stock(I, P2)] WHERE P1 < P2.
        down(I, P1, P3) <- NOT(stock(I, P)).[down(I, P1, P2), stock(I, P3)] WHERE P2 > P3.
        up(I, P1) <- stock(I, P1).
        up(I, P2) <- NOT(stock(I, P)).[up(I, P1), stock(I, P2)] WHERE P1 < P2.
        tickShape(I) <- down(I, P1, P2) MEETS NOT(stock(I, P)).[up(I, P3), stock(I, P4)] WHERE P3 < P1, P4 > P1.
        """,
        ".ele",
        events="stock(i,10)@1 stock(i,12)@2 stock(i,9)@3 stock(i,8)@4 stock(i,9.5)@5 stock(i,13)@6",
        found={"tickShape": [("i", 1, 6)]},
    ),
    PrintedText(
        "generic-aggregate",
        "7.3.2, (7.22) and (7.23)",
        """
        iteration(StartCntr = 0, StartVal) <- start_event(StartVal).
        iteration(OldCntr + 1, NewVal) <- iteration(OldCntr, OldVal) SEQ a(AggArg)
            WHERE {assert(AggArg), window(WndwSize, OldCntr, OldVal, AggArg, NewVal)}.
        window(WndwSize, OldCntr, OldVal, AggArg, NewVal) :-
            OldCntr + 1 >= WindowSize ->
            retract(LastItem), spec_aggregate(OldValue, AggArg, NewValue) ;
            spec_aggregate(OldValue, AggArg, NewValue).
        """,
        ".ele",
    ),
    PrintedText(
        "moving-sum",
        "7.3.2, (7.24), and (13.13)",
        f"""
        sum(StartCntr = 0, StartVal) <- start_event(StartVal).
        sum(OldCntr + 1, NewSum) <- sum(OldCntr + 1, OldSum) SEQ a(AggArg)
            WHERE {{assert(AggArg), window(WndwSize, OldCntr, OldSum + AggArg, AggArg, NewSum)}}.
        {_SKETCHED_WINDOW}
        """,
        ".ele",
    ),
    PrintedText(
        "moving-maximum",
        "7.3.2, (7.25), and (13.15)",
        """
        max(StartCntr = 0, StartVal) <- start_event(StartVal).
        max(OldCntr + 1, NewMax) <- max(OldCntr + 1, OldMax) SEQ a(AggArg)
            WHERE {assert(AggArg), window(WndwSize, OldCntr, NewMax)}.
        window(WndwSize, OldCntr, NewMax) :- OldCntr + 1 >= WindowSize -> retract(LastItem), get(NewMax) ; get(NewMax).
        """,
        ".ele",
    ),
    PrintedText(
        "moving-count",
        "7.3.2, (7.26), and (13.17)",
        """
        iteration(StartCntr = 0, StartVal) <- start_event(StartVal).
        iteration(NewCntr) <- iteration(OldCntr) SEQ a(AggArg)
            WHERE {NewCntr = getCount([T2, T1]), window(3min)}.
        """,
        ".ele",
    ),
]

TEXTS = [*_CHAPTER_3, *_CHAPTER_5, *_CHAPTER_6, *_CHAPTER_7]
