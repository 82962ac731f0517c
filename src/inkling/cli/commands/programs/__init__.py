"""Commands about the text of a program: errors, plans, layout."""
