"""Programs and statements as text: clauses in one order, one per line where a statement is long."""

from collections.abc import Callable
from typing import TypeVar

from inkling.language import syntax as s
from inkling.language.kit.layout import (
    HARD_LINE,
    LINE,
    WIDTH,
    Doc,
    Group,
    Nest,
    bracketed,
    joined,
    lay_out,
    written_file,
)
from inkling.language.kit.scanning import comment_lines
from inkling.language.names import AFTER_TIME, written_name, written_text
from inkling.language.printer.expressions import call, column_name, condition, expression, number
from inkling.language.printer.patterns import body_clauses, duration, pattern, rate, window

ONE_LINE = 10**9

T = TypeVar("T")


def format_program(program: s.Program, *, width: int = WIDTH) -> str:
    """The text of a program; parsing it gives an equal program, formatting it again the same text.

    >>> from inkling.language import parse
    >>> print(format_program(parse("stream A(x int) time t; event e as pattern A a;")), end="")
    STREAM A(x INT) TIME t;
    <BLANKLINE>
    EVENT e AS
      PATTERN A a;
    """
    written: list[tuple[str, bool]] = []
    previous: s.Statement | None = None
    for node in program.statements:
        text = format_statement(node, width=width)
        written.append((text, type(node) is type(previous) and "\n" not in written[-1][0] + text))
        previous = node
    return written_file(written, program.comments)


def format_statement(node: s.Statement, *, width: int = WIDTH) -> str:
    """The text of one statement with its comments above it and its semicolon."""
    text = lay_out((statement(node), ";"), width)
    return "\n".join([*comment_lines(node.comments), text])


def format_expression(node: s.Expr) -> str:
    """The text of a value or a condition on one line."""
    return lay_out(Group(expression(node)), ONE_LINE)


def format_pattern(node: s.Component) -> str:
    """The text of a pattern on one line."""
    return lay_out(Group(pattern(node)), ONE_LINE)


def statement(node: s.Statement) -> Doc:
    """The document of a statement without its semicolon."""
    match node:
        case s.StreamDecl():
            head = f"STREAM {column_name(node.name)}("
            return _with_options(_columns(head, node.columns), _stream_options(node))
        case s.TableDecl(name, columns, path):
            head = f"TABLE {column_name(name)}("
            return _with_options(_columns(head, columns), [f"FROM {written_text(path)}"])
        case s.RuleDecl(head, None):
            return ("RULE ", call(head))
        case s.RuleDecl(head, body) if body is not None:
            return Group(("RULE ", call(head), Nest((LINE, condition("IF", body)))))
        case s.EventDecl():
            return _event(node)
        case s.ForecastDecl():
            named = "" if node.name is None else f"{column_name(node.name)} OF "
            head = f"FORECAST {named}{column_name(node.event)} {_kind(node.kind)}"
            return _with_options(head, _forecast_options(node))
        case _:
            raise AssertionError(f"no such statement: {node}")


def _with_options(head: Doc, options: list[Doc]) -> Doc:
    return Group((head, Nest(tuple((LINE, option) for option in options))))


def _columns(head: str, columns: tuple[s.ColumnDecl, ...]) -> Doc:
    return bracketed(head, [f"{column_name(c.name)} {column_name(c.type)}" for c in columns], ")")


def _option(words: str, value: T | None, text: Callable[[T], Doc] = str) -> list[Doc]:
    """An option with its value, or nothing where the statement does not have it; an empty value is none."""
    return [] if value is None or value == () else [(f"{words} ", text(value))]


def _stream_options(node: s.StreamDecl) -> list[Doc]:
    given = f" GIVEN {_names(node.given)}" if node.given else ""
    derived: list[Doc] = [(f"{column_name(one.name)} = ", expression(one.value)) for one in node.derive]
    late, speculative = ("LATENESS", " SPECULATIVE") if node.speculative else ("LATE", "")
    how_long = f" FOR {duration(node.op_for)}" if node.op_for is not None else ""
    return [
        *_option("ID", node.id, column_name),
        *_option("KEY", node.key, _names),
        *([] if node.time is None else [_time(node.time)]),
        *_option("EPOCH", node.epoch, lambda unit: unit.text),
        *_option("AT MOST", node.at_most, duration),
        *_option("ORDER BY", node.order_by, column_name),
        *_option("TICK", node.tick, duration),
        *_option("PROBABILITY", node.probability, lambda column: column_name(column) + given),
        *([] if node.numbered_by is None else [_numbered(node.numbered_by, node)]),
        *([] if node.segments is None else [_segments(node.segments)]),
        *([("DERIVE ", Group(Nest(joined((",", LINE), derived))))] if derived else []),
        *([] if node.reset_when is None else [condition("RESET WHEN", node.reset_when)]),
        *_option(late, node.late, lambda span: duration(span) + speculative),
        *_option("AHEAD", node.ahead, duration),
        *_option("OP", node.op, lambda column: column_name(column) + how_long),
    ]


