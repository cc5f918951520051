"""PettingZoo door: a table of Tonk as a turn-based AEC environment, with its full specification.

# Tonk

| Creation            | `from tonk_env import tonk_v0; env = tonk_v0.env(rules="points", num_players=3)` |
|---------------------|----------------------------------------------------------------------------------|
| Actions             | Discrete                                                                         |
| Parallel API        | No (a turn is several moves of one player)                                       |
| Manual control      | No                                                                               |
| Agents              | `["player_0", "player_1", ...]`, 2 to 6 by rule set                              |
| Action shape        | ()                                                                               |
| Action values       | `Discrete(483)`; `Discrete(1051)` in rule sets with wild cards                   |
| Observation shape   | `(layout.size,)`, set by rule set and number of players                          |
| Observation values  | 0, 1                                                                             |

## Arguments

`env(rules="points", num_players=None, render_mode=None, *, render_seat=None, illegal_reward=-1.0, **options)`

* `rules`: name of a preset, a `RuleSet`, or a mapping `{"preset": ..., "set": {...}}`. `options` are set on top of it:
  `env("rockets", match="hands", hands=5)`.
* `num_players`: seats at the table; None is the smallest table of the rule set.
* `render_mode`: `"ansi"` (`render()` returns text), `"rgb_array"` (returns uint8 `(height, width, 3)`), `"human"` (a
  window, drawn at every reset and step) or None. The pictures need pygame: `pip install ".[render]"` in the project's folder.
* `render_seat`: whose view is drawn. None is the seat that is selected, a number is that seat, `"all"` shows every
  hand.
* `illegal_reward`: what a seat gets whose illegal move ended the episode.

## Observation

`Dict(action_mask, observation)`, both int8 and 0/1, keys in that (alphabetical) order in every version of Gymnasium.
`observation` is what rule R39 lets the seat know, in named blocks with relative seats (me, left of me, ...):
`env.unwrapped.layout` lists the blocks and `env.unwrapped.layout.decode(observation)` reads them. Any seat can be
observed at any time.

### Legal moves

`action_mask` is 1 for the legal moves of the seat on turn and all 0 for every other seat. A finished seat that is
selected has but one valid action, `None`, which no mask can express: its mask is all 1 then, so that a policy that is
asked all the same never divides by zero. The same mask is in `infos[agent]["action_mask"]`.

## Actions

One flat numbering that never changes: 0 drop or tunk, 1 draw, 2 take the discard, 3 pass, 4 discard (54 cards), 58
hit a book, 110 hit the high end of a run, 162 hit the low end (52 cards each), 214 lay a book (65), 279 lay a run
(204); from 483 the same with wild cards, in rule sets that have them. `tonk_env.actions` translates to words and
back. There are no bookkeeping actions: the same seat stays selected until its turn is over.

An illegal move ends the episode: `illegal_reward` for the offender, 0 for the others (`TerminateIllegalWrapper`). An
action outside the space, a move for a finished seat and `None` for a live one raise `ActionError` and change nothing.
`raw_env` has no wrappers and raises `IllegalMoveError` for an illegal move.

## Rewards

R40. A single hand (`match="hands", hands=1`) pays each seat the hand's payoff (in points: the mean of the others'
scores minus one's own) divided by the rule set's reward scale. A match pays by place, +1 for the first to -1 for the
last, or with `match_reward="hands"` each hand as it falls. Whenever it is earned, `last()` hands every reward to its
seat exactly once.

## Ends

The episode is a match (a single hand with `match="hands"`). A seat that is eliminated leaves while the others play
on: it is terminated, gets its reward through `last()` and takes its one `None` step. At the end all seats left are
terminated. A single hand that reached the turn limit (R19) is truncated instead: its result is an estimate by the
rule set, not the game's own end.

## Infos

`infos[agent]` always holds `action_mask`. `hands` lists the hands that ended since this seat last moved, when there
are any, and `opening_hands`, until its first move, those settled on the deal during `reset()` (R7 to R9). Each is a
dictionary of what all players saw: `match hand seats start totals ending counts winners` and `scores` or `payoffs`,
named as in records. Hands and decks are not in it.

## Reset

`reset(seed=s)` deals the hands of `Table(seed=s)`; a later `reset()` goes on in the same series.
`reset(options={"deck": ...})` deals from a stacked deck: all cards of the deck in dealing order, as a string `"AS 7H
..."`, names or numbers. Other options are ignored.

## Version history

* v0: first release (0.1.0).
"""

from __future__ import annotations

import operator
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv

