"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

_unfinished: set[str] = set()  # temporary files that are being written


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` if a file could be written there; found out before the work that fills it, not after.

    Raises ``OSError`` with a sentence that names the path and what is wrong with it.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder; give the name of a file")
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {folder}; create it first")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise PermissionError(f"cannot write {target}: no permission to write there")
    if not target.exists():
        _try(target)
    return target


def _try(target: Path) -> None:
    """Find out whether files can be made beside ``target``, with one that has no name where the system knows such."""
    with suppress(OSError, AttributeError):
        os.close(os.open(target.parent, os.O_TMPFILE | os.O_WRONLY))
        return
    handle, name = _temporary(target)
    os.close(handle)
    os.unlink(name)


def _temporary(target: Path) -> tuple[int, str]:
    """Open a temporary file beside ``target``: (handle, name). Raises OSError with a sentence that names the target."""
    try:
        return tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise type(error)(f"cannot write {target}: {reason} in the folder {target.parent}") from None


@contextmanager
def atomic_writer(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open ``path`` for writing (``"w"`` UTF-8 text, ``"wb"`` bytes); it changes only when the block ends well.

    The content goes to a temporary file beside the target, which then takes the target's name in one step. A
    block that raises leaves the old file, or none, as it was. What is not a regular file (a pipe, ``/dev/stdout``)
    is written directly.
    """
    target = check_writable(path)
    text = None if "b" in mode else "utf-8"
    if target.exists() and not target.is_file():  # by its own name: what /dev/stdout leads to may have none
        with open(target, mode, encoding=text) as stream:
            yield stream
        return
    target = Path(os.path.realpath(target))
    handle, name = _temporary(target)
    _unfinished.add(name)
    try:
        with os.fdopen(handle, mode, encoding=text) as stream:
            yield stream
        os.chmod(name, _permissions(target))
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    finally:
        _unfinished.discard(name)


def discard_unfinished() -> None:
    """Remove the temporary files of writers that are still at work: for a process that ends without unwinding."""
    for name in list(_unfinished):
        with suppress(OSError):
            os.unlink(name)


def _permissions(target: Path) -> int:
    """Return the mode a plain ``open`` would leave: that of the file replaced, or the user's default."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
