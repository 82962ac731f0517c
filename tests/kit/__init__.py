"""The test kit: the definition as an oracle, random programs and streams, and readable comparisons.

Enters: bound programs and plain rows. Leaves: what the results must be. Nothing else here imports it.
"""
