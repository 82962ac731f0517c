"""Prints a query file in the standard layout."""

from inkling.language.epsparql import terms as t
from inkling.language.epsparql.tokens import escaped
from inkling.language.kit.cursor import Number
from inkling.language.kit.layout import HARD_LINE, LINE, WIDTH, Doc, Group, Nest, joined, lay_out, written_file
from inkling.language.kit.scanning import comment_lines
from inkling.language.printer import format_statement

_FUNCTIONS = {
    "GETDURATION": "getDURATION", "GETSTARTTIME": "getSTARTTIME", "GETENDTIME": "getENDTIME", "ISIRI": "isIRI",
    "ISURI": "isURI", "ISBLANK": "isBLANK", "ISLITERAL": "isLITERAL", "ISNUMERIC": "isNUMERIC",
    "LANGMATCHES": "langMATCHES", "SAMETERM": "sameTERM",
}  # fmt: skip
_LEVELS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5}
_RELATION, _UNARY = 3, 6


def format_file(file: t.QueryFile) -> str:
    """The text of a query file; reading it gives an equal file, formatting it again the same text."""
    written = [(format_statement(one), idx > 0 and not one.comments) for idx, one in enumerate(file.declared)]
    for query in file.queries:
        text = "\n".join([*comment_lines(query.comments, "#"), lay_out(_query(query), WIDTH)])
        written.append((text + ";", False))
    return written_file(written, file.comments, "#")


def _query(query: t.Query) -> Doc:
    lines: list[Doc] = []
    for prefix in query.prologue:
        lines.append(f"BASE <{prefix.iri}>" if prefix.name is None else f"PREFIX {prefix.name}: <{prefix.iri}>")
    if query.name:
        lines.append(f"REGISTER QUERY {query.name.text} AS")
    form = query.form
    if isinstance(form, t.Select):
        lines.append(_items(form))
    else:
        lines.append(("CONSTRUCT ", _in_braces(_triples(form.template))))
    for one in query.dataset:
        named, entailment = "NAMED " if one.named else "", " ENTAILMENT RDFS" if one.entails else ""
        lines.append(f"FROM {named}{one.iri.written}{entailment}")
    lines.append(_where(form.where))
    if form.within:
        lines.append(f"WITHIN {form.within.written}")
    return joined(HARD_LINE, lines)


def _items(form: t.Select) -> Doc:
    if not form.items:
        return "SELECT *"
    return ("SELECT ", Nest(Group(joined(LINE, [_item(one) for one in form.items]))))


def _item(item: t.Selected) -> str:
    name = f"?{item.name.name}"
    return (
        name
        if isinstance(item.value, t.Variable) and item.value.name == item.name.name
        else (f"({_expression(item.value)} AS {name})")
    )


def _where(group: t.Group) -> Doc:
    if any(isinstance(one, t.Block) for one in group.items):
        return ("WHERE ", _in_braces(_group(group)))
    return ("WHERE", Nest((HARD_LINE, _group(group))))


def _group(group: t.Group) -> Doc:
    return joined(HARD_LINE, [_group_item(one) for one in group.items])


def _group_item(item: t.Block | t.Filter | t.Part) -> Doc:
    match item:
        case t.Block():
            return _triples(item)
        case t.Filter(condition=condition):
            return ("FILTER (", Nest(_condition(condition)), ")")
        case t.Part(op=op, inner=inner, graph=graph):
            name = None if graph is None else _term(graph)
            head = f"GRAPH {name} " if name else f"{op} " if op else ""
            return (head, _in_braces(_inner(inner)))


def _inner(inner: t.Group | t.Select) -> Doc:
    if isinstance(inner, t.Group):
        return _group(inner)
    lines: list[Doc] = [_items(inner), _where(inner.where)]
    if inner.within:
        lines.append(f"WITHIN {inner.within.written}")
    return joined(HARD_LINE, lines)


def _in_braces(content: Doc) -> Doc:
    return Group(("{", Nest((LINE, content)), LINE, "}"))


def _triples(block: t.Block) -> Doc:
    return joined((" .", LINE), [_triple(one) for one in block.triples])


def _triple(one: t.Triples) -> str:
    properties = _properties(one.properties)
    return f"{_term(one.subject)} {properties}" if properties else _term(one.subject)


def _properties(properties: tuple[t.Property, ...]) -> str:
    return " ; ".join(f"{_term(one.predicate)} {', '.join(map(_term, one.objects))}" for one in properties)


def _term(term: t.Term) -> str:
    match term:
        case t.Iri(written=written) | Number(written=written):
            return written
        case t.Blank(label=label):
            return f"_:{label}"
        case t.Variable(name=name):
            return f"?{name}"
        case t.Truth(value=value):
            return "true" if value else "false"
        case t.Unnamed(properties=properties):
            return f"[ {_properties(properties)} ]" if properties else "[]"
        case t.Listed(items=items):
            return f"({' '.join(map(_term, items))})"
        case t.Text(value=value, language=language, datatype=datatype):
            suffix = f"@{language}" if language else f"^^{datatype.written}" if datatype else ""
            return escaped(value) + suffix


def _condition(node: t.Expr) -> Doc:
    """The parts of a conjunction below each other, if they do not fit."""
    if isinstance(node, t.Joined) and node.op == "&&":
        return Group(joined((" &&", LINE), [_expression(item, _LEVELS["&&"] + 1) for item in node.items]))
    return _expression(node)


def _expression(node: t.Expr, level: int = 0) -> str:
    match node:
        case t.Joined(op=op, items=items):
            own = _LEVELS[op]
            written = f" {op} ".join(_expression(item, own + 1) for item in items)
        case t.Comparison(op=op, left=left, right=right):
            own = _RELATION
            written = f"{_expression(left, own + 1)} {op} {_expression(right, own + 1)}"
        case t.Arithmetic(op=op, left=left, right=right):
            own = _LEVELS[op]
            written = f"{_expression(left, own)} {op} {_expression(right, own + 1)}"
        case t.Not(item=item):
            return f"!{_expression(item, _UNARY)}"
        case t.Minus(item=item):
            return f"-{_expression(item, _UNARY)}"
        case t.Called(name=name, args=args):
            return f"{_FUNCTIONS.get(name, name)}({', '.join(map(_expression, args))})"
        case t.Cast(datatype=datatype, arg=arg):
            return f"{datatype.written}({_expression(arg)})"
        case _:
            return _term(node)
    return f"({written})" if own < level else written
