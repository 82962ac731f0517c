"""What every node of the syntax tree shares: a place in the text that equality ignores."""

from dataclasses import dataclass, field

from inkling.source import NOWHERE, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """A name as the program wrote it, without its quotes; case matters."""

    text: str
    quoted: bool = field(default=False, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("a name has at least one character")
        if "\n" in self.text or "\r" in self.text:
            raise ValueError(f"a name stays on one line, got {self.text!r}")

    def __str__(self) -> str:
        return self.text