def _time(node: s.TimeDecl) -> str:
    match node:
        case s.TimePoint(column):
            return f"TIME {written_name(column.text, AFTER_TIME)}"
        case s.TimeSpan(start, end):
            return f"TIME FROM {column_name(start)} TO {column_name(end)}"
        case s.TimeBetween(lo, hi, weights):
            weighted = f" WEIGHTS {column_name(weights)}" if weights else ""
            return f"TIME BETWEEN {column_name(lo)} AND {column_name(hi)}{weighted}"
        case s.TimeAbout(column, error):
            return f"TIME {written_name(column.text, AFTER_TIME)} {_error(error)}"


def _error(node: s.Duration | s.Ident | s.ClockErrors) -> str:
    match node:
        case s.Duration():
            return f"± {duration(node)}"
        case s.Ident():
            return f"± {column_name(node)}"
        case s.ClockErrors(column, usual, others):
            named = (f", {duration(one.at_most)} FOR {written_text(one.clock)}" for one in others)
            return f"CLOCK {column_name(column)} ERROR {duration(usual)}{''.join(named)}"


def _numbered(column: s.Ident, node: s.StreamDecl) -> Doc:
    options = (
        *_option("NUMBERED BY", column, column_name),
        *_option("GAPS ERLANG", node.erlang),
        *_option("INTENSITY", node.intensity, column_name),
        *_option("KNOWN FROM", node.known, column_name),
    )
    return joined(" ", options)


def _segments(node: s.SegmentsDecl) -> Doc:
    options: list[Doc] = [
        "SEGMENTS",
        *_option("ROLE", node.role, column_name),
        *_option("COUNT", node.count, column_name),
    ]
    if node.lo is not None and node.hi is not None:
        options.append(f"BOUNDS {column_name(node.lo)} TO {column_name(node.hi)}")
    options += _option("RATE", node.rate, lambda one: column_name(one) if isinstance(one, s.Ident) else rate(one))
    return joined(" ", [*options, *_option("TIMEOUT", node.timeout, duration)])


def _event(node: s.EventDecl) -> Doc:
    name = f"EVENT {column_name(node.name)}"
    head = name if node.head is None else bracketed(f"{name}(", _items(node.head), ")")
    clauses: list[Doc] = [("PATTERN ", pattern(node.body.pattern)), *body_clauses(node.body)]
    clauses += [
        *_option("PARTITION BY", node.partition_by, _names),
        *_option("OVER", node.over, lambda sources: f"({_names(sources)})"),
        *([] if node.consume is None else [_consume(node.consume)]),
        *([Group(("RETURN ", Nest(joined((",", LINE), _items(node.returns)))))] if node.returns else []),
        *_option("PER", node.per),
        *([] if node.confidence is None else [_confidence(node.confidence)]),
        *_option("TOP", node.top),
        *_option("KEEP FOR", node.keep_for, duration),
        *_option("ON TIMEOUT", node.on_timeout, column_name),
        *_option("ON RETRACT", node.on_retract, column_name),
        *(["ON CHANGE"] if node.on_change else []),
        *([] if node.demand is None else [node.demand]),
        *(["HIDDEN"] if node.hidden else []),
    ]
    return (head, " AS", Nest(tuple((HARD_LINE, clause) for clause in clauses)))


def _items(items: tuple[s.Item, ...]) -> list[Doc]:
    return [(expression(item.value), f" AS {column_name(item.alias)}" if item.alias else "") for item in items]


def _consume(node: s.Consume) -> Doc:
    head = f"CONSUME {node.policy}" + (" KEEPING" if node.keeping else "")
    match node.prefer:
        case None:
            return head
        case "LONGER" | "SHORTER":
            return f"{head} PREFER {node.prefer}"
        case preferred:
            return (f"{head} PREFER ", expression(preferred))


def _confidence(node: s.Confidence) -> str:
    return f"CONFIDENCE {node.op} {number(node.threshold)}" + (" EARLY" if node.early else "")


def _kind(kind: s.ForecastKind) -> str:
    match kind:
        case s.ForecastWithin(horizon):
            return f"WITHIN {window(horizon)}"
        case s.ForecastAround(horizon):
            return f"AROUND {window(horizon)}"
        case s.ForecastPoint():
            return "POINT"
        case s.ForecastInterval(mode, width):
            return f"INTERVAL {mode}" + ("" if width is None else f" {width}")


def _forecast_options(node: s.ForecastDecl) -> list[Doc]:
    by = "" if node.by is None else f" BY {column_name(node.by)}"
    features = [expression(feature) for feature in node.features]
    return [
        *([] if node.confidence is None else [_confidence(node.confidence)]),
        *_option("ORDER", node.order),
        *_option("HORIZON", node.horizon),
        *_option("SPREAD <=", node.spread),
        *_option("MODEL", node.model, lambda name: column_name(name) + by),
        *([bracketed("FEATURES (", features, ")")] if features else []),
        *_option("REMAINING", node.remaining, lambda span: f"{number(span.lo)} TO {number(span.hi)}"),
        *(["INCLUDING FINAL"] if node.including_final else []),
        *(["RETURN DISTRIBUTION"] if node.distribution else []),
    ]


def _names(idents: tuple[s.Ident, ...]) -> str:
    return ", ".join(column_name(ident) for ident in idents)
