"""How far a long command is: a bar with rate and time left on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

import typer

from agents.wording import counted, plural

LINE_EVERY = 10.0  # seconds between lines where there is no terminal
DRAW_EVERY = 0.1  # seconds between two updates of the bar


class ProgressBar:
    """A context in which calling the object with (done, total) shows progress on the error stream; ``noun`` is singular."""

    def __init__(self, what: str, noun: str) -> None:
        self._what, self._noun = what, noun
        self._started = self._shown = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        if sys.stderr.isatty():
            self._bar, self._task = _rich_bar(self._what, self._noun)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int | None) -> None:
        """Show that ``done`` of ``total`` (None: nobody knows) are finished; cheap enough to be called often.

        Rates count from the last call with ``done`` 0, which says that preparations, such as compiling, are over.
        """
        now = time.monotonic()
        if done == 0:
            self._started = now
        wait = DRAW_EVERY if self._bar is not None else LINE_EVERY
        if now - self._shown < wait and done != total:
            return
        self._shown = now
        rate = done / max(now - self._started, 1e-9)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, rate=f"{counted(done, self._noun)}, {rate:,.0f}/s")
        elif done != total:
            of = counted(done, self._noun) if total is None else f"{done:,} of {counted(total, self._noun)}"
            left = "" if total is None or not done else f", {(total - done) / rate:,.0f} s left"
            typer.echo(f"{self._what}: {of}, {rate:,.0f} a second{left}", err=True)


def _rich_bar(what: str, noun: str) -> tuple[Any, Any]:
    """Return a bar that leaves no trace on the screen when it is done, and its task."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from agents.cli_options import console

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[rate]}"), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    bar = Progress(*columns, console=console(stderr=True), transient=True)
    return bar, bar.add_task(what, total=None, rate=f"– {plural(noun)}/s")
