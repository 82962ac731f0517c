"""Evaluators: rows in, matches out. Every evaluator has a state, and a step from one watermark to the next.

Enters: checked rows of many keys in time order. Leaves: matches, or results with probabilities. Runners see `protocol`;
`stage` runs the evaluators of certain events; each other folder is one evaluator.
"""
