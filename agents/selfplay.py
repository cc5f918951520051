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
from agents.pool import CURRENT, EXTERNAL, OpponentPool
from tonk_env.batch import Batch, choose_from_observations
from tonk_env.rules import RuleSet

Rows = NDArray[np.int64]
OWN_STATE = ("learner", "learning", "inside", "episodes", "returns", "members", "kinds", "compiled", "params", "asked")
BATCH_STATE = ("tables", "observations", "action_masks", "seats")


class SelfPlayVecEnv(VecEnv):
    """A ``VecEnv`` over ``Batch``: a step is a decision of the learner at every table.

    Between two decisions of the learner the others play on, so the observation and the mask that ``step`` returns belong
    to a seat of the learner. A reward is what the seat was paid since its last decision; an episode (a hand, or a match)
    that ends is followed at once by the next. The learner's seat moves on by one with every episode of a table, so that
    each seat is played equally often. Opponents are drawn when an episode begins and stay to its end.
    Nothing an opponent does before the learner's first decision can be the learner's doing: what it pays is counted in
    the statistics, not given as a reward. A hand cut short by the turn limit is settled like any other (R19), so there is
    nothing to bootstrap and ``infos`` are empty.

    With ``all_seats`` the seats drawn for the newest policy are the learner's too: it decides for them, and learns from
    them. Then two decisions in a row at a table may be of two seats, and what ``step`` returns as reward, what the seat
    that moved was paid in this step, is not all that its move will bring. Read these instead, as ``TonkPPO`` does:

    Attributes:
        seats: int8 ``(T,)``, seat of the learner that is on turn.
        paid: float32 ``(T, N)``, what each seat was paid in the last step, up to the end of its episode.
        ended: bool ``(T, N)``, whose episode ended in the last step: what was paid in later ones belongs to another.
        learner: int64 ``(T,)``, the seat whose episodes the statistics count.
        learning: bool ``(T, N)``, the seats that the learner plays in this episode.
    """

    def __init__(
        self, rules: RuleSet, num_players: int, num_tables: int, pool: OpponentPool, seed: int, *, all_seats: bool = False
    ) -> None:
        self.batch = Batch(rules, num_players, num_tables, seed, autoreset=False)
        self.pool = pool
        self.num_players = num_players
        self.all_seats = all_seats
        self.asked = np.zeros(1, dtype=np.int64)  # how often move_values was
        self.statistics = PlayStatistics(pool.kinds)
        self.seconds = {"env": 0.0, "opponents": 0.0}
        self._all = np.arange(num_tables, dtype=np.int64)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_tables)]
        self._actions = np.zeros(num_tables, dtype=np.int64)
        seats = (num_tables, num_players)
        self.paid = np.zeros(seats, dtype=np.float32)
        self.ended = np.zeros(seats, dtype=bool)
        self.learner = self._all % num_players
        self.learning = np.zeros(seats, dtype=bool)
        self.inside = np.zeros(seats, dtype=bool)  # seats of the learner whose episode goes on
        self.episodes = np.zeros(num_tables, dtype=np.int64)
        self.returns = np.zeros(num_tables, dtype=np.float64)  # of the learner's seat in the episode so far
        self.members = np.full(seats, -1, dtype=np.int64)  # policy in each seat, -1 = none
        self.kinds = np.zeros(seats, dtype=np.int64)  # kind of opponent in each seat, -1 = none or unknown
        self.compiled = np.full(seats, EXTERNAL, dtype=np.int8)  # compiled player in each seat
        self.params = np.zeros(seats, dtype=np.int16)
        size, count = self.batch.observations.shape[1], self.batch.action_masks.shape[1]
        super().__init__(num_tables, spaces.Box(0, 1, (size,), np.int8), spaces.Discrete(count))

    @property
    def seats(self) -> NDArray[np.int8]:
        """Seat of the learner that is on turn at each table: a view that the next step overwrites."""
        return self.batch.seats

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
        moved = (self._all, self.batch.seats.copy())
        self.play(self._actions)
        return self.batch.observations.copy(), self.paid[moved], self.ended[moved], self._infos

    def play(self, actions: NDArray[np.int64]) -> None:
        """Play the learner's actions int64[T], and on until it is on turn again at every table."""
        self.statistics.decisions += int((self.batch.seats == self.learner).sum())
        self.paid[:] = 0.0
        self.ended[:] = False
        self._step(actions, self._all)
        self._play_on(self._all)

    def action_masks(self) -> NDArray[np.int8]:
        """Return int8[T, A], the legal actions of the learner: a view that the next step overwrites."""
        return self.batch.action_masks

    def hidden_hands(self) -> NDArray[np.int8]:
        """Return int8[T, (N - 1) x 64]: the cards that the other seats hold, from the left of the one on turn, as 0 and 1.

        For a critic in training only: nobody who plays may see it.
        """
        batch = self.batch
        others = (batch.seats[:, None].astype(np.int64) + np.arange(1, self.num_players)) % self.num_players
        held = np.take_along_axis(batch.tables["hand"], others, axis=1)
        return np.unpackbits(held.astype("<u8").view(np.uint8), axis=1, bitorder="little").view(np.int8)

    def look(self) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int8]]:
        """Return copies of observations int8[T, O], masks int8[T, A] and seats int8[T]."""
        batch = self.batch
        return batch.observations.copy(), batch.action_masks.copy(), batch.seats.copy()

    def advice(self, kind: int, param: int) -> NDArray[np.int64]:
        """Return int64[T]: what a compiled player would do in place of the learner, seeing what it sees."""
        batch = self.batch
        return choose_from_observations(batch.layout, kind, param, batch.observations, batch.action_masks)

    def move_values(self, legal: NDArray[np.int16], plays: int) -> NDArray[np.float32]:
        """Return float32[T, K]: what the legal moves int16[T, K] earn on average when the hand is played out.

        The true hands are played on, by ``expert`` in the seats of policies, with the stock in ``plays`` other orders, the
        same for all moves of a position. For training only: nobody who plays may know it.
        """
        self.asked += 1
        return self.batch.move_values(self._all, legal, plays, int(self.asked[0]))

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
            over = self._over(rows)
            waits = over | ~self.learning[rows, batch.seats[rows]]
            waiting, rows = rows[waits & ~over], rows[waits]
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
        learning = drawn.kind == CURRENT if self.all_seats else np.zeros(drawn.kind.shape, dtype=bool)
        learning[seat] = True
        drawn.member[learning] = -1
        self.learning[rows] = self.inside[rows] = learning
        self.members[rows] = drawn.member
        self.kinds[rows] = drawn.kind
        self.compiled[rows] = drawn.compiled
        self.params[rows] = drawn.param
        self.batch.set_players(drawn.compiled, drawn.param, rows)
        self.batch.restart(rows)
        self._book(rows)
        self.seconds["env"] += time.perf_counter() - start

    def _book(self, rows: Rows) -> None:
        """Credit what was just paid at ``rows`` and close the episodes that are over for a seat of the learner."""
        batch, learner = self.batch, self.learner[rows]
        own = (np.arange(rows.size), learner)
        inside, paid = self.inside[rows], batch.rewards[rows]
        self.paid[rows] += np.where(self.ended[rows], np.float32(0), paid)
        self.returns[rows] += np.where(inside[own], paid[own], np.float32(0))
        self.statistics.add_hands(batch.endings[rows], batch.winners[rows] >> learner & 1, batch.dropper[rows] == learner)
        out = inside & ~self._plays_on(rows)
        if out.any():
            self.ended[rows] |= out
            self.inside[rows] = inside & ~out
            closed = rows[out[own]]
            self.statistics.add_episodes(self.returns[closed], self.kinds[closed])

    def _plays_on(self, rows: Rows) -> NDArray[np.bool_]:
        """Where, bool[R, N], the match goes on for a seat: it is not over, nor the seat out of it and paid (R36)."""
        live = self.batch.tables["live"][rows, None] >> np.arange(self.num_players) & 1
        return np.asarray((live != 0) & (self.batch.seats[rows, None] >= 0))

    def _over(self, rows: Rows) -> NDArray[np.bool_]:
        """Where the episode is over for every seat of the learner."""
        return np.asarray(~self.inside[rows].any(axis=1))


def _same_shape(name: str, given: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
    if given.shape != own.shape or given.dtype != own.dtype:
        raise ValueError(f"{name} is {given.dtype}{given.shape}, this environment has {own.dtype}{own.shape}")
    return given
