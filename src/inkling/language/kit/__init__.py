"""What the grammars of `.ink`, `.ele`, `.epsparql`, `.sre`, `.lahar` and `.sase` share.

Each language adds its nodes, its grammar and its translation.

`scanning` cuts a text into tokens, `reading` goes through its statements, `lalr` and `cursor` parse one statement (by a
grammar file, or by a parser written by hand), and `layout` prints.
"""
