"""Prints a pattern file in the standard layout."""

from inkling.language.kit.cursor import Number, Text
from inkling.language.kit.layout import HARD_LINE, WIDTH, Doc, Group, Nest, bracketed, joined, lay_out, written_file
from inkling.language.kit.scanning import comment_lines
from inkling.language.printer import format_statement
from inkling.language.sre import terms as t
from inkling.language.sre.reader import HEADERS
from inkling.language.syntax import Ident


def format_file(file: t.PatternFile) -> str:
    """The text of a pattern file; reading it gives an equal file, formatting it again the same text."""
    parts = [format_statement(file.stream)] if file.stream else []
    parts += [_commented(one.comments, _declare(one)) for one in file.declarations]
    parts += [
        _commented(pattern.comments, ("& " if idx else "", _pattern(pattern)))
        for idx, pattern in enumerate(file.patterns)
    ]
    return written_file(((part, False) for part in parts), file.comments)


def _commented(comments: tuple[str, ...], doc: Doc) -> str:
    return "\n".join([*comment_lines(comments), lay_out(doc, WIDTH)])


def _declare(declare: t.Declare) -> Doc:
    items = [_declaration(one) for one in declare.items]
    if len(items) == 1:
        return ("DECLARE ", items[0], ";")
    return ("DECLARE", Nest((HARD_LINE, joined((",", HARD_LINE), items))), ";")


def _declaration(declaration: t.Declaration) -> Doc:
    return bracketed(f"{declaration.sign}(", [_formula(one) for one in declaration.formulas], ")")


def _pattern(pattern: t.Pattern) -> Doc:
    order = list(HEADERS)
    headers = sorted(pattern.headers, key=lambda header: order.index(header.name.text))
    written = "".join(f"{{{header.name.text}:{_argument(header.value)}}}" for header in headers)
    return Group((_expression(pattern.expression), written))


def _expression(node: t.Expression) -> Doc:
    match node:
        case t.Single(formula=formula, register=register):
            return (_formula(formula), f'["{register.name}"]' if register else "")
        case t.Operation(op=op, items=items):
            return bracketed(f"{op}(", [_expression(item) for item in items], ")")


def _formula(node: t.Formula) -> Doc:
    match node:
        case t.Predicate(name=name, args=()):
            return name.text
        case t.Predicate(name=name, args=args):
            return f"{name.text}({', '.join(_argument(arg) for arg in args)})"
        case t.Negated(item=t.Negated() as item):
            return ("- ", _formula(item))  # two dashes start a comment
        case t.Negated(item=item):
            return ("-", _formula(item))
        case t.Joined(op=op, items=items):
            return bracketed(f"{op}(", [_formula(item) for item in items], ")")


def _argument(argument: t.Argument) -> str:
    match argument:
        case Ident(text=text):
            return text
        case Number(written=written) | Text(written=written):
            return written
        case t.Register(name=name):
            return f'"{name}"'
