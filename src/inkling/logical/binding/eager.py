"""Where an EAGER repetition may stand, and what may follow it: always one thing or the other can be told to be next."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.sequences import can_be_empty


def eager_outside_next(node: s.Repeat, mistakes: Mistakes) -> None:
    """Reports an eager repetition that is no part of `SEQ NEXT`."""
    mistakes.wrong(
        "INK0385",
        "EAGER needs `SEQ NEXT` directly around the repetition",
        node,
        notes=["it takes the earliest of one more round and the next part; only NEXT takes the earliest of anything"],
        helps=["write `SEQ NEXT(a, b+ EAGER, c)`, without parentheses around the repetition", "or leave EAGER out"],
    )


def check_eager(node: s.Seq, policy: p.Policy, parts: tuple[p.Part, ...], mistakes: Mistakes) -> None:
    """Reports eager repetitions of a sequence for which it is not clear what competes with what."""
    for place, (component, part) in enumerate(zip(node.components, parts, strict=True)):
        written = component.pattern if isinstance(component, s.Check) else component
        if not isinstance(part, p.Repetition) or not part.eager or not isinstance(written, s.Repeat):
            continue
        if policy is not p.Policy.NEXT:
            eager_outside_next(written, mistakes)
        elif can_be_empty(part):
            mistakes.wrong(
                "INK0386",
                "an EAGER repetition needs at least one round",
                written,
                notes=["the choice between one more round and the next part begins after the first round"],
                helps=["write `+ EAGER`", "or leave EAGER out"],
            )
        else:
            _check_next(node, place, parts, mistakes)


def _check_next(node: s.Seq, place: int, parts: tuple[p.Part, ...], mistakes: Mistakes) -> None:
    after = next((index for index in range(place + 1, len(parts)) if not isinstance(parts[index], p.Absent)), None)
    if after is None:
        return
    written = node.components[after]
    words = mistakes.words(written)
    if isinstance(parts[after], p.Deadline):
        mistakes.wrong(
            "INK0387",
            f"`{words}` cannot follow an EAGER repetition",
            written,
            notes=["a deadline is no event that could come before one more round"],
            helps=[f"leave EAGER out, and say with NOT what must not come any more: `NOT …, {words}`"],
        )
    elif can_be_empty(parts[after]):
        mistakes.wrong(
            "INK0387",
            f"`{words}` cannot follow an EAGER repetition, because it may be left out",
            written,
            notes=["then the part after it could end the repetition as well"],
            helps=["write two events, one with this part and one without", "or leave EAGER out"],
        )
