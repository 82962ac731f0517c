"""Results with enough confidence, and those with the most."""

from __future__ import annotations

from tests.kit.imprecise.case import Chance, Results, Signature


def at_least(results: Results, confidence: Chance) -> Results:
    return {signature: one for signature, one in results.items() if one.confidence >= confidence}


def best(results: Results, count: int) -> list[Signature]:
    """The most certain first; of equals, the one that may begin earliest."""
    ranked = sorted(results.items(), key=lambda one: (-one[1].confidence, one[1].first, one[0]))
    return [signature for signature, _ in ranked[:count]]
