"""Queries in EP-SPARQL and Esper's language printed in the ETALIS thesis (Anicic, KIT 2011)."""

from collections.abc import Mapping, Sequence

from tests.oracles.printed.printed_text import PrintedText

_EP_SPARQL = {
    "falling-and-rising": (
        "11.3, (11.1)",
        """
        SELECT ?company WHERE
        { ?company hasStockPrice ?price1 }
        SEQ { ?company hasStockPrice ?price2 }
        SEQ { ?company hasStockPrice ?price3 }
        FILTER ( ?price2 < ?price1*0.7 && ?price3 > ?price2*1.05
        && getDURATION() < "P30D"^^xsd:duration)
        """,
    ),
    "downrated-before": (
        "11.3, (11.2)",
        """
        SELECT ?company ?ratingagency WHERE
        { ?company downratedby ?ratingagency}
        OPTIONALSEQ
        { { ?company hasStockPrice ?price1 }
        SEQ { ?company hasStockPrice ?price2 }}
        FILTER ( ?price2 < ?price1 * 0.5)
        """,
    ),
    "without-acquisition": (
        "11.3, (11.3)",
        """
        SELECT ?company WHERE
        { ?company hasStockprice ?price1 }
        SEQ { { ?company hasAcquired ?othercompany }
        OPTIONALSEQ
        { ?company hasStockPrice ?price2 } }
        FILTER ( ?price2 > ?price1 * 1.5 && !BOUND(?othercompany)
        && getDURATION() < "P15D"^^xsd:duration )
        """,
    ),
    "being-downrated": (
        "11.3, (11.4)",
        """
        CONSTRUCT ?company downratedby ?ratingagency
        WHERE { ?rating1 rater ?ratingagency ;
        rated ?company ; score ?score1 }
        SEQ { ?rating2 rater ?ratingagency ;
        rated ?company ; score ?score2 }
        FILTER ( ?score2 < ?score1 )
        """,
    ),
    "counts-and-sums": (
        "11.3, (11.5)",
        """
        CONSTRUCT _:aaa :hasCount ?count . _:aaa :hasSum ?sum .
        { SELECT ?count AS ?prevcount + 1
                 ?sum AS ?prevsum + ?price
          WHERE {{ ?point :hasCount ?prevcount .
                   ?point :hasSum ?prevsum . }
                SEQ { :ACME :hasStockPrice ?price . } }
                EQUALSOPTIONAL
                {{ ?point :hasCount ?prevcount .
                   ?point :hasSum ?prevsum . }
                SEQ { :ACME :hasStockPrice ?inbetween . }
                SEQ { :ACME :hasStockPrice ?price . }}
        FILTER ( !BOUND (?inbetween) && getDURATION() < "P10D"^^xsd:duration ) }
        """,
    ),
    "average": (
        "11.3, (11.6)",
        """
        SELECT ?prevsum / ?prevcount AS ?average
        WHERE {{ :ACME :hasStockPrice ?price . }
            SEQ { ?point :hasCount ?prevcount .
                ?point :hasSum ?prevsum . }}
        EQUALSOPTIONAL
        {{ :ACME :hasStockPrice ?price . }
        SEQ { :ACME :hasStockPrice ?inbetween . }
        SEQ { ?point :hasCount ?prevcount .
        ?point :hasSum ?prevsum . }}
        FILTER ( !BOUND(?inbetween) && getDURATION() > "P10D"^^xsd:duration )
        """,
    ),
    "not-monotone": ("11.4, (11.7)", "SELECT ?x ?y WHERE ?x ?x . SEQOPTIONAL ?y ?y ?y."),
    "slow-traffic": (
        "11.5",
        """
        PREFIX tr: <http://traffic.example.org/data#>
        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
        SELECT ?road ?speed FROM <traffic.ttl> ENTAILMENT RDFS WHERE
        { ?road tr: slowTrafficDue ?observ }
        SEQ { ?road tr: slowTrafficDue ?observ }
        AND { ?observ a tr:SlowTraffCause }
        AND { ?observ tr: speed ?speed }
        FILTER ( getDURATION() < "P1H"^^xsd:duration)
        """,
    ),
}

_ESPER = PrintedText(
    "ce1-ce2-in-esper",
    "5.7",
    """
    insert into tmpE(ceName, Result)
    select 'ce1' as ceName, el.Result as Result
    from pattern [every (
            e1=e(e1.Name='a' and e1.Result=1) ->
            e2=e(e2.Name='a' and e2.Result=1) )]
    """,
    ".ink",
)

_XSD = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
_SETTING = f"""
STREAM triple(s TERM, p TERM, o TERM, t BIGINT) TIME t TICK 1 DAYS;
BASE <http://example.org/>
PREFIX : <http://example.org/>
{_XSD}
"""
_ROADS = "STREAM triple(s TERM, p TERM, o TERM, t BIGINT) TIME t TICK 1 MINUTES;"
_TRAFFIC = "http://traffic.example.org/data#"


