"""Checks of uncertain streams that compare rows: distributions of alternatives, and sequence numbers.

Input: all normalized rows of some KEYs. Output: rows that define possible worlds, and rejects.
"""

from inkling.io.checks.acceptable import checked

__all__ = ["checked"]
