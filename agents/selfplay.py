"""Self-play for Stable-Baselines3: many tables, one learner at each, the other seats played by the pool."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from agents.play_statistics import PlayStatistics
from agents.pool import EXTERNAL, OpponentPool
from tonk_env.batch import Batch
from tonk_env.rules import RuleSet

Rows = NDArray[np.int64]
OWN_STATE = ("learner", "episodes", "returns", "members", "kinds", "compiled", "params")
BATCH_STATE = ("tables", "observations", "action_masks", "seats")


class SelfPlayVecEnv(VecEnv):
    """A ``VecEnv`` over ``Batch``: a step is a decision of the learner at every table.

    Between two decisions of the learner the others play on, so the observation, the mask and the reward that ``step``
    returns belong to the learner's seat. A reward is what the seat was paid since its last decision; an episode (a hand,
    or a match) that ends is followed at once by the next. The learner's seat moves on by one with every episode of a
    table, so that each seat is played equally often. Opponents are drawn when an episode begins and stay to its end.
    Nothing an opponent does before the learner's first decision can be the learner's doing: what it pays is counted in
    the statistics, not given as a reward. A hand cut short by the turn limit is settled like any other (R19), so there is
    nothing to bootstrap and ``infos`` are empty.
    """

    def __init__(self, rules: RuleSet, num_players: int, num_tables: int, pool: OpponentPool, seed: int) -> None:
        self.batch = Batch(rules, num_players, num_tables, seed, autoreset=False)
        self.pool = pool
        self.num_players = num_players
        self.statistics = PlayStatistics(pool.kinds)
        self.seconds = {"env": 0.0, "opponents": 0.0}
        self._all = np.arange(num_tables, dtype=np.int64)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_tables)]
        self._actions = np.zeros(num_tables, dtype=np.int64)
        self._paid = np.zeros(num_tables, dtype=np.float32)
        self._done = np.zeros(num_tables, dtype=bool)
        self.learner = self._all % num_players  # seat of the learner
        self.episodes = np.zeros(num_tables, dtype=np.int64)
        self.returns = np.zeros(num_tables, dtype=np.float64)  # of the episode so far
        self.members = np.full((num_tables, num_players), -1, dtype=np.int64)  # policy in each seat, -1 = none
        self.kinds = np.zeros((num_tables, num_players), dtype=np.int64)  # kind of opponent in each seat, -1 = none or unknown
        self.compiled = np.full((num_tables, num_players), EXTERNAL, dtype=np.int8)  # compiled player in each seat
        self.params = np.zeros((num_tables, num_players), dtype=np.int16)
        size, count = self.batch.observations.shape[1], self.batch.action_masks.shape[1]
        super().__init__(num_tables, spaces.Box(0, 1, (size,), np.int8), spaces.Discrete(count))

    def reset(self) -> NDArray[np.int8]:
        """Begin a new episode at every table; return int8[T, O] where the learner is on turn."""
        self._begin(self._all)
        self._play_on(self._all)
        return self.batch.observations.copy()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the learner's actions int64[T]."""
        self._actions = np.asarray(actions, dtype=np.int64)

    def step_wait(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them and everything until the learner is on turn again; arrays returned are the caller's."""
        self._paid[:] = 0.0
        self._done[:] = False
        self._step(self._actions, self._all)
        self._play_on(self._all)
        self.statistics.decisions += self.num_envs
        return self.batch.observations.copy(), self._paid.copy(), self._done.copy(), self._infos

    def action_masks(self) -> NDArray[np.int8]:
        """Return int8[T, A], the legal actions of the learner: a view that the next step overwrites."""
        return self.batch.action_masks

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of this object.

        The masks of all tables come as a list of one array, [int8[T, A]]: stacked by the library they are [1, T, A],
        which it reads like T masks, after one copy instead of one for every table.
        """
        result = getattr(self, method_name)(*args, **kwargs)
        if method_name != "action_masks" or indices is None:
            return [result]
        return [result[index] for index in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return one value for each table; the tables share all attributes."""
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: tables have no attributes of their own."""
        raise AttributeError(f"the tables of a SelfPlayVecEnv share everything; {attr_name!r} cannot be set on some of them")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return False for every table."""
        return [False for _ in self._get_indices(indices)]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that the next step depends on, as arrays of plain numbers: tables, seats, opponents."""
        own = {name: getattr(self, name).copy() for name in OWN_STATE}
        shown = {name: getattr(self.batch, name).copy() for name in BATCH_STATE}
        return {**own, **shown}

    def restore(self, state: dict[str, NDArray[Any]], kinds: Sequence[str]) -> None:
        """Go on from ``state()``. Raises ValueError or KeyError if it is of another number of tables or players.

        ``kinds`` are the pool's of then: whoever still plays and is no longer among the pool's own becomes of kind -1.
        """
        self.batch.reset()
        for name in OWN_STATE:
            getattr(self, name)[...] = _same_shape(name, state[name], getattr(self, name))
        for name in BATCH_STATE:
            getattr(self.batch, name)[...] = _same_shape(name, state[name], getattr(self.batch, name))
        now = {kind: number for number, kind in enumerate(self.pool.kinds)}
        number_of = np.array([*(now.get(kind, -1) for kind in kinds), -1], dtype=np.int64)  # the last is that of -1
        self.kinds[:] = number_of[np.minimum(self.kinds, len(kinds))]
        self.batch.set_players(self.compiled, self.params)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def take_seconds(self) -> dict[str, float]:
        """Return the seconds spent in the engine and on opponents since the last call."""
        taken = self.seconds
        self.seconds = dict.fromkeys(taken, 0.0)
        return taken

    def playing(self) -> list[int]:
        """Return the numbers of the policies that sit at some table."""
        return [int(member) for member in np.unique(self.members) if member >= 0]

    def _get_indices(self, indices: Any) -> Iterable[int]:
        return super()._get_indices(indices) if indices is not None else range(self.num_envs)

    def _play_on(self, rows: Rows) -> None:
        """Let the opponents play, and new episodes begin, until the learner is on turn at every table of ``rows``."""
        batch = self.batch
        while rows.size:
            over = self._over(rows)
            if over.any():
                self._begin(rows[over])
            rows = rows[batch.seats[rows] != self.learner[rows]]
            waiting = rows[~self._over(rows)]
            if waiting.size:
                self._step(self._ask(waiting), waiting)

    def _ask(self, rows: Rows) -> NDArray[np.int64]:
        """Return what the policies on turn at ``rows`` choose."""
        start = time.perf_counter()
        members = self.members[rows, self.batch.seats[rows]]
        actions = self.pool.act(members, self.batch.observations[rows], self.batch.action_masks[rows])
        self.seconds["opponents"] += time.perf_counter() - start
        return actions

    def _step(self, actions: NDArray[np.int64], rows: Rows) -> None:
        start = time.perf_counter()
        self.batch.step(actions, rows)
        self._book(rows)
        self.seconds["env"] += time.perf_counter() - start

    def _begin(self, rows: Rows) -> None:
        """Begin the next episode at ``rows``: the learner moves one seat on, its opponents are drawn."""
        start = time.perf_counter()
        self.episodes[rows] += 1
        self.returns[rows] = 0.0
        learner = (rows + self.episodes[rows]) % self.num_players
        self.learner[rows] = learner
        drawn = self.pool.draw((rows.size, self.num_players))
        seat = (np.arange(rows.size), learner)
        for array, nobody in ((drawn.member, -1), (drawn.kind, -1), (drawn.compiled, EXTERNAL)):
            array[seat] = nobody
        self.members[rows] = drawn.member
        self.kinds[rows] = drawn.kind
        self.compiled[rows] = drawn.compiled
        self.params[rows] = drawn.param
        self.batch.set_players(drawn.compiled, drawn.param, rows)
        self.batch.restart(rows)
        self._book(rows)
        self.seconds["env"] += time.perf_counter() - start

    def _book(self, rows: Rows) -> None:
        """Credit what was just paid at ``rows`` to the learner and close the episodes that are over."""
        batch, learner = self.batch, self.learner[rows]
        paid = batch.rewards[rows, learner]
        self.returns[rows] += paid
        self._paid[rows] += np.where(self._done[rows], np.float32(0), paid)
        self.statistics.add_hands(batch.endings[rows], batch.winners[rows] >> learner & 1, batch.dropper[rows] == learner)
        over = self._over(rows)
        if over.any():
            ended = rows[over]
            self._done[ended] = True
            self.statistics.add_episodes(self.returns[ended], self.kinds[ended])

    def _over(self, rows: Rows) -> NDArray[np.bool_]:
        """Where the episode is over for the learner: the match is, or the learner is out of it and has been paid (R36)."""
        live = self.batch.tables["live"][rows] >> self.learner[rows] & 1
        return np.asarray((self.batch.seats[rows] < 0) | (live == 0))


def _same_shape(name: str, given: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
    if given.shape != own.shape or given.dtype != own.dtype:
        raise ValueError(f"{name} is {given.dtype}{given.shape}, this environment has {own.dtype}{own.shape}")
    return given
