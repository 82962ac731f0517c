"""Roles of numbered events: odd numbers open a segment, even ones close it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.rejects import Reason, shown
from inkling.model.lost_worlds import CLOSING, OPENING
from inkling.worlds.checks.findings import Finding
from inkling.worlds.checks.groups import numbered
from inkling.worlds.checks.recorded import Recorded


def wrong_roles(column: str, rows: pa.Table, recorded: Recorded) -> Finding:
    """A word that every stream knows says what it says; any other says the same in all events of a KEY."""
    roles = rows[column].combine_chunks().take(pa.array(recorded.order)).cast(pa.string())
    words = pc.utf8_lower(roles)
    is_known = np.asarray(pc.is_valid(words).to_numpy(zero_copy_only=False), bool)
    opens, closes = (
        pc.is_in(words, pa.array(sorted(meant), pa.string())).to_numpy(zero_copy_only=False)
        for meant in (OPENING, CLOSING)
    )
    is_odd = recorded.number % 2 == 1
    word = numbered([recorded.key, words], len(words))
    first = np.unique(word, return_index=True)[1]  # of each word in a KEY
    means_opening = np.where(opens, True, np.where(closes, False, is_odd[first][word]))
    wrong = is_known & (means_opening != is_odd)

    def detail(key: int) -> str:
        begin = int(recorded.offsets[key])
        place = begin + int(np.argmax(wrong[begin : recorded.offsets[key + 1]]))
        verb = "opens" if is_odd[place] else "closes"
        return f"event {recorded.number[place]} {verb} a segment, and its `{column}` is {shown(roles[place].as_py())}"

    return Finding(Reason.ROLE_MISMATCH, np.bincount(recorded.key[wrong], minlength=recorded.n_keys) > 0, detail)