from tonk_env.arguments import check_illegal_reward, check_reset_options
from tonk_env.render import RENDER_MODES, Renderer, check_render_mode, check_render_seat
from tonk_env.rules import make_rules
from tonk_env.spaces import Observation, action_space, observation_space
from tonk_env.table import HandResult, Table
from tonk_env.view import public_result
from tonk_env.wrappers import HOT, ActionCheckWrapper, IllegalMoveWrapper, OrderWrapper

AgentID = str


class ActionError(AssertionError, ValueError):
    """An action that no seat could play, or that this seat may not send: nothing was changed.

    An AssertionError, as PettingZoo's wrappers raise, and a ValueError, as its environments do.
    """


def env(*args: Any, illegal_reward: float = -1.0, **kwargs: Any) -> AECEnv:
    """Tonk in the wrappers of PettingZoo's classic games: illegal moves lose, bad actions and a wrong order of calls raise.

    Takes the arguments of ``raw_env`` and ``illegal_reward``, the reward for an illegal move. Raises ValueError for one
    that is not finite.
    """
    reward = check_illegal_reward(illegal_reward)
    wrapped: AECEnv = raw_env(*args, **kwargs)
    wrapped = IllegalMoveWrapper(wrapped, illegal_reward=reward)
    wrapped = ActionCheckWrapper(wrapped)
    return OrderWrapper(wrapped)


