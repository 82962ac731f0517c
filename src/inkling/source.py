"""The text of a program, spans of it, and positions as lines and columns."""

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters ``start`` up to, not including, ``end`` of a source text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span runs forward from 0, got start={self.start} end={self.end}")

    def to(self, other: "Span") -> "Span":
        """The smallest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A line and a column, both counted from one; columns count characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a program with its name and its lines.

    >>> source = SourceText("a.ink", "STREAM A(x INT);\\nTABLE")
    >>> source.position(17)
    Position(line=2, column=1)
    >>> source.line(1)
    'STREAM A(x INT);'
    """

    name: str
    text: str
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lengths = (len(line) + 1 for line in self.text.split("\n"))
        starts = (0, *accumulate(lengths))[:-1]
        object.__setattr__(self, "_line_starts", starts)

    @property
    def n_lines(self) -> int:
        return len(self._line_starts)

    def position(self, offset: int) -> Position:
        """The line and column of a character offset; offsets past the end count as the end."""
        offset = min(max(offset, 0), len(self.text))
        line_idx = bisect_right(self._line_starts, offset) - 1
        return Position(line_idx + 1, offset - self._line_starts[line_idx] + 1)

    def line(self, number: int) -> str:
        """The text of a line, counted from one, without its line break."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] - 1 if number < self.n_lines else len(self.text)
        return self.text[start:end].removesuffix("\r")

    def line_start(self, number: int) -> int:
        """The offset of the first character of a line, counted from one."""
        return self._line_starts[number - 1]

    def text_of(self, span: Span) -> str:
        return self.text[span.start : span.end]
