"""The clauses of an event besides its pattern: partition, scope, consumption and thresholds."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, Source
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.mistakes import Mistakes, did_you_mean, listed
from inkling.logical.binding.syntax_walk import named_sources
from inkling.model.time import Span
from inkling.model.types import Type


def bind_scope(decl: s.EventDecl, catalog: Catalog, mistakes: Mistakes) -> tuple[Source, ...]:
    """The sources whose events STRICT counts: those in OVER, or all that the pattern names."""
    names = decl.over or tuple(named_sources(decl.body))
    scope = {name.text: catalog.source(name, mistakes) for name in names}
    if not scope:
        mistakes.wrong(
            "INK0318",
            "the pattern names no stream, so nothing says which events `_` can be",
            decl.body,
            helps=["add `OVER (…)` with the streams that are meant"],
        )
    return tuple(scope[name] for name in sorted(scope))


def bind_partition(decl: s.EventDecl, sources: tuple[Source, ...], mistakes: Mistakes) -> dict[str, Type | None]:
    """Partition columns with their type, which must be the same in every source."""
    partition: dict[str, Type | None] = {}
    for column in decl.partition_by:
        sound = [source for source in sources if not source.is_broken]
        lacking = [source.name for source in sound if column.text not in source.columns]
        kinds = {source.columns[column.text] for source in sound if column.text in source.columns}
        partition[column.text] = next(iter(kinds)) if len(kinds) == 1 and not lacking else None
        if lacking:
            known = [name for source in sound for name in source.columns]
            mistakes.wrong(
                "INK0319",
                f"cannot partition by `{column}`: {listed(lacking)} {'has' if len(lacking) == 1 else 'have'}"
                " no such column",
                column,
                notes=["every stream of the pattern and its scope must have the column"],
                helps=did_you_mean(column.text, known) if len(lacking) == len(sound) else (),
            )
        elif len(kinds) > 1:
            written = ", ".join(f"{source.columns[column.text]} in `{source.name}`" for source in sound)
            mistakes.wrong(
                "INK0319",
                f"cannot partition by `{column}`: its type differs",
                column,
                notes=[f"it is {written}"],
            )
    return partition


def bind_keep(decl: s.EventDecl, times: TimeUses) -> Span | None:
    """How long after its start a match may become known."""
    if decl.keep_for is None:
        return None
    keep = to_span(decl.keep_for)
    times.spans.append((keep, decl.keep_for.span))
    return keep


def restarts(decl: s.EventDecl) -> bool:
    """Whether matches restart after each other."""
    return decl.consume is not None and decl.consume.policy == "RESTART"


def bind_confidence(decl: s.EventDecl, doubtful: frozenset[str], mistakes: Mistakes) -> p.Confidence | None:
    """The least probability that a result must have; it changes nothing when every stream is certain."""
    confidence = decl.confidence
    if confidence is None:
        return None
    if confidence.early and not isinstance(decl.body.pattern, s.Quantified):
        refuse_early(confidence, "other results are told when their probabilities are final", mistakes)
    if confidence.op == ">" and confidence.threshold >= 1:
        mistakes.wrong(
            "INK0321",
            "no probability is greater than 1, so nothing would ever be returned",
            confidence,
            helps=["write `CONFIDENCE >= 1` for what is certain"],
        )
    elif not doubtful:
        mistakes.warn(
            "INK0322",
            "CONFIDENCE changes nothing here: every stream is certain, so every probability is 1",
            confidence,
        )
    return p.Confidence(float(confidence.threshold), confidence.op == ">", confidence.early)


def refuse_early(confidence: s.Confidence, why: str, mistakes: Mistakes) -> None:
    """EARLY outside a relation between segments."""
    mistakes.wrong(
        "INK0353",
        "EARLY fits a relation between segments alone",
        confidence,
        notes=[f"`ALL`, `SOME` and `AT LEAST` can be certain to hold before all rows are there; {why}"],
        helps=["leave EARLY out"],
    )


def bind_top(decl: s.EventDecl, doubtful: frozenset[str], mistakes: Mistakes) -> int | None:
    """How many of the most probable results are returned."""
    if decl.top is not None and not doubtful:
        mistakes.wrong(
            "INK0411",
            "TOP over certain streams is not supported yet",
            decl.name,
            f"because of `TOP {decl.top}`",
            notes=["every probability is 1 there, so nothing tells one result from another"],
        )
    return decl.top


def bind_demand(decl: s.EventDecl, doubtful: frozenset[str], mistakes: Mistakes) -> p.Demand | None:
    """Whether the event insists on exact or on sampled probabilities."""
    if decl.demand is None:
        return None
    if decl.demand == "SAMPLED" and not doubtful:
        mistakes.warn(
            "INK0322",
            "SAMPLED changes nothing here: every stream is certain, so every probability is 1",
            decl.name,
        )
    return p.Demand(decl.demand)
