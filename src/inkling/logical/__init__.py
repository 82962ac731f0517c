"""What is asked: typed expressions, bound patterns and their rewrites.

Enters: syntax. Leaves: an immutable `ProgramPlan` in which every name is resolved and every type known.
"""

from inkling.logical.binding.program import Bound, bind

__all__ = ["Bound", "bind"]
