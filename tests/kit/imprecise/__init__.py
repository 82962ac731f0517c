"""Engines for patterns over imprecise times as the literature describes them, and what all of them must agree with.

Enters: timed events and a query. Leaves: signatures with ranges of times and exact confidences. Plain Python, in
fractions: a check of the compiled evaluators, and the baselines of benchmarks. Nothing outside tests imports it.

Zhang, Diao and Immerman, "Recognizing Patterns in Streams with Imprecise Timestamps", PVLDB 3(1), 2010.
"""
