"""Streams of a running program as Spark reads them: folders of files, tables, topics, a rate, and control messages."""
