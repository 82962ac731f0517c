"""Words for what events do that open and close segments, and which of them fit the place of an event.

`open` and `close` fit any event whose number is odd, or even. Of a key that uses the longer words, the first event is
the `start` and the last one the `end`; in between, events `suspend` and `resume`. All of them mean the same in every
stream, in any case; other words mean what their numbers say. A row with the role `mark` is no event.

>>> role_of(("suspend", None), 3, is_last=False), role_of(("suspend", None), 4, is_last=True)
('resume', 'end')
"""

from __future__ import annotations

OPENING = frozenset({"start", "resume", "open"})
CLOSING = frozenset({"end", "suspend", "close"})
MARK = "mark"
END = "end"

Roles = tuple[str | None, str | None]
"""What events in the middle of a key are called that have even numbers, and odd ones; None if undeclared."""

NO_ROLES: Roles = (None, None)

_IN_THE_MIDDLE = {"start": "resume", "end": "suspend"}
_COUNTERPARTS = {"open": "close", "close": "open", "resume": "suspend", "suspend": "resume"}


def is_mark(role: object) -> bool:
    return isinstance(role, str) and role.lower() == MARK


def in_the_middle(word: str) -> str:
    """What an event is called that does the same and is neither the first nor the last of its key.

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
    """Whether an event may have a role: `total` is how many its key has, if that is known."""
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
    """A word in capitals or not, as another one is."""
    return word.upper() if like.isupper() else word.capitalize() if like.istitle() else word
