"""Rows from outside: files and frames become tables of declared types, and rows that break a declaration are set aside.

Enters: paths, pandas, Arrow or polars frames, lists of rows. Leaves: Arrow tables that stages can read, and rejects.
"""

from inkling.io.normalize import Normalized, normalize
from inkling.io.readers.files import Data, read_table
from inkling.io.rejects import REJECTS_SCHEMA

__all__ = ["REJECTS_SCHEMA", "Data", "Normalized", "normalize", "read_table"]
