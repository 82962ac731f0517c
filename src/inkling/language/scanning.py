"""Cuts a text into tokens and comments by one regular expression, whatever the language."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from inkling.errors import Diagnostic
from inkling.language.comments import Comment
from inkling.source import SourceText, Span

Token = TypeVar("Token")


@dataclass(frozen=True, slots=True)
class Scan(Generic[Token]):
    tokens: tuple[Token, ...]
    comments: tuple[Comment, ...]
    problems: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Scanner(Generic[Token]):
    """What a language makes of the groups of `pattern`, of which `SPACE` and `COMMENT` are no tokens."""

    pattern: re.Pattern[str]
    token: Callable[[SourceText, str, str, Span, bool], Token | Diagnostic]  # group, text, place, first on its line
    comment_text: Callable[[str], str]
    unreadable: Callable[[SourceText, int], Diagnostic]

    def scan(self, source: SourceText, start: int = 0) -> Scan[Token]:
        """Tokens and comments from a place on; what cannot be read is reported and skipped."""
        tokens: list[Token] = []
        comments: list[Comment] = []
        problems: list[Diagnostic] = []
        offset = start
        on_new_line = True
        while offset < len(source.text):
            found = self.pattern.match(source.text, offset)
            if found is None:
                problem = self.unreadable(source, offset)
                problems.append(problem)
                offset = problem.span.end if problem.span else offset + 1
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
            token = self.token(source, group, found.group(), span, on_new_line)
            if isinstance(token, Diagnostic):
                problems.append(token)
            else:
                tokens.append(token)
            on_new_line = False
        return Scan(tuple(tokens), tuple(comments), tuple(problems))


def rest_of_line(source: SourceText, offset: int) -> str:
    """The text from a place to the end of its line, without trailing space."""
    line_end = source.text.find("\n", offset)
    return source.text[offset : len(source.text) if line_end < 0 else line_end].rstrip()


def without_quotes(text: str) -> str:
    """A text without the quotes around it and with doubled quotes undone."""
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)
