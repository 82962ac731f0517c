"""Where probable streams come from: raw readings, and a model of what moves how and which reader sees what.

In: rows of a key, a time and a reader, and a `Model`. Out: rows of a stream with `PROBABILITY p` (`filtered`,
`particles`), with `PROBABILITY p GIVEN previous` (`smoothed`), or of a certain one (`viterbi`, `mle`). The functions
take what runs take, and Spark DataFrames, which are worked on where they are. The command line may import this.
"""

from inkling.infer.functions import Options, filtered, mle, particles, smoothed, viterbi
from inkling.infer.learning import Learned, learn
from inkling.infer.live import Filter
from inkling.infer.model import Model

__all__ = ["Filter", "Learned", "Model", "Options", "filtered", "learn", "mle", "particles", "smoothed", "viterbi"]
