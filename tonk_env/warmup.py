"""Compiles the engine ahead of need and keeps it on disk: ``python -m tonk_env.warmup``."""

from __future__ import annotations

from functools import cache

import numpy as np

from tonk_env.actions import FAMILIES
from tonk_env.batch import GREEDY, Batch, choose_from_observations
from tonk_env.cards import bits_of, parse_card
from tonk_env.kernels.look import observe_rows
from tonk_env.notation import action_name
from tonk_env.rules import make_rules
from tonk_env.table import Table


@cache
def compile_batch() -> Batch:
    """Compile what batches need, with players outside and inside the loop, once a process; returns the batch it used."""
    for autoreset in (False, True):
        batch = Batch("points", num_tables=2, seed=0, autoreset=autoreset)
        batch.reset()
        batch.step(batch.choose_random())
        batch.set_players(np.full((2, batch.num_players), GREEDY, dtype=np.int8))
        if not autoreset:
            batch.run()
    return batch


def compile_engine() -> None:
    """Compile everything that tables, batches and compiled players need, and keep it on disk."""
    table = Table("points", seed=0)
    table.reset()
    table.observation(1 - table.seat)
    table.step(table.choose(GREEDY, 0, 0))
    batch = compile_batch()
    choose_from_observations(batch.layout, GREEDY, 0, batch.observations, batch.action_masks)
    table.layout.decode(batch.observations[0])
    seats = np.zeros(1, np.int8)
    observe_rows(batch._rules, batch._layouts, batch.tables, np.zeros(1, np.int64), seats, batch.observations)
    table.legal_words()
    str(table.deck)
    wilds = make_rules("wild_jokers")
    for family in ("wild_hit_book", "wild_run"):
        action_name(FAMILIES[family].base, wilds, hand=bits_of([parse_card(card) for card in ("AC", "2C", "X1")]))


if __name__ == "__main__":
    compile_engine()
