"""Messages for values, windows and calls that people know from SQL, Python and Flink, with what to write instead."""

import re

from inkling.errors import Diagnostic
from inkling.language.kit.scanning import RawToken
from inkling.language.parser.foreign import text_of
from inkling.language.parser.site import CLAUSES, Site, expectation, found


def sql_expression(site: Site) -> Diagnostic | None:
    """`CAST(x AS INT)` and `CASE WHEN … THEN … END`."""
    token = site.token
    if token is None:
        return None
    if token.upper == "AS" and site.open_brackets:
        at = site.raw.index(site.open_brackets[-1])
        if at and site.raw[at - 1].upper in ("CAST", "TRY_CAST"):
            return site.diagnostic(
                "INK0101",
                f"{found(site.raw[at - 1])} is not supported",
                site.raw[at - 1].span,
                notes=["a column has the type of its declaration; `/` gives DOUBLE, `floor` and `ceil` whole numbers"],
                helps=["declare the column with the type that is needed"],
            )
    if token.upper == "WHEN" and site.before.upper == "CASE":
        return site.diagnostic(
            "INK0101", "`CASE` is not supported", site.before.span, helps=[f"write `{_choice(site)}`"]
        )
    if token.upper in ("LIKE", "ILIKE", "RLIKE", "REGEXP"):
        return _like(site, token)
    return None


def _choice(site: Site) -> str:
    """`CASE WHEN c THEN x ELSE y END` as a call of `if`."""
    at = {}
    for idx in range(site.idx, len(site.raw)):
        word = site.raw[idx].upper
        if word in ("WHEN", "THEN", "ELSE", "END"):
            if word in at:
                break
            at[word] = idx
    if not {"WHEN", "THEN", "END"} <= at.keys():
        return "if(condition, x, y)"
    parts = [site.raw[at["WHEN"] + 1 : at["THEN"]], site.raw[at["THEN"] + 1 : at.get("ELSE", at["END"])]]
    other = text_of(site.source, site.raw[at["ELSE"] + 1 : at["END"]]) if "ELSE" in at else "NULL"
    return f"if({', '.join(text_of(site.source, part) for part in parts)}, {other})"


def _like(site: Site, token: RawToken) -> Diagnostic:
    """`x LIKE 'b%'` as a call of `regex`."""
    start = site.idx - 1
    while start >= 2 and site.raw[start - 1].is_symbol("."):
        start -= 2
    column = text_of(site.source, site.raw[start : site.idx])
    pattern = site.raw[site.idx + 1] if site.idx + 1 < len(site.raw) else None
    helps = ["write `regex(column, 'pattern')`"]
    if pattern is not None and pattern.kind == "STRING":
        text = pattern.value.replace("'", "''")
        if token.upper in ("LIKE", "ILIKE"):
            text = f"^{re.escape(text).replace('%', '.*').replace('_', '.')}$".removesuffix(".*$")
        flags = ", 'i'" if token.upper == "ILIKE" else ""
        helps = [f"write `regex({column}, '{text}'{flags})`"]
    return site.diagnostic(
        "INK0101", f"`{token.upper}` is not an operator", notes=["`regex` tests a text"], helps=helps
    )


def constant_time(text: str) -> str:
    """A call that gives a constant point in time.

    >>> constant_time("2026-01-01")
    "`moment(typed('2026-01-01T00:00:00Z', 'http://www.w3.org/2001/XMLSchema#dateTime'))`"
    """
    day, _, rest = text.strip().replace(" ", "T").partition("T")
    clock = rest or "00:00:00"
    zone = "" if re.search(r"(?:Z|[+-]\d\d:?\d\d)$", clock, re.IGNORECASE) else "Z"
    return f"`moment(typed('{day}T{clock}{zone}', 'http://www.w3.org/2001/XMLSchema#dateTime'))`"


def constant_time_literal(site: Site) -> Diagnostic | None:
    """`TIMESTAMP '2026-01-01 00:00:00'` and `DATE '2026-01-01'`."""
    token, word = site.token, site.before
    if token is None or token.kind != "STRING" or word.upper not in ("DATE", "TIMESTAMP", "DATETIME"):
        return None
    return site.diagnostic(
        "INK0101",
        f"`{word.text} {token.text}` is not a value",
        word.span.to(token.span),
        notes=["a constant time is a literal of RDF that `moment` reads"],
        helps=[f"write {constant_time(token.value)}"],
    )


def none_of_python(site: Site) -> Diagnostic | None:
    """`x is None`."""
    token = site.token
    if token is None or site.before.upper not in ("IS", "NOT") or token.upper not in ("NONE", "NIL", "UNDEFINED"):
        return None
    return site.diagnostic(
        "INK0101", f"expected `NULL`, found {found(token)}", helps=["write `NULL`, as in `x IS NULL`"]
    )


def window_without_unit(site: Site) -> Diagnostic | None:
    """`WITHIN 10`."""
    number = site.before
    if site.idx < 2 or not number.text.isdecimal() or site.raw[site.idx - 2].upper != "WITHIN":
        return None
    if site.token is not None and site.token.kind == "WORD" and site.token.upper not in CLAUSES:
        return None
    return site.diagnostic(
        "INK0101" if site.token else "INK0102",
        expectation(site),
        helps=[f"write `WITHIN {number.text} MINUTES` or another length of time, or `WITHIN {number.text} EVENTS`"],
    )


def window_of_sql(site: Site) -> Diagnostic | None:
    """`WINDOW TUMBLING (S, 5 MINUTES)` and `TUMBLE(S, 5 MINUTES)`."""
    kinds = ("TUMBLE", "TUMBLING", "HOP", "HOPPING", "SLIDE", "SLIDING", "SESSION")
    if site.token is None or not site.token.is_symbol("(") or site.before.upper not in kinds:
        return None
    return site.diagnostic(
        "INK0101",
        f"`{site.before.text}` is not a kind of window",
        site.before.span,
        notes=["a window ends at each event and holds the last ones: it slides"],
        helps=["write for example `WINDOW Trip w LAST 5 MINUTES`, or `WINDOW Trip w LAST 10 EVENTS`"],
    )


def flink_pattern(site: Site) -> Diagnostic | None:
    """`Pattern.begin("a").followedBy("b")`."""
    if site.token is None or not site.token.is_symbol("(") or site.before.upper != "BEGIN":
        return None
    return site.diagnostic(
        "INK0101",
        "a pattern is written with operators, not with calls",
        site.before.span,
        notes=["`next` of Flink is SEQ STRICT, `followedBy` is SEQ NEXT, `followedByAny` is SEQ ANY"],
        helps=["write for example `SEQ NEXT(Trip a, Trip b)`"],
    )


def head_of(site: Site) -> list[str]:
    """The head of an event with the parentheses that it lacks."""
    if site.statement_word != "EVENT" or site.idx != 2:
        return []
    end = next((idx for idx in range(site.idx, len(site.raw)) if site.raw[idx].upper == "AS"), None)
    if end is None:
        return []
    return [f"write `EVENT {site.before.text}({text_of(site.source, site.raw[site.idx : end])}) AS`"]
