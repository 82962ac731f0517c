"""Patterns side by side: the events of a stage in groups that do not use each other."""

from __future__ import annotations

from dataclasses import replace

from inkling.physical.plan import EventStep, Stage


def split_by_pattern(stage: Stage, n_groups: int) -> list[Stage]:
    """At most `n_groups` stages that together evaluate the same events; one that uses another stays with it."""
    bundles: list[list[EventStep]] = []
    for step in stage.steps:
        used = set(step.event.sources)
        together = [bundle for bundle in bundles if used & {other.event.name for other in bundle}]
        merged = [other for bundle in together for other in bundle]
        bundles = [bundle for bundle in bundles if bundle not in together]
        bundles.append([*merged, step])
    bundles.sort(key=len, reverse=True)
    groups: list[list[EventStep]] = [[] for _ in range(max(1, min(n_groups, len(bundles))))]
    for bundle in bundles:
        min(groups, key=len).extend(bundle)
    order = {step.event.name: place for place, step in enumerate(stage.steps)}
    return [replace(stage, steps=tuple(sorted(group, key=lambda step: order[step.event.name]))) for group in groups]
