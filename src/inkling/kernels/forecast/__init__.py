"""Markov chains of model and automaton: counts of words, waiting times, intervals."""
