"""Says why a statement of a rule file cannot be read on, in the words of the person who writes it."""

from dataclasses import dataclass

from inkling.errors import Diagnostic, nearest
from inkling.language.ele.scanner import OPERATORS, SYMBOLS
from inkling.language.machine import END, States
from inkling.language.scanning import RawToken
from inkling.language.syntax import RELATIONS
from inkling.source import SourceText, Span

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_INSTEAD = {
    "<=": "=<",
    "<>": "\\=",
    "!=": "\\=",
    "&&": ",",
    "||": "one rule for each alternative",
    "->": "<-",
    "=>": "<-",
    ":=": "is",
}
_PATTERN_WORDS = ("SEQ", "AND", "PAR", "OR", "FNOT", "WHERE", "CHECK", "NOT", *RELATIONS)
_VALUE = frozenset({"VARIABLE", "INTEGER", "DECIMAL", "TEXT", "NAME", "MINUS", "LPAR"})
_PATTERN = frozenset({"NAME", "LPAR", "NOT", "INTEGER", "DECIMAL"})
_ENDS = ("`)`", "`]`", "`}`", "`,`", "`.`")
_TEXTS = {terminal: symbol for symbol, terminal in SYMBOLS.items()} | {"ARROW": "<-", "IF": ":-", END: "."}


@dataclass(frozen=True, slots=True)
class Stop:
    """The tokens of a statement and the states before each of them, up to the one that cannot come next."""

    source: SourceText
    tokens: tuple[RawToken, ...]
    stop: RawToken | None
    states: tuple[States, ...]

    @property
    def idx(self) -> int:
        return len(self.states) - 1

    @property
    def token(self) -> RawToken | None:
        return self.tokens[self.idx] if self.idx < len(self.tokens) else None

    @property
    def before(self) -> RawToken:
        return self.tokens[self.idx - 1]

    @property
    def span(self) -> Span:
        if self.token is not None:
            return self.token.span
        if self.stop is not None:
            return self.stop.span
        return Span(self.before.span.end, self.before.span.end)

    @property
    def accepted(self) -> frozenset[str]:
        return self.states[-1].accepted()

    def diagnostic(
        self, code: str, message: str, *, label: str = "", notes: tuple[str, ...] = (), helps: tuple[str, ...] = ()
    ) -> Diagnostic:
        return Diagnostic(code, message, self.span, self.source, label, notes, helps)


def explain(stop: Stop) -> Diagnostic:
    """The one thing that is most probably wrong."""
    for detector in (
        _foreign_operator,
        _missing_full_stop,
        _close_full_stop,
        _wrong_bracket,
        _upper_case_name,
        _misspelled_operator,
        _comma_between_patterns,
        _too_early,
    ):
        found = detector(stop)
        if found is not None:
            return found
    return stop.diagnostic("INK0101", f"expected {_expected(stop)}, found {_found(stop.token)}")


def _foreign_operator(stop: Stop) -> Diagnostic | None:
    if stop.token is None or stop.token.kind != "FOREIGN":
        return None
    instead = _INSTEAD[stop.token.text]
    help = f"write `{instead}`" if " " not in instead else f"write {instead}"
    return stop.diagnostic("INK0108", f"`{stop.token.text}` is no operator", helps=(help,))


def _close_full_stop(stop: Stop) -> Diagnostic | None:
    if stop.token is None or stop.token.text != "." or END not in stop.accepted:
        return None
    return stop.diagnostic("INK0134", "a space or a new line follows the full stop of a statement")


def _missing_full_stop(stop: Stop) -> Diagnostic | None:
    if stop.token is None or not stop.token.first_on_line or END not in stop.accepted:
        return None
    if stop.token.kind not in ("NAME", "IF", "QUOTED"):
        return None
    if stop.token.text.upper() in (*OPERATORS, *RELATIONS):
        return None
    return Diagnostic(
        "INK0134", "a statement ends with `.`", stop.before.span, stop.source, label="expected `.` after this"
    )


