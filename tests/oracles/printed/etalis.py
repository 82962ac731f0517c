"""Rules printed in the ETALIS thesis (Anicic, Karlsruhe 2011), by section.

Subscripts are digits (`T1`), `·` is `*`, `≤` is `=<`, `∧` is a comma. Rules that only show how the engine compiles
operators and policies (7.2 to 7.19, 7.28 to 7.33, 11.9 to 11.16, the algorithms) are not texts that users write.
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

_CHAPTER_8 = [
    PrintedText(
        "wind-reading",
        "8.1.2, (8.1)",
        "windReading(X, Y) <- sensor('wind', X, Y) WHERE {X > 10, Y =< 20}.",
        ".ele",
        events="sensor(wind,12,20)@1 sensor(wind,12,21)@2 sensor(wind,10,3)@3 sensor(temp,12,3)@4",
        found={"windReading": [(12, 20, 1, 1)]},
    ),
    PrintedText(
        "projection",
        "8.3.1, (8.2)",
        "stock(CompanyID, Price) <- stock(CompanyID, Exchange, Currency, Price, Change, PercChg).",
        ".ele",
        events="stock_6(goog,nyse,usd,515,1,0.2)@1",
        found={"stock": [("goog", "515", 1, 1)]},
    ),
    PrintedText(
        "translation",
        "8.3.2, (8.3)",
        """
        stock(CompanyID, Exchange, 'EUR', Price2, Change, PercChg) <-
            stock(CompanyID, Exchange, 'USD', Price1, Change, PercChg) WHERE Price2 is (Price1 * 1.45).
        """,
        ".ele",
        setting=":- stream(stock(id: string, exchange: string, cur: string, price: double, chg: double, pct: double)).",
        events="stock(goog,nyse,USD,100,1,2)@1 stock(goog,nyse,GBP,100,1,2)@2",
        found={"stock_derived": [("goog", "nyse", "EUR", 145, 1, 2, 1, 1)]},
    ),
    PrintedText(
        "enrichment",
        "8.3.3, (8.4)",
        "temperature(Id, X, Loc, MUnit, MPrec) <- sensor(Id, 'temp', X) WHERE sensor_info(Id, Loc, MUnit, MPrec).",
        ".ele",
        setting="sensor_info(s1, hall, celsius, 1).",
        events="sensor(s1,temp,21)@1 sensor(s1,wind,3)@2 sensor(s2,temp,5)@3",
        found={"temperature": [("s1", "21", "hall", "celsius", 1, 1, 1)]},
    ),
    PrintedText(
        "split",
        "8.3.4, (8.5)",
        """
        stock(Id, 'EUR', Price) <- stock(Id, 'USD', Price) WHERE Price2 is (Price1 * 0.73039).
        stock(Id, 'CNY', Price) <- stock(Id, 'USD', Price) WHERE Price2 is (Price1 * 6.38296).
        stock(Id, 'CHF', Price) <- stock(Id, 'USD', Price) WHERE Price2 is (Price1 * 0.89208).
        """,
        ".ele",
    ),
    PrintedText(
        "split-with-prices",
        "8.3.4, (8.5)",
        """
        stock(Id, 'EUR', Price2) <- stock(Id, 'USD', Price1) WHERE Price2 is (Price1 * 0.73039).
        stock(Id, 'CNY', Price2) <- stock(Id, 'USD', Price1) WHERE Price2 is (Price1 * 6.38296).
        stock(Id, 'CHF', Price2) <- stock(Id, 'USD', Price1) WHERE Price2 is (Price1 * 0.89208).
        """,
        ".ele",
        setting=":- stream(stock(id: string, cur: string, price: double)).",
        events="stock(goog,USD,1)@1 stock(goog,GBP,1)@2",
        found={
            "stock_derived": [
                ("goog", "EUR", 0.73039, 1, 1),
                ("goog", "CNY", 6.38296, 1, 1),
                ("goog", "CHF", 0.89208, 1, 1),
            ]
        },
        misprint="`Price` for `Price1` and `Price2`",
    ),
    PrintedText(
        "multiply",
        "8.3.4, (8.6) and (8.7)",
        """
        stock(Cid, Id, Price, Amt) <- stock(Id, Price) EVENT_MULTIPLY client(Cid, Id, Amt).
        client(kavx, goog, 3815).
        client(kblu, msft, 2995).
        client(kcqt, goog, 1815).
        """,
        ".ele",
        events="stock_2(goog,515)@1",
        found={"stock": [("kavx", "goog", "515", 3815, 1, 1), ("kcqt", "goog", "515", 1815, 1, 1)]},
        misprint="the full stops of the facts are missing",
    ),
    PrintedText(
        "composition",
        "8.3.6, (8.8)",
        "join(Id) <- arrival(Id) SEQ departure(Id).",
        ".ele",
        events="arrival(v)@1 departure(v)@5 departure(w)@6",
        found={"join": [("v", 1, 5)]},
    ),
    PrintedText("composition-with-a-relation", "8.3.6, (8.9)", "c(Id) <- departure(Id) WHERE arrival(Id).", ".ele"),
    PrintedText(
        "jet-stream-warning",
        "8.4.1, (8.10) to (8.12)",
        """
        jetStreamWarning(Loc1, Loc2) <- (cat(Loc1) AND airplane(Loc2)).5hours WHERE jetLink(Loc2, Loc1).
        jetLink(X, Y) :- linked(X, Y).
        jetLink(X, Z) :- linked(X, Y), jetLink(Y, Z).
        linked(1, 2).
        linked(2, 3).
        linked(3, 4).
        """,
        ".ele",
        setting=":- tick(1 hour).",
        events="cat(4)@0 airplane(1)@3 airplane(4)@4 cat(2)@9",
        found={"jetStreamWarning": [(4, 1, 0, 3)]},
    ),
    PrintedText(
        "heat-index-effect",
        "8.4.2, (8.13) to (8.15)",
        """
        heatIndexEffect(Note, Area) <- heatIndex(Loc, Index)
            WHERE {shadeValuesRule(Index, Note), areaRule(Loc, Area)}.
        shadeValuesRule(Index, 'Caution') :- 80 =< Index, Index < 90, !.
        shadeValuesRule(Index, 'ExtremeCaution') :- 90 =< Index, Index < 105, !.
        shadeValuesRule(Index, 'Danger') :- 105 =< Index, Index < 130, !.
        shadeValuesRule(Index, 'ExtremeDanger') :- 130 =< Index, !.
        areaRule(loc('N', X, 'W', Y), 'Area_1') :- 4042 < X, X < 4049, 7358 < Y, Y < 7370, !.
        areaRule(loc('N', X, 'W', Y), 'Area_2') :- 4034 < X, X < 4040, 7368 < Y, Y < 7399, !.
        """,
        ".ele",
        events="heatIndex(N,4045,W,7360,100)@1 heatIndex(N,4036,W,7370,130)@2 heatIndex(N,4045,W,7360,79)@3"
        " heatIndex(S,4045,W,7360,100)@4 heatIndex(N,4000,W,7360,100)@5",
        found={"heatIndexEffect": [("ExtremeCaution", "Area_1", 1, 1), ("ExtremeDanger", "Area_2", 2, 2)]},
    ),
    PrintedText(
        "enhanced-fire",
        "8.4.3, (8.16) and (8.17)",
        """
        enhancedFire(Loc) <- (activeFire(Loc) AND weatherObservation(Loc, Observ)).3hours
            WHERE (rdfs:subClassOf(Observ, 'wt:windObservation')).
        rdfs:subClassOf(wt:windObservation, wt:weatherObservation).
        rdfs:subClassOf(wt:diablo, wt:windObservation).
        rdfs:subClassOf(wt:sundowner, wt:windObservation).
        """,
        ".ele",
        setting=":- tick(1 hour).",
        events="activeFire(l)@0 weatherObservation(l,wt:diablo)@2 weatherObservation(l,wt:rain)@2"
        " weatherObservation(m,wt:diablo)@2 weatherObservation(l,wt:sundowner)@4",
        found={"enhancedFire": [("l", 0, 2)]},
        misprint="`wt:WindObservation` in the rule, `wt:windObservation` in the facts; a parenthesis is missing",
    ),
    PrintedText(
        "enhanced-fire-by-type",
        "8.4.3, (8.16) and (8.17)",
        """
        enhancedFire(Loc) <- (activeFire(Loc) AND weatherObservation(Loc, Observ)).3hours
            WHERE rdf:type(Observ, wt:windObservation).
        rdfs:subClassOf(wt:windObservation, wt:weatherObservation).
        rdfs:subClassOf(wt:diablo, wt:windObservation).
        rdfs:subClassOf(wt:sundowner, wt:windObservation).
        rdf:type(observ_1, wt:diablo).
        rdf:type(observ_2, wt:sundowner).
        rdf:type(A, Y) :- rdfs:subClassOf(X, Y), rdf:type(A, X).
        """,
        ".ele",
        setting=":- tick(1 hour).",
        events="activeFire(l)@0 weatherObservation(l,observ_1)@2 weatherObservation(l,rain)@2"
        " weatherObservation(m,observ_2)@2 weatherObservation(l,observ_2)@4",
        found={"enhancedFire": [("l", 0, 2)]},
        misprint="`a` for `A` in (8.17); the rule asks for a subclass where the prose asks for the type",
    ),
]

_CHAPTERS_9_TO_11 = [
    PrintedText(
        "buy-stocks",
        "9.2.1",
        """
        buyStocks(CID, ID, Pri, Amt1) <- availableStock(ID, Pri, Amt) SEQ trChecked(CID, ID, Pri, Amt1)
            WHERE Amt1 =< Amt.
        bigTrade(CID, ID, Amt1) <- buyStocks(CID, ID, Pri, Amt1) SEQ balanceChange(CID, Amt2, Amt3)
            WHERE (Amt2 - Amt3) > 10000.
        """,
        ".ele",
        events="availableStock(ibm,10,20000)@1 trChecked(c7,ibm,10,15000)@2 balanceChange(c7,20000,5000)@3",
        found={"buyStocks": [("c7", "ibm", "10", 15000, 1, 2)], "bigTrade": [("c7", "ibm", 15000, 1, 3)]},
    ),
    PrintedText(
        "rising-prices",
        "10.1.1, (10.1) to (10.4)",
        """
        ce1 <- (stock(Agent1, 'G', Pr1, Vol1) SEQ stock(Agent2, 'G', Pr2, Vol2))
            WHERE (Pr1 < 1.20 * Pr2, verify_company_cat("G")).
        ce2 <- (stock(Agent1, 'M', Pr1, Vol1) SEQ stock(Agent2, 'M', Pr2, Vol2))
            WHERE (Pr1 < 1.20 * Pr2, verify_company_cat("M")).
        ce3 <- ce1 AND ce2.
        verify_company_cat(C) :- transactional(C), not banned(C).
        """,
        ".ele",
        setting="transactional('G'). transactional('M'). banned('X').",
        events="stock(a1,G,125,10)@4 stock(a2,G,100,10)@2 stock(a1,M,100,10)@8 stock(a2,M,125,10)@6",
        found={"ce1": [(2, 4)], "ce2": [], "ce3": []},
    ),
    PrintedText(
        "external-action",
        "10.1.1, (10.6)",
        """
        ce3 <- ce1 AND ce2.
        ce3 :- trigger_external_action(buy_stock("G", 100)).
        """,
        ".ele",
    ),
    PrintedText(
        "late-events",
        "10.3",
        "rule1([ooo_window(10)]): e <- a SEQ b SEQ c.",
        ".ele",
        events="a@1 b@2 c@3",
        found={"e": [(1, 3)]},
        misprint="the word `rule` stands between the label and the rule",
    ),
    PrintedText(
        "filter-condition",
        "11.6.2",
        """
        condition(Price1, Price2, Price3) :-
            P1 is (Price1 * 0.7), P1 > Price2, P2 is (Price1 * 0.5), Price3 > P2.
        """,
        ".ele",
        setting="fall(X) <- price(X, A) SEQ price(X, B) SEQ price(X, C) WHERE condition(A, B, C).",
        events="price(x,100)@1 price(x,60)@2 price(x,55)@3 price(y,100)@1 price(y,70)@2 price(y,90)@3",
        found={"fall": [("x", 1, 3)]},
    ),
]

_CHAPTER_13 = [
    PrintedText(
        "selective-sequence",
        "13.1.2, (13.2)",
        "c(Id, X, Y) <- a(Id, X) seq b(Id, Y) where (Y < 50).",
        ".ele",
        events="a(i,7)@1 b(i,40)@2 b(i,60)@3",
        found={"c": [("i", "7", 40, 1, 2)]},
        misprint="the parameter `K` stands for the number",
    ),
    PrintedText("parameter", "13.1.2, (13.2)", "c(Id, X, Y) <- a(Id, X) seq b(Id, Y) where (Y < K).", ".ele"),
    PrintedText(
        "negation",
        "13.1.2, (13.3)",
        "d(Id, X, Y) <- NOT(c(Id, Z)).[a(Id, X), b(Id, Y)].",
        ".ele",
        events="a(i,1)@1 c(j,0)@2 b(i,2)@3 c(i,0)@4 b(i,3)@5",
        found={"d": [("i", "1", "2", 1, 3)]},
    ),
    PrintedText(
        "conjunction",
        "13.1.2, (13.4)",
        "d(Id, X, Y) <- a(Id, X) AND b(Id, Y) AND c(Id, Z).",
        ".ele",
        events="a(i,1)@1 c(i,0)@2 b(i,2)@3 b(j,9)@4",
        found={"d": [("i", "1", "2", 1, 3)]},
    ),
    PrintedText(
        "disjunction",
        "13.1.2, (13.5)",
        "d(Id, X, Y) <- a(Id, X) seq (b(Id, Y) or c(Id, Y)).",
        ".ele",
        events="a(i,1)@1 b(i,2)@2 c(i,3)@3",
        found={"d": [("i", "1", "2", 1, 2), ("i", "1", "3", 1, 3)]},
    ),
    PrintedText(
        "transitive-closure",
        "13.1.2, (13.6)",
        "tc(X, Y) <- a(X, Y). tc(X, Y) <- tc(X, Z) seq a(Z, Y).",
        ".ele",
        events="a(1,2)@1 a(2,3)@2 a(3,4)@3",
        found={
            "tc": [
                ("1", "2", 1, 1),
                ("2", "3", 2, 2),
                ("3", "4", 3, 3),
                ("1", "3", 1, 2),
                ("2", "4", 2, 3),
                ("1", "4", 1, 3),
            ]
        },
    ),
    PrintedText(
        "operators-with-revision",
        "13.1.4, (13.7)",
        "e1(ID) <- a(ID) SEQ b(ID). e2(ID) <- a(ID) AND b(ID). e3(ID) <- a(ID) OR b(ID).",
        ".ele",
        events="a(i)@1 b(i)@2 b(j)@3",
        found={"e1": [("i", 1, 2)], "e2": [("i", 1, 2)], "e3": [("i", 1, 1), ("i", 2, 2), ("j", 3, 3)]},
        misprint="`BIN` stands for the three operators",
    ),
    PrintedText(
        "negation-with-revision",
        "13.1.4, (13.8)",
        "e(ID) <- NOT(c(ID)).[a(ID), b(ID)].",
        ".ele",
        events="a(i)@1 c(j)@2 b(i)@3 c(i)@4 b(i)@5",
        found={"e": [("i", 1, 3)]},
        misprint="`SEQ` for the comma between the brackets",
    ),
    PrintedText(
        "parallel-with-revision",
        "13.1.4, (13.9)",
        "e(ID) <- (a(ID) seq b(ID)) par c(ID).",
        ".ele",
        events="a(i)@1 c(i)@2 b(i)@3 c(i)@4",
        found={"e": [("i", 1, 3)]},
    ),
    PrintedText(
        "chain",
        "13.1.4, (13.10)",
        "e2(ID) <- e1(ID). e3(ID) <- e2(ID). e4(ID) <- e3(ID).",
        ".ele",
        events="e1(i)@1",
        found={"e2": [("i", 1, 1)], "e3": [("i", 1, 1)], "e4": [("i", 1, 1)]},
    ),
    PrintedText(
        "window-property",
        "13.1.4, (13.11)",
        "rule1([property(window, 10)]) : e(ID) <- a(ID) SEQ b(ID).",
        ".ele",
        events="a(i)@0 b(i)@10 b(i)@11",
        found={"e": [("i", 0, 10)]},
        misprint="the parameter `X` stands for the length",
    ),
    PrintedText(
        "stock-increase",
        "13.1.4, (13.12)",
        """
        stockIncr(ID, Adj1, Adj2) <- stock(ID, Date1, Opn1, High1, Low1, Cls1, Vol1, Adj1)
            SEQ stock(ID, Date2, Opn2, High2, Low2, Cls2, Vol2, Adj2)
            WHERE (Adj1 * 1.1 < Adj2).
        """,
        ".ele",
        events="stock(ibm,d,1,1,1,1,9,100)@1 stock(ibm,e,1,1,1,1,9,110)@2 stock(ibm,f,1,1,1,1,9,122)@3",
        found={"stockIncr": [("ibm", 100, 122, 1, 3), ("ibm", 110, 122, 2, 3)]},
        misprint="the parameter `X` stands for the number",
    ),
    PrintedText(
        "trend-increase",
        "13.1.5.1",
        """
        trendIncrease() <- (stockIcr(CompanyA) SEQ stockIcr(CompanyB)).10 WHERE inSupChain(CompanyA, CompanyB).
        inSupChain(X, Y) <- linked(X, Y).
        inSupChain(X, Z) <- linked(X, Y) AND inSupChain(Y, Z).
        """,
        ".ele",
    ),
    PrintedText(
        "summed-events",
        "13.1.6.1, (13.14)",
        "a(ID, X, Y) <- b(ID, X) AND c(ID, Y).",
        ".ele",
        events="b(i,1)@1 c(i,2)@1 c(j,3)@2",
        found={"a": [("i", "1", "2", 1, 1)]},
    ),
    PrintedText(
        "maximal-events",
        "13.1.6.3, (13.16)",
        "a(ID, X, Y) <- b(ID, X) seq (c(ID, Y) or d(ID, Y)).",
        ".ele",
        events="b(i,1)@1 c(i,2)@2 d(i,3)@3 d(j,4)@4",
        found={"a": [("i", "1", "2", 1, 2), ("i", "1", "3", 1, 3)]},
    ),
    PrintedText(
        "counted-events",
        "13.1.6.4, (13.18)",
        "a(ID, X, Y) <- NOT(d(ID, Z)).[b(ID, X), c(ID, Y)].",
        ".ele",
        events="b(i,1)@1 c(i,2)@2 d(i,0)@3 c(i,3)@4",
        found={"a": [("i", "1", "2", 1, 2)]},
        misprint="the full stop is missing",
    ),
    PrintedText(
        "delivery",
        "13.1.6.5, (13.19)",
        """
        delivery(Start, Start) <- shipment(Start).
        delivery(From, To) <- delivery(From, PrevTo) seq shipment(To) WHERE inSupChain(From, To).
        inSupChain(X, Y) :- linked(X, Y).
        inSupChain(X, Z) :- linked(X, Y) AND inSupChain(Y, Z).
        linked(site3, site4).
        linked(site4, site5).
        """,
        ".ele",
        events="shipment(site3)@1 shipment(site4)@2 shipment(site5)@3 shipment(site9)@4",
        found={
            "delivery": [
                ("site3", "site3", 1, 1),
                ("site4", "site4", 2, 2),
                ("site5", "site5", 3, 3),
                ("site9", "site9", 4, 4),
                ("site3", "site4", 1, 2),
                ("site4", "site5", 2, 3),
                ("site3", "site5", 1, 3),
            ]
        },
    ),
    PrintedText(
        "blizzard-warning",
        "13.2, (13.20) and (13.21)",
        """
        blizzardSettling(T1, T1, ID, 1) <- sensor(T1, ID, Temp, Wind, WtherCond, Visib)
            WHERE (Wind > 35, WtherCond == 'snow', Visib < 0.25).
        blizzardSettling(T1, T3, ID, C + 1) <- blizzardSettling(T1, T2, ID, C) SEQ
            sensor(T3, ID, Temp, Wind, WtherCond, Visib)
            WHERE (Wind > 35, WtherCond == 'snow', Visib < 0.25).
        blizzardWarning(T1, T2, ID) <- blizzardSettling(T1, T2, ID, C) WHERE (C > 4, T2 - T1 > 180).
        """,
        ".ele",
        setting=":- stream(sensor(at: double, id: string, temp: double, wind: double, cond: string, visib: double)).",
        events=" ".join(
            f"sensor({minute},k,-3,{wind},snow,0.1)@{minute}"
            for minute, wind in zip(range(0, 240, 30), (40, 38, 20, 45, 37, 36, 41, 50), strict=True)
        ),
        found={"blizzardWarning": [(0, 210, "k", 0, 210)]},
        misprint="`3hours` for 180 minutes, as the times are plain numbers",
    ),
    PrintedText(
        "blizzard-area",
        "13.2, (13.22) and (13.23)",
        """
        areaSettling(ID, ID, Lat, Lng) <- blizzardWarning(T1, T2, ID) WHERE getLatLong(ID, Lat, Lng).
        areaSettling(ID1, ID2, Lat1, Lng1) <- areaSettling(ID1, ID0, Lat1, Lng1) SEQ blizzardWarning(T1, T2, ID2)
            WHERE (getLatLong(ID2, Lat2, Lng2), getDistance(Lat1, Lng1, Lat2, Lng2, Dist), 0 < Dist < 300).
        blizzardArea(ID1, ID2) <- (areaSettling(ID1, ID2, Lat1, Lng1)).9hours.
        """,
        ".ele",
        setting="""
        :- tick(1 hour).
        getLatLong(ksfo, 37.61896, -122.37489). getLatLong(near, 36.935, -121.789). getLatLong(far, 30, -100).
        getDistance(Lat1, Lng1, Lat2, Lng2, Dist) :- Dist = great_circle(Lat1, Lng1, Lat2, Lng2, 6378.137).
        """,
        events="blizzardWarning(0,0,ksfo)@0 blizzardWarning(0,0,near)@9 blizzardWarning(0,0,far)@9"
        " blizzardWarning(0,0,near)@10",
        found={
            "blizzardArea": [
                ("ksfo", "ksfo", 0, 0),
                ("near", "near", 9, 9),
                ("near", "near", 10, 10),
                ("far", "far", 9, 9),
                ("ksfo", "near", 0, 9),
            ]
        },
        misprint="three arguments for four in the recursion, `T1`, `T2`, `ID` unbound in the head of (13.23), no comma",
    ),
]

TEXTS = [*_CHAPTER_5, *_CHAPTER_6, *_CHAPTER_7, *_CHAPTER_8, *_CHAPTERS_9_TO_11, *_CHAPTER_13]
