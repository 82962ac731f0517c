"""Queries in EP-SPARQL and Esper's language printed in the ETALIS thesis (Anicic, KIT 2011): none is a program."""

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
        SELECT ?sum / ?count AS ?average
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
        SELECT ?road ?speed WHERE
        { ?road tr: slowTrafficDue ?observ }
        SEQ { ?road tr: slowTrafficDue ?observ }
        AND { ?observ rdfs: subClassOf tr:SlowTraffCause }
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

TEXTS = [_ESPER, *(PrintedText(id, place, text, ".ink") for id, (place, text) in _EP_SPARQL.items())]
