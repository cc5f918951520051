"""RLlib door: a table of Tonk as a MultiAgentEnv in which only the seat on turn sees and acts; needs `ray[rllib]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "ray":
        raise
    raise ModuleNotFoundError('tonk_env.rllib needs RLlib: run  pip install "ray[rllib]"', name="ray") from None

import numpy as np

from tonk_env.arguments import check_illegal_reward, check_reset_options
from tonk_env.rules import make_rules
from tonk_env.single import check_action, check_choice
from tonk_env.spaces import Observation, action_space, observation_space
from tonk_env.table import Table
from tonk_env.view import public_result

AgentID = str


class TonkMultiAgentEnv(MultiAgentEnv):
    """One table of Tonk for RLlib's new API stack.

        PPOConfig().environment(TonkMultiAgentEnv, env_config={"rules": "points", "match": "hands", "num_players": 2})

    ``env_config`` holds ``rules`` (preset, RuleSet or mapping), ``num_players``, ``series`` (number of the series of deals
    of a seed; without it, RLlib's number of the worker, so that no two workers play the same hands), ``illegal`` and
    ``illegal_reward``, and rule options. With ``illegal="lose"`` (the default, as RLlib's own check of environments acts
    without masks) an illegal move ends the episode for all, with ``illegal_reward`` (-1) for the offender, 0 for the
    others, and ``infos[agent]["illegal"]`` True; with ``"raise"`` it is an IllegalMoveError, and nothing changes.

    **Agents** are ``player_0``, ``player_1``, … Each step returns the observation of the seat on turn alone,
    ``{"action_mask": int8 [A], "observation": int8 [O]}``; the same seat stays on turn until its turn is over.

    **Rewards** are those of rule R40. A seat is paid in the step in which it sees what came of its last action: at its
    next turn, or at its end. Whatever it earned in between is in that sum, so that the returns add up to the settlement.
    What a seat earns before its first action (hands settled on the deal) comes with the result of that action.

    **Ends.** A seat that is eliminated is terminated with a last observation while the others play on. A single hand that
    reaches the turn limit (R19) is truncated. The mask of a last observation is all 1, so that a policy that is asked for
    its value there does not divide by zero.

    **Infos** of a finished hand are in ``infos[agent]["hands"]`` of those agents that are in the step's observations.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        options = dict(config or {})
        rules, num_players = options.pop("rules", "points"), options.pop("num_players", None)
        series = options.pop("series", getattr(config, "worker_index", 0) or 0)
        self.illegal_loses = check_choice("illegal", options.pop("illegal", "lose"), ("lose", "raise")) == "lose"
        self.illegal_reward = check_illegal_reward(options.pop("illegal_reward", -1.0))
        self.table = Table(make_rules(rules, **options), num_players, table=series)
        self.layout = self.table.layout
        self.possible_agents: list[AgentID] = [f"player_{seat}" for seat in range(self.table.num_players)]
        self.agents: list[AgentID] = list(self.possible_agents)  # those that end with the last step are still in it
        self.observation_spaces = {agent: observation_space(self.layout) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(self.table.rules) for agent in self.possible_agents}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[AgentID, Any], dict[AgentID, Any]]:
        """Begin the next episode: of a new series with ``seed``, from ``options["deck"]``, or the next of the series."""
        self.table.reset(seed=seed, deck=check_reset_options(options).get("deck"))
        self.agents = list(self.possible_agents)
        self._owed = {agent: float(self.table.rewards[seat]) for seat, agent in enumerate(self.possible_agents)}
        self._acted: set[AgentID] = set()
        self._gone: set[AgentID] = set()
        agent = self.possible_agents[self.table.seat]
        return {agent: self._observe(agent)}, {agent: {}}

    def step(self, action_dict: Mapping[AgentID, int]) -> tuple[dict[AgentID, Any], ...]:
        """Play the move of the seat on turn, the only entry of ``action_dict``.

        Raises ValueError for the move of any other seat or outside the space, and with ``illegal="raise"``
        IllegalMoveError.
        """
        table, agent = self.table, self.possible_agents[self.table.seat]
        self.agents = [one for one in self.agents if one not in self._gone]
        if set(action_dict) != {agent}:
            raise ValueError(f"it is the turn of {agent} alone, but {', '.join(action_dict) or 'nobody'} acted")
        move = check_action(action_dict[agent], table.num_actions)
        if self.illegal_loses and not table.mask(table.seat)[move]:
            return self._forfeit(agent)
        hands = table.step(move)
        self._acted.add(agent)
        for seat, one in enumerate(self.possible_agents):
            self._owed[one] += float(table.rewards[seat])
        gone = [one for one in self.agents if table.over or not table.live[self.possible_agents.index(one)]]
        self._gone.update(gone)
        cut_short = bool(table.over and table.truncated)
        seen = gone if table.over else [*gone, self.possible_agents[table.seat]]
        observations = {one: self._observe(one) for one in seen}
        rewards = {one: self._pay(one) for one in seen}
        ended = dict.fromkeys(gone, not cut_short) | {"__all__": bool(table.over) and not cut_short}
        cut = dict.fromkeys(gone, cut_short) | {"__all__": cut_short}
        news = [public_result(hand) for hand in hands]
        return observations, rewards, ended, cut, {one: {"hands": news} if news else {} for one in seen}

    def _forfeit(self, offender: AgentID) -> tuple[dict[AgentID, Any], ...]:
        """End the episode because of an illegal move."""
        left = self.agents
        self._gone.update(left)
        rewards = {one: self.illegal_reward if one == offender else 0.0 for one in left}
        infos: dict[AgentID, Any] = {one: {"illegal": True} if one == offender else {} for one in left}
        ended = dict.fromkeys([*left, "__all__"], True)
        return {one: self._observe(one) for one in left}, rewards, ended, dict.fromkeys(ended, False), infos

    def _pay(self, agent: AgentID) -> float:
        """What a seat has earned since it was paid last; before its first action it waits."""
        if agent not in self._acted | self._gone:
            return 0.0
        owed, self._owed[agent] = self._owed[agent], 0.0
        return owed

    def _observe(self, agent: AgentID) -> Observation:
        seat = self.possible_agents.index(agent)
        mask = self.table.mask(seat) if agent not in self._gone else np.ones(self.table.num_actions, dtype=np.int8)
        return {"action_mask": mask, "observation": self.table.observation(seat)}
