"""Rules printed in the ETALIS thesis (Anicic, Karlsruhe 2011) in its evaluation, chapter 13 and appendix."""

import math

from tests.oracles.printed.printed_text import PrintedText

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
        events="""
        linked(a,b)@1 linked(b,c)@2 stockIcr(a)@20 stockIcr(c)@25 stockIcr(b)@30 stockIcr(d)@31
        linked(b,d)@32 stockIcr(d)@35 stockIcr(c)@36
        """,
        found={
            "inSupChain": [("a", "b", 1, 1), ("b", "c", 2, 2), ("a", "c", 1, 2), ("b", "d", 32, 32), ("a", "d", 1, 32)],
            "trendIncrease": [(20, 25), (20, 30), (30, 35), (30, 36)],
        },
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

_APPENDIX = [
    PrintedText(
        "distance",
        "A.2",
        """
        getDistance(Lat1,Long1,Lat2,Long2,Distance) :-
           ER is 6378.137,
           getRad(Lat1, RadLat1),
           getRad(Long1, RadLong1),
           getRad(Lat2,RadLat2),
           getRad(Long2,RadLong2),
           A is RadLat1 - RadLat2,
           B is RadLong1 - RadLong2,
           TempA1 is A / 2,
           TempB1 is B / 2,
           SinA is sin(TempA1),
           SinB is sin(TempB1),
           TempA2 is SinA ** 2,
           TempB2 is SinB ** 2,
           CosA is cos(RadLat1),
           CosB is cos(RadLat2),
           Temp1 is CosA * CosB,
           Temp2 is Temp1 * TempB2,
           Temp3 is TempA2 + Temp2,
           Sqrt is sqrt(Temp3),
           Asin is asin(Sqrt),
           S is Asin * 2,
           Distance is S * ER.
        getRad(Deg,Rad) :-
           Temp1 is Deg * pi,
           Rad is Temp1 / 180.
        """,
        ".ele",
        setting="length(D) <- way(A, B, C, E) WHERE getDistance(A, B, C, E, D).",
        events="way(7,50,7,50)@1 way(0,0,0,180)@2 way(90,0,-90,0)@3",
        found={"length": [(0, 1, 1), (math.pi * 6378.137, 2, 2), (math.pi * 6378.137, 3, 3)]},
    )
]

TEXTS = [*_CHAPTER_13, *_APPENDIX]
