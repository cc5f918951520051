"""Search by determinised rollouts as an agent: ``search:N`` by a number of deals, ``search:50ms`` by time.

For every decision the hidden cards are dealt again and again, each time consistently with what the seat knows; every
candidate move is played to the end of the hand on the same deals by the compiled ``expert``. After an eighth, a quarter and
a half of the deals the worse half of the candidates is given up (successive halving, Karnin, Koren and Somekh 2013). The
expert's own move is kept unless another one is better by more than the deals leave in doubt.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from agents.base import Actions, Masks, Observations, Rows
from agents.card import check_same_game
from tonk_env.kernels.expert import NUM_SETTINGS
from tonk_env.kernels.search import MAX_MOVES, candidates, explore
from tonk_env.observation import ObservationLayout
from tonk_env.rule_record import rule_array
from tonk_env.rules import RuleSet
from tonk_env.state import VIEW_DTYPE, new_tables

MAX_DEALS = 100_000  # of one decision
SURE = 1.0  # standard errors by which a move must be better than the expert's
BELIEFS = (0.15, 0.45, 0.6)  # HIGHER, TRUST and DOUBT of the kernels; docs/agents.md measures TRUST
FIRST_DEALS = 8  # tried before the clock tells how many fit into the time
PART = 0.25  # of the time left is planned at once
CALM = 0.9  # of the time given is used


class Search:
    """Plays by search. ``deals`` is the number of deals a decision, or None to search for ``seconds``.

    By deals: equal seeds, equal moves; a move depends on the observation and the seed alone, not on what was asked
    before. By time it depends on the machine too.
    """

    compiled: tuple[int, int] | None = None

    def __init__(
        self, rules: RuleSet, num_players: int, deals: int | None, seconds: float = 0.0, seed: int = 0, name: str = "search"
    ) -> None:
        self.rules, self.num_players, self.name = rules, num_players, name
        self.deals, self.seconds = deals, seconds
        self.layout = ObservationLayout(rules, num_players)
        self._rules, self._layouts = rule_array(rules), self.layout.records
        self._scratch = new_tables(3), np.zeros(2, VIEW_DTYPE)
        self._settings = np.zeros((2, NUM_SETTINGS)), np.array(BELIEFS)
        self.seed(seed)

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], for every row the move that earned most over the deals imagined."""
        observations, masks = np.ascontiguousarray(observations, np.int8), np.ascontiguousarray(masks, np.int8)
        moves = [self._move(observation, mask) for observation, mask in zip(observations, masks, strict=True)]
        return np.array(moves, dtype=np.int64)

    def _move(self, observation: NDArray[np.int8], mask: NDArray[np.int8]) -> int:
        started = time.perf_counter()
        moves = np.zeros(MAX_MOVES, np.int64)
        moves = moves[: candidates(self._rules, self._layouts, observation, mask, *self._scratch, moves)]
        if len(moves) == 1:
            return int(moves[0])
        trial = _Trial(self, observation, moves)
        if self.deals is not None:
            for part in (8, 4, 2):
                trial.play(self.deals // part)
                trial.halve()
            trial.play(self.deals)
        else:
            self._for_a_time(trial, started)
        return trial.best()

    def _for_a_time(self, trial: _Trial, started: float) -> None:
        """Play deals until the time is up; halve the candidates as often as the deals have doubled three times."""
        end, until = started + CALM * self.seconds, FIRST_DEALS
        while True:
            before, had = time.perf_counter(), trial.played
            trial.play(until)
            now = time.perf_counter()
            a_second = (trial.played - had) / max(now - before, 1e-6)
            if (more := int(PART * (end - now) * a_second)) < 1 or trial.played >= MAX_DEALS:
                return
            if now - started > (1.0 - 0.5**trial.halvings) * 0.5 * self.seconds:
                trial.halve()
            until = min(trial.played + more, MAX_DEALS)

    def check_game(self, rules: RuleSet, num_players: int) -> None:
        """Raise ``AgentSpecError`` for a game other than the one this player was made for."""
        check_same_game(self.name, (self.rules, self.num_players), rules, num_players)

    def reset(self, rows: Rows | None = None) -> None:
        """Do nothing: search remembers nothing between moves."""

    def seed(self, seed: int) -> None:
        """Deal other hidden cards from now on: those of this seed."""
        self.key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]


class _Trial:
    """The candidates of one decision and what they have earned: ``moves`` int64[M], the expert's first."""

    def __init__(self, search: Search, observation: NDArray[np.int8], moves: NDArray[np.int64]) -> None:
        self.search, self.observation, self.moves = search, observation, moves
        self.alive = np.ones(len(moves), bool)
        self.sums, self.squares = np.zeros(len(moves)), np.zeros(len(moves))
        self.played = self.halvings = 0

    def play(self, until: int) -> None:
        """Play deals up to a number of them with every candidate that is left."""
        if until > self.played:
            explore(
                self.search._rules, self.search._layouts, self.observation, self.search.key, self.played, until,
                *self.search._scratch, *self.search._settings, self.moves, self.alive, self.sums, self.squares,
            )
            self.played = until

    def halve(self) -> None:
        """Give up the worse half; the expert's move stays, as the one that others are compared with."""
        self.halvings += 1
        others = np.flatnonzero(self.alive)[1:]
        order = others[np.argsort(-self.sums[others], kind="stable")]
        self.alive[order[max(1, (len(order) + 1) // 2) :]] = False

    def best(self) -> int:
        """The move that earned most, or the expert's where that is in doubt."""
        if not self.played:
            return int(self.moves[0])
        means = self.sums / self.played
        errors = np.sqrt(np.maximum(self.squares / self.played - means**2, 0.0) / self.played)
        surplus = np.where(self.alive, means - SURE * errors, -np.inf)
        surplus[0] = 0.0
        return int(self.moves[np.argmax(surplus)])
