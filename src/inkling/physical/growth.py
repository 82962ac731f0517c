"""Events whose matches multiply with the rows: how fast, and which clause bounds them."""

from collections.abc import Iterator

from inkling.analysis.bounds.bounded import example_length
from inkling.analysis.choice import Evaluator
from inkling.errors import Diagnostic
from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.plan import EventPlan
from inkling.physical.plan import EventStep, PhysicalPlan
from inkling.source import SourceText

ENDLESS = 99
"""The degree of a repetition whose matches are all subsets of its events."""


def growth_warnings(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> Iterator[Diagnostic]:
    """A warning for each event that a batch run may not be able to hold; `source` is the text of `tree`."""
    for step in (step for stage in plan.stages for step in stage.steps):
        degree = growth_of(step)
        if degree < 2:
            continue
        event = step.event
        power = _ORDINALS.get(degree, f"{degree}th")
        how = "doubles with every row" if degree >= ENDLESS else f"grows with the {power} power of the rows"
        yield Diagnostic(
            "INK0398",
            f"the number of matches of `{event.name}` {how}",
            tree.event_name(event.name).span,
            source,
            "nothing limits which events belong together",
            (_example(degree),),
            tuple(_limits(event, plan.program, degree)),
            "warning",
        )


_ORDINALS = {2: "2nd", 3: "3rd"}


def growth_of(step: EventStep) -> int:
    """The power of the number of rows of a key with which matches grow; 1 or less if something limits them."""
    event = step.event
    if step.evaluator is not Evaluator.NETWORK or event.consumption is not None:
        return 0
    if event.within is not None or event.keep is not None:
        return 0
    degree = _degree(event.pattern)
    has_keys = bool(event.partition) or any(
        _relates(one) for leaf in step.leaves for one in (*leaf.all_across, *leaf.by_key)
    )
    return degree if degree >= ENDLESS or not has_keys else 1


def _relates(condition: e.Expr) -> bool:
    """Whether a condition joins events by equal values."""
    return any(isinstance(one, e.Compare) and one.operator == "=" for one in e.walk(condition))


def _degree(pattern: object) -> int:
    match pattern:
        case p.Leaf():
            return 1
        case p.Narrowed(pattern=inner, within=within):
            return min(1, _degree(inner)) if within is not None else _degree(inner)
        case p.Repetition(pattern=inner, high=None):
            return ENDLESS if _degree(inner) else 0
        case p.Repetition(pattern=inner, high=high):
            return min(ENDLESS - 1, _degree(inner) * (high or 1))
        case p.Sequence(policy=p.Policy.ANY, parts=parts) | p.Conjunction(items=parts):
            return min(ENDLESS, sum(map(_degree, parts)))
        case p.Sequence(parts=parts):
            return max((_degree(part) for part in parts if not isinstance(part, p.Repetition)), default=1)
        case p.Disjunction(items=items):
            return max(map(_degree, items))
        case _:
            return 0


def _example(degree: int) -> str:
    if degree >= ENDLESS:
        return "20 rows have a million matches, and 40 rows have 10^12"
    return f"1,000 rows have up to 10^{3 * degree} matches, and a million rows up to 10^{6 * degree}"


def _limits(event: EventPlan, program: p.ProgramPlan, degree: int) -> Iterator[str]:
    yield f"add `WITHIN {example_length(event, program)}` to limit how far the events of a match lie apart"
    if degree >= ENDLESS:
        yield "write `{1,5}` instead of `+`, or `SEQ NEXT` around the repetition"
    else:
        yield "add `PARTITION BY column`, or a condition such as `b.key = a.key`; or write `SEQ NEXT`"
