"""Shows how a run goes: what it is doing, how fast, how long still, and how strong the learner is by now."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.text import Text

LINE_EVERY = 15.0  # seconds between two lines where the output is no terminal
REDRAW_EVERY = 0.2
WINDOW = 60.0  # seconds over which the rate is measured


class Display:
    """A live display on a terminal, now and then a line elsewhere. Used as a context."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.payoffs = "no evaluation yet"
        self._doing = "starting"
        self._recent: deque[tuple[float, int, float]] = deque()  # time, decisions, share; empty before it is known
        self._shown = 0.0
        columns = (SpinnerColumn(), TextColumn("{task.description:<11}"), BarColumn(), TaskProgressColumn())
        self._progress = Progress(*columns, TextColumn("{task.fields[note]}"), console=console)
        self._task = self._progress.add_task("starting", total=1.0, note="")
        self._live = Live(console=console, refresh_per_second=5, transient=True) if console.is_terminal else None

    def __enter__(self) -> Display:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def doing(self, what: str) -> None:
        """Change what is said to be going on."""
        self._doing = what
        self._draw(force=self._live is not None)

    def part(self, what: str) -> Callable[[int, int], None]:
        """Return a function of (done, total) that shows how far a piece of work has come."""

        def show(done: int, total: int) -> None:
            self._doing = f"{what} {done / max(1, total):.0%}"
            self._draw()

        return show

    def update(self, decisions: int, share: float) -> None:
        """Tell the decisions taken so far and the share of the budget used (0 to 1)."""
        now = time.monotonic()
        self._recent.append((now, decisions, share))
        while len(self._recent) > 2 and now - self._recent[0][0] > WINDOW:
            self._recent.popleft()
        self._draw()

    def go_on(self, decisions: int, share: float, payoffs: Mapping[str, Mapping[str, float]] | None = None) -> None:
        """Start the display where the run stands: decisions and share so far, and the payoffs of its last evaluation.

        ``payoffs`` is as ``evaluation.jsonl`` holds it: ``mean``, ``low`` and ``high`` by opponent. Rates count from here.
        """
        self._recent = deque([(time.monotonic(), decisions, share)])
        if payoffs:
            halves = {spec: (one["high"] - one["low"]) / 2 for spec, one in payoffs.items()}
            self.payoffs = "  ".join(f"{spec} {one['mean']:+.3f}±{halves[spec]:.3f}" for spec, one in payoffs.items())
        self._draw(force=True)

    def _draw(self, force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self._shown < (REDRAW_EVERY if self._live is not None else LINE_EVERY):
            return
        if not self._recent:  # no figures to show yet
            if self._live is not None:
                self._live.update(Text(self._doing))
            return
        self._shown = now
        (start, before, used), (end, decisions, share) = self._recent[0], self._recent[-1]
        rate = (decisions - before) / (end - start) if end > start else 0.0
        left = _clock((1 - share) * (end - start) / (share - used)) if share > used else "?"
        note = f"{decisions:,} decisions · {rate:,.0f}/s · {left} left"
        if self._live is None:
            self.say(f"{share:4.0%} {self._doing}: {note} · {self.payoffs}")
            return
        self._progress.update(self._task, completed=share, description=self._doing, note=note)
        self._live.update(Group(self._progress, Text(f"  {self.payoffs}", style="dim")))


def _clock(seconds: float) -> str:
    """Seconds as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
