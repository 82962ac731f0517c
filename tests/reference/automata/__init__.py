"""Regular patterns by their definition on words of events."""
