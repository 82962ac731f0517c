"""Binds a whole program: tables, streams and rules first, then each event after the events that it reads."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from inkling.errors import Diagnostic
from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.declarations import bind_stream, bind_table
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.events.event import BoundEvent, used_sources
from inkling.logical.binding.events.extensions import payload_of, with_own_names
from inkling.logical.binding.events.forecasts import bind_forecast
from inkling.logical.binding.events.inner_relations import with_named_relations
from inkling.logical.binding.events.unions import EventDeclarations, bind_event_group
from inkling.logical.binding.knowledge.rules import bind_rules
from inkling.logical.expr import Edge
from inkling.logical.forecasts import default_model, model_table
from inkling.logical.patterns.continuous_ties import lost_border, lost_time
from inkling.logical.recursion import dependencies_of, in_groups
from inkling.logical.rewrites.everywhere import everywhere
from inkling.model.schema import TableSchema
from inkling.model.time import Duration
from inkling.model.uncertainty import LostEvents
from inkling.source import NOWHERE, SourceText


@dataclass(frozen=True, slots=True)
class BoundProgram:
    """The plan of a program, and warnings about it."""

    plan: p.ProgramPlan
    warnings: tuple[Diagnostic, ...] = ()


def bind(program: s.Program, source: SourceText) -> BoundProgram:
    """Resolves names and infers types of a program.

    Raises `ProgramError` with every error found, or `NotSupportedYet` if the program is valid but uses something that
    is not supported yet.
    """
    diagnostics = Diagnostics(source)
    catalog = Catalog(extended=program.extended)
    program = with_named_relations(with_own_names(program), diagnostics)
    if diagnostics.n_errors:
        diagnostics.finish()
    _reject_empty_program(program, diagnostics)
    _reject_second_declarations(program, diagnostics)
    statements = program.statements
    catalog.retracted |= {
        decl.on_retract.text: decl.name.text
        for decl in statements
        if isinstance(decl, s.EventDecl) and decl.on_retract is not None
    }
    catalog.forecasts |= {decl.result.text: decl.event.text for decl in statements if isinstance(decl, s.ForecastDecl)}
    tables = [bind_table(decl, catalog, diagnostics) for decl in statements if isinstance(decl, s.TableDecl)]
    rule_times = TimeUses()
    rules = bind_rules([decl for decl in statements if isinstance(decl, s.RuleDecl)], catalog, diagnostics, rule_times)
    streams = [bind_stream(decl, catalog, diagnostics) for decl in statements if isinstance(decl, s.StreamDecl)]
    catalog.payloads |= {
        catalog.extended[decl.name.text]: payload_of(decl, catalog)
        for decl in statements
        if isinstance(decl, s.StreamDecl) and decl.name.text in catalog.extended
    }
    events: list[BoundEvent] = []
    for declared in _in_order(program, catalog):
        bound = bind_event_group(declared, catalog, diagnostics)
        assert bound or diagnostics.n_errors, f"{listed(declared.names)} left out without a reason"
        events += [*bound, *_forecasts(program, declared, bound, catalog, diagnostics)]
    _reject_forecasts_of_nothing(program, catalog, diagnostics)
    warnings = diagnostics.finish()
    bound_streams = [stream for stream in streams if stream]
    ticks_only = [use for stream in bound_streams for use in stream.ticks_only]
    ticks_only += [use for event in events for use in event.ticks_only]
    plan = p.ProgramPlan(
        tuple(stream.plan for stream in bound_streams),
        (*(table for table in tables if table), *_models(events, catalog, source)),
        tuple(plan for event in events for plan in event.plans),
        tuple(ticks_only),
        tuple(rules),
    )
    plan = _with_points_as_durations(plan)
    _reject_continuous_ties(program, plan, diagnostics)
    diagnostics.finish()
    return BoundProgram(plan, warnings)


def _reject_empty_program(program: s.Program, diagnostics: Diagnostics) -> None:
    if not program.statements:
        diagnostics.error(
            "INK0367",
            "the program has no statements",
            NOWHERE,
            notes=["a program declares at least one stream; events say what to look for"],
            helps=[
                "write for example\nSTREAM Car(id STRING, speed DOUBLE) KEY id TIME t;\n"
                "EVENT fast AS PATTERN Car c WHERE c.speed > 130;"
            ],
        )


def _reject_second_declarations(program: s.Program, diagnostics: Diagnostics) -> None:
    """Reports duplicate names: streams and events share one namespace, tables and rules another."""
    sources: dict[str, s.Ident] = {}
    knowledge: dict[str, s.Ident] = {}
    rule_arity: dict[str, int] = {}
    event_names: set[str] = set()
    for decl in program.statements:
        match decl:
            case s.EventDecl(name=name) if name.text in event_names:
                pass  # several declarations of one event are united
            case s.StreamDecl(name=name) | s.EventDecl(name=name):
                _reject_second(name, sources, diagnostics)
                if isinstance(decl, s.EventDecl):
                    event_names.add(name.text)
                    for also in (decl.on_timeout, decl.on_retract):
                        if also is not None:
                            _reject_second(also, sources, diagnostics)
            case s.RuleDecl(head=s.Call(name=name, args=args)):
                if name.text not in rule_arity:
                    _reject_second(name, knowledge, diagnostics)
                elif rule_arity[name.text] != len(args):
                    diagnostics.error(
                        "INK0209",
                        f"rule `{name}` has {rule_arity[name.text]} arguments elsewhere, found {len(args)}",
                        decl.head,
                        notes=[f"the first is at {diagnostics.location(knowledge[name.text])}"],
                    )
                rule_arity.setdefault(name.text, len(args))
            case s.TableDecl(name=name):
                _reject_second(name, knowledge, diagnostics)
            case s.ForecastDecl():
                _reject_second(decl.result, sources, diagnostics)
    for decl in program.statements:
        if isinstance(decl, s.ForecastDecl):
            model = decl.model or s.Ident(default_model(decl.event.text), span=decl.event.span)
            if model.text in knowledge:
                _reject_second(model, knowledge, diagnostics)


def _reject_second(name: s.Ident, taken: dict[str, s.Ident], diagnostics: Diagnostics) -> None:
    if name.text in taken:
        diagnostics.error(
            "INK0201",
            f"`{name}` is declared twice",
            name,
            notes=[f"the first declaration is at {diagnostics.location(taken[name.text])}"],
            helps=["give one of them another name"],
        )
    taken.setdefault(name.text, name)


def _in_order(program: s.Program, catalog: Catalog) -> Iterator[EventDeclarations]:
    """Groups of declarations in topological order: the declarations of one event, or of mutually recursive events."""
    declared: dict[str, list[s.EventDecl]] = {}
    for decl in program.statements:
        if isinstance(decl, s.EventDecl):
            declared.setdefault(decl.name.text, []).append(decl)
    maker = {
        decl.on_timeout.text: name
        for name, decls in declared.items()
        for decl in decls
        if decl.on_timeout is not None and decl.on_timeout.text not in catalog.sources
    } | {name: name for name in declared}
    maker |= {stream: event for stream, event in catalog.extended.items() if event in declared}
    maker |= {
        decl.result.text: maker[decl.event.text]
        for decl in program.statements
        if isinstance(decl, s.ForecastDecl) and decl.event.text in maker
    }
    needs = {
        name: [maker[used.text] for decl in decls for used in used_sources(decl, catalog) if used.text in maker]
        for name, decls in declared.items()
    }
    for mates, is_recursive in in_groups(needs):
        decls = tuple(decl for decl in program.statements if isinstance(decl, s.EventDecl) and decl.name.text in mates)
        yield EventDeclarations(decls, is_recursive)


def _forecasts(
    program: s.Program,
    declared: EventDeclarations,
    bound: Iterable[BoundEvent],
    catalog: Catalog,
    diagnostics: Diagnostics,
) -> Iterator[BoundEvent]:
    """Binds the forecasts of events that are just bound."""
    events = {plan.name: plan for event in bound for plan in event.plans}
    for decl in program.statements:
        if isinstance(decl, s.ForecastDecl) and decl.event.text in {*declared.names, *events}:
            plan = bind_forecast(decl, events, catalog, diagnostics)
            if plan is not None:
                yield BoundEvent(plan, ())


def _reject_forecasts_of_nothing(program: s.Program, catalog: Catalog, diagnostics: Diagnostics) -> None:
    for decl in program.statements:
        if isinstance(decl, s.ForecastDecl) and decl.result.text not in catalog.sources:
            bind_forecast(decl, {}, catalog, diagnostics)


def _models(events: Iterable[BoundEvent], catalog: Catalog, source: SourceText) -> Iterator[TableSchema]:
    """The tables of the models that forecasts use."""
    read: dict[str, set[str]] = {}
    for plan in (event.plan for event in events):
        if plan.forecast is not None:
            read.setdefault(plan.forecast.model, set()).update(catalog.sources[plan.name].streams)
    file = "PROGRAM.ink" if source.name.startswith("<") else source.name
    for model, streams in read.items():
        yield model_table(model, " ".join(["inkling fit", file, *(f"-i {name}=PATH" for name in sorted(streams))]))


_OTHER_RESULTS = "write `PER MATCH` for a result per match, or `PER VALUES` for one per value of the head"


def _reject_continuous_ties(program: s.Program, plan: p.ProgramPlan, diagnostics: Diagnostics) -> None:
    """Rejects results that are distinguished by the time of a lost event: each single time has probability 0."""
    declared = {decl.name.text: decl.name for decl in program.statements if isinstance(decl, s.EventDecl)}
    losing = {one.schema.name for one in plan.streams if isinstance(one.schema.uncertainty, LostEvents)}
    for event in plan.events:
        if losing & set(event.sources):
            losing.add(event.name)
        if event.timeouts_of is not None or event.forecast is not None:
            continue
        name = declared[event.name]
        for edge, per in ((Edge.END, (p.Per.END, p.Per.INTERVAL)), (Edge.START, (p.Per.INTERVAL,))):
            if event.per in per and (stream := lost_border(event, plan, edge)) is not None:
                _reject(
                    f"PER {event.per.value}, but a match can {edge.value.lower()} with a lost event of `{stream}`",
                    name,
                    f"because of `PER {event.per.value}`",
                    _OTHER_RESULTS,
                    diagnostics,
                )
                break
        for output in event.head:
            stream = lost_time(output.expr, event, plan)
            if stream is not None:
                _reject(
                    f"`{output.name}` distinguishes results by the time of an event of `{stream}` that may be lost",
                    name,
                    f"because of `{output.name}` in its head",
                    "put it after `RETURN`, which adds values without distinguishing results by them",
                    diagnostics,
                )


def _reject(message: str, name: s.Ident, label: str, advice: str, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "INK0332",
        message,
        name,
        label,
        notes=["a lost event can have happened at any time of its gap, so no single result would have a probability"],
        helps=[advice],
    )


def _with_points_as_durations(program: p.ProgramPlan) -> p.ProgramPlan:
    """The program with durations instead of POINTS, for events over streams with timestamps and TICK."""
    ticks = {one.schema.name: one.schema.tick for one in program.streams if one.schema.grid is not None}
    if not ticks:
        return program
    events = []
    for event in program.events:
        read = [one.schema for one in program.streams if one.schema.name in dependencies_of(event, program)]
        found = [tick for schema in read if (tick := ticks.get(schema.name)) is not None]
        events.append(_points_as_durations(event, found[0]) if read and len(found) == len(read) else event)
    return replace(program, events=tuple(events))


def _points_as_durations(event: p.EventPlan, tick: Duration) -> p.EventPlan:
    def length(window: p.Window | None) -> p.Window | None:
        return Duration((window.count - 1) * tick.amount, tick.unit) if isinstance(window, p.Points) else window

    def changed(pattern: p.Pattern) -> p.Pattern:
        if isinstance(pattern, p.Sequence | p.Narrowed) and isinstance(pattern.within, p.Points):
            return replace(pattern, within=length(pattern.within))
        return pattern

    return replace(event, pattern=everywhere(event.pattern, changed), within=length(event.within))
