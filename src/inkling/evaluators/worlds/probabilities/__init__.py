"""Results of many worlds added up: enumerated, sampled, or read by an automaton in all worlds at once."""
