"""Programs in Python: the same syntax tree that the parser builds, without text.

>>> from inkling.language import format_program
>>> from inkling.language.build import col, event, leaf, program, seq, stream
>>> vehicles = stream("V").column("k", "STRING").column("engine", "STRING").key("k").time("t")
>>> parked = leaf("V", where=col("engine") == "parked")
>>> theft = event("theft").pattern(seq("STRICT", parked.repeat(3))).partition_by("k").per("END")
>>> print(format_program(program(vehicles, theft)), end="")
STREAM V(k STRING, engine STRING) KEY k TIME t;
<BLANKLINE>
EVENT theft AS
  PATTERN SEQ STRICT(V[engine = 'parked']{3})
  PARTITION BY k
  PER END;
"""

from inkling.language.build.events import *
from inkling.language.build.patterns import *
from inkling.language.build.streams import *
from inkling.language.build.values import *
