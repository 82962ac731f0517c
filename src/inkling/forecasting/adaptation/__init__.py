"""Adaptation of running forecasts: settings that change, models that keep learning, and the drift of models.

Ntoulias et al., section 4.2. Counts are kept at the largest order, so that a smaller order applies at once; the paper
builds a new counter suffix tree first.
"""
