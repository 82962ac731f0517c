"""Whether a plan has to follow an unknown number of streams together, each of which depends on its own past."""

from __future__ import annotations

from collections.abc import Iterable

from inkling.analysis.query.plans import Chain, Cover, Follow, Group, Plan, Project
from inkling.analysis.query.query import Query

ONE_BY_ONE = "each with a past of its own; PARTITION BY the KEY, or name one by a constant"


def unbounded(query: Query, plan: Plan, env: frozenset[str], *, within: bool) -> str | None:
    """Why it does, if so. `within` says that what is asked for are intervals, not points in time."""
    match plan:
        case Chain(n_stages=n):
            return _any_key(query, range(n), env)
        case Project(variable=name, child=child):
            return unbounded(query, child, env | {name}, within=within)
        case Follow(child=child, stage=number):
            # streams of a last stage that is not repeated can be followed one by one
            mine = _any_key(query, (number,), env) if within or query.stages[number].repeated else None
            return mine or unbounded(query, child, env, within=True)
        case Cover(child=child) | Group(child=child):
            return unbounded(query, child, env, within=within)


def is_one_stream(query: Query, number: int, env: frozenset[str]) -> bool:
    """Whether given values of variables leave one key of a stage's stream."""
    return _open_column(query, number, env) is None


def _any_key(query: Query, stages: Iterable[int], env: frozenset[str]) -> str | None:
    for number in stages:
        source, column = query.source(number), _open_column(query, number, env)
        if source.markov and column is not None:
            return f"part {number + 1} reads any `{column}` of {source.name}, {ONE_BY_ONE}"
    return None


def _open_column(query: Query, number: int, env: frozenset[str]) -> str | None:
    known = set(query.stages[number].constants)
    for name in env:
        known |= query.variable(name).columns_in(number)
    return next((column for column in query.source(number).key if column not in known), None)
