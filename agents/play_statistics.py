"""Counts what happens at the training tables between two log entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.outcomes import ENDINGS
from tonk_env.state import Ending, ending_name


class PlayStatistics:
    """Sums since the last ``take``: episodes and returns by kind of opponent, hands by ending."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = list(kinds)
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.decisions = 0
        self.episodes = 0
        self.return_sum = 0.0
        self.return_by_kind = np.zeros(len(self.kinds))
        self.seats_by_kind = np.zeros(len(self.kinds), dtype=np.int64)
        self.hands = np.zeros(len(ENDINGS), dtype=np.int64)
        self.won = np.zeros(len(ENDINGS), dtype=np.int64)
        self.dropped = 0
        self.caught = 0

    def add_hands(self, endings: NDArray[np.int8], won: NDArray[np.integer], dropped: NDArray[np.bool_]) -> None:
        """Count hands: ``endings`` int8[R] (-1 where none ended), whether the learner won and whether it dropped."""
        ended = endings >= 0
        if not ended.any():
            return
        names, wins, drops = endings[ended], won[ended].astype(bool), dropped[ended]
        self.hands += np.bincount(names, minlength=len(ENDINGS))
        self.won += np.bincount(names[wins], minlength=len(ENDINGS))
        self.dropped += int(drops.sum())
        self.caught += int((drops & ((names == Ending.CAUGHT) | (names == Ending.TUNK_CAUGHT))).sum())

    def add_episodes(self, returns: NDArray[np.float64], kinds: NDArray[np.int64]) -> None:
        """Count episodes: ``returns`` float64[R] of the learner, ``kinds`` int64[R, N] of its opponents.

        Seats of kind -1, the learner's own and those of opponents that are no longer known, count for no kind.
        """
        self.episodes += len(returns)
        self.return_sum += float(returns.sum())
        rows, seats = np.nonzero(kinds >= 0)
        found = kinds[rows, seats]
        self.seats_by_kind += np.bincount(found, minlength=len(self.kinds))
        self.return_by_kind += np.bincount(found, weights=returns[rows], minlength=len(self.kinds))

    def take(self) -> dict[str, float]:
        """Return the means since the last call, by name for the log, and start afresh."""
        values: dict[str, float] = {}
        if self.episodes:
            values["play/return"] = self.return_sum / self.episodes
            values["play/decisions_per_episode"] = self.decisions / self.episodes
        for index, kind in enumerate(self.kinds):
            if self.seats_by_kind[index]:
                values[f"play/return_vs_{kind}"] = self.return_by_kind[index] / self.seats_by_kind[index]
            values[f"pool/share_{kind}"] = self.seats_by_kind[index] / max(1, self.seats_by_kind.sum())
        hands = int(self.hands.sum())
        for index, ending in enumerate(ENDINGS):
            if self.hands[index]:
                values[f"hands/{ending_name(ending)}"] = self.hands[index] / hands
                values[f"hands/won_by_{ending_name(ending)}"] = self.won[index] / hands
        if hands:
            values["hands/learner_drops"] = self.dropped / hands
        if self.dropped:
            values["hands/learner_drops_caught"] = self.caught / self.dropped
        self.clear()
        return {name: float(value) for name, value in values.items()}
