"""Ctrl-C ends this process within a second, also while a compiled loop runs that Python cannot interrupt."""

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_by_name() -> Iterator[None]:
    """In this context, Ctrl-C is a KeyboardInterrupt, also if it comes while a compiled loop returns."""
    try:
        yield
    except SystemError as problem:
        if is_interrupt(problem):
            raise KeyboardInterrupt from None
        raise


def is_interrupt(problem: BaseException | None) -> bool:
    """Whether an exception follows from Ctrl-C, as a `SystemError` of a compiled loop does."""
    while isinstance(problem, SystemError):
        problem = problem.__cause__ or problem.__context__
    return isinstance(problem, KeyboardInterrupt)


def answer_within_a_second() -> None:
    """From now on, Ctrl-C raises KeyboardInterrupt, and ends the process if nothing has caught it for a second.

    Whoever catches the exception calls `signal.alarm(0)`. Where Ctrl-C is handled in another way, nothing changes.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    from inkling.kernels.interrupts import on_alarm, on_interrupt

    install = ctypes.CDLL(None).signal
    install.argtypes, install.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    install(signal.SIGALRM, on_alarm.address)
    install(signal.SIGINT, on_interrupt.address)
    signal.siginterrupt(signal.SIGINT, True)
