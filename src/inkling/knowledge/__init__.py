"""Facts that follow from rules, derived before a program runs."""
