"""Why a result is there, and why none is: how far a pattern got, and what a result rests on.

A program and its inputs enter, counts per part and derivation trees leave. Only `query` and `cli` import it.
"""
