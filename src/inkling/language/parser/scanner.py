"""Cuts program text into raw tokens, before anyone knows which words are keywords."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from inkling.errors import Diagnostic
from inkling.language.names import WORD
from inkling.source import SourceText, Span

TokenKind: TypeAlias = Literal["WORD", "QUOTED", "INTEGER", "DECIMAL", "STRING", "SYMBOL", "FOREIGN"]

_TOKEN = re.compile(
    rf"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* )
    | (?P<WORD>     {WORD} )
    | (?P<DECIMAL>  [0-9]+ (?: \.[0-9]+ (?:[eE][+-]?[0-9]+)? | [eE][+-]?[0-9]+ ) )
    | (?P<INTEGER>  [0-9]+ )
    | (?P<STRING>   ' (?: [^'\r\n] | '' )* ' )
    | (?P<QUOTED>   " (?: [^"\r\n] | "" )+ " | ` (?: [^`\r\n] | `` )+ ` )
    | (?P<FOREIGN>  == | && | \|\| | := | -> | => )
    | (?P<SYMBOL>   <= | >= | <> | != | [(){{}}\[\],;.|=<>+*/%?-] )
    """,
    re.VERBOSE,
)
_CURLY_QUOTES = dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟", "'")


@dataclass(frozen=True, slots=True)
class RawToken:
    """A word, number, text or symbol; `value` is without quotes and with doubled quotes undone."""

    kind: TokenKind
    text: str
    span: Span
    first_on_line: bool

    @property
    def value(self) -> str:
        if self.kind not in ("STRING", "QUOTED"):
            return self.text
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote)

    @property
    def upper(self) -> str:
        """The word in capitals, or nothing for what cannot be a keyword."""
        return self.text.upper() if self.kind == "WORD" and self.text.isascii() else ""

    def is_symbol(self, symbols: str) -> bool:
        return self.kind == "SYMBOL" and self.text in symbols


@dataclass(frozen=True, slots=True)
class Comment:
    """A line comment without its dashes; `trailing` when something precedes it on its line."""

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
    text = source.text
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        if found is None:
            problem = _unreadable(source, offset)
            problems.append(problem)
            offset = problem.span.end if problem.span else offset + 1
            on_new_line = False
            continue
        span = Span(offset, found.end())
        offset = found.end()
        match found.lastgroup:
            case "SPACE":
                on_new_line = on_new_line or "\n" in found.group()
                continue
            case "COMMENT":
                comments.append(Comment(found.group()[2:].strip(), span, not on_new_line))
                continue
            case "WORD" if not found.group().isidentifier():
                problems.append(_odd_word(source, found.group(), span))
            case kind:
                tokens.append(RawToken(_kind(kind), found.group(), span, on_new_line))
        on_new_line = False
    return Scan(tuple(tokens), tuple(comments), tuple(problems))


def _kind(group: str | None) -> TokenKind:
    match group:
        case "WORD" | "QUOTED" | "INTEGER" | "DECIMAL" | "STRING" | "SYMBOL" | "FOREIGN":
            return group
        case _:
            raise AssertionError(f"the scanner has no token kind {group}")


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    line_end = source.text.find("\n", offset)
    rest = source.text[offset : len(source.text) if line_end < 0 else line_end].rstrip()
    if character in "'\"`":
        if rest[1:2] == character:
            return Diagnostic(
                "INK0104",
                "a name in quotes has at least one character",
                Span(offset, offset + 2),
                source,
                helps=("write '' for an empty text",) if character == '"' else (),
            )
        what = "text" if character == "'" else "name"
        return Diagnostic(
            "INK0104",
            f"the quote {character} is not closed",
            Span(offset, offset + len(rest)),
            source,
            label=f"a {what} ends on the line it starts on",
            helps=(f"close it with {character}; inside, write {character * 2} for one quote",),
        )
    here = Span(offset, offset + 1)
    if character in _CURLY_QUOTES:
        return Diagnostic(
            "INK0106",
            f"curly quote `{character}` where a straight quote belongs",
            here,
            source,
            helps=("write texts between straight single quotes, for example 'parked'",),
        )
    if character == "#" or rest.startswith("//"):
        return Diagnostic(
            "INK0106",
            f"unexpected character `{character}`",
            Span(offset, offset + len(rest)),
            source,
            helps=("start a comment with `--`",),
        )
    return Diagnostic(
        "INK0106",
        f"unexpected character {_character_name(character)}",
        here,
        source,
        helps=_instead_of(rest),
    )


def _instead_of(rest: str) -> tuple[str, ...]:
    match rest[0]:
        case "!":
            return ("write `NOT` to negate a condition or a pattern, `<>` for unequal",)
        case "&":
            return ("write `AND`",)
        case "^":
            return ("write a product or a function for powers",)
        case _ if rest[1:2].isalpha():
            return ("write a name with such a character between double quotes",)
        case _:
            return ()


def _character_name(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"


def _odd_word(source: SourceText, word: str, span: Span) -> Diagnostic:
    good = next(n for n in range(len(word), -1, -1) if n == 0 or word[:n].isidentifier())
    odd = span.start + good
    return Diagnostic(
        "INK0106",
        f"unexpected character {_character_name(word[good])} in the name `{word}`",
        Span(odd, odd + 1),
        source,
        helps=(f'write "{word}" between double quotes to keep it in the name',),
    )
