"""Models as lines of text: what they know, what they predict after what, and what a program says with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from inkling.analysis.choice import Evaluator
from inkling.errors import InputError
from inkling.evaluators.forecast.families import Families, Family
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.fitting.nodes import Node, letter, nodes_of, spelled
from inkling.markov.chain import Chain
from inkling.markov.model import Model
from inkling.physical.runnable import Runnable

MOST_NODES = 60
LEAST_SHOWN = 0.0005
"""Shares that would round to nothing are not shown."""


def model_lines(model: Model, most: int = MOST_NODES) -> list[str]:
    """All there is to say."""
    return [*about_lines(model), "", *symbol_lines(model), "", *tree_lines(model, most)]


def about_lines(model: Model) -> list[str]:
    learning = model.learning
    lines = [
        f"a model of `{model.event}`, version {model.version}",
        f"  learned    {learning.kind}, order {learning.order}, from {model.n_events:,.0f} events",
        f"  counted    {len(model.counts.code):,} words of at most {model.counts.order + 1} events, "
        f"{model.gaps.count.sum():,.0f} times between events",
    ]
    if learning.kind == "tree":
        lines.append(
            f"  a node     has a share of {learning.p_min:g} or more and changes one of {learning.gamma_min:g} or more "
            f"{learning.ratio:g} times"
        )
    if learning.shrinkage is not None:
        names = ", ".join(model.counts.group[:5]) + (", …" if len(model.counts.group) > 5 else "")
        weight = f"the model of all weighs {learning.shrinkage:g} events"
        lines.append(f"  groups     {len(model.counts.group):,}: {names}; {weight}")
    return [*lines, f"  automaton  {model.n_states} states, {model.fingerprint[:12]}"]


def symbol_lines(model: Model) -> list[str]:
    """Every symbol, what it stands for, and how often it came."""
    counts = np.bincount(model.counts.code % model.counts.n_symbols, model.counts.count, model.counts.n_symbols)
    numbers = [f"{count:,.0f}" for count in counts]
    wide, high = max(map(len, model.alphabet)), max(map(len, numbers))
    rows = zip(range(len(numbers)), model.alphabet, numbers, strict=True)
    return ["events", *(f"  {letter(symbol):<3}{word:<{wide}}  {number:>{high}}" for symbol, word, number in rows)]


def tree_lines(model: Model, most: int = MOST_NODES) -> list[str]:
    """What comes next after what came last, the newest event on the right."""
    root = nodes_of(model)
    n_nodes = sum(1 for _ in root)
    rows = list(islice(_rows(root, "", ""), most))
    wide, high = max(len(name) for name, *_ in rows), max(len(count) for _, count, _ in rows)
    lines = [f"  {name:<{wide}}  {count:>{high}}  {law}".rstrip() for name, count, law in rows]
    more = [] if n_nodes <= most else [f"  and {n_nodes - most:,} more"]
    return [f"next event, by the last ones ({n_nodes:,} node{'' if n_nodes == 1 else 's'})", *lines, *more]


def compared_lines(one: Model, other: Model) -> list[str]:
    """What is different between two models."""
    differences = list(_differences(one, other))
    return differences or ["no difference"]


def _rows(node: Node, branch: str, indent: str) -> Iterator[tuple[str, str, str]]:
    yield f"{branch}{spelled(node.word)}", f"{node.count:,.0f}", law_text(node)
    for place, child in enumerate(node.children, start=1):
        is_last = place == len(node.children)
        yield from _rows(child, f"{indent}{'└─ ' if is_last else '├─ '}", indent + ("   " if is_last else "│  "))


def law_text(node: Node) -> str:
    shares = [(share, symbol) for symbol, share in enumerate(node.law.tolist()) if share >= LEAST_SHOWN]
    return "  ".join(f"{letter(symbol)} {share:.3f}" for share, symbol in shares)


def _differences(one: Model, other: Model) -> Iterator[str]:
    for name, left, right in (
        ("event", one.event, other.event),
        ("version", one.version, other.version),
        ("kind", one.learning.kind, other.learning.kind),
        ("order", one.learning.order, other.learning.order),
        ("order of counts", one.counts.order, other.counts.order),
        ("events", f"{one.n_events:,.0f}", f"{other.n_events:,.0f}"),
        ("groups", len(one.counts.group), len(other.counts.group)),
        ("automaton", one.fingerprint[:12], other.fingerprint[:12]),
    ):
        if left != right:
            yield f"{name:<15}  {left} → {right}"
    for sign, words, others in (("-", one.alphabet, other.alphabet), ("+", other.alphabet, one.alphabet)):
        yield from (f"{sign} {word}" for word in words if word not in others)
    if one.alphabet == other.alphabet:
        yield from _other_laws(one, other)


def _other_laws(one: Model, other: Model) -> Iterator[str]:
    """Contexts that only one has, and those whose predictions are farthest apart."""
    left = {node.word: node for node in nodes_of(one)}
    right = {node.word: node for node in nodes_of(other)}
    for sign, mine, others in (("-", left, right), ("+", right, left)):
        own = [spelled(word) for word in mine if word not in others]
        if own:
            yield f"{sign} contexts       {len(own):,}: {', '.join(own[:8])}{', …' if len(own) > 8 else ''}"
    apart = {word: float(np.abs(left[word].law - right[word].law).sum() / 2) for word in left.keys() & right.keys()}
    farthest = sorted(apart, key=lambda word: (-apart[word], word))
    for word in [word for word in farthest if apart[word] >= LEAST_SHOWN][:8]:
        yield f"after {spelled(word):<11}{law_text(left[word])} → {law_text(right[word])}"


def forecast_lines(program: Runnable, model: Model) -> list[str]:
    """The forecasts of a program that a model is for; those within a duration need its clock and are left out."""
    lines: list[str] = []
    problems = []
    for stage in program.physical.stages:
        for step in stage.steps:
            forecast = step.event.forecast
            if step.evaluator is not Evaluator.FORECAST or forecast is None or forecast.of != model.event:
                continue
            reader = SymbolReader.of(step, len(stage.inputs), stage.resets)
            try:
                families = Families.of(step, reader, model.to_arrow(), lambda span: 0)
            except InputError as problem:
                problems.append(problem)  # it may have another model
                continue
            if forecast.within is None:
                chain = Chain.of(reader.delta, reader.dfa.final, families.model.contexts())
                lines += [f"{step.event.name}", *_forecast_rows(chain, families.member(0))]
    if not lines and problems:
        raise problems[0]
    if not lines:
        raise InputError.of(
            "INK0618",
            f"the program has no forecast of `{model.event}` that counts events",
            notes=("the model is one of this event",),
        )
    return lines


def _forecast_rows(chain: Chain, family: Family) -> Iterator[str]:
    table = family.table
    words = chain.contexts.words()
    names = [spelled(words[context]) for context in chain.context]
    wide = max(map(len, names))
    yield f"  {'state':<6}{'after':<{wide}}  {'first':>5}  {'last':>5}  {'chance':>7}  {'expected':>8}"
    for row, name in enumerate(names):
        if family.issued[row]:
            yield (
                f"  {chain.state[row]:<6}{name:<{wide}}  {table.first[row]:>5}  {table.last[row]:>5}  "
                f"{table.chance[row]:>7.4f}  {table.expected[row]:>8.2f}"
            )
