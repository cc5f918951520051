"""How hands end, and for whom: counts that an evaluation keeps for each player."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonk_env.state import Ending, ending_name

ENDINGS = tuple(ending for ending in Ending if ending >= 0)
CAUGHT = (Ending.CAUGHT, Ending.TUNK_CAUGHT)
COUNTS = 128  # counts at a call that are told apart; larger ones are the last
CALLED = (Ending.DROP, Ending.CAUGHT, Ending.TUNK, Ending.TUNK_CAUGHT)  # what a dropper or tunker brought about


@dataclass
class Outcomes:
    """Counts of finished hands for ``players`` players.

    ``hands`` is int64[players, endings, 2, 2]: hands by ending, by whether the player called it (dropped or tunked) and
    by whether it is among the winners. ``call_counts`` is float64[players], the sum of the counts at the player's calls;
    ``calls_at`` is int64[players, COUNTS, 2], the calls by count and by whether they were caught. ``uncounted`` is the
    number of hands that passed unseen and are in none of these.
    """

    players: int
    hands: NDArray[np.int64] = field(init=False)
    call_counts: NDArray[np.float64] = field(init=False)
    calls_at: NDArray[np.int64] = field(init=False)
    uncounted: int = 0

    def __post_init__(self) -> None:
        self.hands = np.zeros((self.players, len(ENDINGS), 2, 2), dtype=np.int64)
        self.call_counts = np.zeros(self.players)
        self.calls_at = np.zeros((self.players, COUNTS, 2), dtype=np.int64)

    def add(
        self,
        players: NDArray[np.int64],
        endings: NDArray[np.int64],
        called: NDArray[np.bool_],
        won: NDArray[np.bool_],
        counts: NDArray[np.float64],
    ) -> None:
        """Count players' parts in finished hands: five arrays of one length, one entry a player and hand."""
        np.add.at(self.hands, (players, endings, called.astype(np.int64), won.astype(np.int64)), 1)
        np.add.at(self.call_counts, players[called], counts[called])
        at = np.clip(counts[called], 0, COUNTS - 1).astype(np.int64)
        np.add.at(self.calls_at, (players[called], at, np.isin(endings[called], CAUGHT).astype(np.int64)), 1)

    def played(self, player: int) -> int:
        """Return the number of hands the player took part in."""
        return int(self.hands[player].sum())

    def win_share(self, player: int) -> float:
        """Return the share of its hands that the player won, shared wins included."""
        return _share(self.hands[player, :, :, 1].sum(), self.hands[player].sum())

    def endings(self, player: int) -> dict[str, dict[str, int]]:
        """Return, for each ending that occurred, how often the player won and lost that way, as the caller and not."""
        rows = {}
        for ending in ENDINGS:
            (lost, won), (called_lost, called_won) = self.hands[player, int(ending)].tolist()
            if lost + won + called_lost + called_won:
                both = {"won": won + called_won, "not_won": lost + called_lost}
                calls = {"called_won": called_won, "called_not_won": called_lost} if ending in CALLED else {}
                rows[ending_name(ending)] = both | calls
        return rows

    def calls(self, player: int) -> dict[str, float | int | None]:
        """Return the player's drops or tunks: how many, share of hands, mean count, share caught (None: no call)."""
        made = int(self.hands[player, :, 1].sum())
        caught = int(self.hands[player, [int(ending) for ending in CAUGHT], 1].sum())
        return {
            "made": made,
            "share_of_hands": _share(made, self.played(player)),
            "mean_count": float(self.call_counts[player] / made) if made else None,
            "share_caught": _share(caught, made) if made else None,
        }

    def calls_by_count(self, player: int) -> list[dict[str, int]]:
        """Return, for each count at which the player dropped or tunked: how often, and how often it was caught."""
        rows = enumerate(self.calls_at[player].tolist())
        return [{"count": count, "made": safe + caught, "caught": caught} for count, (safe, caught) in rows if safe + caught]

    def to_dict(self, player: int) -> dict[str, Any]:
        """Return everything counted for one player, as plain numbers for JSON."""
        return {
            "hands": self.played(player),
            "win_share": self.win_share(player),
            "endings": self.endings(player),
            "calls": {**self.calls(player), "by_count": self.calls_by_count(player)},
        }


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
