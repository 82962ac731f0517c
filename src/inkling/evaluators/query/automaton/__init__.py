"""Regular queries and patterns: the forward algorithm on automaton states (Lahar, sections 3.1 and 3.2)."""
