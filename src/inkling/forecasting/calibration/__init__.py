"""Calibration: whether stated probabilities agree with how often results really happened.

The input is results with `probability` and `error`, and the truth. The output is a `Calibration`, as numbers, as a
table or as a page, or the `quality` of alarms. Programs are unknown here.
"""

from inkling.forecasting.calibration.calibration import Calibration, Comparison, calibrate, compare
from inkling.forecasting.calibration.detections import Quality, quality
from inkling.forecasting.calibration.diagonal import DiagonalTest
from inkling.forecasting.calibration.reliability import Bin

__all__ = ["Bin", "Calibration", "Comparison", "DiagonalTest", "Quality", "calibrate", "compare", "quality"]
