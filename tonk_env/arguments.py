"""Checks arguments that every door takes: what an illegal move pays, and the options of a reset."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def check_illegal_reward(given: Any) -> float:
    """Return the reward for an illegal move. Raises ValueError unless it is a finite number."""
    try:
        reward = float(given)
    except (TypeError, ValueError, OverflowError):
        reward = math.nan
    if not math.isfinite(reward):
        raise ValueError(f"illegal_reward is a finite number, such as -1.0, not {given!r:.60}")
    return reward


def check_reset_options(given: Any) -> Mapping[str, Any]:
    """Return the options of a reset, none for None. Raises ValueError unless they are a mapping."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"options of reset() are a mapping from names to values or None, not {given!r:.60}")
    return given
