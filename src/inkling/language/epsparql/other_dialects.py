"""What SPARQL 1.1 and SQL have and EP-SPARQL does not, each with what to write instead."""

from collections.abc import Mapping
from types import MappingProxyType

_ABSENCE = "match it optionally and test that it is unbound: `OPTIONAL { … ?x … } FILTER (!BOUND(?x))`"
_GROUPS = "aggregate over a window in a program: `WINDOW triple w LAST 10 MINUTES RETURN AVG(w.x) AS mean`"

BAD_CLAUSES: Mapping[str, str] = MappingProxyType(
    {
        "ASK": "write `SELECT *`: the question is answered by each result",
        "DESCRIBE": "write `CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }`",
        "GROUP": _GROUPS,
        "GROUP BY": _GROUPS,
        "HAVING": _GROUPS,
        "ORDER": "leave it out: results come in the order of their times",
        "ORDER BY": "leave it out: results come in the order of their times",
        "LIMIT": "leave it out: a stream has no last result",
        "OFFSET": "leave it out: a stream has no last result",
        "MINUS": _ABSENCE,
        "EXISTS": "write the pattern as a group of its own: `{ … } { … }`",
        "NOT": _ABSENCE,
        "NOT EXISTS": _ABSENCE,
        "BIND": "compute it in a sub-select: `{ SELECT ?x ?x + 1 AS ?next WHERE { … } }`",
        "VALUES": "join groups with UNION, or test the values: `FILTER (?x = 1 || ?x = 2)`",
        "IN": "write `?x = 1 || ?x = 2`",
        "NOT IN": "write `?x != 1 && ?x != 2`",
        "SEQOPTIONAL": "put the optional part first: `{ … } OPTIONALSEQ { … }`",
        "SERVICE": "load the triples into a file and name it: `FROM <roads.ttl>`",
        "INSERT": "write `CONSTRUCT { … } WHERE { … }`: its triples are added to the stream",
        "DELETE": "withdraw events: declare the stream with `OP`",
    }
)

_FUNCTIONS_OF_PROGRAMS = "compute it in a program, which `inkling fmt --to ink` makes of the query"

_FUNCTIONS = MappingProxyType(
    {
        **dict.fromkeys(("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"), _GROUPS),
        "AGGREGATE": _GROUPS,
        **dict.fromkeys(("CONTAINS", "STRSTARTS", "STRENDS"), 'write `REGEX(STR(?x), "…")`'),
        **dict.fromkeys(
            (
                "STRLEN",
                "SUBSTR",
                "UCASE",
                "LCASE",
                "STRBEFORE",
                "STRAFTER",
                "CONCAT",
                "ENCODE_FOR_URI",
                "REPLACE",
                "ABS",
                "ROUND",
                "CEIL",
                "FLOOR",
                "RAND",
                "YEAR",
                "MONTH",
                "DAY",
                "HOURS",
                "MINUTES",
                "SECONDS",
                "TIMEZONE",
                "TZ",
                "MD5",
                "SHA1",
                "SHA256",
                "SHA384",
                "SHA512",
                "STRDT",
                "STRLANG",
                "IRI",
                "URI",
                "BNODE",
                "UUID",
                "STRUUID",
            ),
            _FUNCTIONS_OF_PROGRAMS,
        ),
        "EXISTS": BAD_CLAUSES["EXISTS"],
        "NOW": "write `getENDTIME()`: the time at which the pattern is complete",
    }
)


def other_dialect(function: str) -> str | None:
    """What to write instead of a function of SPARQL 1.1; None if it is none."""
    return _FUNCTIONS.get(function)
