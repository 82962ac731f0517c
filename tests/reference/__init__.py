"""Engines that are no part of the product: references that kernels are tested against, and methods it is compared with.

They read like the paper they come from and are not optimized. Tests and benchmarks import them; `src` never does.
"""
