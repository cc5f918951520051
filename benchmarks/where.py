"""Measures where the time of a batch goes: choosing, observations, and what it costs to deal a hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import ours
from measuring import Effort, Row, Stepper, alternating

from tonk_env.batch import Batch
from tonk_env.kernels.look import observe_rows

NANOSECONDS = 1e9
COUNTED = 200  # steps of all tables from which the length of a hand is taken
NAMES = {
    "where_all": "a decision, everything",
    "where_choice": "of which: a random choice from the legal moves",
    "where_observation": "of which: the observation, found and written",
    "where_deal": "to deal a hand up to its first decision, observation and mask included",
}


def rows(effort: Effort) -> list[Row]:
    """Nanoseconds of each part, measured alone and in turns, and how many decisions a hand has in random play."""
    found = alternating(_parts(), effort, lambda _: None)
    costs = {key: tuple(NANOSECONDS / run for run in runs) for key, runs in found.items()}
    units = {"where_deal": "ns a hand"}
    parts = [Row(key, NAMES[key], units.get(key, "ns a decision"), runs) for key, runs in costs.items()]
    return [*parts, Row("where_length", "decisions in a hand of random play", "decisions", (_length(),))]


def _parts() -> dict[str, Stepper]:
    game = ours.new_batch("points", 2, ours.TABLES)
    everything = np.arange(ours.TABLES, dtype=np.int64)
    seats, seen = game.seats.astype(np.int64), np.zeros_like(game.observations)
    dealt = Batch("points", 2, ours.TABLES, seed=0)

    def counted(part: Callable[[], object]) -> Stepper:
        def step() -> int:
            part()
            return ours.TABLES

        return step

    return {
        "where_all": ours.batch(),
        "where_choice": counted(game.choose_random),
        "where_observation": counted(lambda: observe_rows(game._rules, game._layouts, game.tables, everything, seats, seen)),
        "where_deal": counted(lambda: dealt.restart(everything)),
    }


def _length() -> float:
    """Decisions of random play for each hand that ended in it."""
    game = ours.new_batch("points", 2, ours.TABLES)
    ended = 0
    for _ in range(COUNTED):
        game.step(game.choose_random())
        ended += int((game.endings >= 0).sum())
    return COUNTED * ours.TABLES / ended
