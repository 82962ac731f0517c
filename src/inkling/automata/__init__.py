"""Symbolic regular expressions over events, and automata that find their matches.

Ntoulias, Alevizos, Artikis, Akasiadis, Koumparos: Online fleet monitoring with scalable event recognition and
forecasting (Wayeb), section 3.1: symbolic regular expressions, selection policies, symbolic automata.

Input: guards on the stream and the predicate bits of a row. Output: the events at which each pattern is detected, with
its first match there. `inkling.automata.run.engine` runs patterns and loads Numba; the other modules do not. This
package imports only `inkling.kernels`.
"""
