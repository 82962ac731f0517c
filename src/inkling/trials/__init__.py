"""Trials of forecasts: models learned from the first part of the data, forecasts of the rest, beside what came.

In: a program and its inputs. Out: `Scores` by forecast, for several orders of the model and for simple rules. Runs in
this process or on Spark, where only counts come back.
"""

from inkling.trials.trial import ORDERS, TrialSettings, orders_learned, tried

__all__ = ["ORDERS", "TrialSettings", "orders_learned", "tried"]
