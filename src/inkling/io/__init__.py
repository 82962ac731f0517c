"""Reading of inputs: files and frames become typed tables, and rows that violate a declaration become rejects.

Input: paths, pandas, Arrow or polars frames, lists of rows. Output: Arrow tables that stages can read, and rejects.
"""

from inkling.io.normalize import Normalized, normalize
from inkling.io.readers.files import Data, read_table
from inkling.io.rejects import REJECTS_SCHEMA

__all__ = ["REJECTS_SCHEMA", "Data", "Normalized", "normalize", "read_table"]
