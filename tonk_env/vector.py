"""Gymnasium door for many tables at once: one learner a table, all tables in one compiled loop.

    envs = gymnasium.make_vec("tonk_env/Tonk-v0", num_envs=1024, rules="rockets", opponents="greedy")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tonk_env.batch import Batch
from tonk_env.observation import ObservationLayout
from tonk_env.opponents import Given, Opponents
from tonk_env.rules import make_rules
from tonk_env.single import MAX_SKIPPED, check_choice, check_seating, never_moves
from tonk_env.spaces import action_space, observation_space, vector_space

Rows = NDArray[np.int64]


class TonkVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """``num_envs`` tables of ``single.TonkEnv``, whose arguments, rewards and ends it shares; it does not render.

    Table ``i`` plays the hands of ``Table(seed, table=i)`` and seats its learner as ``TonkEnv(table=i)`` does. Opponents that
    have a compiled form (random, drop, greedy) play inside the compiled loop; all others are asked for whole batches of actions.

    **Autoreset** is ``SAME_STEP``: the step that ends an episode already returns the first observation of the next one. The
    last observation is in ``infos["final_obs"]`` (an object array, None where no episode ended) and the last info in
    ``infos["final_info"]``, each with a boolean array ``_final_obs``, ``_final_info`` of the rows that have one. Every action
    given is played, and every episode's steps are counted in full.

    **Infos** are ``action_mask`` int8 [num_envs, num_actions] and ``seat`` int64 [num_envs], for rows that begin an episode
    ``skipped_hands`` int64, and in ``final_info`` besides ``action_mask`` and ``seat`` the ``ending`` int8 (a ``state.Ending``)
    of the last hand and ``won``, whether the learner was among its winners. ``action_masks()`` returns the masks too.

    **Actions** are int64 [num_envs]. With ``illegal="raise"`` an illegal action raises IllegalMoveError and no table moves.

    **Reset.** ``options={"reset_mask": bool [num_envs]}`` begins new episodes only there, abandoning those in play; decks cannot
    be set.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's interface)
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": [],
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: Any = "points",
        num_players: int | None = None,
        opponents: Given | Sequence[Given] = "random",
        seat: int | str | None = None,
        *,
        observation: str = "dict",
        illegal: str = "lose",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise ValueError('many tables at once are not drawn: use make_vec(..., vectorization_mode="sync") to render')
        self.num_envs = num_envs
        self.rules = make_rules(rules, **options)
        self.num_players = self.rules.check_players(num_players)
        self.layout = ObservationLayout(self.rules, self.num_players)
        self.seating = check_seating(seat, self.num_players)
        self.flat = check_choice("observation", observation, ("dict", "vector")) == "vector"
        self.illegal_loses = check_choice("illegal", illegal, ("lose", "raise")) == "lose"
        self.illegal_reward = float(illegal_reward)
        self.opponents = Opponents(opponents, self.rules, self.num_players)
        self.single_observation_space = vector_space(self.layout) if self.flat else observation_space(self.layout)
        self.single_action_space = action_space(self.rules)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._batch = Batch(self.rules, self.num_players, num_envs, autoreset=False)
        self._kinds, self._params = self.opponents.compiled()
        self._all: Rows = np.arange(num_envs, dtype=np.int64)
        self._seats = np.zeros(num_envs, dtype=np.int64)  # the learner's
        self._next_seats = np.zeros(num_envs, dtype=np.int64)
        self._carried = np.zeros(num_envs, dtype=np.float64)  # rewards earned before the learner's first move
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes, at all tables or where ``options["reset_mask"]`` is true, each at the learner's decision."""
        super().reset(seed=seed)
        rows = self._rows_to_reset((options or {}).get("reset_mask"))
        if seed is not None or not self._begun:
            self._seed(seed)
        skipped = self._begin(rows)
        infos = self._infos()
        self._add(infos, rows, skipped_hands=skipped)
        return self._observations(infos["action_mask"]), infos

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one move of every learner, the others' moves up to its next one, and begin new episodes where one ended.

        Raises ResetNeeded before the first reset, ValueError for actions outside the space and, with ``illegal="raise"``,
        IllegalMoveError.
        """
        if not self._begun:
            raise ResetNeeded("tonk_env/Tonk-v0: no episode is being played: call reset() first")
        moves = self._moves(actions)
        illegal = self._batch.action_masks[self._all, moves] == 0
        if not self.illegal_loses:
            illegal[:] = False  # the batch refuses them
        rewards = self._carried.copy()
        self._carried[:] = 0.0
        self._advance(moves, self._all[~illegal], rewards)
        rewards[illegal] = self.illegal_reward
        done = illegal | self._finished(self._all)
        cut_short = done & ~illegal & self._batch.over & self._batch.truncated
        infos = self._next_episodes(done, illegal)
        return self._observations(infos["action_mask"]), rewards, done & ~cut_short, cut_short, infos

    def action_masks(self) -> NDArray[np.int8]:
        """Legal actions of every learner, int8 [num_envs, num_actions]."""
        return np.array(self._batch.action_masks, dtype=np.int8)
