"""Plans as text: numbered lines, and expressions and patterns in the syntax of the language."""