def _wrong_bracket(stop: Stop) -> Diagnostic | None:
    opened = _open_brackets(stop)
    token = stop.token
    if token is not None and token.text in _CLOSING.values():
        if not opened:
            return stop.diagnostic("INK0105", f"unmatched `{token.text}`")
        wanted = _CLOSING[opened[-1].text]
        if token.text != wanted:
            place = stop.source.position(opened[-1].span.start)
            return stop.diagnostic(
                "INK0105",
                f"expected `{wanted}`, found `{token.text}`",
                notes=(f"`{opened[-1].text}` stands on line {place.line}, column {place.column}",),
            )
    if token is None and opened and SYMBOLS[_CLOSING[opened[-1].text]] in stop.accepted:
        wanted = _CLOSING[opened[-1].text]
        return Diagnostic(
            "INK0105",
            f"`{opened[-1].text}` is not closed",
            opened[-1].span,
            stop.source,
            label=f"expected `{wanted}` before the end of the statement",
        )
    return None


def _open_brackets(stop: Stop) -> list[RawToken]:
    opened: list[RawToken] = []
    for token in stop.tokens[: stop.idx]:
        if token.kind == "SYMBOL" and token.text in _CLOSING:
            opened.append(token)
        elif opened and token.kind == "SYMBOL" and token.text == _CLOSING[opened[-1].text]:
            opened.pop()
    return opened


def _upper_case_name(stop: Stop) -> Diagnostic | None:
    token = stop.token
    if token is None or token.kind != "VARIABLE" or "NAME" not in stop.accepted:
        return None
    if token.text.upper() in (*OPERATORS, *RELATIONS):
        return None
    small = token.text[:1].lower() + token.text[1:]
    helps = (f"write `{small}`, or `'{token.text}'` in quotes",) if token.text != "_" else ()
    return stop.diagnostic(
        "INK0101",
        f"expected {_expected(stop)}, found the variable `{token.text}`",
        notes=("what starts with a capital letter or `_` is a variable",),
        helps=helps,
    )


def _misspelled_operator(stop: Stop) -> Diagnostic | None:
    token = stop.token
    if token is None or token.kind not in ("NAME", "VARIABLE") or "SEQ" not in stop.accepted:
        return None
    meant = nearest(token.text, _PATTERN_WORDS, n=1)
    helps = (f"write `{meant[0]}`",) if meant else ("join patterns with SEQ, AND, PAR, OR or an interval relation",)
    return stop.diagnostic("INK0107", f"`{token.text}` is no operator between patterns", helps=helps)


def _comma_between_patterns(stop: Stop) -> Diagnostic | None:
    if stop.token is None or stop.token.text != "," or "SEQ" not in stop.accepted:
        return None
    return stop.diagnostic(
        "INK0107",
        "`,` is no operator between patterns",
        helps=("write `SEQ` for one after the other, `AND` for both; write `WHERE` before conditions",),
    )


def _too_early(stop: Stop) -> Diagnostic | None:
    if stop.token is not None:
        return None
    return stop.diagnostic("INK0102", f"expected {_expected(stop)}, found the end of the statement")


def _expected(stop: Stop) -> str:
    choices = stop.accepted
    if stop.idx == 0:
        return "a rule, a fact or a directive"
    previous = stop.before
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
    elif "COMPARISON" in choices:
        expected = ["a comparison such as `>`", *ends]
    elif "PLUS" in choices:
        expected = ["an operator such as `+`", *ends]
    elif "VARIABLE" in choices or "NAME" in choices:
        expected = ["a name", *expected]
    elif "INTEGER" in choices:
        expected = ["a number", *expected]
    return expected[0] if len(expected) == 1 else f"{', '.join(expected[:-1])} or {expected[-1]}"


def _found(token: RawToken | None) -> str:
    assert token is not None
    return f"`{token.text}`"
