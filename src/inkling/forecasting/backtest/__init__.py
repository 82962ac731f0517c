"""Backtests: models are learned from the first part of the data, and their forecasts of the rest are scored.

The input is a program and its data. The output is `Scores` by forecast, for several orders of the model and for simple
baselines. A backtest runs in this process or on Spark, where only counts are collected. The evaluation follows
Ntoulias et al., section 5.3.
"""

from inkling.forecasting.backtest.settings import ScoreSettings
from inkling.forecasting.backtest.trial import tried

__all__ = ["ScoreSettings", "tried"]
