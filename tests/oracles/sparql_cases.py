"""Worked examples of EP-SPARQL, by their numbers: from the ETALIS thesis (Anicic, KIT 2011), from ETALIS, or by hand.

In (11.1) and in the traffic query a slip is corrected, as its comment says; (11.3) and OPTIONAL are read as defined.
"""

from tests.oracles.sparql_case import MINUTES, QueryCase

_RATED = """
CONSTRUCT ?company downratedby ?ratingagency
WHERE { ?rating1 rater ?ratingagency ; rated ?company ; score ?score1 }
SEQ { ?rating2 rater ?ratingagency ; rated ?company ; score ?score2 }
FILTER ( ?score2 < ?score1 )
"""
_RATINGS = (
    "g1 rater mdy@1 g1 rated acme@1 g1 score 7@1 g2 rater mdy@4 g2 rated acme@4 g2 score 5@4 "
    "g3 rater sp@5 g3 rated acme@5 g3 score 6@5"
)
_DROPPED = """
SELECT ?company ?ratingagency WHERE
{ ?company downratedby ?ratingagency}
OPTIONALSEQ
{ { ?company hasStockPrice ?price1 }
SEQ { ?company hasStockPrice ?price2 }}
FILTER ( ?price2 < ?price1 * 0.5)
"""
_OPTIONAL = "SELECT ?a ?b ?c WHERE { ?a p ?b } OPTIONAL { ?a q ?c }"
_POINTS = "x p 1@5 x q 2@5 y p 3@5"
_INTERVALS = "x p 1[2,5] x q 2[2,5] x q 3[2,6]"
_SPEEDS = "A speed 50@1 B speed 70@2 C speed 90@3"
_LIMITS = {"background": "A cap 40; A lies north; B cap 80; C lies south"}

