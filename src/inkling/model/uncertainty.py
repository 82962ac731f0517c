"""The kinds of uncertainty of a stream: imprecise times, alternatives with probabilities, lost events."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeVar

from inkling.model.time import Duration


@dataclass(frozen=True, slots=True)
class ErrorColumn:
    """A column with the maximum error of the time of each row, in ticks, or in units of the clock without `TICK`."""

    name: str


@dataclass(frozen=True, slots=True)
class ClockErrors:
    """The maximum error of a time depends on its source clock, which a column names."""

    column: str
    usual: Duration
    others: tuple[tuple[str, Duration], ...] = ()

    @property
    def spans(self) -> tuple[Duration, ...]:
        return (self.usual, *(span for _, span in self.others))


TimeError = Duration | ErrorColumn | ClockErrors


@dataclass(frozen=True, slots=True)
class ImpreciseTime:
    """The event is at one moment in `[lo, hi]`, with uniform probability or by a column of weights.

    With an `error`, `lo` and `hi` are one column, and the event is at most this far from its value. `step` is the
    number of clock units between possible moments, `widest` the maximum distance from the first to the last one.
    """

    lo: str
    hi: str
    weights: str | None = None
    step: int = 1
    error: TimeError | None = None
    widest: Duration | None = None

    @property
    def spans(self) -> tuple[Duration, ...]:
        """All durations in the declaration."""
        widest = () if self.widest is None else (self.widest,)
        match self.error:
            case Duration() as error:
                return (error, *widest)
            case ClockErrors() as errors:
                return (*errors.spans, *widest)
            case _:
                return widest

    def width(self, unit: Callable[[Duration], int]) -> int | None:
        """The maximum distance of the first and last moment of an event; None without a limit."""
        limits = [] if self.widest is None else [unit(self.widest)]
        match self.error:
            case Duration() as error:
                limits.append(2 * unit(error))
            case ClockErrors() as errors:
                limits.append(2 * max(unit(span) for span in errors.spans))
            case _:
                pass
        return min(limits, default=None)


@dataclass(frozen=True, slots=True)
class ProbableValue:
    """One row per alternative; with `given`, alternatives depend on the previous value of the key (Markov)."""

    probability: str
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rate:
    """The mean number of arrivals in a duration."""

    count: float
    per: Duration


@dataclass(frozen=True, slots=True)
class LostEvents:
    """Missing sequence numbers show how many events were lost; roles say which events open and close segments.

    A row with the role `mark` is no event: its number is the number of events up to its time. Where neither a bound nor
    a mark limits the time of lost events, `rate` does (a column has it per tick or per second). Gaps between events are
    Erlang distributed, sums of `shape` exponential times. Table `intensity` has the rate by time, table `known` the
    columns of lost events by number. A key is closed by a `timeout` without rows.
    """

    number: str
    role: str | None = None
    count: str | None = None
    bounds: tuple[str, str] | None = None
    rate: Rate | str | None = None
    shape: int = 1
    intensity: str | None = None
    known: str | None = None
    timeout: Duration | None = None

    @property
    def spans(self) -> tuple[Duration, ...]:
        """Every length of time that the declaration names."""
        per = (self.rate.per,) if isinstance(self.rate, Rate) else ()
        return per if self.timeout is None else (*per, self.timeout)


Uncertainty = ImpreciseTime | ProbableValue | LostEvents


Thing = TypeVar("Thing")
Row: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Sequence[Row]
Weighted: TypeAlias = tuple[Fraction, Thing]


TOLERANCE = Fraction(1, 10**9)
"""The tolerance for sums of probabilities, which are written as decimals."""


def exact(number: object) -> Fraction:
    """The exact value of a number as written: `0.1` is one tenth."""
    if isinstance(number, float):
        return Fraction(repr(number))
    if isinstance(number, int | Fraction | str):
        return Fraction(number)
    raise TypeError(f"{number!r} is no number")


def probability(number: object) -> Fraction:
    if number is None:
        raise ValueError("a probability is missing")
    prob = exact(number)
    if not -TOLERANCE <= prob <= 1 + TOLERANCE:
        raise ValueError(f"a probability lies in [0, 1], got {prob}")
    return min(max(prob, Fraction(0)), Fraction(1))


def normalized(weights: Iterable[object]) -> list[Fraction]:
    """Weights scaled to a sum of 1."""
    listed = list(weights)
    if any(weight is None for weight in listed):
        raise ValueError("weights are numbers")
    numbers = [exact(weight) for weight in listed]
    total = sum(numbers, start=Fraction(0))
    if total <= 0 or any(number < 0 for number in numbers):
        raise ValueError("weights are not negative and not all zero")
    return [number / total for number in numbers]


def with_nothing(alternatives: Iterable[Weighted[Thing]]) -> list[Weighted[Thing | None]]:
    """Alternatives of positive probability, and None with the remaining mass; a sum close to 1 is scaled to 1."""
    listed: list[Weighted[Thing | None]] = [(prob, thing) for prob, thing in alternatives if prob > 0]
    total = sum((prob for prob, _ in listed), start=Fraction(0))
    if total > 1 + TOLERANCE:
        raise ValueError(f"probabilities of alternatives sum to {float(total):g}")
    if total >= 1 - TOLERANCE:
        return [(prob / total, thing) for prob, thing in listed]
    return [*listed, (1 - total, None)]
