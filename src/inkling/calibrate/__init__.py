"""Are probabilities what they say? Results with known truth in, scores and a reliability curve out.

Enters: results with `probability` and `error`, and what really happened. Leaves: a `Calibration`, as numbers, as a
table or as a page. Reads tables through `io` and knows nothing of programs; the command line may import it.
"""

from inkling.calibrate.calibration import Calibration, Comparison, calibrate, compare
from inkling.calibrate.detections import Quality, quality
from inkling.calibrate.diagonal import DiagonalTest
from inkling.calibrate.reliability import Bin

__all__ = ["Bin", "Calibration", "Comparison", "DiagonalTest", "Quality", "calibrate", "compare", "quality"]
