"""Relations between segments with lost ends: their exact probability, pair by pair of keys (SimpMatch)."""
