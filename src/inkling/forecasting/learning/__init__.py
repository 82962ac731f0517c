"""Learning: a program counts words of symbols in place of its forecasts, and models are made from the counts.

`save_model` and `load_model` write and read the file of a model.
"""

from inkling.forecasting.learning.files import load_model, save_model

__all__ = ["load_model", "save_model"]
