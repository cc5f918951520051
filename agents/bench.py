"""A quick measure of how fast the environment plays on this machine, through each of its doors."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table as Grid

from agents.machine import processor
from agents.report import versions
from agents.wording import counted
from tonk_env.files import atomic_writer

TABLES = 4096  # of a batch: enough that the loop around it does not matter
RULES = "points"
SMALLEST, LARGEST = 2, 6
Stepper = Callable[[], int]


@dataclass(frozen=True)
class Rate:
    """A measurement: decisions a second of each run, the median of which counts."""

    door: str
    players: int
    rules: str
    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """Decisions a second."""
        return statistics.median(self.runs)


def measure_all(seconds: float, repeats: int, progress: Callable[[int, int], None]) -> list[Rate]:
    """Return a rate for every door, each measured ``repeats`` times for about ``seconds``."""
    doors = list(_doors())
    rates = []
    for number, (door, players, rules, make) in enumerate(doors):
        step = make()
        step()
        runs = []
        for run in range(repeats):
            runs.append(_measure(step, seconds))
            progress(number * repeats + run + 1, len(doors) * repeats)
        rates.append(Rate(door, players, rules, tuple(runs)))
    return rates


def _measure(step: Stepper, seconds: float) -> float:
    """Return decisions a second of calling ``step`` for that long."""
    decisions = 0
    started = time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        decisions += step()
    return decisions / spent


def _doors() -> Iterator[tuple[str, int, str, Callable[[], Stepper]]]:
    """Yield (name, players, preset, maker of a function that plays a little and returns the decisions made)."""
    for players in range(SMALLEST, LARGEST + 1):
        rules = RULES if players <= 4 else "rockets"
        yield "batch, random actions chosen inside", players, rules, partial(_batch, rules, players)
    yield "batch, actions from outside", 2, RULES, partial(_batch_outside, RULES, 2)
    yield "one table, Python loop", 2, RULES, partial(_table, RULES, 2)
    yield "PettingZoo AEC loop", 2, RULES, partial(_aec, RULES, 2)
    yield "Gymnasium, one learner against random", 2, RULES, partial(_single, RULES, 2)


def _batch(rules: str, players: int) -> Stepper:
    """Compiled choice and compiled step, observation and mask written for every decision."""
    from tonk_env.batch import Batch

    batch = Batch(_hands(rules), players, num_tables=TABLES, seed=0)
    batch.reset()

    def step() -> int:
        batch.step(batch.choose_random())
        return TABLES

    return step


def _batch_outside(rules: str, players: int) -> Stepper:
    """What a policy pays that chooses in NumPy: here the last legal action of every mask."""
    from tonk_env.batch import Batch

    batch = Batch(_hands(rules), players, num_tables=TABLES, seed=0)
    batch.reset()
    width = batch.action_masks.shape[1]

    def step() -> int:
        batch.step(width - 1 - np.argmax(batch.action_masks[:, ::-1], axis=1))
        return TABLES

    return step


def _table(rules: str, players: int) -> Stepper:
    from tonk_env.table import Table

    table = Table(_hands(rules), players, seed=0)
    random = np.random.default_rng(0)
    table.reset()

    def step() -> int:
        if table.over:
            table.reset()
        legal = table.legal_actions()
        table.step(int(legal[random.integers(len(legal))]))
        return 1

    return step


def _aec(rules: str, players: int) -> Stepper:
    """The loop of PettingZoo's documentation; only real decisions are counted."""
    from tonk_env import tonk_v0

    env = tonk_v0.env(rules=_hands(rules), num_players=players)
    random = np.random.default_rng(0)
    env.reset(seed=0)

    def step() -> int:
        if not env.agents:
            env.reset()
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            return 0
        legal = np.flatnonzero(observation["action_mask"])
        env.step(int(legal[random.integers(len(legal))]))
        return 1

    return step


def _single(rules: str, players: int) -> Stepper:
    """One learner; only its own decisions are counted."""
    import gymnasium

    import tonk_env  # noqa: F401 - registers the environment

    env = gymnasium.make("tonk_env/Tonk-v0", rules=_hands(rules), num_players=players, opponents=["random"])
    random = np.random.default_rng(0)
    state = {"observation": env.reset(seed=0)[0]}

    def step() -> int:
        legal = np.flatnonzero(state["observation"]["action_mask"])
        observation, _, terminated, truncated, _ = env.step(int(legal[random.integers(len(legal))]))
        state["observation"] = env.reset()[0] if terminated or truncated else observation
        return 1

    return step


def _hands(preset: str) -> Any:
    """Return a preset played as single hands, as the quick training does."""
    from tonk_env.rules import make_rules

    return make_rules(preset, match="hands")


def rate_table(rates: list[Rate], seconds: float, repeats: int) -> Grid:
    """Return the rates as a table."""
    title = f"Decisions a second: median of {counted(repeats, 'run')} of {seconds:g} s, random play, one process"
    grid = Grid(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    grid.add_column("door", overflow="fold")
    grid.add_column("rules", no_wrap=True)
    for heading in ("players", "median", "least", "most"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for rate in rates:
        numbers = (rate.median, min(rate.runs), max(rate.runs))
        grid.add_row(rate.door, rate.rules, str(rate.players), *(f"{number:,.0f}" for number in numbers))
    return grid


def rates_text(rates: list[Rate], seconds: float, repeats: int) -> str:
    """Return the rates with machine and versions as JSON text."""
    data = {
        "bench": 1,
        "unit": "decisions a second",
        "seconds": seconds,
        "repeats": repeats,
        "batch_tables": TABLES,
        "machine": {"platform": platform.platform(), "processor": processor(), "cores": os.cpu_count()},
        "versions": versions(),
        "rates": [
            {"door": rate.door, "rules": rate.rules, "players": rate.players, "median": rate.median, "runs": rate.runs}
            for rate in rates
        ],
    }
    return json.dumps(data, indent=1) + "\n"


def write_rates(rates: list[Rate], path: str | os.PathLike[str], seconds: float, repeats: int) -> None:
    """Write the rates with machine and versions as JSON."""
    with atomic_writer(path) as stream:
        stream.write(rates_text(rates, seconds, repeats))
