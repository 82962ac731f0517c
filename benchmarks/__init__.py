"""How fast recognition is on this machine: ``python -m benchmarks`` measures, prints and writes down.

Every figure stands beside a named baseline that was measured in the same run and found the same matches.
"""
