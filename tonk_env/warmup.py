"""Says so before the engine compiles for the first time, and compiles it ahead of need: ``python -m tonk_env.warmup``."""

from __future__ import annotations

import sys

from tonk_env.kernels.bits import COMPILED
from tonk_env.kernels.many import step_rows

_said = False


def is_cold() -> bool:
    """Whether the compiled engine is not on disk, so that the first table or batch has to wait for it."""
    cache_file = getattr(getattr(step_rows, "_cache", None), "_cache_file", None)
    if not COMPILED or cache_file is None or getattr(step_rows, "signatures", None):
        return False
    return not cache_file._load_index()


def announce() -> None:
    """Print one line to the error stream when compiling lies ahead, once a process."""
    global _said
    if not _said and is_cold():
        print("tonk_env: compiling the engine, once on this machine (about half a minute) …", file=sys.stderr, flush=True)  # noqa: T201
    _said = True


def compile_engine() -> None:
    """Compile everything that tables, batches and compiled players need, and keep it on disk."""
    from tonk_env.batch import GREEDY, Batch, choose_from_observations
    from tonk_env.table import Table

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
