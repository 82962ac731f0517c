"""Loops over columns that several evaluators share: order of rows, numbers and hashes of keys, lists of entries."""
