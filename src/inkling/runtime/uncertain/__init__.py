"""Programs with uncertain streams on streams without an end: rows that wait, what evaluators keep, revision.

Enters: raw or checked rows as they arrive. Leaves: results with probabilities, late rows, rejects.
"""
