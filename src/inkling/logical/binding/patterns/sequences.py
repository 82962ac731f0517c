"""What the parts of a sequence must satisfy: borders of NOT, deadlines, starts, complements and EAGER repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.diagnostics import Diagnostics


@dataclass(frozen=True, slots=True)
class EnclosingBody:
    """The body directly around a sequence; its window is the limit of a NOT at the border of the sequence."""

    limit: p.Window | None


def check_sequence(
    node: s.Seq, policy: p.Policy, parts: tuple[p.Part, ...], held: EnclosingBody | None, diagnostics: Diagnostics
) -> bool:
    """Reports misplaced parts; shows whether a NOT at a border refers to the window of the body."""
    _check_edges(node, parts, diagnostics)
    certain = [index for index, part in enumerate(parts) if _always_fills(part)]
    _check_complements(node, policy, parts, certain, diagnostics)
    absences = [index for index, part in enumerate(parts) if isinstance(part, p.Absent)]
    if not any(_can_fill(part) for part in parts):
        diagnostics.wrong(
            "INK0309",
            "a sequence needs at least one part besides NOT",
            node,
            notes=["NOT restricts the events around other parts; it matches no event itself"],
        )
        return False
    first = certain[0] if certain else len(parts)
    last = certain[-1] if certain else -1
    from_start = isinstance(parts[0], p.StreamStart)
    to_deadline = isinstance(parts[-1], p.Deadline)
    leading = [index for index in absences if index < first and not from_start]
    trailing = [index for index in absences if index > last and not to_deadline]
    for index in sorted({*leading, *trailing}):
        at_end = index in trailing
        _check_limit(node, index, held, at_end=at_end, is_edge=_is_edge(parts, index, at_end), diagnostics=diagnostics)
    return bool(leading or trailing)


def complement_outside_sequence(node: s.Complement, diagnostics: Diagnostics) -> None:
    diagnostics.wrong(
        "INK0316",
        "COMPLEMENT may only stand between two parts of `SEQ STRICT`",
        node,
        notes=["it is a run of consecutive events between two parts"],
    )


def _check_edges(node: s.Seq, parts: tuple[p.Part, ...], diagnostics: Diagnostics) -> None:
    for index, part in enumerate(parts):
        written = node.components[index]
        if isinstance(part, p.StreamStart):
            if index > 0:
                diagnostics.wrong("INK0310", "AT START may only be the first part of a sequence", written)
            elif not any(isinstance(one, p.Absent) for one in takewhile(_may_be_missing, parts[1:])):
                diagnostics.wrong(
                    "INK0310",
                    "AT START needs a NOT right after it",
                    written,
                    notes=["`SEQ(AT START, NOT A, B b)` is a B with no A before it"],
                )
        if isinstance(part, p.Deadline):
            if index < len(parts) - 1:
                diagnostics.wrong("INK0310", "AFTER may only be the last part of a sequence", written)
            elif not any(_always_fills(one) for one in parts[:index]):
                diagnostics.wrong(
                    "INK0310", "AFTER needs an event to count from", written, notes=["every part before it is optional"]
                )


def _check_complements(
    node: s.Seq, policy: p.Policy, parts: tuple[p.Part, ...], certain: list[int], diagnostics: Diagnostics
) -> None:
    for index, part in enumerate(parts):
        if not isinstance(part, p.OtherRun):
            continue
        written = node.components[index]
        if policy is not p.Policy.STRICT:
            diagnostics.wrong(
                "INK0316",
                "COMPLEMENT needs `SEQ STRICT`",
                written,
                notes=["it is a run of consecutive events; other sequences skip events"],
            )
        elif not certain or not certain[0] < index < certain[-1]:
            diagnostics.wrong(
                "INK0414",
                "COMPLEMENT at the border of a sequence is not supported yet",
                written,
                notes=["it needs a part before it and a part after it that cannot be left out"],
            )


def _check_limit(
    node: s.Seq, index: int, held: EnclosingBody | None, *, at_end: bool, is_edge: bool, diagnostics: Diagnostics
) -> None:
    limit = held.limit if held else None
    if limit is not None and not isinstance(limit, p.EventCount):
        return
    written = node.components[index]
    words = diagnostics.words(written.pattern) if isinstance(written, s.Absent) else ""
    notes = []
    if isinstance(limit, p.EventCount):
        notes.append("`WITHIN n EVENTS` counts events; the absence of one needs a limit in time")
    elif not is_edge:
        notes.append(f"the parts that {'follow' if at_end else 'precede'} it can be left out")
    helps = ["add a limit to the pattern, for example `WITHIN 10 MINUTES`"]
    if held is None:
        helps = ["give this sequence a limit of its own: `(SEQ(…) WITHIN 10 MINUTES)`"]
    if at_end:
        label = f"the absence of `{words}` is never final"
        helps.append("or end the sequence with a deadline: `AFTER 10 MINUTES`")
    else:
        label = f"`{words}` must be absent, without a time limit"
        helps.append('or start the sequence with `AT START` for "never before"')
    diagnostics.wrong(
        "INK0305",
        f"negation at the {'end' if at_end else 'start'} of a sequence needs a time limit",
        written,
        label,
        notes=notes,
        helps=helps,
    )


def _is_edge(parts: tuple[p.Part, ...], index: int, at_end: bool) -> bool:
    """Whether nothing at all stands between the part and the border."""
    beyond = parts[index + 1 :] if at_end else parts[:index]
    return not any(_can_fill(part) for part in beyond)


def _can_fill(part: p.Part) -> bool:
    return not isinstance(part, p.Absent | p.Deadline | p.StreamStart | p.OtherRun)


def _always_fills(part: p.Part) -> bool:
    if isinstance(part, p.Absent | p.Deadline | p.StreamStart | p.OtherRun):
        return False
    return not can_be_empty(part)


def _may_be_missing(part: p.Part) -> bool:
    return not _always_fills(part)


def can_be_empty(part: p.Part) -> bool:
    """Whether a part may happen without any event, so that a sequence can leave it out."""
    match part:
        case p.Repetition(low=low, pattern=inner):
            return low == 0 or can_be_empty(inner)
        case p.Sequence(parts=items) | p.Conjunction(items=items):
            return all(can_be_empty(item) for item in items)
        case p.Disjunction(items=items):
            return any(can_be_empty(item) for item in items)
        case p.Narrowed(pattern=inner):
            return can_be_empty(inner)
        case p.OtherRun(pattern=inner):
            return not can_be_empty(inner)
        case p.Leaf() | p.TimePoint() | p.Sliding() | p.Parallel() | p.Related() | p.Except() | p.Quantified():
            return False
        case p.Absent() | p.Deadline() | p.StreamStart():
            return False


def eager_outside_next(node: s.Repeat, diagnostics: Diagnostics) -> None:
    """Reports an eager repetition that is no part of `SEQ NEXT`."""
    diagnostics.wrong(
        "INK0385",
        "EAGER needs `SEQ NEXT` directly around the repetition",
        node,
        notes=["EAGER takes whichever comes first, one more round or the next part; only NEXT has that choice"],
        helps=["write `SEQ NEXT(a, b+ EAGER, c)`, without parentheses around the repetition", "or leave EAGER out"],
    )


def check_eager(node: s.Seq, policy: p.Policy, parts: tuple[p.Part, ...], diagnostics: Diagnostics) -> None:
    """Reports eager repetitions of a sequence for which it is not clear what competes with what."""
    for place, (component, part) in enumerate(zip(node.components, parts, strict=True)):
        written = component.pattern if isinstance(component, s.Check) else component
        if not isinstance(part, p.Repetition) or not part.eager or not isinstance(written, s.Repeat):
            continue
        if policy is not p.Policy.NEXT:
            eager_outside_next(written, diagnostics)
        elif can_be_empty(part):
            diagnostics.wrong(
                "INK0386",
                "an EAGER repetition needs at least one round",
                written,
                notes=["EAGER chooses between one more round and the next part, after the first round"],
                helps=["write `+ EAGER`", "or leave EAGER out"],
            )
        else:
            _check_next(node, place, parts, diagnostics)


def _check_next(node: s.Seq, place: int, parts: tuple[p.Part, ...], diagnostics: Diagnostics) -> None:
    after = next((index for index in range(place + 1, len(parts)) if not isinstance(parts[index], p.Absent)), None)
    if after is None:
        return
    written = node.components[after]
    words = diagnostics.words(written)
    if isinstance(parts[after], p.Deadline):
        diagnostics.wrong(
            "INK0387",
            f"`{words}` cannot follow an EAGER repetition",
            written,
            notes=["a deadline is not an event"],
            helps=[f"leave EAGER out and exclude further rounds: `NOT …, {words}`"],
        )
    elif can_be_empty(parts[after]):
        diagnostics.wrong(
            "INK0387",
            f"`{words}` cannot follow an EAGER repetition, because it may be left out",
            written,
            notes=["then the next part after it could end the repetition too"],
            helps=["write two EVENT statements, one with this part and one without", "or leave EAGER out"],
        )
