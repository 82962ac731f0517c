"""When a pattern will be detected: Markov models of the symbols of an automaton, learned from counts of words.

Counts of words enter (`counts`), and leave as a table that tells for every state of an automaton and every context
when the next detection is due (`forecasts`). Symbols are numbered from 0; rows that reset a key are -1.
"""
