"""Background knowledge: tables, rules, and what calls of them mean."""
