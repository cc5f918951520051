"""Compiles the engine ahead of need and keeps it on disk: ``python -m tonk_env.warmup``."""

from __future__ import annotations

from tonk_env.batch import GREEDY, Batch, choose_from_observations
from tonk_env.table import Table


def compile_engine() -> None:
    """Compile everything that tables, batches and compiled players need, and keep it on disk."""
    table = Table("points", seed=0)
    table.reset()
    table.observation(table.seat)
    table.step(int(table.legal_actions()[0]))
    batch = Batch("points", num_tables=2, seed=0)
    batch.reset()
    batch.step(batch.choose_random())
    choose_from_observations(batch.layout, GREEDY, 0, batch.observations, batch.action_masks)
    table.layout.decode(batch.observations[0])


if __name__ == "__main__":
    compile_engine()
