"""The tokens of a query, the escapes of its strings, and the messages about text that is no token."""

import re

from inkling.errors import Diagnostic
from inkling.language.kit.scanning import Scanner, rest_of_line, unexpected_character
from inkling.source import SourceText, Span

_LOCAL = r"(?: [\w%] (?: [\w%.-]* [\w%-] )? )"
_TOKEN = re.compile(
    rf"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<IRI>      < (?! [?$=] ) [^<>"{{}}|^`\\\s]* > )
    | (?P<COMMENT>  \#[^\n]* )
    | (?P<VARIABLE> [?$] \w+ )
    | (?P<BLANK>    _: {_LOCAL} )
    | (?P<PREFIXED> (?: [^\W\d_] (?: [\w.-]* [\w-] )? )? : {_LOCAL}? )
    | (?P<NAME>     [^\W\d]\w* )
    | (?P<LANGUAGE> @ [A-Za-z]+ (?: - [A-Za-z0-9]+ )* )
    | (?P<NUMBER>   (?: [0-9]+ (?: \.[0-9]+ )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? (?! \w ) )
    | (?P<LITERAL>  \"{{3}} (?: (?! \"{{3}} ) (?: [^\\] | \\. ) )* \"{{3}}
                  | '{{3}} (?: (?! '{{3}} ) (?: [^\\] | \\. ) )* '{{3}}
                  | " (?: [^"\\\r\n] | \\. )* " | ' (?: [^'\\\r\n] | \\. )* ' )
    | (?P<SYMBOL>   \^\^ | && | \|\| | != | <= | >= | [;:,.=<>(){{}}\[\]+*/!|^?-] )
    """,
    re.VERBOSE,
)
_INSTEAD = {"&": "write `&&`", "“": 'write strings in straight quotes: `"rain"`'}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    if character not in "\"'":
        return unexpected_character(source, offset, _INSTEAD)
    end = offset + max(len(rest_of_line(source, offset)), 1)
    return Diagnostic(
        "INK0104",
        f"the quote {character} is not closed",
        Span(offset, end),
        source,
        label="a string ends on the line it starts on",
        helps=(f"close it with {character}; inside, write \\{character}",),
    )


def _comment_text(written: str) -> str:
    return written[1:].strip()


SCANNER = Scanner(_TOKEN, _unreadable, _comment_text)


def unescaped(written: str) -> str | None:
    """The text of a string in quotes; None if it has an escape that is none."""
    width = 3 if written[:3] in ('"""', "'''") and len(written) >= 6 else 1
    inner = written[width:-width]
    if any(one[0] not in _ESCAPED and len(one) == 1 for one in _ESCAPE.findall(inner)):
        return None
    codes = [int(one[1:], 16) for one in _ESCAPE.findall(inner) if len(one) > 1]
    if any(code > 0x10FFFF or 0xD800 <= code < 0xE000 for code in codes):
        return None
    return _ESCAPE.sub(lambda found: _character(found[1]), inner)


def _character(escape: str) -> str:
    return _ESCAPED[escape] if len(escape) == 1 else chr(int(escape[1:], 16))


def escaped(text: str) -> str:
    """The text in double quotes."""
    marks = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f"}
    return '"' + "".join(marks.get(one, one) for one in text) + '"'
