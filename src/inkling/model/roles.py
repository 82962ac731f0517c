"""Roles of the events that open and close segments, and the positions in a key where a role is valid.

Events with odd numbers open a segment, with even numbers close one. `open` and `close` are valid at any such event. In
a key with the longer words, the first event is `start`, the last `end`, and those in between `suspend` and `resume`.
These words are the same in all streams, and case is ignored; any other word has the effect of its numbers. A row
with the role `mark` is no event.

>>> role_of(("suspend", None), 3, is_last=False), role_of(("suspend", None), 4, is_last=True)
('resume', 'end')
"""

OPENING = frozenset({"start", "resume", "open"})
CLOSING = frozenset({"end", "suspend", "close"})
MARK = "mark"
END = "end"

Roles = tuple[str | None, str | None]
"""The words for events with even and odd numbers, neither first nor last of their key; None if undeclared."""

NO_ROLES: Roles = (None, None)

_IN_THE_MIDDLE = {"start": "resume", "end": "suspend"}
_COUNTERPARTS = {"open": "close", "close": "open", "resume": "suspend", "suspend": "resume"}


def is_mark(role: object) -> bool:
    return isinstance(role, str) and role.lower() == MARK


def in_the_middle(word: str) -> str:
    """The word with the same effect for an event that is neither the first nor the last of its key.

    >>> in_the_middle("START"), in_the_middle("End"), in_the_middle("up")
    ('RESUME', 'Suspend', 'up')
    """
    return _cased(_IN_THE_MIDDLE[word.lower()], word) if word.lower() in _IN_THE_MIDDLE else word


def role_of(declared: Roles, number: int, *, is_last: bool) -> str | None:
    """The role of a lost event, in the words that recorded events use."""
    even, odd = declared
    word, other = (odd, even) if number % 2 else (even, odd)
    if word is None and other is not None and other.lower() in _COUNTERPARTS:
        word = _cased(_COUNTERPARTS[other.lower()], other)
    if word is None:
        return None
    if word.lower() == "resume" and number == 1:
        return _cased("start", word)
    if word.lower() == "suspend" and is_last:
        return _cased("end", word)
    return word


def fits(word: str, number: int, total: int | None, *, is_followed: bool) -> bool:
    """Whether a role is valid for an event; `total` is the number of events of its key, if known."""
    match word.lower():
        case "start":
            return number == 1
        case "resume":
            return number % 2 == 1 and number > 1
        case "open":
            return number % 2 == 1
        case "suspend":
            return number % 2 == 0 and number != total
        case "end":
            return number % 2 == 0 and not is_followed and total in (None, number)
        case "close":
            return number % 2 == 0
        case _:
            return True


def _cased(word: str, like: str) -> str:
    return word.upper() if like.isupper() else word.capitalize() if like.istitle() else word
