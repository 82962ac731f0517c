"""Rows in, matches out: every evaluator is a state and a step that takes it from one moment to the next.

Enters: the checked rows of many keys in time order. Leaves: matches, or results with probabilities. `protocol` is what
runners see, `stage` runs the evaluators of certain events, and each other folder is one evaluator.
"""
