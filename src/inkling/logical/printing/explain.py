"""A plan as stable text: numbered lines, each built from the lines before it.

>>> from inkling.model.schema import Column, StreamSchema
>>> from inkling.model.types import Type
>>> schema = StreamSchema("A", (Column("t", Type.INTEGER),), None, (), "t", "t", time_type=Type.INTEGER)
>>> print(explain(p.ProgramPlan((p.StreamPlan(schema),), (), ())))
r0 := Stream[A](t INTEGER; time t)
"""

from dataclasses import dataclass, field

from inkling.logical import plan as p
from inkling.logical.expr import Expr
from inkling.logical.printing.text import (
    ROWS,
    Wording,
    clause_text,
    expr_text,
    forecast_text,
    lookup_text,
    moment_text,
    pairing_text,
    quantity_text,
    span_text,
    window_text,
)
from inkling.model.schema import USUAL_AHEAD, Column, StreamSchema
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime, LostEvents, ProbableValue, Rate


def explain(plan: p.ProgramPlan) -> str:
    """The streams, tables and events of a program, one step per line."""
    lines = _Lines()
    for stream in plan.streams:
        lines.sources[stream.schema.name] = lines.add(f"Stream[{stream.schema.name}]", _stream(stream))
    for table in plan.tables:
        lines.add(f"Table[{table.name}]", f"{_columns(table.columns)}; from '{table.path}'")
    for rule in plan.rules:
        clauses = "; ".join(map(clause_text, rule.clauses))
        lines.add(f"Rule[{rule.name}]", f"{_columns(rule.columns)}; {rule.kind.value}; {clauses}")
    for event in plan.events:
        lines.sources[event.name] = _EventLines(lines, event, Wording.of(event)).add_event()
    return "\n".join(lines.written)


@dataclass(slots=True)
class _Lines:
    written: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)  # the line that each stream or event stands on

    def add(self, step: str, details: str = "") -> str:
        name = f"r{len(self.written)}"
        self.written.append(f"{name} := {step}" + (f"({details})" if details else ""))
        return name


