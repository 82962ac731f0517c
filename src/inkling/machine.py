"""The memory of this machine: how much there is, and how much this process takes."""

import os
import resource
import sys
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_bytes() -> int:
    """Memory of this machine, or of the container if that is less."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _LIMITS:
        try:
            limits.append(int(Path(file).read_text()))
        except (OSError, ValueError):
            continue
    return min(limits)


_opened: dict[int, int] = {}
"""By process, the open file with its sizes, which is read before and after every step of a stream."""


def _sizes() -> list[bytes]:
    """The sizes of this process in pages, as in the manual of the system: the second is resident, the sixth data."""
    process = os.getpid()
    if process not in _opened:
        _opened.clear()  # a forked process has the file of its parent
        _opened[process] = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    return os.pread(_opened[process], 200, 0).split()


def used_bytes() -> int:
    """Memory that this process takes now; where the system does not say, the most that it ever took."""
    try:
        return int(_sizes()[1]) * _PAGE
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def data_bytes() -> int | None:
    """The address space of this process that holds data, which the operating system can limit; None where it cannot."""
    try:
        return int(_sizes()[5]) * _PAGE
    except OSError:
        return None


def bytes_of(text: str) -> int:
    """A size with its unit, in bytes.

    >>> bytes_of("2GB"), bytes_of("512 MB"), bytes_of("1000")
    (2000000000, 512000000, 1000)
    """
    number = text.strip().upper().removesuffix("B").strip()
    scale = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}.get(number[-1:], 1)
    found = float(number[:-1] if scale > 1 else number)
    if not 0 < found < float("inf"):
        raise ValueError(f"expected a size such as 4GB, found {text!r}")
    return int(found * scale)


def size_text(n_bytes: float) -> str:
    """Bytes in the largest unit that fits.

    >>> size_text(512), size_text(1_300_000)
    ('512 bytes', '1.3 MB')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes:.0f} bytes"
