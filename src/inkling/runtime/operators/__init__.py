"""The stateful operators of a running program: what keeps a state between two batches of rows.

Enters: parts of rows, addressed to an operator, and how far time has come. Leaves: results, rows for other operators.
"""
