"""Partial matches in many sampled worlds at once, as bits: world l is bit l % 64 of word l // 64.

Ré, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams, SIGMOD 2008 (Lahar), section 3.5:
sampling for queries that have no safe plan.
"""

import numpy as np
from numba import njit

from inkling.kernels.worlds.draws import chosen_row, sequence_start, uniform

NEVER = np.int64(9223372036854775807)


@njit(cache=True)
def drawn(seed, token, given, offsets, shares, before):
    """[world]: the outcome of a stream, -1 for none.

    Outcomes offsets[k]:offsets[k + 1] can follow the value given[k]; their shares are cumulated.
    """
    start = sequence_start(seed, token)
    out = np.empty(len(before), np.int64)
    for world in range(len(before)):
        out[world] = -1
        for k in range(len(given)):
            if given[k] == before[world]:
                begin, end = offsets[k], offsets[k + 1]
                # if the shares do not reach 1, that is a rounding error
                out[world] = min(chosen_row(shares, begin, end, uniform(start, world)), end - 1)
                break
    return out


@njit(cache=True)
def marked(outcome, event, masks):
    """Sets the bit of each world in the masks of the events of its outcome."""
    for world in range(len(outcome)):
        if outcome[world] >= 0 and event[outcome[world]] >= 0:
            masks[event[outcome[world]], world >> 6] |= np.uint64(1) << np.uint64(world & 63)


@njit(cache=True)
def stepped(live, starts, time, every, masks, takes, makes, ends):
    """Advances entries (partial matches) by a step: the worlds where they live, their starts, and ending matches.

    takes: (event, entry). makes: (event, entry or -1, new entry). ends: (event, entry or -1); -1 starts a match.
    """
    n_entries, n_words = live.shape
    new = np.zeros((n_entries, n_words), np.uint64)
    new_starts = np.full(starts.shape, NEVER)
    for i in range(len(makes)):
        event, source, made = makes[i]
        for word in range(n_words):
            worlds = masks[event, word] & (every[word] if source < 0 else live[source, word])
            if worlds:
                new[made, word] |= worlds
                _begin(worlds, word, time, source, starts, new_starts[made])
    done = np.zeros(n_words, np.uint64)
    done_starts = np.full(starts.shape[1], NEVER)
    for i in range(len(ends)):
        event, source = ends[i]
        for word in range(n_words):
            worlds = masks[event, word] & (every[word] if source < 0 else live[source, word])
            if worlds:
                done[word] |= worlds
                _begin(worlds, word, time, source, starts, done_starts)
    taken = np.zeros((n_entries, n_words), np.uint64)
    for i in range(len(takes)):
        event, entry = takes[i]
        for word in range(n_words):
            taken[entry, word] |= masks[event, word]
    for entry in range(n_entries):
        for word in range(n_words):
            kept = live[entry, word] & ~taken[entry, word]
            if kept:
                _begin(kept, word, time, entry, starts, new_starts[entry])
            new[entry, word] |= kept
    return new, new_starts, done, done_starts


@njit(cache=True)
def _begin(worlds, word, time, source, starts, out):
    for bit in range(64):
        if (worlds >> np.uint64(bit)) & np.uint64(1):
            world = word * 64 + bit
            began = time if source < 0 else starts[source, world]
            if began < out[world]:
                out[world] = began


@njit(cache=True)
def weight_of(worlds, weights):
    """The sum of the weights of a set of worlds."""
    total = 0.0
    for word in range(len(worlds)):
        if worlds[word]:
            for bit in range(64):
                if (worlds[word] >> np.uint64(bit)) & np.uint64(1):
                    total += weights[word * 64 + bit]
    return total
