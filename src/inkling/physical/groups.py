"""How the work of a stage is divided: by keys, by patterns that do not use each other, or by both."""

from dataclasses import replace
from enum import Enum

from inkling.physical.plan import EventStep, Input, Stage


class TaskLayout(Enum):
    """What the parallel tasks of a stage divide among themselves."""

    KEY = "key"  # the keys: each task has all patterns
    PATTERN = "pattern"  # the patterns: each task sees all events
    BOTH = "both"


def layout_of(name: str | TaskLayout | None) -> TaskLayout | None:
    """A layout by its name; None leaves the choice to the planner."""
    if name is None or isinstance(name, TaskLayout):
        return name
    names = [one.value for one in TaskLayout]
    if name not in names:
        raise ValueError(f"expected layout to be one of {', '.join(names)}, found {name!r}")
    return TaskLayout(name)


def chosen_layout(stage: Stage, wanted: TaskLayout | None) -> TaskLayout:
    """The layout of a stage: by keys if it has keys or can be sliced by time, else by patterns."""
    if wanted is not None:
        return wanted
    return TaskLayout.KEY if stage.key_types or stage.sliced else TaskLayout.PATTERN


def groups_in(stage: Stage, layout: TaskLayout, n_groups: int) -> list[Stage]:
    """The stages that run in parallel."""
    return [stage] if layout is TaskLayout.KEY else split_by_pattern(stage, n_groups)


def split_by_pattern(stage: Stage, n_groups: int) -> list[Stage]:
    """At most `n_groups` stages with the same events; an event stays together with the events that it reads."""
    twins = dict(stage.sharing.twins)
    bundles: list[list[EventStep]] = []
    for step in stage.steps:
        used = {*step.event.sources, twins.get(step.event.name)}
        together = [bundle for bundle in bundles if used & {other.event.name for other in bundle}]
        merged = [other for bundle in together for other in bundle]
        bundles = [bundle for bundle in bundles if bundle not in together]
        bundles.append([*merged, step])
    bundles.sort(key=len, reverse=True)
    groups: list[list[EventStep]] = [[] for _ in range(max(1, min(n_groups, len(bundles))))]
    for bundle in bundles:
        min(groups, key=len).extend(bundle)
    order = {step.event.name: place for place, step in enumerate(stage.steps)}
    return [_only(stage, sorted(group, key=lambda step: order[step.event.name])) for group in groups]


def _only(stage: Stage, steps: list[EventStep]) -> Stage:
    """The stage with some of its steps, and only with the conditions of these steps."""
    if len(steps) == len(stage.steps):
        return stage
    used = {bit for step in steps for leaf in step.leaves for bit in leaf.all_bits}

    def narrowed(given: Input) -> Input:
        wanted = used | {given.reset}
        early = tuple(bit for bit in given.early if bit.number in wanted)
        return replace(given, early=early, late=tuple(bit for bit in given.late if bit.number in wanted))

    return replace(stage, steps=tuple(steps), inputs=tuple(map(narrowed, stage.inputs)))
