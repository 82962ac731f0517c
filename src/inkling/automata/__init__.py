"""Symbolic regular expressions over events, and the automata that find their matches.

Ntoulias, Alevizos, Artikis, Akasiadis, Koumparos: Online fleet monitoring with scalable event recognition and
forecasting (Wayeb), section 3.1: symbolic regular expressions, selection policies, symbolic automata.

In: guards on the stream and the predicate bits of a row. Out: where each pattern holds, with its first match
there. `inkling.automata.run.engine` runs patterns and loads Numba; the other modules do not. Imports
`inkling.kernels` and nothing else of ours.
"""
