"""One partition in, matches out: every evaluator advances `step(state, batch) -> (state, matches)`.

Enters: `EventBatch`es of many keys in time order. Leaves: `MatchBatch`es. Only this package calls the kernels.
"""
