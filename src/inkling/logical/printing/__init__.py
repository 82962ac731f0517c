"""Plans as text: numbered lines, and expressions and patterns in the words of the language."""