def _copied(news: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """News that belong to whoever reads them: hands with lists of their own."""
    return {
        key: [{name: value[:] if type(value) is list else value for name, value in hand.items()} for hand in hands]
        for key, hands in news.items()
    }


class raw_env(AECEnv):
    """Tonk without wrappers. The module's docstring is its specification."""

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo's interface)
        "render_modes": RENDER_MODES,
        "name": "tonk_v0",
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(
        self,
        rules: Any = "points",
        num_players: int | None = None,
        render_mode: str | None = None,
        *,
        render_seat: int | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.render_mode = check_render_mode(render_mode)
        self.table = Table(make_rules(rules, **options), num_players)
        self.rules = self.table.rules
        self.num_players = self.table.num_players
        self.layout = self.table.layout
        self.render_seat = check_render_seat(render_seat, self.num_players)
        self.possible_agents: list[AgentID] = [f"player_{seat}" for seat in range(self.num_players)]
        self.agents: list[AgentID] = list(self.possible_agents)
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space(self.layout) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(self.rules) for agent in self.possible_agents}
        self._space = self.action_spaces[self.possible_agents[0]]
        self._renderer = Renderer(self.metadata["render_fps"])
        self._news: dict[AgentID, dict[str, list[dict[str, Any]]]] = {}

    def __getattr__(self, name: str) -> Any:
        """Say that reset() is missing when something is read that only exists in a game."""
        if name in HOT:
            raise AttributeError(f"tonk_v0: {name} does not exist yet: call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def observation_space(self, agent: AgentID) -> gymnasium.spaces.Space[Any]:
        """Space of one seat's observations: always the same object for the same seat."""
        return self.observation_spaces[agent]

    def action_space(self, agent: AgentID) -> gymnasium.spaces.Space[Any]:
        """Space of one seat's actions: always the same object for the same seat."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the next episode: of a new series with ``seed``, from ``options["deck"]``, or the next of the series.

        Raises ValueError for options that are no mapping and for a deck that is not this rule set's deck.
        """
        self.table.reset(seed=seed, deck=check_reset_options(options).get("deck"))
        opened = [public_result(hand) for hand in self.table.opened]
        self.agents = list(self.possible_agents)
        self._skip_agent_selection: AgentID | None = None
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._news = {agent: {"opening_hands": list(opened)} if opened else {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._publish()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play a move of the selected seat; ``None`` removes a finished seat.

        Raises IllegalMoveError for a move that is not legal now and ActionError for an action that is none; both
        change nothing.
        """
        if self.playable(action):
            self.play(cast(int, action))
            return
        self.check_action(action)
        if action is None:
            self._was_dead_step(None)
        else:
            self.play(operator.index(action))

    def playable(self, action: Any) -> bool:
        """Whether ``play`` may be called with an action: the selected seat lives and may make this move now."""
        if type(action) is not int and not isinstance(action, np.integer):
            return False
        if not 0 <= action < self.table.num_actions or not self.table.allows(int(action)):
            return False
        return bool(self.agents) and not self._finished(self.agent_selection)

    def play(self, action: int) -> None:
        """Play a legal move of the selected seat. Raises IllegalMoveError, with nothing changed, when it is not legal."""
        agent = self.agent_selection
        hands = self.table.step(int(action))
        self._cumulative_rewards[agent] = 0.0
        if self._news[agent]:
            self._news[agent] = {}
        if hands:
            self._tell(hands)
            self._publish()
        else:  # nobody was paid, nobody left
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self.agent_selection = self.possible_agents[self.table.seat]
            self._inform_players()
        if self.render_mode == "human":
            self.render()

    def check_action(self, action: int | None) -> None:
        """Raise ActionError when the selected seat cannot send this action, legal or not."""
        agent = self.agent_selection
        if not self.agents:
            raise ActionError("tonk_v0: the episode is over: call reset()")
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ActionError(f"tonk_v0: {agent} has finished: its only valid action is None, not {action!r}")
        elif action is None:
            raise ActionError(f"tonk_v0: {agent} is still in the game: it needs a move, not None")
        elif not self._is_action(action):
            raise ActionError(
                f"tonk_v0: {action!r} is not an action: "
                f"{agent} needs a whole number from 0 to {self.table.num_actions - 1}"
            )

    def _is_action(self, action: Any) -> bool:
        """Whether the action space contains it: a whole number in range, of Python or NumPy."""
        if isinstance(action, np.ndarray):
            return bool(self._space.contains(action))
        whole = isinstance(action, int | np.integer) and not isinstance(action, bool)
        return whole and 0 <= int(action) < self.table.num_actions

    def observe(self, agent: AgentID) -> Observation:
        """What one seat knows now, as fresh arrays. Raises ValueError for a name that sits at no seat."""
        if agent == self.agent_selection and not (self.terminations.get(agent) or self.truncations.get(agent)):
            return {"action_mask": self.table.action_mask, "observation": self.table.seen}
        seat = self._seat_of.get(agent)
        if seat is None:
            raise ValueError(f"tonk_v0: {agent!r} is not at this table: {', '.join(self.possible_agents)} are")
        return {"action_mask": self._mask(agent), "observation": self.table.observation(seat)}

    def render(self) -> str | NDArray[np.uint8] | None:
        """Text for ``"ansi"``, an array for ``"rgb_array"``; ``"human"`` draws the window and returns None."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() does nothing without a render mode: tonk_v0.env(render_mode="ansi")')
            return None
        seat = self._seat_of[self.agent_selection] if self.render_seat is None else self.render_seat
        return self._renderer.render(self.table, seat, self.render_mode)

    def close(self) -> None:
        """Close the window, if there is one. The environment can go on without it."""
        self._renderer.close()

    def _tell(self, hands: list[HandResult]) -> None:
        """Keep the news of a step for each seat until that seat moves."""
        for result in map(public_result, hands):
            for agent in self.agents:
                self._news[agent].setdefault("hands", []).append(result)

    def _publish(self) -> None:
        """Read rewards, ends, selection and infos off the table after a reset or a move."""
        table = self.table
        over, rewards, live = table.over, table.rewards.tolist(), table.live.tolist()
        cut_short = over and table.truncated
        self.rewards = {}
        for agent in self.agents:
            seat = self._seat_of[agent]
            self.rewards[agent] = rewards[seat]
            self._cumulative_rewards[agent] += rewards[seat]
            out = over or not live[seat]
            self.terminations[agent] = out and not cut_short
            self.truncations[agent] = out and cut_short
        if not over:
            self.agent_selection = self.possible_agents[table.seat]
        self._deads_step_first()

    def _deads_step_first(self) -> AgentID:
        selected: AgentID = super()._deads_step_first()
        self._inform()
        return selected

    def _was_dead_step(self, action: None) -> None:
        del self._news[self.agent_selection]
        super()._was_dead_step(action)
        self._inform()

    def _inform(self) -> None:
        """Write every seat's info anew: it belongs to whoever reads it."""
        self.infos = {agent: {"action_mask": self._mask(agent), **_copied(self._news[agent])} for agent in self.agents}

    def _inform_players(self) -> None:
        """The same while nobody has finished."""
        selected, size, self.infos = self.agent_selection, self.table.num_actions, {}
        for agent in self.agents:
            mask = self.table.action_mask if agent == selected else np.zeros(size, np.int8)
            news = self._news[agent]
            self.infos[agent] = {"action_mask": mask, **_copied(news)} if news else {"action_mask": mask}

    def _mask(self, agent: AgentID) -> NDArray[np.int8]:
        selected = agent == self.agent_selection
        if self._finished(agent):
            fill = np.ones if selected else np.zeros
            return fill(self.table.num_actions, dtype=np.int8)
        return self.table.action_mask if selected else np.zeros(self.table.num_actions, np.int8)

    def _finished(self, agent: AgentID) -> bool:
        return bool(self.terminations.get(agent) or self.truncations.get(agent))
