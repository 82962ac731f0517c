"""Where the next part of a pattern may lie, given what is placed so far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inkling.evaluators.network.partials import AFTER_ALL, Contexts, Occurrences, Partials, at_most


def start_anywhere(contexts: Contexts) -> Contexts:
    """Only the earliest of several parts has to start early enough, so no single part is held to it."""
    return replace(contexts, first_until=contexts.until, first_until_place=np.full(len(contexts), AFTER_ALL))


def starting_early(found: Occurrences, contexts: Contexts) -> Occurrences:
    """Those that start as early as their context asks."""
    bound, place = contexts.first_until[found.origin], contexts.first_until_place[found.origin]
    return found.where(at_most(found.start, found.start_place, bound, place))


def anywhere(partials: Partials, contexts: Contexts, window: int | None) -> Contexts:
    """Where another item of a conjunction may lie: anywhere the context allows, within the window of the others."""
    origin = partials.origin
    after, after_place, until = contexts.after[origin], contexts.after_place[origin], contexts.until[origin]
    if window is not None:
        low = np.where(partials.placed, partials.end - window - 1, after)
        tighter = partials.placed & (low >= after)
        after, after_place = np.where(tighter, low, after), np.where(tighter, AFTER_ALL, after_place)
        until = np.where(partials.placed, np.minimum(until, partials.start + window), until)
    return Contexts(
        contexts.key[origin],
        partials.tail,
        partials.registers,
        partials.moments,
        after,
        after_place,
        until,
        until,
        np.full(len(origin), AFTER_ALL),
    )
