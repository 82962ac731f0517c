"""The definition: what every program means, written to be read and not to be fast. Read this first.

`streams` turns rows into events, `occurrences` says where a pattern occurs among the events of one world, `semantics`
which results follow, and `worlds` what an uncertain stream is: possible worlds, each with a probability. The
probability of a result is the sum over the worlds that have it. Every evaluator is tested against this package.

Enters: a `ProgramPlan` and rows. Leaves: results with exact probabilities.
"""
