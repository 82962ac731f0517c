"""Parses a whole program statement by statement, so that one error does not hide the next.

Builds statements from their heads and their clauses in any order.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from lark import Token, Tree, v_args
from lark.tree import Meta

from inkling.errors import ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.kit.lalr import Children, all_parts, node, node_without_words, span_of
from inkling.language.kit.reading import Chunk, read_statements
from inkling.language.kit.scanning import RawToken
from inkling.language.parser.errors import explain
from inkling.language.parser.foreign import data_file, foreign_statement, sparql_query
from inkling.language.parser.patterns import (
    ParsedClause,
    PatternTransformer,
    clause,
    count_of,
    is_there,
    keyword,
    only_part,
)
from inkling.language.parser.site import Site
from inkling.language.parser.tokens import AUTOMATON, SCANNER, read, starts_statement
from inkling.language.syntax import Statement
from inkling.source import SourceText, Span

_BODY_FIELDS = ("where", "within", "having")


def unit_of_epoch(transformer: PatternTransformer, meta: Meta, children: Children) -> s.Ident:
    """The unit that numbers in TIMESTAMP columns count since 1970."""
    (word,) = children
    unit = f"{word.upper().removesuffix('S')}S"
    if unit in s.EPOCH_UNITS:
        return s.Ident(unit, span=span_of(word))
    meant = _EPOCH_ABBREVIATIONS.get(word.lower()) or next(iter(nearest(unit, s.EPOCH_UNITS, n=1)), None)
    raise transformer.error(
        "INK0111",
        f"unknown unit `{word}`",
        span_of(word),
        notes=(f"units are {', '.join(s.EPOCH_UNITS)}",),
        helps=(f"write `EPOCH {meant}`",) if meant else (),
    )


_EPOCH_ABBREVIATIONS = {
    "s": "SECONDS",
    "sec": "SECONDS",
    "secs": "SECONDS",
    "ms": "MILLISECONDS",
    "millis": "MILLISECONDS",
    "us": "MICROSECONDS",
    "micros": "MICROSECONDS",
    "ns": "NANOSECONDS",
    "nanos": "NANOSECONDS",
}


@v_args(meta=True)
class StatementTransformer(PatternTransformer):
    def stream(self, meta: Meta, children: Children) -> s.StreamDecl:
        name, columns, *options = children
        return s.StreamDecl(name, columns, **self.fields_of(options), span=span_of(meta))

    columns = all_parts

    def column(self, meta: Meta, children: Children) -> s.ColumnDecl:
        name, type_ = children
        upper = s.Ident(type_.text.upper(), quoted=type_.quoted, span=type_.span)
        return s.ColumnDecl(name, upper, span=span_of(meta))

    id_option = clause("ID", "id")
    key_option = clause("KEY", "key", all_parts)
    time_point = clause("TIME", "time", node(s.TimePoint))
    time_span = clause("TIME", "time", node(s.TimeSpan))
    time_between = clause("TIME", "time", node(s.TimeBetween))
    time_about = clause("TIME", "time", node_without_words(s.TimeAbout))

    def clock_errors(self, meta: Meta, children: Children) -> s.ClockErrors:
        column, usual, *others = (child for child in children if not isinstance(child, Token))
        return s.ClockErrors(column, usual, tuple(others), span=span_of(meta))

    def clock_error(self, meta: Meta, children: Children) -> s.ClockError:
        at_most, clock = children
        return s.ClockError(at_most, str(clock), span=span_of(meta))

    epoch_option = clause("EPOCH", "epoch", unit_of_epoch)
    at_most_option = clause("AT MOST", "at_most")
    order_option = clause("ORDER BY", "order_by")
    tick_option = clause("TICK", "tick")

    def probability_option(self, meta: Meta, children: Children) -> ParsedClause:
        column, *given = children
        fields = {"probability": column, "given": given[0] if given else ()}
        return ParsedClause("PROBABILITY", fields, span_of(meta))

    given = all_parts

    def numbered_option(self, meta: Meta, children: Children) -> ParsedClause:
        column, *parts = children
        return ParsedClause("NUMBERED BY", {"numbered_by": column, **self.fields_of(parts)}, span_of(meta))

    numbered_gaps = clause("GAPS", "erlang", count_of("the shape of gaps"))
    numbered_intensity = clause("INTENSITY", "intensity")
    numbered_known = clause("KNOWN FROM", "known")

    def segments_option(self, meta: Meta, children: Children) -> ParsedClause:
        segments = s.SegmentsDecl(**self.fields_of(children), span=span_of(meta))
        return ParsedClause("SEGMENTS", {"segments": segments}, span_of(meta))

    segments_role = clause("ROLE", "role")
    segments_count = clause("COUNT", "count")

    def segments_bounds(self, meta: Meta, children: Children) -> ParsedClause:
        lo, hi = children
        return ParsedClause("BOUNDS", {"lo": lo, "hi": hi}, span_of(meta))

    segments_rate = clause("RATE", "rate")
    segments_timeout = clause("TIMEOUT", "timeout")
    derive_option = clause("DERIVE", "derive", all_parts)
    derive_item = node_without_words(s.DeriveItem)
    reset_option = clause("RESET WHEN", "reset_when")

    def late_option(self, meta: Meta, children: Children) -> ParsedClause:
        length, *speculative = children
        return ParsedClause("LATENESS", {"late": length, "speculative": bool(speculative)}, span_of(meta))

    ahead_option = clause("AHEAD", "ahead")

    def op_option(self, meta: Meta, children: Children) -> ParsedClause:
        column, *length = children
        return ParsedClause("OP", {"op": column, "op_for": length[0] if length else None}, span_of(meta))

    def table(self, meta: Meta, children: Children) -> s.TableDecl:
        name, columns, path = children
        return s.TableDecl(name, columns, str(path), path_span=span_of(path), span=span_of(meta))

    rule = node(s.RuleDecl)

    def event(self, meta: Meta, children: Children) -> s.EventDecl:
        name, *rest = children
        head = rest.pop(0) if isinstance(rest[0], tuple) else None
        pattern, *clauses = rest
        fields = self.fields_of(clauses)
        body_fields = {field: fields.pop(field, None) for field in _BODY_FIELDS}
        last = clauses[-1] if clauses else pattern
        body = s.Body(pattern, **body_fields, span=pattern.span.to(last.span))
        return s.EventDecl(name, head, body, **fields, span=span_of(meta))

    head = all_parts
    item = node(s.Item)
    partition_by = clause("PARTITION BY", "partition_by", all_parts)
    over = clause("OVER", "over", all_parts)

    def consume(self, meta: Meta, children: Children) -> ParsedClause:
        policy, *rest = children
        keeping = bool(rest) and isinstance(rest[0], Token)
        prefer = rest[keeping] if len(rest) > keeping else None
        consume = s.Consume(cast(s.ConsumePolicy, policy.type), keeping, prefer, span=span_of(meta))
        return ParsedClause("CONSUME", {"consume": consume}, span_of(meta))

    def prefer(self, meta: Meta, children: Children) -> Any:
        (choice,) = children
        return choice.type if isinstance(choice, Token) else choice

    returns = clause("RETURN", "returns", all_parts)
    per = clause("PER", "per", keyword)

    def confidence(self, meta: Meta, children: Children) -> ParsedClause:
        operator, number, *early = children
        if operator not in (">=", ">"):
            raise self.error(
                "INK0101", f"expected `>=` or `>` after `CONFIDENCE`, found `{operator}`", span_of(operator)
            )
        threshold = self.probability(number, what="a confidence")
        confidence = s.Confidence(cast(Any, str(operator)), threshold, bool(early), span=span_of(meta))
        return ParsedClause("CONFIDENCE", {"confidence": confidence}, span_of(meta))

    top = clause("TOP", "top", count_of("the number of results to keep"))
    keep_for = clause("KEEP FOR", "keep_for")
    on_timeout = clause("ON TIMEOUT", "on_timeout")
    on_retract = clause("ON RETRACT", "on_retract")
    on_change = clause("ON CHANGE", "on_change", is_there)
    demand = clause("EXACT or SAMPLED", "demand", keyword)
    hidden = clause("HIDDEN", "hidden", is_there)

    def forecast(self, meta: Meta, children: Children) -> s.ForecastDecl:
        name, *rest = children
        event = rest.pop(0) if isinstance(rest[0], s.Ident) else None
        kind, *options = rest
        named = name if event is not None else None
        return s.ForecastDecl(event or name, kind, name=named, **self.fields_of(options), span=span_of(meta))

    forecast_of = only_part

    def forecast_within(self, meta: Meta, children: Children) -> s.ForecastWithin:
        return s.ForecastWithin(self.last(*children), span=span_of(meta))

    def forecast_around(self, meta: Meta, children: Children) -> s.ForecastAround:
        return s.ForecastAround(self.horizon(*children), span=span_of(meta))

    forecast_point = node(s.ForecastPoint)

    def forecast_interval(self, meta: Meta, children: Children) -> s.ForecastInterval:
        mode, *width = children
        n = self.count(width[0], what="a width") if width else None
        return s.ForecastInterval(mode.type, n, span=span_of(meta))

    def forecast_order(self, meta: Meta, children: Children) -> ParsedClause:
        return ParsedClause("ORDER", {"order": self.integer(children[0])}, span_of(meta))

    forecast_horizon = clause("HORIZON", "horizon", count_of("a horizon"))

    def forecast_spread(self, meta: Meta, children: Children) -> ParsedClause:
        operator, number = children
        if operator != "<=":
            raise self.error("INK0101", f"expected `<=` after `SPREAD`, found `{operator}`", span_of(operator))
        return ParsedClause("SPREAD", {"spread": self.integer(number)}, span_of(meta))

    def forecast_model(self, meta: Meta, children: Children) -> ParsedClause:
        model, *by = children
        return ParsedClause("MODEL", {"model": model, "by": by[0] if by else None}, span_of(meta))

    features = clause("FEATURES", "features", all_parts)

    def remaining(self, meta: Meta, children: Children) -> ParsedClause:
        lo, hi = (self.probability(number, what="a remaining part") for number in children)
        if hi < lo:
            raise self.error("INK0116", f"the range from {lo:g} to {hi:g} is empty", span_of(meta))
        remaining = s.Remaining(lo, hi, span=span_of(meta))
        return ParsedClause("REMAINING", {"remaining": remaining}, span_of(meta))

    distribution = clause("RETURN DISTRIBUTION", "distribution", is_there)
    including_final = clause("INCLUDING FINAL", "including_final", is_there)


STATEMENT_WORDS = ("STREAM", "TABLE", "RULE", "EVENT", "FORECAST")
DEEPEST_NESTING = 150


def parse(text: str, name: str = "<string>") -> s.Program:
    """Reads a program; raises `ProgramError` with one diagnostic for each wrong statement.

    >>> program = parse("STREAM Cpu(node STRING, load DOUBLE) KEY node TIME t;")
    >>> program.statements[0].name.text
    'Cpu'
    """
    source = SourceText(name, text)
    scanned = SCANNER.scan(source)
    other = data_file(source, scanned.tokens) or sparql_query(source)
    if other is not None:
        raise ProgramError(other)

    def is_rest(chunk: Chunk) -> bool:
        return not nearest(chunk.tokens[0].text, STATEMENT_WORDS)

    statements, rest = read_statements(
        source,
        scanned,
        list(_chunks(scanned.tokens, len(text))),
        lambda chunk: _parse_statement(source, chunk),
        is_rest=is_rest,
    )
    return s.Program(statements, rest, span=Span(0, len(text)))


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    for idx, token in enumerate(tokens):
        if token.is_symbol(";"):
            if idx > begin:
                yield Chunk.of(tokens[begin:idx], token, token.span.end)
            begin = idx + 1
        elif idx > begin and token.first_on_line and starts_statement(tokens, idx):
            yield Chunk.of(tokens[begin:idx], None, token.span.start)
            begin = idx
    if begin < len(tokens):
        yield Chunk.of(tokens[begin:], None, length)


def _parse_statement(source: SourceText, chunk: Chunk) -> Statement:
    first = chunk.tokens[0]
    if first.upper not in STATEMENT_WORDS:
        raise ProgramError(foreign_statement(source, chunk.tokens, STATEMENT_WORDS))
    reading = read(chunk.tokens)
    if reading.too_deep:
        raise _nested_too_deeply(source, chunk.tokens[reading.stopped_at - 1].span)
    if not reading.complete:
        raise ProgramError(explain(Site.of(source, reading, chunk.after)))
    if chunk.after is None:
        last = chunk.tokens[-1]
        raise ProgramError.of(
            "INK0103", "a statement ends with `;`", span=last.span, source=source, label="expected `;` after this"
        )
    tree = AUTOMATON.build(reading.terminals, reading.raw)
    _reject_deep_nesting(source, tree)
    statement: Statement = StatementTransformer(source).built(tree)
    return statement


def _reject_deep_nesting(source: SourceText, tree: Tree[Token]) -> None:
    level: list[Tree[Token]] = [tree]
    for _ in range(DEEPEST_NESTING):
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
    if level:
        raise _nested_too_deeply(source, span_of(level[0].meta))


def _nested_too_deeply(source: SourceText, span: Span) -> ProgramError:
    return ProgramError.of(
        "INK0119",
        f"nested more than {DEEPEST_NESTING} levels deep",
        span=span,
        source=source,
        helps=("split the event into several, or the value into derived columns",),
    )
