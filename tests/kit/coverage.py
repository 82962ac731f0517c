"""Which words of the language a bound program uses, and a count of them over many programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.kit.rows import Rows
from tests.kit.rule_coverage import rule_set_features

from inkling.language.syntax import RELATIONS
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.time import Duration

FEATURES = (
    "SEQ ANY", "SEQ NEXT", "SEQ STRICT", "SEQ in SEQ", "AND", "OR", "PAR",
    *RELATIONS,
    "EXCEPT", "p OPTIONAL q", "p OPTIONAL relation q",
    "AT a time", "WINDOW", "LAST EVENTS", "LAST duration", "SINCE", "ON CHANGE",
    "NOT first", "NOT between", "NOT last", "NOT of a pattern", "AFTER", "AT START", "AT START in what is kept",
    "+", "*", "?", "{n}", "{n,}", "{n,m}", "EAGER", "CHECK of a repetition", "repeated group",
    "COMPLEMENT", "_", "A | B",
    "condition on one event", "condition across events", "equality across events",
    "inequality across events", "arithmetic", "function",
    "LAST in its own repetition", "FIRST or LAST of a list",
    "COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "MEDIAN", "START or END", "ID",
    "IS NULL", "IN", "NOT condition", "OR condition",
    "HAVING", "nested HAVING", "named body",
    "WITHIN duration", "WITHIN POINTS", "WITHIN EVENTS",
    "nested WITHIN duration", "nested WITHIN POINTS", "nested WITHIN EVENTS",
    "PARTITION BY", "OVER", "head", "RETURN", "CONSUME RESTART", "CONSUME RECENT", "CONSUME CHRONOLOGICAL",
    "KEEPING", "PREFER LONGER", "PREFER SHORTER", "PREFER a value", "KEEP FOR",
    "ON TIMEOUT", "ON TIMEOUT of several parts",
    "PER MATCH", "PER INTERVAL", "PER END", "PER VALUES",
    "derived event as input", "stream of points", "stream of intervals", "ORDER BY", "ORDER BY text",
    "ORDER BY text and numbers", "row numbers as ids", "PREV", "SINCE_CHANGE", "table binds", "table tests",
    "ties without order", "ties with order", "null values", "row that is no event",
)  # fmt: skip
"""Everything that random programs and streams are meant to hit."""


@dataclass(slots=True)
class Coverage:
    """How many programs used a feature, and how many of those had a result."""

    used: Counter[str] = field(default_factory=Counter)
    fruitful: Counter[str] = field(default_factory=Counter)
    n_programs: int = 0

    def add(self, plan: p.ProgramPlan, rows: Rows, results: Mapping[str, Sequence[object]]) -> None:
        self.n_programs += 1
        about_data = set(data_features(plan, rows)) | set(stream_features(plan))
        for event in plan.events:
            features = set(event_features(event)) | about_data
            features |= {"derived event as input"} if _reads_events(event, plan) else set()
            features |= set(rule_set_features(event, plan))
            self.used.update(features)
            if results.get(event.name):
                self.fruitful.update(features)

    def missing(self, features: Collection[str] = FEATURES) -> list[str]:
        """Features that no program with a result has used."""
        return [feature for feature in features if not self.fruitful[feature]]

    def report(self) -> str:
        """A table: events that use each feature, and those of them with results."""
        width = max(len(feature) for feature in FEATURES)
        lines = [f"{self.n_programs} programs", f"{'feature':{width}}   used  with results"]
        lines += [f"{feature:{width}} {self.used[feature]:6} {self.fruitful[feature]:13}" for feature in FEATURES]
        return "\n".join(lines)


def program_features(plan: p.ProgramPlan) -> set[str]:
    """The features of all events and streams of a program."""
    found = {feature for event in plan.events for feature in event_features(event)}
    if any(_reads_events(event, plan) for event in plan.events):
        found.add("derived event as input")
    return found | set(stream_features(plan))


def event_features(event: p.EventPlan) -> Iterator[str]:
    yield from _part_features(event.pattern, in_sequence=False)
    yield from _window_features(event.within, "")
    for condition in event.having:
        yield "HAVING"
        yield from _expression_features(condition)
    for output in (*event.head, *event.returns):
        yield from _expression_features(output.expr)
    yield f"PER {event.per.value}"
    clauses = {
        "PARTITION BY": event.partition,
        "head": event.head,
        "RETURN": event.returns,
        "CONSUME RESTART": event.restart,
        "KEEP FOR": event.keep,
        "ON CHANGE": event.on_change,
        "ON TIMEOUT": event.timeouts_of,
        "ON TIMEOUT of several parts": event.timeouts_of and isinstance(event.pattern, p.Disjunction),
        "OVER": {source for leaf in p.leaves(event.pattern) for source in leaf.sources} != set(event.scope),
    }
    yield from (clause for clause, is_given in clauses.items() if is_given)
    if event.consumption is not None:
        yield from _policy_features(event.consumption)


def _policy_features(policy: p.Consumption) -> Iterator[str]:
    yield f"CONSUME {policy.selection.value}"
    if policy.keeping:
        yield "KEEPING"
    match policy.prefer:
        case None:
            pass
        case p.Preference() as preference:
            yield f"PREFER {preference.value}"
        case _:
            yield "PREFER a value"


def stream_features(plan: p.ProgramPlan) -> Iterator[str]:
    if len({one.schema.order_by == one.schema.id for one in plan.streams if one.schema.order_by is not None}) > 1:
        yield "ORDER BY text and numbers"
    for stream in plan.streams:
        schema = stream.schema
        yield "stream of intervals" if schema.is_interval else "stream of points"
        if schema.order_by is not None:
            yield "ORDER BY"
            yield "ORDER BY text" if schema.order_by == schema.id else "ORDER BY"
        if schema.id is None:
            yield "row numbers as ids"
        for derived in stream.derived:
            parts = list(e.walk(derived.expr))
            yield from ("PREV" for part in parts if isinstance(part, e.PreviousColumn))
            yield from ("SINCE_CHANGE" for part in parts if isinstance(part, e.SinceChange))


def data_features(plan: p.ProgramPlan, rows: Rows) -> Iterator[str]:
    for stream in plan.streams:
        schema = stream.schema
        some = rows.get(schema.name, [])
        times = [row.get(schema.end) for row in some]
        if len(set(times)) < len(times):
            yield "ties with order" if schema.is_ordered else "ties without order"
        if any(None in row.values() for row in some):
            yield "null values"
        if any(row.get(name) is None for row in some for name in (*schema.key, schema.start, schema.end)):
            yield "row that is no event"


def _reads_events(event: p.EventPlan, plan: p.ProgramPlan) -> bool:
    return bool({one.name for one in plan.events} & set(event.sources))


def _part_features(part: p.Part, *, in_sequence: bool) -> Iterator[str]:
    match part:
        case p.Leaf(sources=sources, demands=conditions, atoms=atoms, slot=slot):
            if len(sources) != 1:
                yield "A | B" if sources else "_"
            if atoms:
                yield "table binds"
            for condition in conditions:
                yield from _condition_features(condition, slot)
        case p.Sequence(policy=policy, parts=parts):
            yield f"SEQ {policy.value}"
            if in_sequence:
                yield "SEQ in SEQ"
            yield from _absence_features(parts)
        case p.Conjunction():
            yield "AND"
        case p.Disjunction():
            yield "OR"
        case p.Parallel():
            yield "PAR"
        case p.Related(relations=relations):
            yield from relations
        case p.Except():
            yield "EXCEPT"
        case p.LeftJoin(relations=relations, kind=p.JoinKind.OUTER):
            yield "p OPTIONAL relation q" if relations else "p OPTIONAL q"
        case p.TimePoint():
            yield "AT a time"
        case p.Quantified():
            yield "quantified"
        case p.Sliding(last=last, since=since):
            yield "WINDOW"
            yield "LAST EVENTS" if isinstance(last, p.EventCount) else "LAST duration"
            if since is not None:
                yield "SINCE"
        case p.Repetition(pattern=inner, low=low, high=high, eager=eager):
            yield _repetition_name(low, high)
            if eager:
                yield "EAGER"
            if not isinstance(inner, p.Leaf):
                yield "repeated group"
            elif inner.checks:
                yield "CHECK of a repetition"
        case p.Narrowed(within=within, having=having, slot=slot):
            yield from _window_features(within, "nested ")
            if slot is not None:
                yield "named body"
            for condition in having:
                yield "nested HAVING"
                yield from _expression_features(condition)
        case p.OtherRun():
            yield "COMPLEMENT"
        case p.Deadline():
            yield "AFTER"
        case p.StreamStart(back=back):
            yield "AT START"
            if back is not None:
                yield "AT START in what is kept"
        case p.Absent(pattern=inner):
            if not isinstance(inner, p.Leaf):
                yield "NOT of a pattern"
    inside = in_sequence or isinstance(part, p.Sequence)
    for child in part.parts if isinstance(part, p.Sequence) else p.sub_patterns(part):
        yield from _part_features(child, in_sequence=inside)


def _absence_features(parts: Iterable[p.Part]) -> Iterator[str]:
    listed = list(parts)
    solid = [i for i, part in enumerate(listed) if not isinstance(part, p.Absent)]
    for index, part in enumerate(listed):
        if isinstance(part, p.Absent):
            if index < solid[0]:
                yield "NOT first"
            elif index > solid[-1]:
                yield "NOT last"
            else:
                yield "NOT between"


def _repetition_name(low: int, high: int | None) -> str:
    names = {(1, None): "+", (0, None): "*", (0, 1): "?"}
    if (low, high) in names:
        return names[low, high]
    if high is None:
        return "{n,}"
    return "{n}" if low == high else "{n,m}"


def _window_features(within: p.Window | None, prefix: str) -> Iterator[str]:
    match within:
        case Duration():
            yield f"{prefix}WITHIN duration"
        case p.Points():
            yield f"{prefix}WITHIN POINTS"
        case p.EventCount():
            yield f"{prefix}WITHIN EVENTS"
        case None:
            return


def _condition_features(condition: e.Expr, slot: int) -> Iterator[str]:
    others = e.slots_of(condition) - {slot}
    yield "condition across events" if others else "condition on one event"
    if others and isinstance(condition, e.Compare):
        yield "equality across events" if condition.operator == "=" else "inequality across events"
    yield from _expression_features(condition)


def _expression_features(expr: e.Expr) -> Iterator[str]:
    for part in e.walk(expr):
        match part:
            case e.ListColumn(own=True):
                yield "LAST in its own repetition"
            case e.ListColumn():
                yield "FIRST or LAST of a list"
            case e.Aggregate(function=function):
                yield function
            case e.TimeOf():
                yield "START or END"
            case e.IdOf():
                yield "ID"
            case e.Arithmetic():
                yield "arithmetic"
            case e.FunctionCall():
                yield "function"
            case e.IsNull():
                yield "IS NULL"
            case e.InList():
                yield "IN"
            case e.Not():
                yield "NOT condition"
            case e.AnyOf():
                yield "OR condition"
            case e.InTable():
                yield "table tests"
            case _:
                pass
