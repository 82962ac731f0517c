"""Statements of N-Triples and N-Quads, one per line: where their terms begin and end.

The terms are not checked further: their texts are read, and made canonical, where the column is converted to terms.
"""

import numpy as np
from numba import njit

STATEMENT, UNUSUAL, NOTHING = 0, 1, 2
"""A statement in its usual form; a line that another reader must judge; a blank line or a comment."""

GRAPH = 3
"""Number of the term that a statement may lack; 0, 1 and 2 are subject, predicate and object."""


@njit(cache=True)
def _skipped(data, at, end):
    """The first position that is no blank."""
    while at < end and (data[at] == 32 or data[at] == 9):
        at += 1
    return at


@njit(cache=True)
def _iri_end(data, at, end):
    """The position behind an IRI that begins at `at`, or -1."""
    at += 1
    while at < end:
        byte = data[at]
        if byte == 62:
            return at + 1
        if byte <= 32 or byte == 34 or byte == 60 or byte == 92 or byte == 94 or byte == 96 or 123 <= byte <= 125:
            return -1
        at += 1
    return -1


@njit(cache=True)
def _is_alphanumeric(byte):
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@njit(cache=True)
def _blank_end(data, at, end):
    """The position behind the label of a blank node, or -1."""
    if at + 2 >= end or data[at + 1] != 58 or not (_is_alphanumeric(data[at + 2]) or data[at + 2] == 95):
        return -1
    at += 2
    while at < end and (_is_alphanumeric(data[at]) or data[at] == 95 or data[at] == 45 or data[at] == 46):
        at += 1
    if at < end and data[at] >= 128:
        return -1
    while data[at - 1] == 46:  # the point ends the statement
        at -= 1
    return at


@njit(cache=True)
def _literal_end(data, at, end):
    """The position behind a literal with its language tag or datatype, or -1."""
    at += 1
    while at < end and data[at] != 34:
        at += 2 if data[at] == 92 else 1
    if at >= end:
        return -1
    at += 1
    if at < end and data[at] == 64:
        at += 1
        begin = at
        while at < end and (_is_alphanumeric(data[at]) or data[at] == 45):
            at += 1
        return at if at > begin else -1
    if at + 2 < end and data[at] == 94 and data[at + 1] == 94 and data[at + 2] == 60:
        return _iri_end(data, at + 2, end)
    return at


@njit(cache=True)
def _term_end(data, at, end, number):
    """The position behind term `number` of a statement, or -1."""
    if at >= end:
        return -1
    if data[at] == 60:
        return _iri_end(data, at, end)
    if data[at] == 95 and number != 1:
        return _blank_end(data, at, end)
    if data[at] == 34 and number == 2:
        return _literal_end(data, at, end)
    return -1


@njit(cache=True)
def _read(data, at, end, begins, ends, row):
    """Reads the line from `at` to `end`; returns what it is."""
    at = _skipped(data, at, end)
    if at == end or data[at] == 35:
        return NOTHING
    for number in range(4):
        stop = _term_end(data, at, end, number)
        if stop < 0:
            if number == GRAPH:
                ends[GRAPH, row] = -1
                break
            return UNUSUAL
        begins[number, row] = at
        ends[number, row] = stop
        at = _skipped(data, stop, end)
    if at == end or data[at] != 46:
        return UNUSUAL
    at = _skipped(data, at + 1, end)
    return STATEMENT if at == end or data[at] == 35 else UNUSUAL


@njit(cache=True)
def statements(data, only_ascii):
    """Per line that is not blank: its first and last position, what it is, and the positions of its four terms.

    A statement in the default graph has the end -1 for its graph. With `only_ascii`, lines with other bytes are
    unusual.
    """
    n_lines = 1
    for byte in data:
        n_lines += byte == 10
    lines = np.zeros((2, n_lines), np.int64)
    kinds = np.zeros(n_lines, np.int8)
    begins, ends = np.zeros((4, n_lines), np.int64), np.zeros((4, n_lines), np.int64)
    row, first, n = 0, 0, data.shape[0]
    while first < n:
        after = first
        foreign = False
        while after < n and data[after] != 10:
            foreign |= data[after] >= 128
            after += 1
        end = after
        while end > first and data[end - 1] == 13:
            end -= 1
        kind = UNUSUAL if only_ascii and foreign else _read(data, first, end, begins, ends, row)
        if kind != NOTHING:
            lines[0, row], lines[1, row] = first, end
            kinds[row] = kind
            row += 1
        first = after + 1
    return lines[:, :row], kinds[:row], begins[:, :row], ends[:, :row]


@njit(cache=True)
def gathered(data, begins, ends):
    """The bytes between pairs of positions, one after the other, and where each begins; an end of -1 is nothing."""
    offsets = np.zeros(begins.shape[0] + 1, np.int64)
    for place in range(begins.shape[0]):
        offsets[place + 1] = offsets[place] + max(ends[place] - begins[place], 0) * (ends[place] >= 0)
    found = np.empty(offsets[-1], np.uint8)
    for place in range(begins.shape[0]):
        at = offsets[place]
        for position in range(begins[place], ends[place]):
            found[at] = data[position]
            at += 1
    return offsets, found
