"""Markov models of the symbols that an automaton reads, and the forecasts that follow from them.

The input is counts of words of symbols (`counts`). The output is a table with a forecast of the next detection for
every state of the automaton and every context of the model (`forecasts`). Symbols are numbered from 0; a row that
resets its key is -1.

| file | Ntoulias et al., section 3.2 |
|---|---|
| `counts`, `prediction_tree` | counter suffix tree, prediction suffix tree |
| `full_order` | full-order Markov model |
| `contexts`, `chain` | automaton and buffer of the last m symbols, as one Markov chain |
| `forecasts` | waiting-time distribution, the kinds of forecasts |
"""
