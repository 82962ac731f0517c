"""Roles of numbered events: odd numbers open a segment, even ones close it; some words are for the ends of a key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.checks.ends import Ends
from inkling.io.checks.findings import Finding, Mask
from inkling.io.checks.groups import numbered
from inkling.io.checks.recorded import Recorded
from inkling.io.rejects import Reason, shown
from inkling.model.roles import CLOSING, OPENING


def wrong_roles(column: str, rows: pa.Table, recorded: Recorded, ends: Ends) -> list[Finding]:
    """A word that every stream knows says what it says; any other says the same in all events of a KEY."""
    roles = rows[column].combine_chunks().take(pa.array(recorded.order)).cast(pa.string())
    words = pc.utf8_lower(roles)
    is_known = np.asarray(pc.is_valid(words).to_numpy(zero_copy_only=False), bool) & recorded.is_event
    opens, closes = (_among(words, meant) for meant in (OPENING, CLOSING))
    is_odd = recorded.number % 2 == 1
    word = numbered([recorded.key, words], len(words))
    first = np.unique(word, return_index=True)[1]  # of each word in a KEY
    means_opening = np.where(opens, True, np.where(closes, False, is_odd[first][word]))

    def wrong(is_wrong: Mask, about: str) -> Finding:
        def detail(key: int) -> str:
            begin = int(recorded.offsets[key])
            place = begin + int(np.argmax(is_wrong[begin : recorded.offsets[key + 1]]))
            does = about or ("opens a segment" if is_odd[place] else "closes a segment")
            return f"event {recorded.number[place]} {does}, and its `{column}` is {shown(roles[place].as_py())}"

        mask = np.bincount(recorded.key[is_wrong], minlength=recorded.n_keys) > 0
        return Finding(Reason.ROLE_MISMATCH, mask, detail)

    number, key = recorded.number, recorded.key
    is_followed = number[recorded.last][key] > number
    is_last = ends.count.known[key] & (ends.count.least[key] == number)
    may_be_last = ~is_followed & (is_last | ~ends.count.known[key])
    return [
        wrong(is_known & (means_opening != is_odd), ""),
        wrong(is_known & _among(words, {"start"}) & (number != 1), "is not the first"),
        wrong(is_known & _among(words, {"resume"}) & (number == 1), "is the first"),
        wrong(is_known & _among(words, {"suspend"}) & is_last, "is the last"),
        wrong(is_known & _among(words, {"end"}) & ~may_be_last, "is not the last"),
    ]


def _among(words: pa.Array, meant: frozenset[str] | set[str]) -> Mask:
    return np.asarray(pc.is_in(words, pa.array(sorted(meant), pa.string())).to_numpy(zero_copy_only=False), bool)
