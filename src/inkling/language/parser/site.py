"""Where reading a statement stopped, what would let it continue, and what the message says is expected there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from inkling.language.kit.lalr import END, ErrorSite, ParserStack, Reading, alternatives, terminals
from inkling.language.kit.scanning import RawToken, open_brackets
from inkling.language.parser.tokens import SYMBOLS, keywords, readings
from inkling.source import SourceText

LOOK_AHEAD = 3
# words that no sensible person uses as a name in the middle of an event
CLAUSE_WORDS = terminals("AND OR IN IS WHERE WITHIN HAVING PARTITION OVER CONSUME RETURN PER CONFIDENCE KEEP SAMPLED")


@dataclass(frozen=True)
class Site(ErrorSite):
    """The place in a statement of `.ink` where reading stopped, and which change would let it continue."""

    @classmethod
    def of(cls, source: SourceText, reading: Reading, terminator: RawToken | None) -> "Site":
        """The token where reading stopped, or a clause word shortly before that passed as a name."""
        stopped = reading.stopped_at
        for idx in range(max(stopped - 2, 1), stopped):
            if reading.terminals[idx] == "NAME" and reading.raw[idx].upper in CLAUSE_WORDS:
                return cls(source, reading, terminator, idx)
        return cls(source, reading, terminator, stopped)

    def earlier(self) -> Iterator["Site"]:
        """This site, and the one before it if a keyword there passed as a name."""
        yield self
        idx = self.idx - 1
        if self.reading.terminals[idx] == "NAME" and self.raw[idx].upper in keywords():
            yield replace(self, idx=idx)

    @property
    def statement_word(self) -> str:
        return self.raw[0].upper

    @cached_property
    def never_closed(self) -> list[RawToken]:
        """Brackets that nothing in the whole statement closes."""
        return open_brackets(self.raw)

    def continues(self, stack: ParserStack | None, idx: int) -> bool:
        """Whether the next few tokens from a position on could be read from this stack."""
        for at in range(idx, min(idx + LOOK_AHEAD, len(self.raw))):
            if stack is None:
                return False
            following = (stack.after(terminal) for terminal in readings(self.raw, at))
            stack = next((after for after in following if after is not None), None)
        if stack is not None and idx + LOOK_AHEAD > len(self.raw):
            stack = stack.after(END)
        return stack is not None

    def fits_with(self, terminal: str) -> bool:
        """Whether one more terminal before the token would let reading continue."""
        return self.continues(self.reading.stacks[self.idx].after(terminal), self.idx)

    def fits_if(self, idx: int, terminal: str) -> bool:
        """Whether reading an earlier or this token as another terminal would let it continue."""
        after = self.reading.stacks[idx].after(terminal)
        return self.continues(after, idx + 1)


MOST_CHOICES = 5

_OPERATORS = terminals("PLUS MINUS STAR SLASH PERCENT COMPARISON EQUAL IN IS NOT AND OR")
_PATTERN_OPERATORS = terminals(
    "RELATION RELATIONS_OPEN EXCEPT OPTIONAL PAR AND OR CHECK PLUS STAR QUESTION LBRACE NAME VBAR LSQB EAGER MAXIMAL"
)
_NUMBER = terminals("INTEGER DECIMAL")
_TIME_UNITS = terminals(
    "MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS SECOND SECONDS MINUTE MINUTES HOUR HOURS DAY DAYS WEEK WEEKS"
    " TICKS"
)  # possible after any number, so never what is missing
_BEFORE_CONDITIONS = terminals("WHERE HAVING IF WHEN AND OR NOT")
_VALUE = terminals("NAME INTEGER DECIMAL STRING TRUE FALSE NULL LPAR MINUS")
_PATTERN = terminals("NAME ANYTHING SEQ LPAR COMPLEMENT WINDOW")
_COMPONENT = terminals("NOT OPTIONAL AFTER AT ALL SOME")
CLAUSES = terminals("WHERE WITHIN HAVING PARTITION OVER CONSUME RETURN PER CONFIDENCE TOP KEEP ON EXACT SAMPLED HIDDEN")
STREAM_OPTIONS = terminals(
    "ID KEY TIME ORDER TICK PROBABILITY NUMBERED SEGMENTS DERIVE RESET LATE LATENESS AHEAD OP AT EPOCH"
)
FORECAST_OPTIONS = terminals("CONFIDENCE ORDER HORIZON SPREAD MODEL FEATURES REMAINING INCLUDING RETURN")
_SPELLINGS = {terminal: symbol for symbol, terminal in SYMBOLS.items()} | {"RELATIONS_OPEN": "{", "_ON_SAME": "ON"}
_DESCRIBED = {
    "STRING": "a string in single quotes",
    "INTEGER": "a whole number",
    "RELATION": "an interval relation such as `DURING`",
    "COMPARISON": "a comparison such as `>=`",
    "ANYTHING": "`_`",
    END: "`;`",
}
_NAME_AFTER = {  # by the word or symbol before the name
    "STREAM": "a name for the stream",
    "TABLE": "a name for the table",
    "EVENT": "a name for the event",
    "TIMEOUT": "a name for the event",
    "RETRACT": "a name for the output",
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
    if terminal in _DESCRIBED or terminal in ("NAME", "DECIMAL"):
        return None
    return _SPELLINGS.get(terminal, terminal)


def expected(site: Site) -> list[str]:
    """The things that may stand here, at most five, the most helpful first."""
    left = set(site.accepted) - _TIME_UNITS
    groups: list[str] = []
    if left >= _VALUE:
        groups.append("a condition" if _wants_condition(site.before) else "a value")
        left -= _VALUE | {"NOT"}
    elif left >= _PATTERN:
        groups.append("a pattern")
        left -= _PATTERN | _COMPONENT
    elif left >= _NUMBER:
        groups.append("a number")
        left -= _NUMBER
    for options, described in (
        (CLAUSES, "a clause such as `WHERE`"),
        (STREAM_OPTIONS, "an option such as `KEY`"),
        (FORECAST_OPTIONS, "an option such as `CONFIDENCE`"),
    ):
        if len(left & options) > MOST_CHOICES:
            groups.append(described)
            left -= options
    if "PAR" in left:
        left -= _PATTERN_OPERATORS
        groups.append("an operator")
    elif "QUESTION" in left:
        left -= _PATTERN_OPERATORS - {"AND"}
    elif left >= {"AND", "OR"}:
        left -= _OPERATORS | {"LPAR", "DOT"}
        groups.append("an operator")
    words = sorted(_described(terminal, site) for terminal in left)
    closing = [word for word in words if word in ("`)`", "`]`", "`}`", "`,`")]
    ending = [word for word in words if word == "`;`"]
    others = [word for word in words if word not in closing + ending]
    return (closing + groups + others + ending)[:MOST_CHOICES]


def expectation(site: Site) -> str:
    """`expected a, b or c, found d`"""
    return f"expected {alternatives(expected(site))}, found {found(site.token or site.terminator)}"


def found(token: RawToken | None) -> str:
    match token:
        case None:
            return "the end of the program"
        case RawToken(kind="STRING"):
            return f"the string {token.text}"
        case RawToken(kind="QUOTED"):
            return f"the name {token.text}"
        case RawToken(kind="SYMBOL", text=";"):
            return "the end of the statement"
        case _:
            return f"`{token.text}`"


def _wants_condition(before: RawToken) -> bool:
    return before.upper in _BEFORE_CONDITIONS or before.text == "["


def _described(terminal: str, site: Site) -> str:
    if terminal == "NAME":
        return _described_name(site)
    return _DESCRIBED.get(terminal) or f"`{_SPELLINGS.get(terminal, terminal)}`"


def _described_name(site: Site) -> str:
    before = site.before
    if before.kind in ("INTEGER", "DECIMAL"):
        return "a unit such as `MINUTES`"
    if site.statement_word in ("STREAM", "TABLE") and site.open_brackets and site.accepted == {"NAME"}:
        after_name = site.reading.terminals[site.idx - 1] == "NAME"
        return "a type such as `STRING`" if after_name else "a column such as `speed DOUBLE`"
    return _NAME_AFTER.get(before.upper or before.text, "a name")
