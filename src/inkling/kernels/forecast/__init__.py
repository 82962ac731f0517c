"""Markov chains of forecasts: counts of words, waiting times, intervals."""
