"""Compares kernels and second engine on very many random hands, on several processes, with a line of progress."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator

from differential import run

CHUNK = 4  # rule sets a task
HANDS = 100  # hands a rule set

USUAL_HANDS = 1_000_000


def run_chunk(first_seed: int) -> int:
    """Compare random matches under ``CHUNK`` random rule sets. Returns the number of hands; an error names the seed."""
    hands = 0
    for seed in range(first_seed, first_seed + CHUNK):
        try:
            hands += run(seed, HANDS)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    return hands


def chunks(first_seed: int) -> Iterator[int]:
    """First seeds of tasks, without end."""
    while True:
        yield first_seed
        first_seed += CHUNK


def fuzz(hands: int, workers: int, first_seed: int = 0) -> int:
    """Compare at least ``hands`` random hands on some processes. Returns how many were compared, all equal.

    Raises:
        AssertionError: at the first difference, with rules, deck and moves.
    """
    done, begun = 0, time.monotonic()
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers) as pool:
        seeds = chunks(first_seed)
        waiting = [pool.apply_async(run_chunk, (next(seeds),)) for _ in range(4 * workers)]
        while done < hands:
            done += waiting.pop(0).get()
            waiting.append(pool.apply_async(run_chunk, (next(seeds),)))
            rate = done / (time.monotonic() - begun)
            left = max(0, hands - done) / rate
            sys.stderr.write(
                f"\r{done:,} of {hands:,} hands equal, {rate:,.0f} a second, {left / 60:.0f} minutes left   "
            )
            sys.stderr.flush()
        pool.terminate()
    sys.stderr.write(f"\n{done:,} random hands: kernels and second engine agree on every one\n")
    return done


def hands_asked() -> int:
    """Number of hands from the environment variable TONK_FUZZ_HANDS."""
    return int(os.environ.get("TONK_FUZZ_HANDS", USUAL_HANDS))


def workers_asked() -> int:
    """Number of processes from the environment variable TONK_FUZZ_WORKERS; all cores without it."""
    return int(os.environ.get("TONK_FUZZ_WORKERS") or os.cpu_count() or 1)
