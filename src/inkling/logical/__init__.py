"""The logical plan: typed expressions, bound patterns and their rewrites.

Enters: syntax. Leaves: an immutable `ProgramPlan` in which every name is resolved and every type known.
"""

from inkling.logical.binding.program import BoundProgram, bind

__all__ = ["BoundProgram", "bind"]
