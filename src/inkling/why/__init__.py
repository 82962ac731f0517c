"""Why a result is there, and why none is: how far a pattern got, what a result depends on, and in which worlds it is.

A program and its inputs enter, counts per part, derivation trees and accounts of worlds leave. Only `query` and `cli`
import it.
"""
