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

from tonk_env.arguments import check_illegal_reward, check_reset_options
from tonk_env.batch import Batch
from tonk_env.kernels.look import observe_rows
from tonk_env.observation import ObservationLayout
from tonk_env.opponents import Given, Opponents
from tonk_env.rule_record import rule_array
from tonk_env.rules import make_rules
from tonk_env.single import MAX_SKIPPED, PATIENCE, check_choice, check_seating, never_moves
from tonk_env.spaces import action_space, observation_space, vector_space

Rows = NDArray[np.int64]


class TonkVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """``num_envs`` tables of ``single.TonkEnv``, whose arguments, rewards and ends it shares; it does not render.

    Table ``i`` plays the hands of ``Table(seed, table=i)`` and seats its learner as ``TonkEnv(table=i)`` does.
    Opponents that have a compiled form (random, drop, greedy) play inside the compiled loop; all others are asked for
    whole batches of actions.

    **Autoreset** is ``SAME_STEP``: the step that ends an episode already returns the first observation of the next
    one. The last observation is in ``infos["final_obs"]`` (an object array, None where no episode ended) and the last
    info in ``infos["final_info"]``, each with a boolean array ``_final_obs``, ``_final_info`` of the rows that have
    one. Every action given is played, and every episode's steps are counted in full.

    **Infos** are ``action_mask`` int8 [num_envs, num_actions] and ``seat`` int64 [num_envs], and for rows that begin an
    episode ``skipped_hands`` int64. ``final_info`` has ``action_mask`` and ``seat`` too, the learner's ``episode_return``
    and ``episode_length``, the ``ending`` int8 of the last hand (a ``state.Ending``) and ``won``, whether the learner was
    among its winners. (Gymnasium's RecordEpisodeStatistics miscounts this autoreset mode before 1.4.) ``action_masks()``
    returns the masks too.

    **Actions** are int64 [num_envs]. With ``illegal="raise"`` an illegal action raises IllegalMoveError and no table
    moves.

    **Reset.** ``options={"reset_mask": bool [num_envs]}`` begins new episodes only there, abandoning those in play;
    decks cannot be set.
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
            raise ValueError('many tables are not drawn: use make_vec(..., vectorization_mode="sync") to render')
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs is a whole number from 1, not {num_envs!r}")
        self.num_envs = num_envs
        self.rules = make_rules(rules, **options)
        self.num_players = self.rules.check_players(num_players)
        self.layout = ObservationLayout(self.rules, self.num_players)
        self.seating = check_seating(seat, self.num_players)
        self.flat = check_choice("observation", observation, ("dict", "vector")) == "vector"
        self.illegal_loses = check_choice("illegal", illegal, ("lose", "raise")) == "lose"
        self.illegal_reward = check_illegal_reward(illegal_reward)
        self.opponents = Opponents(opponents, self.rules, self.num_players)
        self.single_observation_space = vector_space(self.layout) if self.flat else observation_space(self.layout)
        self.single_action_space = action_space(self.rules)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._batch = Batch(self.rules, self.num_players, num_envs, autoreset=False)
        self._rules, self._layouts = rule_array(self.rules), self.layout.records
        self._kinds, self._params = self.opponents.compiled()
        self._all: Rows = np.arange(num_envs, dtype=np.int64)
        self._seats = np.zeros(num_envs, dtype=np.int64)  # the learner's
        self._next_seats = np.zeros(num_envs, dtype=np.int64)
        self._carried = np.zeros(num_envs, dtype=np.float64)  # rewards earned before the learner's first move
        self._lengths = np.zeros(num_envs, dtype=np.int64)  # of the episodes in play, in steps of the learner
        self._returns = np.zeros(num_envs, dtype=np.float64)
        self._cut_short = np.zeros(num_envs, dtype=bool)  # of the last step, as are these:
        self._endings = np.full(num_envs, -1, dtype=np.int8)
        self._winners = np.zeros(num_envs, dtype=np.uint8)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin episodes at all tables, or where ``options["reset_mask"]`` is true, each at the learner's decision."""
        mask = check_reset_options(options).get("reset_mask")
        super().reset(seed=seed)
        rows = self._rows_to_reset(mask)
        if seed is not None or not self._begun:
            self._seed(seed)
        skipped = self._begin(rows)
        infos = self._infos()
        self._add(infos, rows, skipped_hands=skipped)
        return self._observations(infos["action_mask"]), infos

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one move of every learner, the others' moves up to its next one, and begin new episodes where one ended.

        Raises ResetNeeded before the first reset, ValueError for actions outside the space and, with
        ``illegal="raise"``, IllegalMoveError.
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
        self._lengths += 1
        self._returns += rewards
        done = illegal | self._finished(self._all)
        cut_short = done & self._cut_short
        infos = self._next_episodes(done)
        return self._observations(infos["action_mask"]), rewards, done & ~cut_short, cut_short, infos

    def action_masks(self) -> NDArray[np.int8]:
        """Legal actions of every learner, int8 [num_envs, num_actions]."""
        return np.array(self._batch.action_masks, dtype=np.int8)

    def _seed(self, seed: int | None) -> None:
        """Seed deals, opponents and seating."""
        self._batch.seed(seed)
        self._begun = True
        if seed is None:
            self.opponents.seed(int(self.np_random.integers(2**31)))
            self._next_seats = self.np_random.integers(self.num_players, size=self.num_envs)
        else:
            self.opponents.seed(seed)
            self._next_seats = (seed % self.num_players + self._all) % self.num_players

    def _rows_to_reset(self, mask: Any) -> Rows:
        if mask is None or not self._begun:
            return self._all
        where = np.asarray(mask)
        if where.shape != (self.num_envs,) or where.dtype != bool or not where.any():
            raise ValueError(f"reset_mask must be a boolean array of shape ({self.num_envs},) with a True in it")
        return np.flatnonzero(where)

    def _moves(self, actions: Any) -> Rows:
        moves = np.asarray(actions)
        high = self._batch.num_actions - 1
        if moves.shape != (self.num_envs,) or moves.dtype.kind not in "iu" or ((moves < 0) | (moves > high)).any():
            raise ValueError(f"actions must be {self.num_envs} whole numbers from 0 to {high}, not {actions!r}")
        return moves.astype(np.int64)

    def _begin(self, rows: Rows) -> Rows:
        """Begin an episode at some tables at the learner's decision: how many deals were skipped, int64 [len(rows)]."""
        self._lengths[rows], self._returns[rows] = 0, 0.0
        skipped = np.zeros(self.num_envs, dtype=np.int64)
        left = rows
        for attempt in range(MAX_SKIPPED):
            if attempt == 0 or (attempt % PATIENCE == 0 and not isinstance(self.seating, int)):
                self._sit(left)
            self._batch.restart(left)
            self.opponents.reset(left)
            self._carried[left] = 0.0
            self._play_others(left, self._carried)
            left = left[self._finished(left)]
            if not len(left):
                return skipped[rows]
            skipped[left] += 1
        raise RuntimeError(never_moves(int(self._seats[left[0]])))

    def _sit(self, rows: Rows) -> None:
        """Choose the learner's next seat at some tables, and seat the opponents around it."""
        if self.seating == "random":
            self._seats[rows] = self.np_random.integers(self.num_players, size=len(rows))
        elif self.seating == "rotate":
            self._seats[rows] = self._next_seats[rows]
            self._next_seats[rows] = (self._next_seats[rows] + 1) % self.num_players
        else:
            self._seats[rows] = self.seating
        seats = self._seats[rows]
        self._batch.set_players(self._kinds[seats], self._params[seats], rows)

    def _advance(self, moves: Rows, rows: Rows, rewards: NDArray[np.float64]) -> None:
        """Play the learners' moves at some tables, then the others'."""
        self._cut_short[:] = False
        self._endings[:] = -1
        self._winners[:] = 0
        if len(rows):
            self._step(moves[rows], rows, rewards)
            self._play_others(rows, rewards)

    def _play_others(self, rows: Rows, rewards: NDArray[np.float64]) -> None:
        """Ask the opponents that are not compiled for moves until every learner is on turn or finished."""
        batch = self._batch
        while len(rows := rows[~self._finished(rows) & (batch.seats[rows] != self._seats[rows])]):
            seats = batch.seats[rows].astype(np.int64)
            actions = self.opponents.act(
                batch.observations[rows], batch.action_masks[rows], rows, seats, self._seats[rows]
            )
            self._step(actions, rows, rewards)

    def _step(self, actions: Rows, rows: Rows, rewards: NDArray[np.float64]) -> None:
        """Step some tables and note what that meant for their learners."""
        batch = self._batch
        batch.step(actions, rows)
        rewards[rows] += batch.rewards[rows, self._seats[rows]]
        self._cut_short[rows] |= batch.truncated[rows]
        ended = rows[batch.endings[rows] >= 0]
        self._endings[ended] = batch.endings[ended]
        self._winners[ended] = batch.winners[ended]

    def _finished(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether the episode has ended for the learner at some tables, bool [len(rows)]."""
        live = self._batch.tables["live"][rows].astype(np.int64)
        return np.asarray((self._batch.seats[rows] < 0) | (live >> self._seats[rows] & 1 == 0))

    def _next_episodes(self, done: NDArray[np.bool_]) -> dict[str, Any]:
        """Begin episodes where one is done: the step's infos, with the last observation and info of those."""
        rows = np.flatnonzero(done)
        if not len(rows):
            return self._infos()
        final_obs, final_info = self._final_observations(rows), self._final_infos(rows)
        skipped = self._begin(rows)
        infos = self._infos()
        infos |= {"final_obs": final_obs, "_final_obs": done.copy()}
        infos |= {"final_info": final_info, "_final_info": done.copy()}
        self._add(infos, rows, skipped_hands=skipped)
        return infos

    def _final_observations(self, rows: Rows) -> NDArray[np.object_]:
        vectors = np.zeros((len(rows), self.layout.size), dtype=np.int8)
        observe_rows(self._rules, self._layouts, self._batch.tables, rows, self._seats[rows], vectors)
        masks = np.zeros((len(rows), self._batch.num_actions), dtype=np.int8)
        last = np.full(self.num_envs, None, dtype=object)
        for i, row in enumerate(rows):
            last[row] = vectors[i] if self.flat else {"action_mask": masks[i], "observation": vectors[i]}
        return last

    def _final_infos(self, rows: Rows) -> dict[str, Any]:
        infos: dict[str, Any] = {"action_mask": np.zeros((self.num_envs, self._batch.num_actions), dtype=np.int8)}
        infos["_action_mask"] = np.zeros(self.num_envs, dtype=bool)
        infos["_action_mask"][rows] = True
        seats = self._seats[rows]
        self._add(
            infos,
            rows,
            seat=seats,
            episode_return=self._returns[rows],
            episode_length=self._lengths[rows],
            ending=self._endings[rows],
            won=(self._winners[rows].astype(np.int64) >> seats & 1).astype(bool),
        )
        return infos

    def _add(self, infos: dict[str, Any], rows: Rows, **values: NDArray[Any]) -> None:
        """Add values of some rows to infos, as Gymnasium lays them out: a full array, and which rows count."""
        for name, value in values.items():
            infos[name] = np.zeros((self.num_envs, *value.shape[1:]), dtype=value.dtype)
            infos[name][rows] = value
            infos[f"_{name}"] = np.zeros(self.num_envs, dtype=bool)
            infos[f"_{name}"][rows] = True

    def _infos(self) -> dict[str, Any]:
        every = np.ones(self.num_envs, dtype=bool)
        return {
            "action_mask": self.action_masks(),
            "_action_mask": every,
            "seat": self._seats.copy(),
            "_seat": every.copy(),
        }

    def _observations(self, masks: NDArray[np.int8]) -> Any:
        vectors = np.array(self._batch.observations, dtype=np.int8)
        return vectors if self.flat else {"action_mask": masks, "observation": vectors}
