"""The scanner of every language: one regular expression cuts a text into tokens and comments.

It also assigns comments to statements, and has the messages about text that is no token.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from inkling.errors import Diagnostic
from inkling.source import SourceText, Span

CLOSING = {"(": ")", "[": "]", "{": "}"}

DASHED_TOKENS = r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* )
    | (?P<NAME>     [^\W\d]\w* )
    | (?P<NUMBER>   -? [0-9]+ (?: \.[0-9]+ )? (?: [eE][+-]?[0-9]+ )? (?! \w ) )
    | (?P<TEXT>     ' (?: [^'\r\n] | '' )* ' )
    """
"""Tokens of languages with `--` comments and signed numbers, as a verbose regular expression to be continued."""

DASHED_COMMENTS = dict.fromkeys("/%", "start a comment with `--`")
"""What to write instead of the comment signs of other languages."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without its comment sign; it is `trailing` if a token precedes it on its line."""

    text: str
    span: Span
    trailing: bool


def comments_by_statement(
    source: SourceText, comments: Sequence[Comment], ends: Sequence[int]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """The comments before, inside and on the last line of each statement; then the comments after the last one.

    `ends` are the offsets at which statements end.
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
    """Comments as they are printed: every line starts with the comment sign."""
    lines = [line for comment in comments for line in (comment.splitlines() or [""])]
    return [f"{sign} {line}".rstrip() for line in lines]


_QUOTED = ("QUOTED", "REGISTER", "STRING", "TEXT")


@dataclass(frozen=True, slots=True)
class RawToken:
    """A word, number, string or symbol, before the parser decides which terminal of the grammar it is."""

    kind: str  # the group of the pattern that cut it out
    text: str
    span: Span
    first_on_line: bool

    @property
    def value(self) -> str:
        """The text without its quotes; a doubled quote inside is one quote."""
        if self.kind not in _QUOTED:
            return self.text
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote)

    @property
    def upper(self) -> str:
        """The word in capitals; empty if the token cannot be a keyword of `.ink`."""
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
    """The named groups of `pattern` are the kinds of tokens, except `SPACE` and `COMMENT`."""

    pattern: re.Pattern[str]
    unreadable: Callable[[SourceText, int], Diagnostic]  # the message where no group matches
    comment_text: Callable[[str], str] = _after_dashes
    rejected: Callable[[SourceText, RawToken], Diagnostic | None] = lambda source, token: None

    def scan(self, source: SourceText, start: int = 0) -> Scan:
        """Tokens and comments from an offset on; text that is no token is reported and skipped."""
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
    """The text from an offset to the end of its line, without trailing space."""
    line_end = source.text.find("\n", offset)
    return source.text[offset : len(source.text) if line_end < 0 else line_end].rstrip()


def unexpected_character(source: SourceText, offset: int, helps: Mapping[str, str]) -> Diagnostic:
    """Reports a malformed number or an unknown character; `helps` has a repair for some characters."""
    character = source.text[offset]
    if character.isdigit():
        word = re.match(r"[\w.]+", rest_of_line(source, offset))
        end = offset + (word.end() if word else 1)
        message = f"`{source.text[offset:end]}` is neither a number nor a name"
        return Diagnostic("INK0106", message, Span(offset, end), source)
    message = f"unexpected character `{character}`"
    help = (helps[character],) if character in helps else ()
    return Diagnostic("INK0106", message, Span(offset, offset + 1), source, helps=help)


def unclosed_quote(source: SourceText, offset: int, what: str = "string") -> Diagnostic:
    """Reports a quote that its line does not close, or an empty name between two quotes."""
    quote, rest = source.text[offset], rest_of_line(source, offset)
    if rest[1:2] == quote:
        helps = ("write '' for an empty string",) if (quote, what) == ('"', "name") else ()
        return Diagnostic("INK0104", f"a quoted {what} cannot be empty", Span(offset, offset + 2), source, helps=helps)
    return Diagnostic(
        "INK0104",
        f"the quote {quote} is not closed",
        Span(offset, offset + max(len(rest), 1)),
        source,
        label=f"a {what} ends on the line it starts on",
        helps=(f"close it with {quote}; inside, write {quote * 2} for one quote",),
    )


def open_brackets(raw: Sequence[RawToken]) -> list[RawToken]:
    """Brackets left open; a closing bracket of another kind leaves those inside it open."""
    left_open: list[RawToken] = []
    stack: list[RawToken] = []
    for token in raw:
        if token.is_symbol(*CLOSING):
            stack.append(token)
        elif token.is_symbol(*CLOSING.values()) and any(CLOSING[b.text] == token.text for b in stack):
            while CLOSING[stack[-1].text] != token.text:
                left_open.append(stack.pop())
            stack.pop()
    return sorted(left_open + stack, key=lambda bracket: bracket.span)
