"""Prints a query file in the standard layout."""

from inkling.language.kit.cursor import Number, Text
from inkling.language.kit.layout import HARD_LINE, WIDTH, Doc, Nest, bracketed, joined, lay_out, written_file
from inkling.language.kit.scanning import comment_lines
from inkling.language.printer import format_statement
from inkling.language.sase import terms as t

_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}
_MINUS = 3


def format_file(file: t.QueryFile) -> str:
    """The text of a query file; reading it gives an equal file, formatting it again the same text."""
    written = [(format_statement(one), idx > 0 and not one.comments) for idx, one in enumerate(file.streams)]
    for query in file.queries:
        text = "\n".join([*comment_lines(query.comments), lay_out(_query(query), WIDTH)])
        written.append((text + ";", False))
    return written_file(written, file.comments)


def _query(query: t.Query) -> Doc:
    components = [_component(one) for one in query.components]
    lines: list[Doc] = [f"{query.name.text}:"] if query.name else []
    lines.append(("PATTERN ", bracketed("SEQ(", components, ")")))
    if query.where:
        where = _conjunction(query.where)
        lines.append(("WHERE ", where if isinstance(query.where, t.Selection) else Nest(where)))
    if query.within:
        lines.append(f"WITHIN {_window(query.within)}")
    if query.threshold or query.having:
        threshold = f"confidence {query.threshold.op} {_term(query.threshold.least)}" if query.threshold else ""
        between = " AND " if query.threshold and query.having else ""
        having = _conjunction(query.having, bool(query.threshold)) if query.having else ""
        lines.append(("HAVING ", threshold, between, Nest(having)))
    if query.returned:
        lines.append(f"RETURN {', '.join(_returned(one) for one in query.returned)}")
    if query.top:
        lines.append(f"TOP {query.top.written}")
    return joined(HARD_LINE, lines)


def _component(one: t.Component) -> str:
    types = " | ".join(type.text for type in one.types)
    if one.negated:
        return f"~({types} {one.var.text})"
    return f"{types}+ {one.var.text}[]" if one.repeated else f"{types} {one.var.text}"


def _window(window: t.Window) -> str:
    if window.unit is None:
        return window.amount.written
    unit = window.unit.lower()
    return f"{window.amount.written} {unit.removesuffix('s') if window.amount.size == 1 else unit}"


def _returned(one: t.Returned) -> str:
    value = _variable(one.value) if isinstance(one.value, t.Variable) else _term(one.value)
    return f"{value} AS {one.alias.text}" if one.alias else value


def _variable(variable: t.Variable) -> str:
    return f"{variable.name.text}[]" if variable.repeated else variable.name.text


def _conjunction(condition: t.Condition, inside: bool = False) -> Doc:
    """The parts of a conjunction below each other."""
    if isinstance(condition, t.Joined) and condition.op == "AND":
        return joined((" AND", HARD_LINE), [_condition(item, "AND") for item in condition.items])
    return _condition(condition, "AND" if inside else "")


def _condition(node: t.Condition, inside: str = "") -> Doc:
    match node:
        case t.Comparison(op=op, left=left, right=right):
            return f"{_term(left)} {op} {_term(right)}"
        case t.Equivalence(columns=columns):
            return f"[{', '.join(column.text for column in columns)}]"
        case t.Negated(item=item):
            return ("NOT ", _condition(item, "NOT"))
        case t.Joined(op=op, items=items):
            written = joined(f" {op} ", [_condition(item, op) for item in items])
            return ("(", written, ")") if inside == "NOT" or (inside, op) == ("AND", "OR") else written
        case t.Selection(strategy=strategy, variables=variables, condition=condition):
            head = f"{strategy.text}({', '.join(map(_variable, variables))})"
            if condition is None:
                return head
            return (head, " {", Nest((HARD_LINE, _conjunction(condition))), HARD_LINE, "}")


def _term(node: t.Term, level: int = 0) -> str:
    match node:
        case Number(written=written) | Text(written=written):
            return written
        case t.Percent(written=written):
            return f"{written}%"
        case t.Truth(value=value):
            return "TRUE" if value else "FALSE"
        case t.Value(var=var, index=index, column=column):
            return f"{var.text}{_index(var.text, index)}.{column.text}"
        case t.Aggregated(function=function, var=var, earlier=earlier, column=column):
            read = f".{column.text}" if column else ""
            return f"{function.text}({var.text}[{'..i-1' if earlier else ''}]{read})"
        case t.Minus(item=item):
            return f"-{_term(item, _MINUS)}" if not isinstance(item, t.Minus) else f"- {_term(item, _MINUS)}"
        case t.Arithmetic(op=op, left=left, right=right):
            own = _LEVELS[op]
            written = f"{_term(left, own)} {op} {_term(right, own + 1)}"
            return f"({written})" if own < level else written


def _index(var: str, index: t.Index | None) -> str:
    if index is None:
        return ""
    return f"[{var}.LEN]" if index == "LEN" else f"[{index}]"