CASES = (
    QueryCase(
        "S01",
        # printed `?price3 > ?price2*1.05`; the text compares with the first price
        """
        SELECT ?company WHERE
        { ?company hasStockPrice ?price1 }
        SEQ { ?company hasStockPrice ?price2 }
        SEQ { ?company hasStockPrice ?price3 }
        FILTER ( ?price2 < ?price1*0.7 && ?price3 > ?price1*1.05
        && getDURATION() < "P30D"^^xsd:duration)
        """,
        "c1 hasStockPrice 100@0 c1 hasStockPrice 60@10 c1 hasStockPrice 110@20 "
        "c2 hasStockPrice 100@0 c2 hasStockPrice 60@10 c2 hasStockPrice 110@40 "
        "c3 hasStockPrice 100@0 c3 hasStockPrice 80@5 c3 hasStockPrice 110@9",
        {"query1": "c1 [0,20]"},
    ),
    QueryCase(
        "S02",
        _DROPPED,
        "acme downratedby mdy@1 acme hasStockPrice 100@2 acme hasStockPrice 40@5 foo hasStockPrice 10@3 "
        "foo hasStockPrice 4@6 bar hasStockPrice 10@7 bar downratedby sp@8 bar hasStockPrice 4@9",
        {"query1": "acme mdy [1,5]; foo - [3,6]; bar - [7,9]"},
    ),
    QueryCase(
        "S03",
        # printed `hasStockprice` in the first triple
        """
        SELECT ?company WHERE
        { ?company hasStockPrice ?price1 }
        SEQ { { ?company hasAcquired ?othercompany }
        OPTIONALSEQ
        { ?company hasStockPrice ?price2 } }
        FILTER ( ?price2 > ?price1 * 1.5 && !BOUND(?othercompany)
        && getDURATION() < "P15D"^^xsd:duration )
        """,
        "c1 hasStockPrice 10@1 c1 hasStockPrice 16@5 c2 hasStockPrice 10@1 c2 hasAcquired z@3 c2 hasStockPrice 16@5 "
        "c3 hasAcquired z@0 c3 hasStockPrice 10@1 c3 hasStockPrice 16@5",
        {"query1": "c1 [1,5]"},
    ),
    QueryCase("S04", _RATED, _RATINGS, {"query1": "acme downratedby mdy [1,4]"}),
    QueryCase(
        "S05",
        _RATED + _DROPPED,
        _RATINGS + " acme hasStockPrice 100@6 acme hasStockPrice 40@9",
        {"query1": "acme downratedby mdy [1,4]", "query2": "acme mdy [1,9]"},
    ),
    QueryCase("S06", _OPTIONAL, _POINTS, {"query1": "x 1 2 [5,5]; y 3 - [5,5]"}),
    # the strict reading of (S06), in which the optional part ends before the row
    QueryCase(
        "S07",
        "SELECT ?a ?b ?c WHERE { ?a q ?c } OPTIONALSEQ { ?a p ?b }",
        _POINTS,
        {"query1": "x 1 - [5,5]; y 3 - [5,5]"},
    ),
    QueryCase(
        "optional-part-later", _OPTIONAL, _POINTS.replace("q 2@5", "q 2@6"), {"query1": "x 1 - [5,5]; y 3 - [5,5]"}
    ),
    QueryCase("S08", "SELECT * WHERE { ?a p ?b } EQUALS { ?a q ?c }", _INTERVALS, {"query1": "x 1 2 [2,5]"}),
    QueryCase(
        "S09",
        "SELECT * WHERE { ?a p ?b } EQUALSOPTIONAL { ?a q ?c }",
        _INTERVALS + " y p 9@1",
        {"query1": "x 1 2 [2,5]; y 9 - [1,1]"},
    ),
    QueryCase("S10", "SELECT ?a ?b ?c WHERE { ?a p ?b ; q ?c }", "x p 1@2 x q 2@7", {"query1": "x 1 2 [2,7]"}),
    QueryCase(
        "simultaneous-triples-do-not-follow",
        "SELECT ?a WHERE { ?a p ?b } SEQ { ?a q ?c }",
        "x p 1@2 x q 2@2 y p 1@2 y q 2@3",
        {"query1": "y [2,3]"},
    ),
    QueryCase(
        "S12",
        "SELECT ?c WHERE { ?c price ?p1 } SEQ { ?c price ?p2 } FILTER (?p1 < ?p2)",
        "company1 price 1@1 company1 price 2@2",
        {"query1": "company1 [1,2]"},
    ),
    QueryCase(
        "S13",
        # printed `rdfs:subClassOf`, but observations are instances of classes
        """
        SELECT ?road ?speed FROM <traffic.ttl> ENTAILMENT RDFS WHERE
        { ?road slowTrafficDue ?observ }
        SEQ { ?road slowTrafficDue ?observ }
        AND { ?observ rdf: type SlowTraffCause }
        AND { ?observ speed ?speed }
        FILTER ( getDURATION() < "P1H"^^xsd:duration)
        """,
        "A8 slowTrafficDue Obs_3@0 A8 slowTrafficDue Obs_3@30 A5 slowTrafficDue Obs_1@0 A5 slowTrafficDue Obs_1@70 "
        "A3 slowTrafficDue Obs_4@0 A3 slowTrafficDue Obs_4@10",
        {"query1": "A8 40 [0,30]"},
        {
            "background": "Accident rdfs:subClassOf SlowTraffCause; GhostDriver rdfs:subClassOf SlowTraffCause; "
            "BadWeather rdfs:subClassOf SlowTraffCause; Rain rdfs:subClassOf BadWeather; "
            "Snow rdfs:subClassOf BadWeather; Obs_1 a Accident; Obs_1 speed 70; Obs_2 a GhostDriver; Obs_2 speed 50; "
            "Obs_3 a Snow; Obs_3 speed 40; Obs_4 speed 30"
        },
        MINUTES,
    ),
    QueryCase(
        "S14",
        """
        CONSTRUCT { ?c level ?next } WHERE { SELECT ?c (?n + 1 AS ?next) WHERE { ?c level ?n FILTER (?n < 4) } };
        SELECT ?c ?n WHERE { ?c level ?n }
        """,
        "company1 level 1@1",
        {
            "query1": "company1 level 2 [1,1]; company1 level 3 [1,1]; company1 level 4 [1,1]",
            "query2": "company1 1 [1,1]; company1 2 [1,1]; company1 3 [1,1]; company1 4 [1,1]",
        },
    ),
    # groups of background triples, which have no time
    QueryCase(
        "optional-background",
        """
        SELECT ?r ?v ?l FROM <kb.ttl> WHERE
        { ?r speed ?v } OPTIONAL { GRAPH <kb.ttl> { ?r cap ?l } FILTER (?v > ?l) }
        """,
        _SPEEDS,
        {"query1": "A 50 40 [1,1]; B 70 - [2,2]; C 90 - [3,3]"},
        _LIMITS,
    ),
    QueryCase(
        "optional-part-of-the-background",
        "SELECT ?r ?d ?l FROM <kb.ttl> WHERE { ?r speed ?v } AND { { ?r lies ?d } OPTIONAL { ?r cap ?l } }",
        _SPEEDS,
        {"query1": "A north 40 [1,1]; C south - [3,3]"},
        _LIMITS,
    ),
    QueryCase(
        "union-of-the-background",
        "SELECT ?r ?x FROM <kb.ttl> WHERE { ?r speed ?v } AND { { ?r cap ?x } UNION { ?r lies ?x } }",
        _SPEEDS,
        {"query1": "A 40 [1,1]; A north [1,1]; B 80 [2,2]; C south [3,3]"},
        _LIMITS,
    ),
    QueryCase(
        "union-of-the-background-with-other-variables",
        "SELECT ?r ?x ?y FROM <kb.ttl> WHERE { ?r speed ?v } AND { { ?r cap ?x } UNION { ?r lies ?y } }",
        _SPEEDS,
        {"query1": "A 40 - [1,1]; A - north [1,1]; B 80 - [2,2]; C - south [3,3]"},
        _LIMITS,
    ),
    QueryCase(
        "absence-in-the-background",
        """
        SELECT ?r FROM <kb.ttl> WHERE
        { ?r speed ?v } AND { { ?r lies ?d } OPTIONAL { ?r cap ?l } FILTER (!BOUND(?l)) }
        """,
        _SPEEDS,
        {"query1": "C [3,3]"},
        _LIMITS,
    ),
    QueryCase(
        "values-computed-in-the-background",
        """
        SELECT ?r ?top FROM <kb.ttl> WHERE
        { ?r speed ?v } AND { SELECT ?r (?l + 5 AS ?top) WHERE { ?r cap ?l } } FILTER (?v > ?top)
        """,
        _SPEEDS,
        {"query1": "A 45 [1,1]"},
        _LIMITS,
    ),
    QueryCase(
        "unbound-before-the-background",
        # an unbound variable agrees with any value, as in SPARQL
        """
        SELECT ?r ?s ?k FROM <kb.ttl> WHERE
        { ?r speed ?v } OPTIONAL { ?r sensor ?s } OPTIONAL { GRAPH <kb.ttl> { ?s kind ?k } }
        """,
        "A speed 50@1 A sensor x@1 B speed 70@2 C speed 90@3 C sensor z@3",
        {"query1": "A x radar [1,1]; B x radar [2,2]; B y loop [2,2]; C z - [3,3]"},
        {"background": "x kind radar; y kind loop"},
    ),
    QueryCase(
        "numbers-of-the-background-are-compared-by-value",
        "SELECT ?r FROM <kb.ttl> WHERE { ?r speed ?v } AND { ?r cap ?l } FILTER (?l = ?v)",
        "A speed 40@1 B speed 40@2",
        {"query1": "A [1,1]"},
        {"background": "A cap 40.0; B cap 40.5"},
    ),
    QueryCase(
        "constructed-triples-of-a-property-above",
        """
        CONSTRUCT { ?a near ?c } FROM <kb.ttl> ENTAILMENT RDFS WHERE { ?a near ?b . ?b near ?c };
        SELECT ?a ?c FROM <kb.ttl> ENTAILMENT RDFS WHERE { ?a near ?c }
        """,
        "x road y@1 y road z@2",
        {"query1": "x near z [1,2]", "query2": "x y [1,1]; y z [2,2]; x z [1,2]"},
        {"background": "road rdfs:subPropertyOf near"},
    ),
)