@dataclass(frozen=True, slots=True)
class _EventLines:
    lines: _Lines
    event: p.EventPlan
    names: Wording

    def add_event(self) -> str:
        event = self.event
        found = self._part(event.pattern)
        if event.within is not None:
            found = self.lines.add(f"Within[{found}]", window_text(event.within))
        if event.having:
            found = self.lines.add(f"Having[{found}]", self._conditions(event.having))
        if event.keep is not None:
            found = self.lines.add(f"KeepFor[{found}]", span_text(event.keep))
        if event.restart:
            found = self.lines.add(f"Restart[{found}]")
        if event.consumption is not None:
            found = self.lines.add(f"Consume[{found}]", self._policy(event.consumption))
        if event.on_change:
            found = self.lines.add(f"OnChange[{found}]")
        if event.forecast is not None:
            found = self.lines.add(f"Forecast[{found}]", self._forecast(event.forecast, event.confidence))
        details = [f"timeouts of {event.timeouts_of}"] if event.timeouts_of is not None else []
        details.append(f"per {event.per.value}")
        if event.partition:
            details.append(f"partition by {', '.join(column.name for column in event.partition)}")
        if event.hidden:
            details.append("hidden")
        details.append(f"over {', '.join(event.scope)}")
        for title, outputs in (("head", event.head), ("return", event.returns)):
            if outputs:
                details.append(f"{title} {', '.join(self._output(output) for output in outputs)}")
        if event.retracted_as is not None:
            details.append(f"on retract {event.retracted_as}")
        return self.lines.add(f"Event {event.name}[{found}]", "; ".join(details))

    def _forecast(self, forecast: p.Forecast, confidence: p.Confidence | None) -> str:
        words = [f"of {forecast.of}", forecast_text(forecast)]
        if confidence is not None:
            words.append(f"confidence {'>' if confidence.strict else '>='} {confidence.threshold:g}")
        words.append(f"model {forecast.model}" + ("" if forecast.by is None else f" by {forecast.by.name}"))
        words += [] if forecast.order is None else [f"order {forecast.order}"]
        words += [f"feature {self._conditions(leaf.conditions)}" for leaf in forecast.features]
        words += ["including final"] if forecast.including_final else []
        return "; ".join(words)

    def _policy(self, policy: p.Consumption) -> str:
        words = [policy.selection.value.lower(), *(["keeping"] if policy.keeping else [])]
        match policy.prefer:
            case None:
                pass
            case p.Preference() as preference:
                words.append(f"prefer {preference.value.lower()}")
            case value:
                words.append(f"prefer {expr_text(value, self.names)}")
        return " ".join(words)

    def _output(self, output: p.Output) -> str:
        value = expr_text(output.expr, self.names)
        return value if value == output.name else f"{output.name} = {value}"

    def _part(self, part: p.Part) -> str:
        add = self.lines.add
        match part:
            case p.Leaf():
                return self._leaf(part)
            case p.Sequence(policy=policy, parts=parts, within=within):
                details = f"limit {window_text(within)}" if within is not None else ""
                return add(f"Sequence {policy.value}[{self._all(parts)}]", details)
            case p.Conjunction(items=items):
                return add(f"And[{self._all(items)}]")
            case p.Disjunction(items=items):
                return add(f"Or[{self._all(items)}]")
            case p.Parallel(items=items):
                return add(f"Parallel[{self._all(items)}]")
            case p.Related(left=left, relations=relations, right=right):
                return add(f"Related[{self._all((left, right))}]", ", ".join(relations))
            case p.Except(pattern=inner, other=other, in_order=in_order):
                return add(f"Except[{self._all((inner, other))}]", *(["by order"] if in_order else []))
            case p.LeftJoin(left=left, relations=relations, right=right, limits=limits, kind=kind):
                how = [*relations, *(f"limit {window_text(limit)}" for limit in limits)]
                name = {p.JoinKind.OUTER: "LeftJoin", p.JoinKind.FACT: "Fact", p.JoinKind.NO_FACT: "NoFact"}[kind]
                return add(f"{name}[{self._all((left, right))}]", ", ".join(how))
            case p.TimePoint(since_zero=since_zero):
                return add("TimePoint", moment_text(since_zero))
            case p.Quantified(left=x, relations=relations, right=y, same=same, within=within):
                asked = f"{quantity_text(x)} {', '.join(relations)} {quantity_text(y)}"
                on_same = "" if same is None else f"; on same {same.name}"
                limit = "" if within is None else f"; within {window_text(within)}"
                return add(f"Quantified[{self._operand(x)}, {self._operand(y)}]", asked + on_same + limit)
            case p.Sliding(leaf=leaf, last=last, since=since):
                inside = (leaf,) if since is None else (since, leaf)
                return add(f"Window[{self._all(inside)}]", f"last {window_text(last)}")
            case p.Repetition(pattern=inner, low=low, high=high, eager=eager, maximal=maximal):
                mode = "; eager" if eager else "; maximal" if maximal else ""
                often = f"{low} to {'any' if high is None else high}{mode}"
                return add(f"Repeat[{self._part(inner)}]", often)
            case p.Narrowed(pattern=inner, within=within, having=having, slot=slot):
                return self._narrowed(self._part(inner), within, self._conditions(having), slot)
            case p.OtherRun(pattern=inner):
                return add(f"Complement[{self._part(inner)}]")
            case p.Absent(pattern=inner):
                return add(f"Not[{self._part(inner)}]")
            case p.Deadline(after=after):
                return add("Deadline", span_text(after))
            case p.StreamStart(back=back):
                return add("StreamStart", "" if back is None else f"at most {span_text(back)} back")

    def _all(self, parts: tuple[p.Part, ...]) -> str:
        return ", ".join([self._part(part) for part in parts])

    def _operand(self, operand: p.Operand) -> str:
        details = [f"key {', '.join(column.name for column in operand.key)}"]
        if operand.pairing is not None:
            details.append(f"segments {pairing_text(operand.pairing)}")
        return self.lines.add(f"Segments[{self._leaf(operand.leaf)}]", "; ".join(details))

    def _leaf(self, leaf: p.Leaf) -> str:
        sources = ", ".join(self.lines.sources.get(source, source) for source in leaf.sources) or "scope"
        details = []
        name = self.event.slots[leaf.slot].name
        if name is not None:
            details.append(name)
        details += [f"lookup {lookup_text(atom, self.names)}" for atom in leaf.atoms]
        if leaf.conditions:
            details.append(self._conditions(leaf.conditions))
        if leaf.checks:
            details.append(f"check {self._conditions(leaf.checks)}")
        return self.lines.add(f"Leaf[{sources}]", "; ".join(details))

    def _narrowed(self, inner: str, within: p.Window | None, having: str, slot: int | None) -> str:
        details = []
        if slot is not None:
            details.append(self.names.slot(slot))
        if within is not None:
            details.append(f"within {window_text(within)}")
        if having:
            details.append(f"having {having}")
        return self.lines.add(f"Nested[{inner}]", "; ".join(details))

    def _conditions(self, conditions: tuple[Expr, ...]) -> str:
        return " AND ".join(
            f"({text})" if " OR " in text else text
            for text in (expr_text(condition, self.names) for condition in conditions)
        )


