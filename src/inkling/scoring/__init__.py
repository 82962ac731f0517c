"""How good are forecasts? What was said after each event beside what came, in; scores and a page out.

Enters: `Outcomes`, read from tables. Leaves: a `Tally` of forecasts and what came true, scores of it, scores of
intervals, and `Scorecard`s that a page shows side by side. Knows nothing of programs and how they run.
"""

from inkling.scoring.outcomes import joined_outcomes
from inkling.scoring.tally import tallied

__all__ = ["joined_outcomes", "tallied"]
