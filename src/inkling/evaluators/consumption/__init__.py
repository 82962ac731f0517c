"""Patterns whose parts are used up: pair by pair of operands, one walk over what arrives."""
