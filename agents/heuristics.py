"""The baselines as agents: the compiled players, asked with observations like everybody else.

- ``random``: every legal action is equally likely.
- ``drop:N``: drops at once at a count of N or less; otherwise plays like ``greedy``. Hands are short, which makes this strong.
- ``greedy``: plays for the least count left over after every move.
"""

from __future__ import annotations

import numpy as np

from agents.base import Actions, Masks, Observations, Rows
from tonk_env.batch import DROP, GREEDY, RANDOM
from tonk_env.rules import RuleSet

KINDS = {"random": RANDOM, "drop": DROP, "greedy": GREEDY}


class Heuristic:
    """A compiled player. ``compiled`` lets a batch play it inside its own loop; ``act`` plays the same from observations."""

    def __init__(self, rules: RuleSet, num_players: int, kind: str, param: int = 0, seed: int = 0) -> None:
        self.rules = rules
        self.num_players = num_players
        self.name = f"{kind}:{param}" if kind == "drop" else kind
        self.compiled: tuple[int, int] | None = (KINDS[kind], param)
        self.seed(seed)

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], the compiled player's choice for every row; only ``random`` uses the generator."""
        return _choose(self, observations, masks)

    def reset(self, rows: Rows | None = None) -> None:
        """Do nothing: these players remember nothing between moves."""

    def seed(self, seed: int) -> None:
        """Start the generator of ``random`` anew."""
        self.state = np.array([seed % 2**64], dtype=np.uint64)


def _choose(agent: Heuristic, observations: Observations, masks: Masks) -> Actions:
    """Ask the compiled player; the one place that knows how it is called."""
    from tonk_env.kernels.players import choose_from_observations

    assert agent.compiled is not None
    kind, param = agent.compiled
    return choose_from_observations(agent.rules, agent.num_players, kind, param, observations, masks, agent.state)
