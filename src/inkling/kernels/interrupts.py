"""Handlers of signals that work while a compiled loop runs, which keeps Python from running its own."""

from typing import Any

from numba import cfunc, types

INTERRUPTED = 130
_SIGINT = 2

_alarm: Any = types.ExternalFunction("alarm", types.uint32(types.uint32))
_exit: Any = types.ExternalFunction("_exit", types.void(types.int32))
_print_signal: Any = types.ExternalFunction("psignal", types.void(types.int32, types.intp))
_interrupt_python: Any = types.ExternalFunction("PyErr_SetInterrupt", types.void())


@cfunc(types.void(types.int32), cache=True)
def on_interrupt(number):  # pragma: no cover
    """Ask Python to raise KeyboardInterrupt, and for an alarm in a second."""
    _alarm(1)
    _interrupt_python()


@cfunc(types.void(types.int32), cache=True)
def on_alarm(number):  # pragma: no cover
    """Python has not answered for a second: print the name of the signal, and end the process."""
    _print_signal(_SIGINT, 0)
    _exit(INTERRUPTED)
