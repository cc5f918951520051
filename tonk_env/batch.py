"""Many tables at once: one compiled loop steps every table to its next decision, so batches are always full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonk_env.actions import num_actions
from tonk_env.compiling import announce
from tonk_env.kernels.many import DONE, FIRST_ILLEGAL, begin_rows, choose_random_rows, choose_rows, step_rows
from tonk_env.kernels.outlook import move_values_rows
from tonk_env.kernels.players import DROP, EXPERT, EXTERNAL, GREEDY, RANDOM
from tonk_env.notation import action_name
from tonk_env.observation import ObservationLayout
from tonk_env.rule_record import rule_array
from tonk_env.rules import RuleSet, RuleSetError, make_rules
from tonk_env.seeding import series_seed
from tonk_env.state import OUT_DTYPE, PLAYERS_DTYPE, VIEW_DTYPE, new_tables
from tonk_env.table import IllegalMoveError

__all__ = ["DROP", "EXPERT", "EXTERNAL", "GREEDY", "RANDOM", "Batch", "choose_from_observations"]


class Batch:
    """A batch of tables under one rule set.

    Every table waits at a decision of an *external* seat; seats given to compiled players (``set_players``) are played
    inside ``step``. An episode is over with its match, or when the last external seat is out of it (R36). A table whose
    episode ends begins the next one within the same step (``autoreset=True``): ``over`` and
    ``rewards`` speak of the episode that ended, ``observations`` of the one that began.

    Args:
        rules: preset name, RuleSet, or ``{"preset": …, "set": {…}}``.
        num_players: seats a table; None takes the rule set's usual number.
        num_tables: T.
        seed: of all deals; None takes one from the system.
        table_ids: int64 ``(T,)``, number of each table's series of deals; None numbers them from 0. Tables with the same
            number get the same decks, hand by hand.
        autoreset: begin the next episode at once; otherwise a finished table waits for ``restart``.

    Attributes:
        observations: int8 ``(T, layout.size)``, of the seat on turn; zeros at a finished table.
        action_masks: int8 ``(T, num_actions)``, likewise.
        seats: int8 ``(T,)``, seat on turn, -1 at a finished table.
        rewards: float32 ``(T, N)``, rewards of the last step (R40).

    Raises:
        RuleSetError: for rules or a number of players that are not allowed.
    """

    def __init__(
        self,
        rules: str | RuleSet | Mapping[str, Any] = "points",
        num_players: int | None = None,
        num_tables: int = 64,
        seed: int | None = None,
        *,
        table_ids: np.ndarray | None = None,
        autoreset: bool = True,
    ) -> None:
        if isinstance(num_tables, bool) or not isinstance(num_tables, int | np.integer) or num_tables < 1:
            raise ValueError(f"num_tables is a whole number from 1, not {num_tables!r}")
        announce(step_rows)
        self.rules = make_rules(rules)
        self.num_players = self.rules.check_players(num_players)
        self.num_tables = num_tables
        self.autoreset = autoreset
        self.layout = ObservationLayout(self.rules, self.num_players)
        self.num_actions = num_actions(self.rules)
        self.observation_size = self.layout.size
        self.tables = new_tables(num_tables)
        self.tables["num_players"] = self.num_players
        self.tables["table_id"] = np.arange(num_tables) if table_ids is None else table_ids
        self.tables["match_over"] = True
        self._outs = np.zeros(num_tables + 1, OUT_DTYPE)  # the last one is for hands nobody asks about
        self._players = np.zeros(num_tables, PLAYERS_DTYPE)
        self._players["kind"] = EXTERNAL
        self.observations = np.zeros((num_tables, self.layout.size), np.int8)
        self.action_masks = np.zeros((num_tables, self.num_actions), np.int8)
        self.seats = np.full(num_tables, -1, np.int8)
        self.rewards = np.zeros((num_tables, self.num_players), np.float32)
        self._all: NDArray[np.int64] = np.arange(num_tables, dtype=np.int64)
        self._rules, self._layouts = rule_array(self.rules), self.layout.records
        self._begun = False
        self.seed(seed)

    def seed(self, seed: int | None) -> None:
        """Set the seed of all deals and of the compiled players; the next ``reset`` deals from its start."""
        entropy = int(np.random.SeedSequence().entropy) if seed is None else seed  # type: ignore[arg-type]
        self.tables["seed"] = series_seed(entropy)
        self.tables["deal"] = 0
        self.tables["choice"] = 0

    def set_players(self, kinds: np.ndarray, params: np.ndarray | None = None, rows: np.ndarray | None = None) -> None:
        """Say who plays each seat: int8 and int16 of shape ``(T, N)`` (or ``(len(rows), N)``).

        EXTERNAL seats are played by ``step``; RANDOM, DROP (``params`` = the count), GREEDY and EXPERT are compiled.
        Takes effect at the next episode of a table: call ``reset`` or ``restart`` after it.
        """
        where = self._all if rows is None else self._rows(rows)
        shape = (len(where), self.num_players)
        given = _whole_numbers("kinds", kinds, EXTERNAL, EXPERT, shape)
        counts = _whole_numbers("params", np.zeros(1, np.int16) if params is None else params, 0, 32767, shape)
        self._players["kind"][where, : self.num_players] = given
        self._players["param"][where, : self.num_players] = counts

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode at every table. ``seed`` restarts the series of deals; None goes on with it."""
        if seed is not None:
            self.seed(seed)
        self._outs["skipped"] = 0
        self.restart(self._all)

    def restart(self, rows: np.ndarray) -> None:
        """Begin a new episode at some tables (int64), giving up what was in play there."""
        rows = self._rows(rows)
        if self.autoreset and not (self._players["kind"][rows, : self.num_players] == EXTERNAL).any(axis=1).all():
            raise ValueError("a table without an external seat never waits for a move: make the batch with autoreset=False")
        self.rewards[:] = 0.0
        self._begun = True
        self._checked(begin_rows(
            self._rules, self._layouts, self.tables, self._outs, self._players, rows, self.autoreset,
            self.observations, self.action_masks, self.seats, self.rewards,
        ))

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Play ``actions`` (int64 ``(R,)``) at tables ``rows`` (all when None) and go on to their next decisions.

        Raises:
            IllegalMoveError: when an action is illegal, out of range, or at a finished table; nothing has changed then.
        """
        rows = self._all if rows is None else self._rows(rows)
        actions = _moves(actions)
        if actions.shape != rows.shape:
            raise IllegalMoveError(f"{len(rows)} tables need actions of shape ({len(rows)},), not {actions.shape}")
        if not self._begun:
            raise IllegalMoveError("no hand has been dealt: call reset() first")
        done = step_rows(
            self._rules, self._layouts, self.tables, self._outs, self._players, rows, actions, len(rows) < self.num_tables,
            self.autoreset, self.observations, self.action_masks, self.seats, self.rewards,
        )
        if done <= FIRST_ILLEGAL:
            wrong = FIRST_ILLEGAL - done
            raise IllegalMoveError(self._why_not(int(rows[wrong]), int(actions[wrong])))
        self._checked(done)

    def _rows(self, rows: Any) -> NDArray[np.int64]:
        """Table numbers as int64 ``(R,)``. Raises IndexError unless they are whole, in range and each there once."""
        given = np.asarray(rows)
        if given.size == 0:
            return np.zeros(0, np.int64)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise IndexError(f"rows are table numbers, one whole number each, not {given.dtype} of shape {given.shape}")
        if given.min() < 0 or given.max() >= self.num_tables:
            outside = given[(given < 0) | (given >= self.num_tables)][0]
            raise IndexError(f"rows are tables 0 to {self.num_tables - 1}, not {outside}")
        if len(given) > 1 and np.bincount(given).max() > 1:
            raise IndexError(f"table {int(np.bincount(given).argmax())} is in rows more than once")
        numbers: NDArray[np.int64] = np.ascontiguousarray(given, dtype=np.int64)
        return numbers

    def _why_not(self, row: int, action: int) -> str:
        """The sentence about an action that may not be played."""
        if self.tables[row]["match_over"]:
            return f"table {row}: the episode is over, call restart() for the next one"
        if not 0 <= action < self.num_actions:
            return f"table {row}: action {action} is out of range, 0 to {self.num_actions - 1} under these rules"
        return f"table {row}: {action_name(action, self.rules)!r} (action {action}) is not legal for seat {self.seats[row]}"

    def _checked(self, row: int) -> None:
        if row != DONE:
            raise RuleSetError(f"table {row}: these rules settle every hand on the deal, so no decision can be reached")

    def run(self) -> None:
        """Play tables without external seats to the end (``autoreset=False``): the episode is over when begun."""
        if self.autoreset:
            raise ValueError("run() plays tables to their end: make the batch with autoreset=False")
        if (self._players["kind"][:, : self.num_players] == EXTERNAL).any():
            raise ValueError("run() needs a compiled player at every seat: call set_players first")
        self.restart(self._all)

    def move_values(self, rows: np.ndarray, legal: np.ndarray, plays: int, number: int) -> np.ndarray:
        """What the seat on turn at some tables earns in this hand after its legal moves, float32 ``(R, K)`` in reward units.

        ``legal`` int16 ``(R, K)`` are moves, filled up with -1. Each is played out ``plays`` times from the very cards that
        lie there, with the stock in other orders, which depend on the seed of the deals and ``number``: compiled seats
        play as they are, EXPERT the others. It looks at hidden cards: for a learner's judgement in training, never for play.
        """
        rows = self._rows(rows)
        values = np.zeros(legal.shape, np.float32)
        key = np.uint64(np.random.SeedSequence([int(self.tables["seed"][0]), number]).generate_state(1, np.uint64)[0])
        move_values_rows(
            self._rules, self._layouts, self.tables, self._players, rows, np.ascontiguousarray(legal, np.int16), plays, key,
            new_tables(1), np.zeros(1, VIEW_DTYPE), values,
        )  # fmt: skip
        return values

    def choose_random(self) -> np.ndarray:
        """A uniformly random legal action for every table, int64 ``(T,)``; -1 at a finished table."""
        actions = np.empty(self.num_tables, np.int64)
        choose_random_rows(self.tables, actions)
        return actions

    @property
    def over(self) -> np.ndarray:
        """bool ``(T,)``: the episode ended in the last step."""
        return self._outs["over"][:-1]

    @property
    def truncated(self) -> np.ndarray:
        """bool ``(T,)``: it was cut short by the turn limit (R19); only a single hand is."""
        return self._outs["truncated"][:-1]

    @property
    def endings(self) -> np.ndarray:
        """int8 ``(T,)``: Ending of the last hand that ended in the last step, -1 for none."""
        return self._outs["ending"][:-1]

    @property
    def dropper(self) -> np.ndarray:
        """int8 ``(T,)``: seat that dropped or tunked in that hand, -1 for none."""
        return self._outs["dropper"][:-1]

    @property
    def winners(self) -> np.ndarray:
        """uint8 ``(T,)``: winners of that hand, seats as bits."""
        return self._outs["winners"][:-1]

    @property
    def hand_counts(self) -> np.ndarray:
        """float64 ``(T, N)``: counts of that hand (R6)."""
        return self._outs["counts"][:-1, : self.num_players]

    @property
    def hand_scores(self) -> np.ndarray:
        """float64 ``(T, N)``: penalty points or payoffs of that hand."""
        return self._outs["scores"][:-1, : self.num_players]

    @property
    def returns(self) -> np.ndarray:
        """float64 ``(T, N)``: sum of the rewards since the table was last restarted."""
        return self._outs["returns"][:-1, : self.num_players]

    @property
    def skipped(self) -> np.ndarray:
        """int64 ``(T,)``: episodes since the reset that ended before an external seat could act."""
        return self._outs["skipped"][:-1]

    @property
    def live(self) -> np.ndarray:
        """bool ``(T, N)``: seats still in the match."""
        return (self.tables["live"][:, None] >> np.arange(self.num_players) & 1).astype(bool)


def _moves(actions: Any) -> np.ndarray:
    """Actions as int64. Raises IllegalMoveError for anything but whole numbers."""
    given = np.asarray(actions)
    if given.size and given.dtype.kind not in "iu":
        raise IllegalMoveError(f"actions are whole numbers, not {given.dtype}")
    return np.ascontiguousarray(given, dtype=np.int64)


def _whole_numbers(name: str, given: Any, low: int, high: int, shape: tuple[int, int]) -> np.ndarray:
    """An array of whole numbers within bounds, spread over ``shape``. Raises ValueError for anything else."""
    values = np.asarray(given)
    if values.dtype.kind not in "iu" or (values.size and (values.min() < low or values.max() > high)):
        raise ValueError(f"{name} are whole numbers from {low} to {high}, not {values.tolist()}"[:200])
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(f"{name} are of shape {shape}, one for each table and seat, not {values.shape}") from None


def choose_from_observations(
    layout: ObservationLayout,
    kind: int,
    param: int,
    observations: np.ndarray,
    masks: np.ndarray,
    key: int = 0,
    counter: int = 0,
) -> np.ndarray:
    """Actions (int64 ``(B,)``) of a compiled player from observations ``(B, layout.size)`` and masks ``(B, actions)`` alone.

    Row i draws random number ``counter + i`` of the stream ``key``: advance ``counter`` by B from call to call.
    """
    if np.ndim(observations) != 2 or np.shape(observations)[1] != layout.size:
        raise ValueError(f"observations have shape (B, {layout.size}) in this game, not {np.shape(observations)}")
    if np.shape(masks) != (len(observations), num_actions(layout.rules)):
        raise ValueError(f"masks have shape (B, {num_actions(layout.rules)}) in this game, not {np.shape(masks)}")
    actions = np.empty(len(observations), np.int64)
    choose_rows(
        rule_array(layout.rules), layout.records, np.int8(kind), np.int16(param), np.ascontiguousarray(observations, np.int8),
        np.ascontiguousarray(masks, np.int8), np.uint64(key), np.int64(counter), actions,
    )
    return actions
