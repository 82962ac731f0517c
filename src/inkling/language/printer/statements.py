"""Programs and statements as text: clauses in one order, one per line where a statement is long."""

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


def _stream_options(node: s.StreamDecl) -> list[Doc]:
    options: list[Doc] = []
    if node.id is not None:
        options.append(f"ID {column_name(node.id)}")
    if node.key:
        options.append(f"KEY {_names(node.key)}")
    if node.time is not None:
        options.append(_time(node.time))
    if node.at_most is not None:
        options.append(f"AT MOST {duration(node.at_most)}")
    if node.order_by is not None:
        options.append(f"ORDER BY {column_name(node.order_by)}")
    if node.tick is not None:
        options.append(f"TICK {duration(node.tick)}")
    if node.probability is not None:
        given = f" GIVEN {_names(node.given)}" if node.given else ""
        options.append(f"PROBABILITY {column_name(node.probability)}{given}")
    if node.numbered_by is not None:
        options.append(_numbered(node.numbered_by, node))
    if node.segments is not None:
        options.append(_segments(node.segments))
    if node.derive:
        items = [(f"{column_name(i.name)} = ", expression(i.value)) for i in node.derive]
        options.append(("DERIVE ", Group(Nest(joined((",", LINE), items)))))
    if node.reset_when is not None:
        options.append(condition("RESET WHEN", node.reset_when))
    if node.late is not None:
        word, more = ("LATENESS", " SPECULATIVE") if node.speculative else ("LATE", "")
        options.append(f"{word} {duration(node.late)}{more}")
    if node.op is not None:
        how_long = f" FOR {duration(node.op_for)}" if node.op_for is not None else ""
        options.append(f"OP {column_name(node.op)}{how_long}")
    return options


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


def _numbered(column: s.Ident, node: s.StreamDecl) -> str:
    parts = [f"NUMBERED BY {column_name(column)}"]
    if node.erlang is not None:
        parts.append(f"GAPS ERLANG {node.erlang}")
    if node.intensity is not None:
        parts.append(f"INTENSITY {column_name(node.intensity)}")
    if node.known is not None:
        parts.append(f"KNOWN FROM {column_name(node.known)}")
    return " ".join(parts)


def _segments(node: s.SegmentsDecl) -> str:
    parts = ["SEGMENTS"]
    if node.role is not None:
        parts.append(f"ROLE {column_name(node.role)}")
    if node.count is not None:
        parts.append(f"COUNT {column_name(node.count)}")
    if node.lo is not None and node.hi is not None:
        parts.append(f"BOUNDS {column_name(node.lo)} TO {column_name(node.hi)}")
    if node.rate is not None:
        parts.append(f"RATE {column_name(node.rate) if isinstance(node.rate, s.Ident) else rate(node.rate)}")
    if node.timeout is not None:
        parts.append(f"TIMEOUT {duration(node.timeout)}")
    return " ".join(parts)


def _event(node: s.EventDecl) -> Doc:
    name = f"EVENT {column_name(node.name)}"
    head = name if node.head is None else bracketed(f"{name}(", _items(node.head), ")")
    clauses: list[Doc] = [("PATTERN ", pattern(node.body.pattern)), *body_clauses(node.body)]
    if node.partition_by:
        clauses.append(f"PARTITION BY {_names(node.partition_by)}")
    if node.over:
        clauses.append(f"OVER ({_names(node.over)})")
    if node.consume is not None:
        clauses.append(_consume(node.consume))
    if node.returns:
        clauses.append(Group(("RETURN ", Nest(joined((",", LINE), _items(node.returns))))))
    if node.per is not None:
        clauses.append(f"PER {node.per}")
    if node.confidence is not None:
        clauses.append(_confidence(node.confidence))
    if node.top is not None:
        clauses.append(f"TOP {node.top}")
    if node.keep_for is not None:
        clauses.append(f"KEEP FOR {duration(node.keep_for)}")
    if node.on_timeout is not None:
        clauses.append(f"ON TIMEOUT {column_name(node.on_timeout)}")
    if node.on_retract is not None:
        clauses.append(f"ON RETRACT {column_name(node.on_retract)}")
    if node.on_change:
        clauses.append("ON CHANGE")
    if node.demand is not None:
        clauses.append(node.demand)
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
    options: list[Doc] = []
    if node.confidence is not None:
        options.append(_confidence(node.confidence))
    if node.order is not None:
        options.append(f"ORDER {node.order}")
    if node.horizon is not None:
        options.append(f"HORIZON {node.horizon}")
    if node.spread is not None:
        options.append(f"SPREAD <= {node.spread}")
    if node.model is not None:
        by = "" if node.by is None else f" BY {column_name(node.by)}"
        options.append(f"MODEL {column_name(node.model)}{by}")
    if node.features:
        features = [expression(feature) for feature in node.features]
        options.append(bracketed("FEATURES (", features, ")"))
    if node.remaining is not None:
        lo, hi = number(node.remaining.lo), number(node.remaining.hi)
        options.append(f"REMAINING {lo} TO {hi}")
    if node.including_final:
        options.append("INCLUDING FINAL")
    if node.distribution:
        options.append("RETURN DISTRIBUTION")
    return options


def _names(idents: tuple[s.Ident, ...]) -> str:
    return ", ".join(column_name(ident) for ident in idents)
