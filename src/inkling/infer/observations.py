"""What all readers together reported at a step: each distinct observation once, with its likelihood in every state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inkling.infer.model import Floats, Model

NOT_HEARD = -1


def observations(
    step: NDArray[np.int64], outcome: NDArray[np.int32], n_steps: int, model: Model
) -> tuple[NDArray[np.int32], NDArray[np.int32], int | None]:
    """The observation of every step, and per observation what each reader reported, NOT_HEARD for nothing.

    Observations are built up outcome by outcome, for all steps at once. Last comes a step at which one reader reports
    two things, or None.
    """
    reader_of = model.reader_of
    n_outcomes = max(1, len(model.outcomes))
    told = np.unique(step * n_outcomes + outcome)
    step, outcome = told // n_outcomes, (told % n_outcomes).astype(np.int32)
    rank = np.arange(len(step)) - np.searchsorted(step, step)
    code = np.zeros(n_steps, np.int32)
    heard = np.full((1, len(model.readers)), NOT_HEARD, np.int32)
    for nth in range(int(rank.max(initial=-1)) + 1):
        these, more = step[rank == nth], outcome[rank == nth]
        again = heard[code[these], reader_of[more]] != NOT_HEARD
        if again.any():
            return code, heard, int(these[again.argmax()])
        pairs, place = np.unique(code[these].astype(np.int64) * n_outcomes + more, return_inverse=True)
        longer = heard[pairs // n_outcomes]
        added = pairs % n_outcomes
        longer[np.arange(len(pairs)), reader_of[added]] = added
        code[these] = len(heard) + place
        heard = np.concatenate([heard, longer])
    return code, heard, None


def likelihoods(heard: NDArray[np.int32], model: Model) -> Floats:
    """[observation, state]: readers are independent of each other given the state."""
    silent = model.silent
    out = np.ones((len(heard), len(model.states)), model.chance.dtype)
    for reader in range(len(model.readers)):
        reported = heard[:, reader]
        out *= np.where((reported != NOT_HEARD)[:, None], model.chance[reported], silent[reader])
    return out
