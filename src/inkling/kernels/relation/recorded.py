"""The recorded points of a pair, and the advance of its keys to the points after them."""

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import FAILS
from inkling.kernels.relation.keys import N_LOST, NEVER, NEXT, OPENS_NOW, SINCE, TIME, go_on, turned, unfold
from inkling.kernels.relation.pair import ALONG_0, HERE, IS_CERTAIN, NOTE, NUMBER, TIME_0, UNTIL, blocks_of
from inkling.kernels.relation.rules import LABELED
from inkling.kernels.relation.steps import both, certain_lefts, certain_rights, end_of_moment, spread_left, spread_right

DONE, GAVE_UP, NO_PLACE, STOPPED, FAILED, NO_ROOM, GOES_ON = range(7)
"""How the pass over a pair ended. GAVE_UP: too many states or operations. NO_PLACE: there are points before the first
or after the last recorded one, and no rate. Within the pass also STOPPED: later points are unknown. FAILED: every
segment must qualify, and one does not. NO_ROOM: longer arrays are needed. GOES_ON: not ended."""


@phase
def take_recorded(pair, pairs, k, now):
    """Processes the recorded points of a time, and makes the lost points after them pending."""
    at, a, b = pair.at, pair.left.state, pair.right.state
    is_left, is_right = a[TIME] == now, b[TIME] == now
    if is_left and is_right:
        found = _take_both(pair)
    elif is_left:
        found = _take_left(pair)
    else:
        found = _take_right(pair)
    if found == FAILS:
        return FAILED
    at[NUMBER] += found
    if is_left:
        _go_on(pair, pair.left, pair.left.points.tail[pairs.one[k]])
    if is_right:
        _go_on(pair, pair.right, pair.right.points.tail[pairs.other[k]])
    has_no_place = (is_left and a[N_LOST] and not a[OPENS_NOW]) or (is_right and b[N_LOST] and not b[OPENS_NOW])
    if has_no_place and at[UNTIL] == NEVER:
        return NO_PLACE
    if a[OPENS_NOW] or b[OPENS_NOW]:
        pair.on[HERE] = pair.left.reals[SINCE] if a[OPENS_NOW] else pair.right.reals[SINCE]
        if at[IS_CERTAIN]:
            return _skip_alone(pair)
    return GOES_ON


@phase
def _take_both(pair):
    """Recorded points of both keys; returns the number of segments that now certainly qualify, or FAILS."""
    at, a_end, b_end = pair.at, end_of_moment(pair.left), end_of_moment(pair.right)
    at[NOTE], found = both(
        pair.query, pair.left, pair.right, a_end, b_end, at[IS_CERTAIN] == 1, at[NOTE], blocks_of(pair), pair.moves,
        pair.room,
    )  # fmt: skip
    pair.left.state[NEXT], pair.right.state[NEXT] = a_end - 1, b_end - 1
    return found


@phase
def _take_left(pair):
    """A recorded left point; returns the same as `_take_both`."""
    a = pair.left.state
    if pair.at[IS_CERTAIN]:
        return _take_certain_lefts(pair, a[NEXT], a[NEXT] + 1)
    turn = pair.left.points.turn[a[NEXT]]
    spread_left(pair.query, blocks_of(pair), turn, pair.moves, pair.room)
    turned(a, turn)
    return 0


@phase
def _take_right(pair):
    """A recorded right point; returns the same as `_take_both`."""
    b = pair.right.state
    if pair.at[IS_CERTAIN]:
        return _take_certain_rights(pair, b[NEXT], b[NEXT] + 1)
    turn = pair.right.points.turn[b[NEXT]]
    spread_right(pair.query, blocks_of(pair), turn, pair.moves, pair.room)
    turned(b, turn)
    return 0


@phase
def _take_certain_lefts(pair, begin, end):
    pair.at[NOTE], found = certain_lefts(pair.query, pair.left, pair.right, begin, end, pair.at[NOTE])
    return found


@phase
def _take_certain_rights(pair, begin, end):
    pair.at[NOTE] = certain_rights(pair.query, pair.left, pair.right, begin, end, pair.at[NOTE])
    return 0


@phase
def _go_on(pair, key, tail):
    """Advances a key to its next recorded point."""
    go_on(key, tail, pair.at[TIME_0], pair.on[ALONG_0])
    if not pair.at[IS_CERTAIN]:
        unfold(key, 0, pair.query.rules[LABELED] == 1)


@phase
def _skip_alone(pair):
    """Lost points of one key without points of the other among them: their times are irrelevant."""
    a, b, at = pair.left.state, pair.right.state, pair.at
    if a[OPENS_NOW] and not b[N_LOST] and a[TIME] <= min(b[TIME], at[UNTIL]):
        found = _take_certain_lefts(pair, a[NEXT] - a[N_LOST], a[NEXT])
        if found == FAILS:
            return FAILED
        at[NUMBER] += found
        a[OPENS_NOW] = a[N_LOST] = 0
    elif b[OPENS_NOW] and not a[N_LOST] and b[TIME] <= min(a[TIME], at[UNTIL]):
        _take_certain_rights(pair, b[NEXT] - b[N_LOST], b[NEXT])
        b[OPENS_NOW] = b[N_LOST] = 0
    return GOES_ON
