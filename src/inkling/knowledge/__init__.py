"""Facts that rules derive, before a program runs."""
