"""Which events a finite automaton recognizes, and which conditions its symbols stand for."""
