"""Comments: which statement each belongs to, and how they are printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from inkling.source import SourceText, Span


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without its signs; `trailing` when something precedes it on its line."""

    text: str
    span: Span
    trailing: bool


def share_out(
    source: SourceText, comments: Sequence[Comment], ends: Sequence[int]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Comments of each statement: before it, inside it, and after it on its last line; then the rest.

    Statements are given by where they end.
    """
    shares: list[list[str]] = [[] for _ in ends]
    rest: list[str] = []
    owner = 0
    for comment in comments:
        while owner < len(ends) and not _belongs(source, comment, ends[owner]):
            owner += 1
        (shares[owner] if owner < len(ends) else rest).append(comment.text)
    return [tuple(share) for share in shares], tuple(rest)


def _belongs(source: SourceText, comment: Comment, end: int) -> bool:
    if comment.span.start < end:
        return True
    same_line = source.position(comment.span.start).line == source.position(end).line
    return comment.trailing and same_line


def comment_lines(comments: Sequence[str], sign: str = "--") -> list[str]:
    """Comments as they are printed, each line behind the sign of a comment."""
    lines = [line for comment in comments for line in (comment.splitlines() or [""])]
    return [f"{sign} {line}".rstrip() for line in lines]
