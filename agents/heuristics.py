"""The baselines as agents: the compiled players, asked with observations like everybody else.

- ``random``: every legal action is equally likely.
- ``drop:N``: drops at once at a count of N or less; otherwise plays like ``greedy``. Hands are short, which makes this strong.
- ``greedy``: plays for the least count left over after every move.
- ``expert``: counts cards, drops by what it expects to win and lose, keeps cards that may fit.
"""

from __future__ import annotations

import numpy as np

from agents.base import Actions, Masks, Observations, Rows
from agents.card import check_same_game
from tonk_env.batch import DROP, EXPERT, GREEDY, RANDOM, choose_from_observations
from tonk_env.observation import ObservationLayout
from tonk_env.rules import RuleSet

KINDS = {"random": RANDOM, "drop": DROP, "greedy": GREEDY, "expert": EXPERT}


class Heuristic:
    """A compiled player. ``compiled`` lets a batch play it inside its own loop; ``act`` plays the same from observations."""

    def __init__(self, rules: RuleSet, num_players: int, kind: str, param: int = 0, seed: int = 0) -> None:
        self.rules, self.num_players = rules, num_players
        self.layout = ObservationLayout(rules, num_players)
        self.name = f"{kind}:{param}" if kind == "drop" else kind
        self.compiled: tuple[int, int] | None = (KINDS[kind], param)
        self.seed(seed)

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], the compiled player's choice for every row; only ``random`` draws from the generator."""
        assert self.compiled is not None
        actions = choose_from_observations(self.layout, *self.compiled, observations, masks, self.key, self.counter)
        self.counter += len(actions)
        return actions

    def check_game(self, rules: RuleSet, num_players: int) -> None:
        """Raise ``AgentSpecError`` for a game other than the one this player was made for."""
        check_same_game(self.name, (self.rules, self.num_players), rules, num_players)

    def reset(self, rows: Rows | None = None) -> None:
        """Do nothing: these players remember nothing between moves."""

    def seed(self, seed: int) -> None:
        """Start the generator of ``random`` anew."""
        self.key = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self.counter = 0
