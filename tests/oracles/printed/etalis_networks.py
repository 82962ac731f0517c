"""Rules printed in the ETALIS thesis (Anicic, Karlsruhe 2011) on networks, knowledge and revision, chapters 8 to 11."""

from tests.oracles.printed.printed_text import PrintedText

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
    PrintedText(
        "composition-with-a-relation",
        "8.3.6, (8.9)",
        "c(Id) <- departure(Id) WHERE arrival(Id).",
        ".ele",
        setting=":- table(arrival(id: string), 'arrivals.csv').",
        events="departure(v)@5 departure(w)@6",
        tables={"arrival": [{"id": "v"}, {"id": "u"}]},
        found={"c": [("v", 5, 5)]},
    ),
    PrintedText(
        "composition-with-events",
        "8.3.6, (8.9)",
        "c(Id) <- departure(Id) WHERE arrival(Id).",
        ".ele",
        setting=":- stream(arrival(id: string)).",
        events="arrival(i)@1 departure(i)@2 departure(j)@3 arrival(j)@4 arrival(k)@5 departure(k)@5 departure(i)@6",
        found={"c": [("i", 2, 2), ("k", 5, 5), ("i", 6, 6)]},
    ),
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
        "garbage-collector",
        "10.3.2",
        """
        garbageCollector(SystemClock) <-
            findAll(goal(_, X([T1, T2], W), _) SEQ SystemClock > [T1 + W], goal(_, X([T1, T2]), _, L)),
            for_each(member(goal(_, X([T1, T2]), _, L)))(del(goal(_, X([T1, T2]), _)))
            and alarm(garbageCollector(SystemClock + W), W).
        """,
        ".ele",
    ),
    PrintedText(
        "slow-traffic-causes",
        "11.5, (11.8)",
        """
        rdfs:subClassOf(tr:'Accident', tr:'SlowTraffCause').
        rdfs:subClassOf(tr:'BadWeather', tr:'SlowTraffCause').
        rdfs:subClassOf(tr:'Snow', tr:'BadWeather').
        rdf:type(A, Y) :- rdfs:subClassOf(X, Y), rdf:type(A, X).
        """,
        ".ele",
        setting="rdf:type(o1, tr:'Snow'). slow(R, Y) <- slowTrafficDue(R, A) WHERE rdf:type(A, Y).",
        events="slowTrafficDue(r,o1)@1 slowTrafficDue(r,o2)@2",
        found={"slow": [("r", "tr:BadWeather", 1, 1), ("r", "tr:SlowTraffCause", 1, 1), ("r", "tr:Snow", 1, 1)]},
        misprint="the facts are printed as triples",
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

TEXTS = [*_CHAPTER_8, *_CHAPTERS_9_TO_11]
