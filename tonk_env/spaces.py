"""Observation and action spaces, the same in every door."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tonk_env.actions import num_actions
from tonk_env.observation import ObservationLayout
from tonk_env.rules import RuleSet


class Observation(TypedDict):
    """What a seat may know and do. Keys in alphabetical order, as ``gymnasium.spaces.Dict`` sorts them."""

    action_mask: NDArray[np.int8]  # [num_actions], 1 = legal now
    observation: NDArray[np.int8]  # [layout.size], 0/1, see ObservationLayout.blocks


def action_space(rules: RuleSet) -> spaces.Discrete:
    """Space of all moves of a rule set, legal or not."""
    return spaces.Discrete(num_actions(rules))


def vector_space(layout: ObservationLayout) -> spaces.Box:
    """Space of the observation vector alone: int8 [layout.size], 0/1."""
    return spaces.Box(0, 1, (layout.size,), np.int8)


def observation_space(layout: ObservationLayout) -> spaces.Dict:
    """Space of ``Observation``: the mask, then the vector."""
    parts: dict[str, spaces.Space[Any]] = {
        "action_mask": spaces.Box(0, 1, (num_actions(layout.rules),), np.int8),
        "observation": vector_space(layout),
    }
    return spaces.Dict(parts)
