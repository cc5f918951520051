"""Seeds: any whole number from 0 becomes the 64-bit seed of a series of deals; neighbours share nothing."""

from __future__ import annotations

import numpy as np


def series_seed(seed: int) -> np.uint64:
    """64-bit seed of a series of deals. Raises ValueError for a negative number or anything that is not whole."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"a seed is a whole number from 0, not {seed!r}")
    return np.uint64(np.random.SeedSequence(int(seed)).generate_state(1, np.uint64)[0])
