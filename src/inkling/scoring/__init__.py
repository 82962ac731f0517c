"""How good are forecasts? What was said after each event beside what came, in; scores and a page out.

Enters: `Outcomes`, read from tables. Leaves: a `Tally` of forecasts and what came true, scores of it, scores of
intervals, and `Scorecard`s that a page shows side by side. Knows nothing of programs and how they run.
"""

from inkling.scoring.classification import Confusion, Sweep
from inkling.scoring.intervals import IntervalScores, interval_scores
from inkling.scoring.outcomes import Outcomes, joined_outcomes, watched_outcomes
from inkling.scoring.scorecard import Scorecard, Scores
from inkling.scoring.tally import Tally, tallied

__all__ = [
    "Confusion",
    "IntervalScores",
    "Outcomes",
    "Scorecard",
    "Scores",
    "Sweep",
    "Tally",
    "interval_scores",
    "joined_outcomes",
    "tallied",
    "watched_outcomes",
]
