"""Ctrl-C and SIGTERM as wishes: the first asks for a stop at the next good moment, the second stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class StopSignals:
    """While this context lasts, ``requested`` tells whether a stop was asked for; ``asked`` is called the first time."""

    def __init__(self, asked: Callable[[], None] = lambda: None) -> None:
        self.requested = False
        self._asked = asked
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._asked()
