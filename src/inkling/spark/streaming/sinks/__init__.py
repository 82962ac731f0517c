"""The sinks of a running program: files, tables, topics, PostgreSQL, and tables of currently valid matches."""

from inkling.spark.streaming.sinks.current_files import read_current
from inkling.spark.streaming.sinks.protocol import ConsoleSink, FileSink, MemorySink, TableSink

__all__ = ["ConsoleSink", "FileSink", "MemorySink", "TableSink", "read_current"]
