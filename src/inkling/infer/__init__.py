"""Inference: probable streams computed from sensor readings and a hidden Markov model of movement and sensors.

In: readings (key, time, reader) and a `Model`. Out: rows of a stream with `PROBABILITY p` (`filtered`, `particles`),
with `PROBABILITY p GIVEN previous` (`smoothed`), or of a certain stream (`viterbi`, `mle`). The functions accept the
same inputs as runs; Spark DataFrames are processed on Spark. The command line may import this package.
"""

from inkling.infer.functions import Options, filtered, mle, particles, smoothed, viterbi
from inkling.infer.learning import Learned, learn
from inkling.infer.live import Filter
from inkling.infer.model import Model

__all__ = ["Filter", "Learned", "Model", "Options", "filtered", "learn", "mle", "particles", "smoothed", "viterbi"]