def _integer(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def _term(text: str, base: str) -> str:
    return _integer(int(text)) if text.isdigit() else f"<{base}{text}>"


def _triples(text: str, base: str = "http://example.org/") -> list[dict[str, object]]:
    """Rows from `acme price 100 @2; …`."""
    rows = [one.split() for one in text.split(";")]
    return [
        {column: _term(term, base) for column, term in zip("spo", row, strict=False)} | {"t": int(row[3][1:])}
        for row in rows
    ]


def _iri(name: str) -> str:
    return f"<http://example.org/{name}>"


_NO_BASE = "printed without BASE and PREFIX, which the setting adds"
_ONTOLOGY = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_KINDS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_BACKGROUND = [
    {"s": f"<{_TRAFFIC}{subject}>", "p": f"<{predicate}>", "o": object}
    for subject, predicate, object in (
        ("BadWeather", _ONTOLOGY, f"<{_TRAFFIC}SlowTraffCause>"),
        ("Snow", _ONTOLOGY, f"<{_TRAFFIC}BadWeather>"),
        ("Observ_3", _KINDS, f"<{_TRAFFIC}Snow>"),
        ("Observ_3", f"{_TRAFFIC}speed", _integer(40)),
        ("Observ_4", f"{_TRAFFIC}speed", _integer(30)),
    )
]

_ANSWERS: Mapping[str, tuple[list[dict[str, object]], Mapping[str, Sequence[tuple[object, ...]]], str]] = {
    "falling-and-rising": (
        _triples("c1 hasStockPrice 100 @0; c1 hasStockPrice 60 @10; c1 hasStockPrice 64 @20"),
        {"query1": [(_iri("c1"), 0, 20)]},
        _NO_BASE,
    ),
    "downrated-before": (
        _triples(
            "acme downratedby mdy @1; acme hasStockPrice 100 @2; acme hasStockPrice 40 @5; "
            "foo hasStockPrice 10 @3; foo hasStockPrice 4 @6"
        ),
        {"query1": [(_iri("acme"), _iri("mdy"), 1, 5), (_iri("foo"), None, 3, 6)]},
        _NO_BASE,
    ),
    "without-acquisition": (
        _triples(
            "c1 hasStockprice 10 @1; c1 hasStockPrice 16 @5; "
            "c2 hasStockprice 10 @1; c2 hasAcquired z @3; c2 hasStockPrice 16 @5"
        ),
        {"query1": [(_iri("c1"), 1, 5)]},
        _NO_BASE,
    ),
    "being-downrated": (
        _triples("g1 rater mdy @1; g1 rated acme @1; g1 score 7 @1; g2 rater mdy @4; g2 rated acme @4; g2 score 5 @4"),
        {"query1": [(_iri("acme"), _iri("downratedby"), _iri("mdy"), 1, 4)]},
        _NO_BASE,
    ),
    # the price at 3 continues the count of the one at 2, not that at 1; the one at 15 comes too late
    "counts-and-sums": (
        _triples(
            "start hasCount 0 @1; start hasSum 0 @1; ACME hasStockPrice 10 @2; ACME hasStockPrice 20 @3; "
            "ACME hasStockPrice 30 @15"
        ),
        {
            "query1": [
                (_iri("hasCount"), _integer(1), 1, 2),
                (_iri("hasSum"), _integer(10), 1, 2),
                (_iri("hasCount"), _integer(2), 1, 3),
                (_iri("hasSum"), _integer(30), 1, 3),
            ]
        },
        _NO_BASE,
    ),
    # the price at 1 has another one before the point
    "average": (
        _triples("ACME hasStockPrice 10 @1; ACME hasStockPrice 20 @3; x hasCount 2 @15; x hasSum 30 @15"),
        {"query1": [('"15"^^<http://www.w3.org/2001/XMLSchema#decimal>', 3, 15)]},
        f"{_NO_BASE}; printed `?sum / ?count`, but the pattern binds ?prevsum and ?prevcount",
    ),
    "slow-traffic": (
        _triples(
            "A8 slowTrafficDue Observ_3 @0; A8 slowTrafficDue Observ_3 @30; A3 slowTrafficDue Observ_4 @0; "
            "A3 slowTrafficDue Observ_4 @10",
            _TRAFFIC,
        ),
        {"query1": [(f"<{_TRAFFIC}A8>", _integer(40), 0, 30)]},
        "printed `rdfs:subClassOf`, but observations are instances of classes; printed without the file of background"
        " triples",
    ),
}


def _text(id: str, place: str, text: str) -> PrintedText:
    if id not in _ANSWERS:
        return PrintedText(id, place, text, ".epsparql")
    rows, found, misprint = _ANSWERS[id]
    is_traffic = id == "slow-traffic"
    has_blank = id == "counts-and-sums"
    return PrintedText(
        id,
        place,
        text,
        ".epsparql",
        setting=_ROADS if is_traffic else _SETTING,
        rows={"triple": rows},
        tables={"background": _BACKGROUND} if is_traffic else {},
        found=found,
        columns=("p", "o", "start", "end") if has_blank else (),
        by_definition=not has_blank,  # the names of blank nodes are any
        misprint=misprint,
    )


TEXTS = [_ESPER, *(_text(id, place, text) for id, (place, text) in _EP_SPARQL.items())]
