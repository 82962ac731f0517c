"""Scores of forecasts against detections: Ntoulias et al., section 5.3.

The input is `Outcomes`: forecasts and detections, read from tables. The output is a `Tally` of forecasts that came
true, scores of classification and of intervals, and `Scorecard`s that a page compares. Programs are unknown here.
"""

from inkling.forecasting.scoring.outcomes import joined_outcomes
from inkling.forecasting.scoring.tally import tallied

__all__ = ["joined_outcomes", "tallied"]
