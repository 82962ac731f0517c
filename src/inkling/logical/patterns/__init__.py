"""Properties of patterns: Allen relations, pairs of operands, disjuncts, points in time, times of lost events."""
