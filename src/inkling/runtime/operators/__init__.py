"""The stateful operators of a running program.

Enters: rows with the address of an operator, and watermarks. Leaves: results, and rows for other operators.
"""
