"""Explanations of results and of missing results: how far a pattern got, derivation trees, and worlds with a result.

Input: a program and its inputs. Output: counts per part of a pattern, derivation trees, summaries of worlds. Only
`query` and `cli` import it.
"""
