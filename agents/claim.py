"""Keeps a folder to one process at a time, so that two runs or leagues never write into it side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class InUseError(ValueError):
    """A folder in which another process is at work; the message is one sentence."""


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Hold ``folder`` while the block lasts. Raises ``InUseError`` if another process holds it.

    The lock is the system's and on the folder itself: nothing is written, and it ends with the process however that ends.
    Where there are no such locks, as on some network drives and on Windows, nobody is refused.
    """
    handle = _locked(folder)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _locked(folder: Path) -> int | None:
    """Return a handle of the folder with a lock on it, None where it cannot be locked."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InUseError(f"another process is at work in {folder}: wait for its end, or stop it") from None
    except OSError:
        with suppress(OSError):
            os.close(handle)
        return None
    return handle
