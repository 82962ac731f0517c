"""The sources of a running program: folders of files, tables, topics, a rate, and control messages."""
