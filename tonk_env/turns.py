"""For libraries that take turns but know neither seats that leave early nor news in infos: every seat stays to the end."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

AgentID = str


class TurnsWrapper(BaseWrapper):
    """A table of ``tonk_v0.env`` at which only living seats are selected and the dictionaries always name every seat.

        env = TurnsWrapper(tonk_v0.env("points", num_players=4))

    * A seat that is eliminated while others play is never selected again: the ``None`` step it owes is made here. It
      stays in ``agents``, terminated, with rewards of 0 after the one that it was paid at its end.
    * ``rewards`` of hands that were settled on the deal before anybody could move (R8) come with the first step, so that
      the steps of an episode add up to all that it paid, also for libraries that read no rewards after ``reset``.
    * ``infos`` hold ``action_mask`` alone, so that all infos of all steps have the same shape.
    * When the episode is over for all, the wrapper is a plain one again: ``last()`` and ``step(None)`` empty the table.
    """

    def __init__(self, env: AECEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.agents: list[AgentID] = list(env.possible_agents)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the next episode."""
        self.env.reset(seed=seed, options=options)
        self.agents = list(self.env.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._early = dict.fromkeys(self.agents, 0.0)
        self._read()
        self._early, self.rewards = self.rewards, dict.fromkeys(self.agents, 0.0)
        self._select()

    def step(self, action: int | None) -> None:
        """Play a move of the selected seat, and the ``None`` steps of those that it put out of the match."""
        if action is not None:
            self._cumulative_rewards[self.agent_selection] = 0.0
        self.env.step(action)
        if action is None:
            self.agents = list(self.env.agents)
        else:
            self._read()
        self._select()

    def _read(self) -> None:
        """Take over rewards and ends of those that still play inside; all others get nothing any more."""
        inside = self.env
        for agent in self.agents:
            paid = inside.rewards.get(agent, 0.0)
            self.rewards[agent] = paid + self._early.pop(agent, 0.0)
            self._cumulative_rewards[agent] += paid
            self.terminations[agent] |= inside.terminations.get(agent, False)
            self.truncations[agent] |= inside.truncations.get(agent, False)

    def _select(self) -> None:
        """Go on to the next living seat, if there is one, and write the infos."""
        inside = self.env
        while inside.agents and not all(inside.terminations[agent] or inside.truncations[agent] for agent in inside.agents):
            selected = inside.agent_selection
            if not (inside.terminations[selected] or inside.truncations[selected]):
                break
            inside.step(None)
        self.agent_selection = inside.agent_selection
        masks = {agent: info["action_mask"] for agent, info in inside.infos.items()}
        self.infos = {agent: {"action_mask": masks[agent]} if agent in masks else {} for agent in self.agents}
