"""What was proved about events over imprecise times: whether they are chains, how and when these are found."""

from __future__ import annotations

from inkling.analysis.imprecise import Chain
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.text import window_text


def chain_lines(event: p.EventPlan, chain: Chain, reason: str) -> dict[str, str]:
    """What `explain` says of a chain, by title."""
    return {
        "wait": _told(chain),
        "class": f"chain: {reason}",
        "evaluator": "sums over ticks, exact; grows with the matches inside the window and the width of the intervals",
        "roles": _roles(event, chain),
        "order": _order(event, chain),
    }


def _roles(event: p.EventPlan, chain: Chain) -> str:
    leaves = {leaf.slot: leaf for leaf in p.leaves(event.pattern)}
    slots = [*(link.slot for link in chain.links), *(one.slot for one in chain.absences)]
    read = [leaves[slot].sources or event.scope for slot in slots]
    names = [name for sources in read for name in sources]
    if len(set(names)) == len(names):
        return "exclusive: every part reads streams of its own, so no event fits two parts"
    return "the data decides whether events fit several parts"


def _order(event: p.EventPlan, chain: Chain) -> str:
    looks_back = [leaf.slot for leaf in p.leaves(event.pattern) if _is_bound(leaf)]
    free = "no part depends on what is bound before" if not looks_back else "some parts depend on what is bound before"
    if not chain.is_fixed:
        return f"as in the pattern, because of its repetition; {free}"
    if chain.policy is not p.Policy.ANY:
        return f"as in the pattern, because each event limits the next; {free}"
    return f"as in the pattern, or rare parts first, as the data is; {free}"


def _is_bound(leaf: p.Leaf) -> bool:
    references = (part for condition in leaf.demands for part in e.walk(condition))
    return any(
        isinstance(part, e.ColumnOf | e.ListColumn | e.IdOf | e.Aggregate) and part.slot != leaf.slot
        for part in references
    )


def _told(chain: Chain) -> str:
    if not chain.depends_on_others:
        return "until the first tick of its last event: no other event can prevent a match"
    if chain.within is None:
        return "until the end: without WITHIN, other events can prevent a match at any time"
    return f"{window_text(chain.within)} from the last tick of its first event: then nothing can prevent it any more"
