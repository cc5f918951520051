"""What all measurements share: rates, rows with targets, facts about the machine, the JSON file and the table on screen."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from agents.machine import processor

ROOT = Path(__file__).parents[1]
FORMAT = 1
WIDTH = 140  # characters of a table that is no screen's
PACKAGES = (
    "tonk-env", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3", "sb3-contrib", "onnxruntime",
    "open-spiel", "rlcard",
)  # fmt: skip
Stepper = Callable[[], int]  # plays a little and returns how many decisions that were


@dataclass(frozen=True)
class Row:
    """One line of a table: the runs of a measurement, the median of which counts, and what it should reach.

    ``better`` is ``more`` or ``less``; without a target the row is only reported. No runs: it was not measured, and
    ``note`` says why.
    """

    key: str
    what: str
    unit: str
    runs: tuple[float, ...]
    target: float | None = None
    better: str = "more"
    note: str = ""

    @property
    def median(self) -> float:
        """The figure that counts, in ``unit``; NaN when nothing was measured."""
        return statistics.median(self.runs) if self.runs else float("nan")

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one or without runs."""
        if self.target is None or not self.runs:
            return None
        return self.median >= self.target if self.better == "more" else self.median <= self.target

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the median, the least and the most are written out for readers."""
        spread = {"median": self.median, "least": min(self.runs), "most": max(self.runs)} if self.runs else {}
        return {**asdict(self), **spread, "met": self.met}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Row:
        """The row that ``to_dict`` wrote."""
        fields = {name: data[name] for name in cls.__dataclass_fields__}
        return cls(**{**fields, "runs": tuple(fields["runs"])})


@dataclass(frozen=True)
class Effort:
    """How long is measured: ``repeats`` runs of ``seconds`` each."""

    seconds: float
    repeats: int
    quick: bool = False

    @classmethod
    def of(cls, quick: bool) -> Effort:
        """Half a minute's care, or just enough to see that everything runs."""
        return cls(0.02, 2, True) if quick else cls(0.5, 7)


def rate(step: Stepper, seconds: float) -> float:
    """Return decisions a second of calling ``step`` for that long."""
    decisions = 0
    started = time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds or not decisions:
        decisions += step()
    return decisions / spent


def rates(step: Stepper, effort: Effort) -> tuple[float, ...]:
    """Return the rates of several runs, after a call that does not count."""
    step()
    return tuple(rate(step, effort.seconds) for _ in range(effort.repeats))


def alternating(steppers: dict[str, Stepper], effort: Effort, say: Callable[[str], None]) -> dict[str, tuple[float, ...]]:
    """Return the rates of each, measured in turns, so that whatever the machine does meanwhile befalls all alike."""
    found: dict[str, list[float]] = {name: [] for name in steppers}
    for step in steppers.values():
        step()
    for number in range(effort.repeats):
        say(f"round {number + 1} of {effort.repeats}")
        for name, step in steppers.items():
            found[name].append(rate(step, effort.seconds))
    return {name: tuple(runs) for name, runs in found.items()}


def ratios(ours: Iterable[float], theirs: Iterable[float]) -> tuple[float, ...]:
    """Return ours / theirs, round by round."""
    return tuple(a / b for a, b in zip(ours, theirs, strict=True))


def machine() -> dict[str, Any]:
    """Return what a figure depends on: processor, cores, load before measuring, versions, commit."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def write_section(path: Path, name: str, effort: Effort, before: dict[str, Any], **data: Any) -> None:
    """Put one script's results into a JSON file and leave those of the others there as they are."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known["format"] = FORMAT
    known[name] = {"machine": before, "seconds": effort.seconds, "repeats": effort.repeats, "quick": effort.quick, **data}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def console() -> Console:
    """A console wide enough for the tables, also where the output goes to a file."""
    found = Console()
    return found if found.is_terminal else Console(width=WIDTH)


def show(rows: list[Row], title: str, console: Console) -> None:
    """Print rows as a table."""
    grid = Grid(title=title, title_justify="left")
    grid.add_column("what")
    for heading in ("median", "least", "most", "target"):
        grid.add_column(heading, justify="right")
    grid.add_column("unit")
    grid.add_column("")
    for row in rows:
        figures = (row.median, min(row.runs), max(row.runs)) if row.runs else ()
        target = "" if row.target is None else f"{sign(row)} {number(row.target)}"
        cells = [number(figure) for figure in figures] or ["–"] * 3
        grid.add_row(row.what, *cells, target, row.unit, verdict(row))
    console.print(grid)


def sign(row: Row) -> str:
    """On which side of the target a row should be."""
    return "≥" if row.better == "more" else "≤"


def verdict(row: Row) -> str:
    """Whether the target is met, in one word; nothing without a target."""
    if row.target is not None and not row.runs:
        return "not measured"
    return {None: "", True: "met", False: "missed"}[row.met]


def number(value: float) -> str:
    """A figure with as many digits as mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit that was measured, with a plus when files differ from it."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        return f"{commit}+" if _git("status", "--porcelain", "--", "tonk_env", "agents") else commit
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
