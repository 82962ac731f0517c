"""What a pattern says of itself: Allen's relations, pairs of operands, alternatives, moments, ties."""
