"""Settings of a backtest."""

from collections.abc import Collection
from dataclasses import dataclass

from inkling.forecasting.learning.settings import FitSettings, Moment
from inkling.forecasting.models.model import Learner

ORDERS = (0, 1, 2, 3)
TRAIN_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """Settings of `Program.score`, named like the options of `inkling score`.

    Parameters
    ----------
    order
        An order or several, one model each: 0 to 3 by default, or the orders of the given models.
    kind
        ``"tree"``, ``"full"`` or ``"weighted"``, as in `FitSettings`.
    train_until
        Learn from rows up to this time, score later forecasts.
    train_share
        Learn from this share of the rows, the earliest ones; 0.5 by default.
    threshold
        The least chance of a positive forecast: CONFIDENCE by default, or 0.5.
    censored
        Skip forecasts whose outcome lies after the end of their key.

    Examples
    --------
    >>> ScoreSettings(order=2).orders, ScoreSettings(order=[1, 3]).orders, ScoreSettings().orders
    ((2,), (1, 3), (0, 1, 2, 3))
    """

    order: int | Collection[int] | None = None
    kind: Learner = "tree"
    train_until: Moment | None = None
    train_share: float | None = None
    threshold: float | None = None
    censored: bool = False

    def __post_init__(self) -> None:
        if any(type(order) is not int for order in self.orders):
            raise ValueError(f"expected whole numbers as orders, found {self.orders}")
        if not self.orders or min(self.orders) < 0 or len(set(self.orders)) < len(self.orders):
            raise ValueError(f"expected different orders of 0 or more, found {self.orders}")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"expected a threshold between 0 and 1, found {self.threshold}")
        _ = self.fit  # rejects an invalid part to learn from

    @property
    def orders(self) -> tuple[int, ...]:
        """The orders that are compared."""
        if self.order is None:
            return ORDERS
        return tuple(self.order) if isinstance(self.order, Collection) else (self.order,)

    @property
    def fit(self) -> FitSettings:
        """Settings of learning for the largest order."""
        is_default = self.train_until is None and self.train_share is None
        share = TRAIN_SHARE if is_default else self.train_share
        return FitSettings(order=max(self.orders), kind=self.kind, until=self.train_until, share=share)
