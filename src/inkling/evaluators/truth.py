"""Where a condition is true; unknown is not true."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized import evaluate
from inkling.logical.vectorized.columns import Resolve


def truth_of(condition: e.Expr, resolve: Resolve, n_rows: int, context: ExpressionContext) -> NDArray[np.bool_]:
    """Truth of a condition per row; one that is only a column may be null in the data."""
    truth = evaluate(e.AllOf((condition,)), resolve, n_rows, context)
    return np.asarray(truth.to_numpy(zero_copy_only=False), bool)
