"""Prints a query file in the standard layout."""

from inkling.language.kit.cursor import Number, Text
from inkling.language.kit.layout import LINE, WIDTH, Doc, Group, Nest, bracketed, joined, lay_out, written_file
from inkling.language.kit.scanning import comment_lines
from inkling.language.lahar import terms as t
from inkling.language.syntax import Ident


def format_file(file: t.QueryFile) -> str:
    """The text of a query file; reading it gives an equal file, formatting it again the same text."""
    written: list[tuple[str, bool]] = []
    before: type[t.Statement] | None = None
    for one in file.statements:
        text = "\n".join([*comment_lines(one.comments), lay_out(_statement(one), WIDTH)])
        written.append((text, not isinstance(one, t.NamedQuery) and not one.comments and type(one) is before))
        before = type(one)
    return written_file(written, file.comments)


def _statement(node: t.Statement) -> Doc:
    match node:
        case t.Stream(name=name, key=key, values=values, kind=kind):
            between = (" | " if key else "| ") if values else ""
            named = "".join(
                f" {what} {column.text}"
                for what, column in (("time", node.time), ("probability", node.probability))
                if column
            )
            return f"stream {name.text}({_columns(key)}{between}{_columns(values)}) {kind}{named};"
        case t.Relation(name=name, columns=columns, path=path):
            source = f" from {path.written}" if path else ""
            return f"relation {name.text}({_columns(columns)}){source};"
        case t.NamedQuery(name=name, head=head, ever=ever, query=query):
            variables = ", ".join(one.text for one in head)
            asked = f"{name.text}({variables}){' ever' if ever else ''} :"
            return Group((asked, Nest((LINE, _query(query))), ";"))


def _columns(columns: tuple[t.Column, ...]) -> str:
    return ", ".join(f"{one.name.text}:{one.type.text}" if one.type else one.name.text for one in columns)


def _query(node: t.Query) -> Doc:
    match node:
        case t.Goal(type=type, terms=terms):
            return f"{type.text}({', '.join(_term(term) for term in terms)})"
        case t.Selected(condition=condition, query=query):
            return (f"sigma[{_condition(condition)}]", bracketed("(", [_query(query)], ")"))
        case t.Plus(query=query, kept=kept, condition=condition):
            names = ", ".join(one.text for one in kept)
            return ("(", _query(query), f")+<{{{names}}}, {_condition(condition)}>")
        case t.Sequence(parts=parts):
            return Group(joined((" ;", LINE), [_query(part) for part in parts]))


def _condition(node: t.Condition, inside: str = "") -> str:
    match node:
        case t.Truth():
            return "true"
        case t.Comparison(op=op, left=left, right=right):
            return f"{_term(left)} {op} {_term(right)}"
        case t.Atom(relation=relation, terms=terms):
            return f"{relation.text}({', '.join(_term(term) for term in terms)})"
        case t.Negated(item=item):
            return f"not {_condition(item, 'not')}"
        case t.Joined(op=op, items=items):
            written = f" {op} ".join(_condition(item, op) for item in items)
            return f"({written})" if inside == "not" or (inside, op) == ("and", "or") else written


def _term(term: t.Term) -> str:
    match term:
        case Ident(text=text):
            return text
        case Number(written=written) | Text(written=written):
            return written
        case t.Anything():
            return "_"
