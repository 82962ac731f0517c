"""Explains a token that cannot come next: the first detector that recognizes the error reports it."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from inkling.errors import Diagnostic, nearest
from inkling.language.kit.lalr import END, alternatives
from inkling.language.kit.scanning import CLOSING, RawToken
from inkling.language.parser import foreign, foreign_values
from inkling.language.parser.site import (
    CLAUSES,
    FORECAST_OPTIONS,
    STREAM_OPTIONS,
    Site,
    expectation,
    expected,
    found,
    spelling,
)
from inkling.language.parser.tokens import keywords, starts_statement
from inkling.language.syntax import RELATIONS

Detector: TypeAlias = Callable[[Site], Diagnostic | None]

_FOREIGN = {
    "==": "write `=` to compare",
    ":=": "write `=`",
    "&&": "write `AND`",
    "||": "write `OR` between conditions or patterns, `|` between event types",
    "->": "write `SEQ(a, b)` for one pattern after another",
    "=>": "write `SEQ(a, b)` for one pattern after another, `>=` to compare",
}
_BORROWED = {
    "BETWEEN": "write `x >= 1 AND x <= 5` for a range of values",
    "GROUP": "write `PARTITION BY` to match each key separately",
    "SELECT": "write `RETURN` to add values to a result",
    "DEFINE": "write `WHERE` for a condition",
    "MEASURES": "write `RETURN` to add values to a result",
    "JOIN": "write `A a AND B b WHERE a.id = b.id` for two events with equal columns",
    "ORDER": "leave it out: results are ordered by time",
    "LIMIT": "leave it out: every match is a result",
    "EMIT": "leave it out: a result is emitted as soon as it is final",
    "FOLLOWED": "write `SEQ(a, b)` for one pattern after another",
    "THEN": "write `SEQ(a, b)` for one pattern after another",
    "IF": "write `WHERE` for a condition",
    "WHEN": "write `WHERE` for a condition",
}
_N_BACK = 3
_FEW = 3
_SHORTEST_MISSPELLING = 3


def explain(site: Site) -> Diagnostic:
    """The most helpful diagnostic for a token that cannot come next."""
    for detect in DETECTORS:
        diagnostic = detect(site)
        if diagnostic is not None:
            return diagnostic
    code = "INK0101" if site.token else "INK0102"
    return site.diagnostic(code, expectation(site), helps=_join_hint(site))


def foreign_operator(site: Site) -> Diagnostic | None:
    if site.token is None or site.token.kind != "FOREIGN":
        return None
    message = f"`{site.token.text}` is not an operator"
    help = _FOREIGN[site.token.text]
    if (
        site.token.text in ("->", "=>")
        and any(one.upper == "SEQ" for one in site.raw[: site.idx])
        and site.open_brackets
    ):
        help = "write `,` between the parts of `SEQ`"
    return site.diagnostic("INK0108", message, helps=[help])


def speculative_without_lateness(site: Site) -> Diagnostic | None:
    if site.token is None or site.token.upper != "SPECULATIVE" or site.statement_word != "STREAM":
        return None
    if "NAME" in site.accepted:
        return None
    return site.diagnostic(
        "INK0101",
        "`SPECULATIVE` needs `LATENESS` and a duration before it",
        helps=["write for example `LATENESS 10 MINUTES SPECULATIVE`"],
    )


def missing_semicolon(site: Site) -> Diagnostic | None:
    if site.token is None or not starts_statement(site.raw, site.idx):
        return None
    if END not in site.accepted:
        return None
    return site.diagnostic("INK0103", "a statement ends with `;`", site.before.span, label="expected `;` after this")


def unclosed_bracket(site: Site) -> Diagnostic | None:
    if not site.open_brackets:
        return None
    opened = site.open_brackets[-1]
    if opened not in site.never_closed:
        return None
    closing = CLOSING[opened.text]
    closable = {")": "RPAR", "]": "RSQB", "}": "RBRACE"}[closing] in site.accepted
    if site.token is not None and not closable:
        return None
    found_here = found(site.token or site.terminator)
    return site.diagnostic(
        "INK0105", f"`{opened.text}` is not closed", opened.span, label=f"expected `{closing}` before {found_here}"
    )


def dangling_comma(site: Site) -> Diagnostic | None:
    for here in site.earlier():
        comma = here.idx - 1
        if here.before.is_symbol(",") and here.continues(here.reading.stacks[comma], here.idx):
            things = alternatives(expected(here))
            what = found(here.token or here.terminator)
            return here.diagnostic(
                "INK0113", f"expected {things} after `,`, found {what}", here.before.span, helps=["remove the comma"]
            )
    return None


def needless_comma(site: Site) -> Diagnostic | None:
    if site.token is None or not site.token.is_symbol(",") or site.before.is_symbol("{"):
        return None
    if not site.continues(site.reading.stacks[site.idx], site.idx + 1):
        return None
    return site.diagnostic("INK0113", expectation(site), helps=["remove the comma"])


def clause_inside_sequence(site: Site) -> Diagnostic | None:
    if site.token is None or site.token.upper not in ("WHERE", "WITHIN", "HAVING"):
        return None
    if not site.open_brackets or "COMMA" not in site.accepted:
        return None
    word = site.token.text
    return site.diagnostic(
        "INK0101",
        f"`{word}` is not allowed inside a sequence",
        label="expected `,` or `)`",
        helps=[
            f"move `{word}` after the closing `)`",
            f"write `(A a {word} …)` in parentheses to restrict this component alone",
        ],
    )


def absence_alone(site: Site) -> Diagnostic | None:
    if not site.accepted >= {"BETWEEN", "CHECK"} or "COMMA" in site.accepted:
        return None
    return site.diagnostic(
        "INK0101",
        f"expected `BETWEEN` after `NOT`, found {found(site.token or site.terminator)}",
        notes=["NOT needs two patterns around it"],
        helps=["write `NOT b BETWEEN a AND c`, or `SEQ(a, NOT b, c)`"],
    )


def reserved_word(site: Site) -> Diagnostic | None:
    if site.token is None or site.token.kind != "SYMBOL" or site.token.is_symbol(")", "]", "}", ","):
        return None
    idx = site.idx - 1
    word = site.raw[idx]
    if site.reading.terminals[idx] != word.upper or word.upper == "NOT" or idx == 0:
        return None
    if not site.fits_if(idx, "NAME"):
        return None
    return site.diagnostic(
        "INK0121",
        f"`{word.text}` is a keyword here",
        word.span,
        helps=[f'write `"{word.text}"` in double quotes to use it as a name'],
    )


def misspelled_word(site: Site) -> Diagnostic | None:
    for idx in range(site.idx, max(site.idx - _N_BACK, 0), -1):
        if idx == len(site.raw) or site.raw[idx].kind != "WORD":
            continue
        if idx < site.idx and site.reading.terminals[idx] != "NAME":
            continue
        word = site.raw[idx]
        if len(word.text) < _SHORTEST_MISSPELLING:
            continue
        possible = _words(site.reading.stacks[idx].accepted())
        for meant in nearest(word.text, possible, n=3):
            if site.fits_if(idx, "RELATION" if meant in RELATIONS else meant):
                return site.diagnostic("INK0107", f"unknown word `{word.text}`", word.span, helps=[f"write `{meant}`"])
    return None


def keyword_where_a_name_is_missing(site: Site) -> Diagnostic | None:
    """`TIME PROBABILITY p`: the keyword passed as the name that is missing before it."""
    for idx in range(site.idx - 1, max(site.idx - _N_BACK, 0), -1):
        word = site.raw[idx].upper
        if site.reading.terminals[idx] != "NAME" or word not in keywords():
            continue
        after = site.reading.stacks[idx].after_all(["NAME", word])
        if site.continues(after, idx + 1):
            there = replace(site, idx=idx)
            return there.diagnostic("INK0101", expectation(there))
    return None


def borrowed_word(site: Site) -> Diagnostic | None:
    if site.token is None or site.token.upper not in _BORROWED:
        return None
    if site.token.upper == "BETWEEN" and "COMPARISON" not in site.accepted:
        return None
    return site.diagnostic("INK0101", expectation(site), helps=[_BORROWED[site.token.upper]])


def chained_comparison(site: Site) -> Diagnostic | None:
    token = site.token
    if token is None or token.kind != "SYMBOL" or token.text not in _COMPARISONS:
        return None
    if not site.accepted >= {"AND", "PLUS"} or "PAR" in site.accepted:
        return None
    return site.diagnostic(
        "INK0118",
        "comparisons cannot be chained",
        label="this compares the result of a comparison",
        helps=["write `1 < x AND x < 5` for a range of values"],
    )


_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})


def quotes_of_the_other_kind(site: Site) -> Diagnostic | None:
    match site.token:
        case RawToken(kind="QUOTED") as token if "STRING" in site.accepted:
            text = "'" + token.value.replace("'", "''") + "'"
            return site.diagnostic(
                "INK0109",
                f"expected a string, found the name {token.text}",
                label="double quotes and backticks are for names",
                helps=[f"write {text}"],
            )
        case RawToken(kind="STRING") as token if "NAME" in site.accepted and token.value:
            if site.accepted >= {"SEQ", "AT"}:
                return site.diagnostic(
                    "INK0109",
                    f"expected a pattern, found the string {token.text}",
                    helps=[f"write `AT {token.text}` for a point in time"],
                )
            name = token.value if token.value.isidentifier() else f'"{token.value}"'
            return site.diagnostic(
                "INK0109",
                f"expected a name, found the string {token.text}",
                label="single quotes are for strings",
                helps=[f"write `{name}`"],
            )
        case _:
            return None


def impossible_number(site: Site) -> Diagnostic | None:
    token = site.token
    if token is None or "INTEGER" not in site.accepted:
        return None
    repetition = bool(site.open_brackets) and site.open_brackets[-1].is_symbol("{")
    if site.before.is_symbol("{") and token.is_symbol(","):
        return site.diagnostic("INK0112", "a repetition needs a lower bound", helps=["write `{0,5}` for at most five"])
    if token.is_symbol("-"):
        if repetition:
            return site.diagnostic("INK0112", "a repetition count cannot be negative")
        return site.diagnostic("INK0116", "expected a number without a sign, found `-`")
    if token.kind == "DECIMAL":
        return site.diagnostic("INK0116", f"expected a whole number, found `{token.text}`")
    return None


def missing_piece(site: Site) -> Diagnostic | None:
    if site.token is None:
        return None
    fitting = [t for t in site.accepted if spelling(t) is not None and site.fits_with(t)]
    if "COMMA" in fitting:
        return site.diagnostic("INK0114", f"missing `,` before {found(site.token)}", label="expected `,` before this")
    stack = site.reading.stacks[site.idx]
    as_keyword = [t for t in fitting if stack.after_all([t, site.token.upper]) is not None]
    fitting = as_keyword or fitting
    if len(fitting) != 1:
        return None
    (missing,) = fitting
    if missing in keywords() and not _is_helpful(site, missing):
        return None
    return site.diagnostic(
        "INK0115",
        f"missing `{spelling(missing)}` before {found(site.token)}",
        label=f"expected `{spelling(missing)}` before this",
        helps=[f"write `{spelling(missing)} {site.token.text}`"]
        if missing in keywords()
        else foreign_values.head_of(site),
    )


def _is_helpful(site: Site, missing: str) -> bool:
    """Whether a missing keyword is more than one guess among many."""
    if len(site.accepted) <= _FEW:
        return True
    stands_alone = site.reading.stacks[site.idx].after_all([missing, END]) is not None
    return site.token is not None and site.token.upper in keywords() and not stands_alone


def unknown_option(site: Site) -> Diagnostic | None:
    if site.token is None or site.token.kind != "WORD" or "NAME" in site.accepted:
        return None
    if _join_hint(site):
        return None
    for options, statement, kind in (
        (STREAM_OPTIONS, "STREAM", "an option"),
        (CLAUSES, "EVENT", "a clause"),
        (FORECAST_OPTIONS, "FORECAST", "an option"),
    ):
        if site.statement_word == statement and len(site.accepted & options) > 1:
            return site.diagnostic(
                "INK0107",
                f"`{site.token.text}` is not {kind} of `{statement}`",
                notes=[f"{kind.split()[1]}s are {', '.join(sorted(options))}"],
                helps=["write `WHERE` before a condition"] if _starts_condition(site) else [],
            )
    return None


def _starts_condition(site: Site) -> bool:
    return site.token is not None and site.token.upper not in keywords() and site.fits_with("WHERE")


def _words(accepted: frozenset[str]) -> list[str]:
    words = sorted(accepted & keywords())
    return [*words, *RELATIONS] if "RELATION" in accepted else words


def _join_hint(site: Site) -> list[str]:
    if site.token is None:
        return []
    if "PAR" in site.accepted and (site.token.is_symbol(",") or site.fits_with("AND")):
        return ["write `SEQ(a, b)` for one pattern after another"]
    if "EQUAL" in site.accepted and site.fits_with("EQUAL"):
        return ["compare with `=`, or join conditions with `AND`"]
    if site.fits_with("AND"):
        return ["join conditions with `AND` or `OR`"]
    return []


DETECTORS: tuple[Detector, ...] = (
    foreign.esper_pattern,
    foreign_operator,
    foreign.query_in_event,
    foreign.interval_literal,
    foreign.type_with_more,
    foreign.clause_too_early,
    foreign.count_of_everything,
    foreign_values.sql_expression,
    foreign.variable_after_repetition,
    foreign_values.flink_pattern,
    foreign_values.window_of_sql,
    foreign_values.constant_time_literal,
    foreign_values.none_of_python,
    foreign_values.window_without_unit,
    speculative_without_lateness,
    missing_semicolon,
    Site.wrong_bracket,
    unclosed_bracket,
    dangling_comma,
    needless_comma,
    clause_inside_sequence,
    absence_alone,
    reserved_word,
    keyword_where_a_name_is_missing,
    misspelled_word,
    borrowed_word,
    chained_comparison,
    quotes_of_the_other_kind,
    impossible_number,
    missing_piece,
    unknown_option,
)
