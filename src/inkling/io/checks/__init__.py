"""Checks of uncertain streams that compare rows: alternatives that fit together, numbers that show what was lost.

Enters: normalized rows of whole KEYs. Leaves: rows whose worlds are defined, and rejects.
"""

from inkling.io.checks.acceptable import checked

__all__ = ["checked"]
