"""Makes a command fit for wherever it is started: closed streams, narrow encodings, and an end asked for by SIGTERM."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from tonk_env.files import discard_unfinished


def prepare_streams() -> None:
    """Have what an output cannot encode written as ``?``, and what was closed before the start lead nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - to the end of the process
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def end_well_on_sigterm() -> None:
    """Have SIGTERM remove half-written files before it ends the process as it always does."""
    signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: FrameType | None) -> None:
    discard_unfinished()  # and no exception: compiled code and callbacks may swallow one
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
