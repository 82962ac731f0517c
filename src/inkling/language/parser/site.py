"""The place where reading a statement stopped, and what would have let it continue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from inkling.errors import Diagnostic
from inkling.language.machine import END, States, terminals
from inkling.language.parser.words import Reading, keywords, readings
from inkling.language.scanning import RawToken
from inkling.source import SourceText, Span

LOOK_AHEAD = 3
# words that no sensible person uses as a name in the middle of an event
CLAUSE_WORDS = terminals("AND OR IN IS WHERE WITHIN HAVING PARTITION OVER CONSUME RETURN PER CONFIDENCE KEEP SAMPLED")
CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Site:
    """A token that cannot come next; the token is missing when the statement stops too early."""

    source: SourceText
    reading: Reading
    terminator: RawToken | None
    idx: int

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
    def raw(self) -> tuple[RawToken, ...]:
        return self.reading.raw

    @property
    def token(self) -> RawToken | None:
        return self.raw[self.idx] if self.idx < len(self.raw) else None

    @property
    def before(self) -> RawToken:
        return self.raw[self.idx - 1]

    @property
    def span(self) -> Span:
        if self.token is not None:
            return self.token.span
        if self.terminator is not None:
            return self.terminator.span
        return Span(self.before.span.end, self.before.span.end)

    @property
    def statement_word(self) -> str:
        return self.raw[0].upper

    @cached_property
    def accepted(self) -> frozenset[str]:
        return self.reading.states[self.idx].accepted()

    @cached_property
    def open_brackets(self) -> list[RawToken]:
        """Brackets before the token that are still open."""
        return open_brackets(self.raw[: self.idx])

    @cached_property
    def never_closed(self) -> list[RawToken]:
        """Brackets that nothing in the whole statement closes."""
        return open_brackets(self.raw)

    def continues(self, states: States | None, idx: int) -> bool:
        """Whether the next few tokens from a position on could be read from these states."""
        for at in range(idx, min(idx + LOOK_AHEAD, len(self.raw))):
            if states is None:
                return False
            following = (states.after(terminal) for terminal in readings(self.raw, at))
            states = next((after for after in following if after is not None), None)
        if states is not None and idx + LOOK_AHEAD > len(self.raw):
            states = states.after(END)
        return states is not None

    def fits_with(self, terminal: str) -> bool:
        """Whether one more terminal before the token would let reading continue."""
        return self.continues(self.reading.states[self.idx].after(terminal), self.idx)

    def fits_if(self, idx: int, terminal: str) -> bool:
        """Whether reading an earlier or this token as another terminal would let it continue."""
        after = self.reading.states[idx].after(terminal)
        return self.continues(after, idx + 1)

    def diagnostic(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        *,
        label: str = "",
        notes: Sequence[str] = (),
        helps: Sequence[str] = (),
    ) -> Diagnostic:
        place = self.span if span is None else span
        return Diagnostic(code, message, place, self.source, label, tuple(notes), tuple(helps))


def open_brackets(raw: Sequence[RawToken]) -> list[RawToken]:
    """Brackets left open; a closing bracket of another kind leaves those inside it open."""
    left_open: list[RawToken] = []
    stack: list[RawToken] = []
    for token in raw:
        if token.is_symbol("(", "[", "{"):
            stack.append(token)
        elif token.is_symbol(")", "]", "}") and any(CLOSING[b.text] == token.text for b in stack):
            while CLOSING[stack[-1].text] != token.text:
                left_open.append(stack.pop())
            stack.pop()
    return sorted(left_open + stack, key=lambda bracket: bracket.span)
