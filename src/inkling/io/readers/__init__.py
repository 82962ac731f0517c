"""Files, frames and rows in memory as raw tables: which files, in which format, and their text."""
