"""A policy that a library has trained, as a player that can be measured against others."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.evaluate import evaluate
from agents.sampling import draw
from agents.statistics import Estimate
from tonk_env.rules import make_rules


class Learned:
    """Draws from the softmax of logits over legal moves. ``logits`` maps int8[B, O] to float32[B, A]."""

    compiled: tuple[int, int] | None = None

    def __init__(self, logits: Callable[[NDArray[np.int8]], Any], name: str = "learned") -> None:
        self.logits, self.name = logits, name
        self.seed(0)

    def act(self, observations: Any, masks: Any, rows: Any = None) -> NDArray[np.int64]:
        logits = np.asarray(self.logits(observations), dtype=np.float32)
        return draw(logits, masks, self.generator.random(len(logits), dtype=np.float32))

    def reset(self, rows: Any = None) -> None:
        pass

    def seed(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)


def against_random(logits: Callable[[NDArray[np.int8]], Any] | Learned, deals: int = 500) -> Estimate:
    """Mean reward of a policy against random play in single hands of `points` with two players."""
    rules = make_rules("points", match="hands")
    player = logits if isinstance(logits, Learned) else Learned(logits)
    return evaluate([player, "random"], rules, 2, deals, seed=11, pairs=[(0, 1)]).against(0, 1)
