"""Loops over columns that several evaluators share: order of rows, codes and hashes of keys, lineages."""
