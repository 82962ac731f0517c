"""Which queries of a program share a shuffle: those that read the same streams, divided by the same columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from inkling.analysis.probable.strategy import Strategy
from inkling.evaluators.probable.regular import Regular
from inkling.evaluators.probable.units import holding_column
from inkling.probable.program import ProbableProgram


@dataclass(frozen=True, slots=True)
class Together:
    """Queries, and per stream the columns whose values divide its rows, in the same order; none where nothing does."""

    events: tuple[str, ...]
    divided_by: Mapping[str, tuple[str, ...]]

    @property
    def streams(self) -> tuple[str, ...]:
        return tuple(self.divided_by)

    def part_of(self, program: ProbableProgram) -> ProbableProgram:
        """A program without the other queries."""
        events = tuple(one for one in program.events if one.name in self.events)
        streams = tuple(one for one in program.part.streams if one.schema.name in self.divided_by)
        strategies = {name: program.strategies[name] for name in self.events}
        return replace(program, part=replace(program.part, streams=streams, events=events), strategies=strategies)

    @property
    def n_keys(self) -> int:
        return len(next(iter(self.divided_by.values())))


def queries_together(program: ProbableProgram) -> list[Together]:
    """Those of chains of states apart from others: their rows can be packed."""
    found: dict[tuple[_Division, bool], list[str]] = {}
    for event in program.events:
        by_chains = isinstance(program.evaluators[event.name].engine, Regular)
        found.setdefault((_division(program.strategies[event.name]), by_chains), []).append(event.name)
    return [Together(tuple(events), dict(division)) for (division, _), events in found.items()]


_Division = tuple[tuple[str, tuple[str, ...]], ...]


def _division(strategy: Strategy) -> _Division:
    query = strategy.query
    names = sorted(query.sources)
    columns = {tuple(holding_column(query, one, name) for name in names) for one in strategy.variables}
    return tuple((name, tuple(some[place] for some in sorted(columns))) for place, name in enumerate(names))