def _stream(stream: p.StreamPlan) -> str:
    schema = stream.schema
    derived = {column.name: column.expr for column in stream.derived}
    details = [_columns(tuple(column for column in schema.columns if column.name not in derived))]
    if schema.id is not None:
        details.append(f"id {schema.id}")
    if schema.key:
        details.append(f"key {', '.join(schema.key)}")
    details.append(f"time {schema.start}" if schema.start == schema.end else f"time {schema.start} to {schema.end}")
    if schema.order_by is not None:
        details.append(f"order by {schema.order_by}")
    details += _timing(schema)
    if schema.uncertainty is not None:
        details.append(_uncertainty(schema))
    details += [f"{name} = {expr_text(expr, ROWS)}" for name, expr in derived.items()]
    if stream.reset_when is not None:
        details.append(f"reset when {expr_text(stream.reset_when, ROWS)}")
    return "; ".join(details)


def _timing(schema: StreamSchema) -> list[str]:
    details = []
    if schema.tick is not None:
        details.append(f"tick {span_text(schema.tick)}")
    if schema.epoch is not None:
        details.append(f"epoch {schema.epoch.lower()}")
    if schema.late is not None:
        details.append(f"late {span_text(schema.late)}" + (" speculative" if schema.speculative else ""))
    if schema.ahead is not None:
        details.append(f"ahead {span_text(schema.ahead)}")
    elif schema.may_have_timestamps:
        details.append(f"ahead {span_text(USUAL_AHEAD)} of timestamps by default")
    if schema.op is not None:
        details.append(f"op {schema.op}" + ("" if schema.op_for is None else f" for {span_text(schema.op_for)}"))
    return details


def _uncertainty(schema: StreamSchema) -> str:
    match schema.uncertainty:
        case ImpreciseTime():
            return _imprecise(schema.uncertainty)
        case ProbableValue(probability=probability, given=given):
            return f"probability {probability}" + (f" given {', '.join(given)}" if given else "")
        case LostEvents():
            return _losses(schema.uncertainty)
        case None:
            return ""


def _losses(uncertainty: LostEvents) -> str:
    words = [f"losses numbered by {uncertainty.number}"]
    words += [f"role {uncertainty.role}"] if uncertainty.role else []
    match uncertainty.rate:
        case None:
            pass
        case Rate(count=count, per=per):
            words.append(f"rate {count:g} per {span_text(per)}")
        case column:
            words.append(f"rate {column}")
    words += [] if uncertainty.shape == 1 else [f"gaps of shape {uncertainty.shape}"]
    words += [] if uncertainty.intensity is None else [f"intensity {uncertainty.intensity}"]
    words += [] if uncertainty.known is None else [f"known from {uncertainty.known}"]
    words += [] if uncertainty.timeout is None else [f"timeout {span_text(uncertainty.timeout)}"]
    return ", ".join(words)


def _imprecise(uncertainty: ImpreciseTime) -> str:
    words = ["imprecise time"]
    match uncertainty.error:
        case None:
            pass
        case ErrorColumn(name=name):
            words.append(f"± {name}")
        case ClockErrors(column=column, usual=usual, others=others):
            named = (f", {span_text(span)} for '{clock}'" for clock, span in others)
            words.append(f"± {span_text(usual)} by clock {column}{''.join(named)}")
        case error:
            words.append(f"± {span_text(error)}")
    words += [] if uncertainty.weights is None else [f"weighted by {uncertainty.weights}"]
    words += [] if uncertainty.widest is None else [f"at most {span_text(uncertainty.widest)} wide"]
    return " ".join(words)


def _columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in columns)
