"""Cuts the text of a rule file into raw tokens and comments."""

import re
from dataclasses import dataclass

from inkling.errors import Diagnostic
from inkling.source import SourceText, Span

_TOKEN = re.compile(
    r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  %[^\n]* | /\* .*? \*/ )
    | (?P<NAME>     [^\W\d_A-Z]\w* )
    | (?P<VARIABLE> [A-Z_]\w* )
    | (?P<DECIMAL>  [0-9]+ (?: \.[0-9]+ (?:[eE][+-]?[0-9]+)? | [eE][+-]?[0-9]+ ) )
    | (?P<INTEGER>  [0-9]+ )
    | (?P<QUOTED>   ' (?: [^'\r\n] | '' )+ ' )
    | (?P<TEXT>     " (?: [^"\r\n] | "" )* " )
    | (?P<STOP>     \. (?= \s | % | /\* | \Z ) )
    | (?P<ARROW>    <- )
    | (?P<IF>       :- )
    | (?P<COMPARISON> =:= | =\\= | \\== | \\= | == | =< | >= | < (?! = | > ) | > | = (?! > ) )
    | (?P<FOREIGN>  <= | <> | != | && | \|\| | -> | => | := )
    | (?P<SYMBOL>   \*\* | /(?!\*) | [(){}\[\],:.+*-] )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class RawToken:
    kind: str  # the group of `_TOKEN`
    text: str
    span: Span
    first_on_line: bool

    @property
    def value(self) -> str:
        """The text without quotes and with doubled quotes undone."""
        if self.kind not in ("QUOTED", "TEXT"):
            return self.text
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote)


@dataclass(frozen=True, slots=True)
class Comment:
    text: str
    span: Span
    trailing: bool


@dataclass(frozen=True, slots=True)
class Scan:
    tokens: tuple[RawToken, ...]
    comments: tuple[Comment, ...]
    problems: tuple[Diagnostic, ...]


def scan(source: SourceText) -> Scan:
    """All tokens and comments; what cannot be read is reported and skipped."""
    tokens: list[RawToken] = []
    comments: list[Comment] = []
    problems: list[Diagnostic] = []
    offset = 0
    on_new_line = True
    while offset < len(source.text):
        found = _TOKEN.match(source.text, offset)
        if found is None:
            problem = _unreadable(source, offset)
            problems.append(problem)
            offset = problem.span.end if problem.span else offset + 1
            on_new_line = False
            continue
        span = Span(offset, found.end())
        offset = found.end()
        if found.lastgroup == "SPACE":
            on_new_line = on_new_line or "\n" in found.group()
            continue
        if found.lastgroup == "COMMENT":
            comments.append(Comment(_comment_text(found.group()), span, not on_new_line))
            continue
        assert found.lastgroup is not None
        tokens.append(RawToken(found.lastgroup, found.group(), span, on_new_line))
        on_new_line = False
    return Scan(tuple(tokens), tuple(comments), tuple(problems))


def _comment_text(written: str) -> str:
    if written.startswith("%"):
        return written.lstrip("%").strip()
    lines = written[2:-2].strip().splitlines()
    return "\n".join(line.strip().removeprefix("*").strip() for line in lines)


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    line_end = source.text.find("\n", offset)
    rest = source.text[offset : len(source.text) if line_end < 0 else line_end].rstrip()
    whole = Span(offset, offset + max(len(rest), 1))
    if rest.startswith("/*"):
        return Diagnostic(
            "INK0104",
            "the comment /* is not closed",
            Span(offset, len(source.text)),
            source,
            helps=("close it with */",),
        )
    if character in "'\"":
        return Diagnostic(
            "INK0104",
            f"the quote {character} is not closed" if rest[1:2] != character else "a name in quotes has no characters",
            whole,
            source,
            label="a text ends on the line it starts on",
            helps=(f"close it with {character}; inside, write {character * 2} for one quote",),
        )
    helps = {
        ";": ("write one rule for each alternative", "a statement ends with `.`"),
        "#": ("start a comment with `%`",),
        "|": ("lists have no meaning here",),
        "!": ("write `not goal` for the opposite of a goal",),
    }.get(character, ())
    return Diagnostic("INK0106", f"unexpected character `{character}`", Span(offset, offset + 1), source, helps=helps)
