"""Expressions over whole Arrow columns at once, with the values that `logical.evaluate` defines.

Enters: a bound expression and, for each of its references, a column. Leaves: one Arrow array of its values.
"""

from inkling.logical.vectorized.columns import ARROW_TYPES, Reference, evaluate

__all__ = ["ARROW_TYPES", "BITS_PER_WORD", "Reference", "evaluate"]


BITS_PER_WORD = 64
