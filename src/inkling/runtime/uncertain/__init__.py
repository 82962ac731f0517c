"""Events over uncertain streams in a running program: buffered rows, states of evaluators, replay.

Enters: raw or checked rows as they arrive. Leaves: results with probabilities, late rows, rejects.
"""
