"""A language server: what editors ask about a program while it is written.

`document` answers from the text of a program, also while parts of it are wrong; `server` speaks the protocol.
"""
