"""Background knowledge: rules, calls of rules, and look-ups in tables."""
