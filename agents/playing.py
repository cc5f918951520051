"""Plays deals: every deal of a line-up in all its seatings, many tables at once, counted by start."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.outcomes import Outcomes
from tonk_env.batch import EXTERNAL, Batch
from tonk_env.rules import RuleSet
from tonk_env.table import IllegalMoveError

Finished = Callable[[int], None]


def play_deals(
    agents: Sequence[Agent],
    seatings: NDArray[np.int64],
    rules: RuleSet,
    deals: range,
    seed: int,
    outcomes: Outcomes,
    finished: Finished = lambda tables: None,
) -> NDArray[np.float64]:
    """Play each deal once in every seating, to the end, and return the rewards float64[D, K, N] by seat.

    ``seatings`` is int64[K, N], the number of the agent in each seat. Table (deal, seating) plays deck
    (seed, deal), so all seatings of a deal are dealt the same cards. All tables start together and each is played to
    its end, so short hands count no more often than long ones. ``outcomes`` counts the finished hands; ``finished`` is
    told now and then how many more episodes are over.
    """
    count, seats = seatings.shape
    chairs = np.tile(seatings, (len(deals), 1))
    batch = Batch(
        rules,
        seats,
        num_tables=len(chairs),
        seed=seed,
        table_ids=np.repeat(np.arange(deals.start, deals.stop, dtype=np.int64), count),
        autoreset=False,
    )
    if rules.single_hand:  # inside the loop the hands of a match would pass unseen
        compiled = np.array([agent.compiled or (EXTERNAL, 0) for agent in agents], dtype=np.int16)
        batch.set_players(compiled[chairs, 0].astype(np.int8), compiled[chairs, 1])
    _reset_agents(agents, chairs)
    hands = _HandCount(batch, chairs, outcomes)
    batch.reset()
    rows = np.arange(len(chairs))
    while True:
        hands.count(rows)
        finished(int(batch.over[rows].sum()))
        rows = np.flatnonzero(batch.seats >= 0)
        if not rows.size:
            return np.array(batch.returns, dtype=np.float64).reshape(len(deals), count, seats)
        batch.step(_choose(agents, batch, rows, chairs), rows)


def _player_rows(tables: NDArray[np.int64], seats: NDArray[np.int64], num_seats: int) -> NDArray[np.int64]:
    """Return the numbers by which agents remember: one for each seat of each table, as a player may sit in several."""
    return tables * num_seats + seats


def _reset_agents(agents: Sequence[Agent], chairs: NDArray[np.int64]) -> None:
    """Tell every agent at which seats of which tables an episode begins for it."""
    for number in np.unique(chairs):
        tables, seats = np.nonzero(chairs == number)
        agents[number].reset(_player_rows(tables, seats, chairs.shape[1]))


def _choose(
    agents: Sequence[Agent], batch: Batch, rows: NDArray[np.int64], chairs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return int64[R]: the action for each of the tables ``rows``, asking each agent once for all its turns."""
    seats = batch.seats[rows].astype(np.int64)
    players = chairs[rows, seats]
    numbers = _player_rows(rows, seats, chairs.shape[1])
    actions = np.empty(len(rows), dtype=np.int64)
    for player in np.unique(players):
        at = np.flatnonzero(players == player)
        masks = batch.action_masks[rows[at]]
        chosen = np.asarray(agents[player].act(batch.observations[rows[at]], masks, rows=numbers[at]))
        _check_actions(agents[player].name, chosen, masks)
        actions[at] = chosen
    return actions


def _check_actions(name: str, chosen: NDArray[np.int64], masks: NDArray[np.int8]) -> None:
    """Refuse what an agent must not do, with its name in the message."""
    if chosen.shape != (len(masks),) or chosen.dtype.kind not in "iu":
        raise IllegalMoveError(
            f"agent {name!r} answered {len(masks)} observations with an array of shape {chosen.shape} and type "
            f"{chosen.dtype}; one whole number for each is needed"
        )
    inside = (chosen >= 0) & (chosen < masks.shape[1])
    legal = inside & (masks[np.arange(len(masks)), np.where(inside, chosen, 0)] != 0)
    if not legal.all():
        worst = int(chosen[np.argmin(legal)])
        raise IllegalMoveError(f"agent {name!r} chose action {worst}, which its mask does not allow; choose a 1 of it")


class _HandCount:
    """Watches the tables of a batch and counts the hands that end, once for each seat that was in the hand."""

    def __init__(self, batch: Batch, chairs: NDArray[np.int64], outcomes: Outcomes) -> None:
        self._batch, self._chairs, self._outcomes = batch, chairs, outcomes
        self._seats = np.arange(chairs.shape[1])
        self._ended = np.zeros(len(chairs), dtype=np.int64)
        self._in_hand = np.full(len(chairs), (1 << len(self._seats)) - 1, dtype=np.int64)

    def count(self, rows: NDArray[np.int64]) -> None:
        """Count what ended at the tables ``rows`` in the last step.

        The batch tells only the last of several hands that end in one step, as when the next hand is an opening tonk;
        such hands are added to the number not counted.
        """
        tables = self._batch.tables[rows]
        ended = tables["hands_dealt"] - ~tables["match_over"]
        new = ended - self._ended[rows]
        self._outcomes.uncounted += int(new[new > 1].sum())
        self._add(rows[new == 1])
        self._ended[rows] = ended
        self._in_hand[rows] = tables["in_hand"]

    def _add(self, rows: NDArray[np.int64]) -> None:
        batch = self._batch
        took_part = (self._in_hand[rows, None] >> self._seats & 1) != 0
        called = batch.dropper[rows, None] == self._seats
        won = (batch.winners[rows, None] >> self._seats & 1) != 0
        endings = np.broadcast_to(batch.endings[rows, None].astype(np.int64), took_part.shape)
        parts = (self._chairs[rows], endings, called, won, batch.hand_counts[rows])
        self._outcomes.add(*(part[took_part] for part in parts))
