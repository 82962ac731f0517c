"""Writes patterns with the fewest parentheses that keep their meaning."""

from collections.abc import Sequence

from inkling.language import syntax as s
from inkling.language.kit.layout import LINE, Doc, Group, Nest, bracketed, joined
from inkling.language.names import AFTER_A_PATTERN, AFTER_A_WINDOW, STARTING_A_PATTERN, written_name
from inkling.language.printer.expressions import column_name, condition, decimal, expression, literal

# from the loosest operator to the tightest
_OR, _PAR, _AND, _RELATED, _CHAIN, _UNIT, _REPEATED, _PRIMARY = range(8)


def pattern(node: s.Component, at_least: int = _OR) -> Doc:
    """The document of a pattern, in parentheses when it binds looser than `at_least`."""
    doc = _bare(node)
    return ("(", doc, ")") if _level(node) < at_least else doc


def body_clauses(body: s.Body) -> list[Doc]:
    clauses: list[Doc] = []
    if body.where is not None:
        clauses.append(condition("WHERE", body.where))
    if body.within is not None:
        clauses.append(f"WITHIN {window(body.within)}")
    if body.having is not None:
        clauses.append(condition("HAVING", body.having))
    return clauses


def window(node: s.Window) -> str:
    match node:
        case s.Duration():
            return duration(node)
        case s.PointCount(n):
            return f"{n} POINTS"
        case s.EventCount(n):
            return f"{n} EVENTS"


def duration(node: s.Duration) -> str:
    return f"{decimal(node.amount)} {node.unit}"


def rate(node: s.Rate) -> str:
    per = node.per.unit.removesuffix("S") if node.per.amount == 1 else duration(node.per)
    return f"{decimal(node.count)} PER {per}"


def _level(node: s.Component) -> int:
    match node:
        case s.Or():
            return _OR
        case s.Par():
            return _PAR
        case s.And():
            return _AND
        case s.NotBetween() | s.Quantified():
            return _RELATED
        case s.Allen() | s.Except() | s.LeftJoin():
            return _CHAIN
        case s.Check():
            return _UNIT
        case s.Repeat():
            return _REPEATED
        case _:
            return _PRIMARY


def _bare(node: s.Component) -> Doc:
    match node:
        case s.Leaf():
            return _leaf(node)
        case s.Seq(policy, components):
            word = "SEQ(" if policy == "ANY" else f"SEQ {policy}("
            return bracketed(word, [pattern(part) for part in components], ")")
        case s.Or(items):
            return _infix("OR", [pattern(item, _PAR) for item in items])
        case s.Par(items):
            return _infix("PAR", [pattern(item, _AND) for item in items])
        case s.And(items):
            return _infix("AND", [pattern(item, _RELATED) for item in items])
        case s.Allen(left, relations, right):
            return _infix(_relations(relations), [pattern(left, _CHAIN), pattern(right, _UNIT)])
        case s.Except(left, right):
            return _infix("EXCEPT", [pattern(left, _CHAIN), pattern(right, _UNIT)])
        case s.LeftJoin(left, relations, right):
            word = f"OPTIONAL {_relations(relations)}" if relations else "OPTIONAL"
            return _infix(word, [pattern(left, _CHAIN), pattern(right, _UNIT)])
        case s.NotBetween(absent, first, last):
            within = ("BETWEEN ", pattern(first, _UNIT), " AND ", pattern(last, _UNIT))
            return Group(("NOT ", pattern(absent, _UNIT), LINE, within))
        case s.Repeat(inner, low, high, mode):
            suffix = f" {mode}" if mode else ""
            return (pattern(inner, _PRIMARY), repetition_text(low, high), suffix)
        case s.Check(inner, checked):
            return (pattern(inner, _REPEATED), " CHECK (", expression(checked), ")")
        case s.Nested(body, var):
            clauses = [pattern(body.pattern), *body_clauses(body)]
            suffix = f" {_variable(var)}" if var else ""
            return Group(("(", Nest(joined(LINE, clauses), 1), ")", suffix))
        case s.Complement(inner):
            return bracketed("COMPLEMENT(", [pattern(inner)], ")")
        case s.WindowOf():
            return _window_of(node)
        case s.AtTime(time):
            return f"AT {literal(time.value)}"
        case s.Quantified(left, relations, right, same):
            suffix = f" ON SAME {column_name(same)}" if same else ""
            sides: list[Doc] = [_quantity(left), (_quantity(right), suffix)]
            return _infix(_relations(relations), sides)
        case s.Absent(inner):
            return ("NOT ", pattern(inner, _UNIT))
        case s.OptionalPart(inner):
            return ("OPTIONAL ", pattern(inner, _UNIT))
        case s.After(length):
            return f"AFTER {duration(length)}"
        case s.AtStart():
            return "AT START"


def _leaf(leaf: s.Leaf) -> Doc:
    reserved = STARTING_A_PATTERN
    if leaf.var is not None and leaf.var.text.upper() == "START":
        reserved = reserved | {"AT"}
    types = [written_name(leaf.types[0].text, reserved)] if leaf.types else ["_"]
    types += [written_name(other.text) for other in leaf.types[1:]]
    var = f" {_variable(leaf.var)}" if leaf.var else ""
    head = " | ".join(types) + var
    if leaf.condition is None:
        return head
    return (head, Group(("[", Nest(expression(leaf.condition)), "]")))


def _window_of(node: s.WindowOf) -> Doc:
    head = f"WINDOW {column_name(node.stream)} {written_name(node.var.text, AFTER_A_WINDOW)}"
    checked: Doc = ("[", expression(node.condition), "]") if node.condition is not None else ""
    since = f" SINCE {column_name(node.since)}" if node.since else ""
    return (head, checked, f" LAST {window(node.last)}{since}")


def _quantity(node: s.Quantity) -> str:
    count = "" if node.count is None else f" {_count(node.count)}"
    var = f" {written_name(node.var.text, AFTER_A_PATTERN)}" if node.var else ""
    return f"{node.quantifier}{count} {column_name(node.stream)}{var}"


def _count(node: int | s.EachCount) -> str:
    if isinstance(node, int):
        return str(node)
    return f"{column_name(node.name)} FROM {node.least} TO {node.most}"


def repetition_text(low: int, high: int | None) -> str:
    """How often, as it is written after what is repeated."""
    match low, high:
        case 1, None:
            return "+"
        case 0, None:
            return "*"
        case 0, 1:
            return "?"
        case _, None:
            return f"{{{low},}}"
        case _ if low == high:
            return f"{{{low}}}"
        case _:
            return f"{{{low},{high}}}"


def _relations(relations: tuple[s.Relation, ...]) -> str:
    return relations[0] if len(relations) == 1 else "{" + ", ".join(relations) + "}"


def _infix(word: str, parts: Sequence[Doc]) -> Doc:
    return Group(joined((LINE, f"{word} "), parts))


def _variable(ident: s.Ident) -> str:
    return written_name(ident.text, AFTER_A_PATTERN)
