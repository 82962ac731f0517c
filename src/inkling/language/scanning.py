"""Cuts a text into tokens and comments by one regular expression, whatever the language.

Comments: which statement each belongs to, and how they are printed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from inkling.errors import Diagnostic
from inkling.source import SourceText, Span


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without its signs; `trailing` when something precedes it on its line."""

    text: str
    span: Span
    trailing: bool


def share_out(
    source: SourceText, comments: Sequence[Comment], ends: Sequence[int]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Comments of each statement: before it, inside it, and after it on its last line; then the rest.

    Statements are given by where they end.
    """
    shares: list[list[str]] = [[] for _ in ends]
    rest: list[str] = []
    owner = 0
    for comment in comments:
        while owner < len(ends) and not _belongs(source, comment, ends[owner]):
            owner += 1
        (shares[owner] if owner < len(ends) else rest).append(comment.text)
    return [tuple(share) for share in shares], tuple(rest)


def _belongs(source: SourceText, comment: Comment, end: int) -> bool:
    if comment.span.start < end:
        return True
    same_line = source.position(comment.span.start).line == source.position(end).line
    return comment.trailing and same_line


def comment_lines(comments: Sequence[str], sign: str = "--") -> list[str]:
    """Comments as they are printed, each line behind the sign of a comment."""
    lines = [line for comment in comments for line in (comment.splitlines() or [""])]
    return [f"{sign} {line}".rstrip() for line in lines]


_QUOTED = ("QUOTED", "REGISTER", "STRING", "TEXT")


@dataclass(frozen=True, slots=True)
class RawToken:
    """A word, number, text or symbol, before anyone knows what it means at its place."""

    kind: str  # the group of the pattern that cut it out
    text: str
    span: Span
    first_on_line: bool

    @property
    def value(self) -> str:
        """The text without quotes and with doubled quotes undone."""
        if self.kind not in _QUOTED:
            return self.text
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote)

    @property
    def upper(self) -> str:
        """The word in capitals, or nothing for what cannot be a keyword of a program."""
        return self.text.upper() if self.kind == "WORD" and self.text.isascii() else ""

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind == "SYMBOL" and self.text in symbols

    def is_word(self, *words: str) -> bool:
        return self.kind == "NAME" and self.text in words


@dataclass(frozen=True, slots=True)
class Scan:
    tokens: tuple[RawToken, ...]
    comments: tuple[Comment, ...]
    problems: tuple[Diagnostic, ...]


def _after_dashes(written: str) -> str:
    return written[2:].strip()


@dataclass(frozen=True, slots=True)
class Scanner:
    """What a language makes of the groups of `pattern`, of which `SPACE` and `COMMENT` are no tokens."""

    pattern: re.Pattern[str]
    unreadable: Callable[[SourceText, int], Diagnostic]  # what stands at a place where nothing matches
    comment_text: Callable[[str], str] = _after_dashes
    rejected: Callable[[SourceText, RawToken], Diagnostic | None] = lambda source, token: None

    def scan(self, source: SourceText, start: int = 0) -> Scan:
        """Tokens and comments from a place on; what cannot be read is reported and skipped."""
        tokens: list[RawToken] = []
        comments: list[Comment] = []
        problems: list[Diagnostic] = []
        offset = start
        on_new_line = True
        while offset < len(source.text):
            found = self.pattern.match(source.text, offset)
            if found is None:
                unreadable = self.unreadable(source, offset)
                problems.append(unreadable)
                offset = unreadable.span.end if unreadable.span else offset + 1
                on_new_line = False
                continue
            span = Span(offset, found.end())
            offset = found.end()
            group = found.lastgroup
            assert group is not None
            if group == "SPACE":
                on_new_line = on_new_line or "\n" in found.group()
                continue
            if group == "COMMENT":
                comments.append(Comment(self.comment_text(found.group()), span, not on_new_line))
                continue
            token = RawToken(group, found.group(), span, on_new_line)
            problem = self.rejected(source, token)
            if problem is None:
                tokens.append(token)
            else:
                problems.append(problem)
            on_new_line = False
        return Scan(tuple(tokens), tuple(comments), tuple(problems))


def rest_of_line(source: SourceText, offset: int) -> str:
    """The text from a place to the end of its line, without trailing space."""
    line_end = source.text.find("\n", offset)
    return source.text[offset : len(source.text) if line_end < 0 else line_end].rstrip()


def unexpected_character(source: SourceText, offset: int, helps: Mapping[str, str]) -> Diagnostic:
    """A digit that starts no number, or a character that means nothing; `helps` say what to write instead of some."""
    character = source.text[offset]
    if character.isdigit():
        word = re.match(r"[\w.]+", rest_of_line(source, offset))
        end = offset + (word.end() if word else 1)
        message = f"`{source.text[offset:end]}` is neither a number nor a name"
        return Diagnostic("INK0106", message, Span(offset, end), source)
    message = f"unexpected character `{character}`"
    help = (helps[character],) if character in helps else ()
    return Diagnostic("INK0106", message, Span(offset, offset + 1), source, helps=help)
