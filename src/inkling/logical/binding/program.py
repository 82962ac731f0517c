"""A whole program: declarations first, then events after the events they use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inkling.errors import Diagnostic
from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, broken_source
from inkling.logical.binding.continuum import refuse_continuum
from inkling.logical.binding.events import bind_event, declared_names, used_sources
from inkling.logical.binding.mistakes import Mistakes, did_you_mean, listed
from inkling.logical.binding.streams import bind_stream
from inkling.logical.binding.tables import bind_table, check_rule
from inkling.source import SourceText


@dataclass(frozen=True, slots=True)
class Bound:
    """A program in which every name is resolved, and what is worth knowing about it."""

    plan: p.ProgramPlan
    warnings: tuple[Diagnostic, ...] = ()


def bind(program: s.Program, source: SourceText) -> Bound:
    """Resolves a program.

    Raises `ProgramError` with every mistake found, or `NotSupportedYet` when the program is right but uses
    something that nothing here can run.
    """
    mistakes = Mistakes(source)
    catalog = Catalog()
    _refuse_second_declarations(program, mistakes)
    statements = program.statements
    tables = [bind_table(decl, catalog, mistakes) for decl in statements if isinstance(decl, s.TableDecl)]
    streams = [bind_stream(decl, catalog, mistakes) for decl in statements if isinstance(decl, s.StreamDecl)]
    rules = [decl for decl in statements if isinstance(decl, s.RuleDecl)]
    catalog.rules.update({decl.head.name.text: len(decl.head.args) for decl in rules})
    for rule in rules:
        check_rule(rule, catalog, mistakes)
    events = [bind_event(decl, catalog, mistakes) for decl in _in_order(program, catalog, mistakes)]
    for decl in statements:
        if isinstance(decl, s.ForecastDecl):
            _check_forecast(decl, program, catalog, mistakes)
    warnings = mistakes.settle()
    bound_streams = [stream for stream in streams if stream]
    bound_events = [event for event in events if event]
    ticks_only = [use for stream in bound_streams for use in stream.ticks_only]
    ticks_only += [use for event in bound_events for use in event.ticks_only]
    plan = p.ProgramPlan(
        tuple(stream.plan for stream in bound_streams),
        tuple(table for table in tables if table),
        tuple(plan for event in bound_events for plan in event.plans),
        tuple(ticks_only),
    )
    refuse_continuum(program, plan, mistakes)
    mistakes.settle()
    return Bound(plan, warnings)


def _refuse_second_declarations(program: s.Program, mistakes: Mistakes) -> None:
    """Streams and events share their names, and so do tables, rules and functions."""
    sources: dict[str, s.Ident] = {}
    knowledge: dict[str, s.Ident] = {}
    rule_arity: dict[str, int] = {}
    event_names: set[str] = set()
    for decl in program.statements:
        match decl:
            case s.EventDecl(name=name) if name.text in event_names:
                mistakes.wrong(
                    "INK0402",
                    f"several events called `{name}` are not supported yet",
                    name,
                    notes=[f"the first stands at {mistakes.place(sources[name.text])}; they would be united"],
                    helps=["join their patterns with OR"],
                )
            case s.StreamDecl(name=name) | s.EventDecl(name=name):
                _refuse_second(name, sources, mistakes)
                if isinstance(decl, s.EventDecl):
                    event_names.add(name.text)
                    if decl.on_timeout is not None:
                        _refuse_second(decl.on_timeout, sources, mistakes)
            case s.RuleDecl(head=s.Call(name=name, args=args)):
                if name.text not in rule_arity:
                    _refuse_second(name, knowledge, mistakes)
                elif rule_arity[name.text] != len(args):
                    mistakes.wrong(
                        "INK0209",
                        f"rule `{name}` has {rule_arity[name.text]} arguments elsewhere, found {len(args)}",
                        decl.head,
                        notes=[f"the first stands at {mistakes.place(knowledge[name.text])}"],
                    )
                rule_arity.setdefault(name.text, len(args))
            case s.TableDecl(name=name):
                _refuse_second(name, knowledge, mistakes)
            case s.ForecastDecl():
                pass


def _refuse_second(name: s.Ident, taken: dict[str, s.Ident], mistakes: Mistakes) -> None:
    if name.text in taken:
        mistakes.wrong(
            "INK0201",
            f"`{name}` is declared twice",
            name,
            notes=[f"the first declaration stands at {mistakes.place(taken[name.text])}"],
            helps=["give one of them another name"],
        )
    taken.setdefault(name.text, name)


def _in_order(program: s.Program, catalog: Catalog, mistakes: Mistakes) -> Iterator[s.EventDecl]:
    """Events after those they use; events that need themselves are reported and known by name only."""
    declared = {decl.name.text: decl for decl in program.statements if isinstance(decl, s.EventDecl)}
    maker = {
        decl.on_timeout.text: name
        for name, decl in declared.items()
        if decl.on_timeout is not None and decl.on_timeout.text not in catalog.sources
    } | {name: name for name in declared}
    needs = {
        name: [maker[used.text] for used in used_sources(decl) if used.text in maker] for name, decl in declared.items()
    }
    _refuse_recursion(declared, maker, needs, catalog, mistakes)
    done: set[str] = set()

    def visit(name: str) -> Iterator[s.EventDecl]:
        if name in done:
            return
        done.add(name)
        for needed in needs[name]:
            yield from visit(needed)
        yield declared[name]

    for name in declared:
        yield from visit(name)


def _refuse_recursion(
    declared: dict[str, s.EventDecl],
    maker: dict[str, str],
    needs: dict[str, list[str]],
    catalog: Catalog,
    mistakes: Mistakes,
) -> None:
    for name, decl in declared.items():
        if name in _reachable(name, needs):
            place = next(
                used
                for used in used_sources(decl)
                if (made_by := maker.get(used.text)) and name in {made_by, *_reachable(made_by, needs)}
            )
            through = "" if place.text == name else f"`{place}` uses `{name}` in turn"
            mistakes.wrong("INK0402", f"`{name}` uses itself, which is not supported yet", place, through)
            for own in declared_names(decl):
                catalog.sources[own.text] = broken_source(own.text, is_derived=True)


def _reachable(name: str, needs: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(needs.get(name, ()))
    while waiting:
        needed = waiting.pop()
        if needed not in found:
            found.add(needed)
            waiting.extend(needs[needed])
    return found


def _check_forecast(decl: s.ForecastDecl, program: s.Program, catalog: Catalog, mistakes: Mistakes) -> None:
    events = [other.name.text for other in program.statements if isinstance(other, s.EventDecl)]
    if decl.event.text not in events:
        notes = [f"`{decl.event}` is a stream"] if decl.event.text in catalog.sources else []
        helps = did_you_mean(decl.event.text, events)
        if not helps and events:
            helps = (f"the events of this program are {listed(events)}",)
        mistakes.wrong("INK0205", f"no event is called `{decl.event}`", decl.event, notes=notes, helps=helps)
    mistakes.wrong("INK0419", "forecasts are not supported yet", decl.event)
