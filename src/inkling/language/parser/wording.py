"""Says what a place in a program expects, in the words of the person who writes it."""

from inkling.language.parser.machine import END, terminals
from inkling.language.parser.scanner import RawToken
from inkling.language.parser.words import SYMBOLS

MOST_CHOICES = 5

_OPERATORS = terminals("PLUS MINUS STAR SLASH PERCENT COMPARISON EQUAL IN IS NOT AND OR")
_PATTERN_OPERATORS = terminals("RELATION RELATIONS_OPEN EXCEPT PAR AND OR CHECK PLUS STAR QUESTION LBRACE")
_VALUE = terminals("NAME INTEGER DECIMAL STRING TRUE FALSE NULL LPAR MINUS")
_PATTERN = terminals("NAME ANYTHING SEQ LPAR COMPLEMENT WINDOW")
_COMPONENT = terminals("NOT OPTIONAL AFTER AT ALL SOME")
CLAUSES = terminals("WHERE WITHIN HAVING PARTITION OVER CONSUME RETURN PER CONFIDENCE TOP KEEP EXACT SAMPLED")
STREAM_OPTIONS = terminals("ID KEY TIME ORDER TICK PROBABILITY NUMBERED SEGMENTS DERIVE RESET LATE LATENESS OP")
FORECAST_OPTIONS = terminals("CONFIDENCE ORDER HORIZON SPREAD MODEL FEATURES REMAINING INCLUDING")
_SPELLINGS = {terminal: symbol for symbol, terminal in SYMBOLS.items()} | {"RELATIONS_OPEN": "{"}
_DESCRIBED = {
    "NAME": "a name",
    "STRING": "a text in single quotes",
    "INTEGER": "a whole number",
    "RELATION": "an interval relation such as `DURING`",
    "COMPARISON": "a comparison such as `>=`",
    "ANYTHING": "`_`",
    END: "`;`",
}
_NAME_AFTER = {
    "STREAM": "a name for the stream",
    "TABLE": "a name for the table",
    "EVENT": "a name for the event",
    "RULE": "a relation such as `slow(road)`",
    "FORECAST": "the name of an event",
    "KEY": "a column name",
    "ID": "a column name",
    "TIME": "a column name",
    "BY": "a column name",
    "PROBABILITY": "a column name",
    "GIVEN": "a column name",
    "OP": "a column name",
    ".": "a column name",
}


def spelling(terminal: str) -> str | None:
    """How a keyword or a symbol is written; None for names, numbers and other open kinds."""
    if terminal in _DESCRIBED:
        return None
    if terminal == "DECIMAL":
        return None
    return _SPELLINGS.get(terminal, terminal)


def expected(accepted: frozenset[str], before: RawToken | None) -> list[str]:
    """The things that may stand here, at most five, the most telling first."""
    left = set(accepted)
    groups: list[str] = []
    if left >= _VALUE:
        groups.append("a condition" if "NOT" in left and _wants_condition(before) else "a value")
        left -= _VALUE | {"NOT"}
    elif left >= _PATTERN:
        groups.append("a pattern")
        left -= _PATTERN | _COMPONENT
    elif {"INTEGER", "DECIMAL"} <= left:
        groups.append("a number")
        left -= {"INTEGER", "DECIMAL"}
    for options, described in (
        (CLAUSES, "a clause such as `WHERE`"),
        (STREAM_OPTIONS, "an option such as `KEY`"),
        (FORECAST_OPTIONS, "an option such as `CONFIDENCE`"),
    ):
        if len(left & options) > MOST_CHOICES:
            groups.append(described)
            left -= options
    if "RELATION" in left and "PAR" in left:
        left -= _PATTERN_OPERATORS | {"NAME", "VBAR", "LSQB", "EAGER", "MAXIMAL"}
        if not left:
            groups.append("a pattern operator")
    elif {"COMPARISON", "IN"} <= left or {"AND", "OR"} <= left:
        left -= _OPERATORS | {"LPAR", "DOT"}
        groups.append("an operator")
    words = sorted(_described(terminal, before) for terminal in left)
    closing = [word for word in words if word in ("`)`", "`]`", "`}`", "`,`")]
    others = [word for word in words if word not in closing and word != "`;`"]
    ending = [word for word in words if word == "`;`"]
    return (closing + groups + others + ending)[:MOST_CHOICES]


def listed(things: list[str]) -> str:
    """`a, b or c`"""
    if len(things) < 2:
        return "".join(things)
    return f"{', '.join(things[:-1])} or {things[-1]}"


def found(token: RawToken | None) -> str:
    match token:
        case None:
            return "the end of the program"
        case RawToken(kind="STRING"):
            return f"the text {token.text}"
        case RawToken(kind="SYMBOL", text=";"):
            return "the end of the statement"
        case _:
            return f"`{token.text}`"


def _wants_condition(before: RawToken | None) -> bool:
    return before is not None and (
        before.upper in ("WHERE", "HAVING", "IF", "WHEN", "AND", "OR", "NOT") or before.text == "["
    )


def _described(terminal: str, before: RawToken | None) -> str:
    if terminal == "NAME" and before is not None:
        key = before.upper or before.text
        return _NAME_AFTER.get(key, _DESCRIBED["NAME"])
    return _DESCRIBED.get(terminal) or f"`{_SPELLINGS.get(terminal, terminal)}`"
