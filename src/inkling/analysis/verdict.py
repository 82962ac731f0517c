"""A conclusion and why it holds."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Conclusion = TypeVar("Conclusion", covariant=True)


@dataclass(frozen=True, slots=True)
class Verdict(Generic[Conclusion]):
    conclusion: Conclusion
    reason: str
