"""Explains why a statement of a rule file cannot be read: the first detector that recognizes an error reports it."""

from inkling.errors import Diagnostic, nearest
from inkling.language.ele.tokens import OPERATORS, SYMBOLS
from inkling.language.kit.lalr import END, ErrorSite, alternatives
from inkling.language.kit.scanning import CLOSING
from inkling.language.syntax import RELATIONS

_INSTEAD = {
    "<=": "=<",
    "<>": "\\=",
    "!=": "\\=",
    "&&": ",",
    "||": "one rule for each alternative",
    "=>": "<-",
    ":=": "is",
    "->": "<-",
}
_PATTERN_WORDS = ("SEQ", "AND", "PAR", "OR", "FNOT", "WHERE", "CHECK", "NOT", *RELATIONS)
_VALUE = frozenset({"VARIABLE", "INTEGER", "DECIMAL", "TEXT", "NAME", "MINUS", "LPAR"})
_PATTERN = frozenset({"NAME", "LPAR", "NOT", "INTEGER", "DECIMAL"})
_ENDS = ("`)`", "`]`", "`}`", "`,`", "`.`")
_TEXTS = {terminal: symbol for symbol, terminal in SYMBOLS.items()} | {"ARROW": "<-", "IF": ":-", END: "."}


def explain(site: ErrorSite) -> Diagnostic:
    """The one thing that is most probably wrong."""
    for detector in (
        _foreign_operator,
        _missing_full_stop,
        _close_full_stop,
        ErrorSite.wrong_bracket,
        _unclosed_bracket,
        _upper_case_name,
        _misspelled_operator,
        _comma_between_patterns,
        _too_early,
    ):
        found = detector(site)
        if found is not None:
            return found
    assert site.token is not None, "a statement that ends too early is recognized"
    return site.diagnostic("INK0101", f"expected {_expected(site)}, found `{site.token.text}`")


def _foreign_operator(site: ErrorSite) -> Diagnostic | None:
    if site.token is None or not (site.token.kind == "FOREIGN" or site.token.text == "->"):
        return None
    instead = _INSTEAD[site.token.text]
    help = f"write `{instead}`" if " " not in instead else f"write {instead}"
    return site.diagnostic("INK0108", f"`{site.token.text}` is not an operator", helps=(help,))


def _close_full_stop(site: ErrorSite) -> Diagnostic | None:
    if site.token is None or site.token.text != "." or END not in site.accepted:
        return None
    return site.diagnostic("INK0134", "a space or a line break follows the `.` that ends a statement")


def _missing_full_stop(site: ErrorSite) -> Diagnostic | None:
    if site.token is None or not site.token.first_on_line or END not in site.accepted:
        return None
    if site.token.kind not in ("NAME", "IF", "QUOTED"):
        return None
    if site.token.text.upper() in (*OPERATORS, *RELATIONS):
        return None
    return site.diagnostic("INK0134", "a statement ends with `.`", site.before.span, label="expected `.` after this")


def _unclosed_bracket(site: ErrorSite) -> Diagnostic | None:
    if site.token is not None or not site.open_brackets:
        return None
    opened = site.open_brackets[-1]
    closing = CLOSING[opened.text]
    if SYMBOLS[closing] not in site.accepted:
        return None
    label = f"expected `{closing}` before the end of the statement"
    return site.diagnostic("INK0105", f"`{opened.text}` is not closed", opened.span, label=label)


def _upper_case_name(site: ErrorSite) -> Diagnostic | None:
    token = site.token
    if token is None or token.kind != "VARIABLE" or "NAME" not in site.accepted:
        return None
    if token.text.upper() in (*OPERATORS, *RELATIONS):
        return None
    small = token.text[:1].lower() + token.text[1:]
    helps = (f"write `{small}`, or `'{token.text}'` in quotes",) if token.text != "_" else ()
    return site.diagnostic(
        "INK0101",
        f"expected {_expected(site)}, found the variable `{token.text}`",
        notes=("a word that starts with a capital letter or `_` is a variable",),
        helps=helps,
    )


def _misspelled_operator(site: ErrorSite) -> Diagnostic | None:
    token = site.token
    if token is None or token.kind not in ("NAME", "VARIABLE") or "SEQ" not in site.accepted:
        return None
    meant = nearest(token.text, _PATTERN_WORDS, n=1)
    helps = (f"write `{meant[0]}`",) if meant else ("join patterns with SEQ, AND, PAR, OR or an interval relation",)
    return site.diagnostic("INK0107", f"`{token.text}` does not join patterns", helps=helps)


def _comma_between_patterns(site: ErrorSite) -> Diagnostic | None:
    if site.token is None or site.token.text != "," or "SEQ" not in site.accepted:
        return None
    return site.diagnostic(
        "INK0107",
        "`,` does not join patterns",
        helps=(
            "write `SEQ` for one pattern after another, `AND` for both in any order; write `WHERE` before conditions",
        ),
    )


def _too_early(site: ErrorSite) -> Diagnostic | None:
    if site.token is not None:
        return None
    return site.diagnostic("INK0102", f"expected {_expected(site)}, found the end of the statement")


def _expected(site: ErrorSite) -> str:
    choices = site.accepted
    if site.idx == 0:
        return "a rule, a fact or a directive"
    previous = site.before
    if previous.kind == "ARROW" or (choices >= _PATTERN and "VARIABLE" not in choices):
        return "a pattern"
    if {"ARROW", "IF"} <= choices:
        return "`<-`, `:-` or `.`"
    if choices >= _VALUE - {"LPAR"}:
        return "a condition" if "NOT" in choices else "a value"
    if choices == {"NAME"}:
        return "a name"
    expected = sorted(f"`{_TEXTS[t]}`" for t in choices if t in _TEXTS)
    ends = [one for one in expected if one in _ENDS]
    if "SEQ" in choices:
        expected = ["an operator such as `SEQ`", *ends]
    elif "IS" in choices:
        expected = ["a comparison such as `>`", *ends]
    elif "PLUS" in choices:
        expected = ["an operator such as `+`", *ends]
    elif "VARIABLE" in choices or "NAME" in choices:
        expected = ["a name", *expected]
    elif "INTEGER" in choices:
        expected = ["a number", *expected]
    return alternatives(expected)
