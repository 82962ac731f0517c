"""Loops over columns, compiled once per installation.

Arrays enter and leave; nothing here knows of plans, Spark or errors: a kernel that cannot continue returns a
status and how far it came. Imports NumPy and Numba only.
"""
