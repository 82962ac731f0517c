"""Regular queries: the distribution over the states of an automaton, carried from time to time for each key."""
