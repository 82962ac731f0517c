"""Relations between two keys with lost ends: SimpMatch as published, exact answers in fractions, and the baselines."""
