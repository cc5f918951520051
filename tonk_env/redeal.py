"""Deals the cards that one seat cannot see again: for tests of hidden information, and for search (R39)."""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.unseen import deal_unseen
from tonk_env.state import new_tables
from tonk_env.table import Table

MAX_TRIES = 200_000


class RedealError(ValueError):
    """No arrangement of the unseen cards was found that agrees with what has been seen."""


def redeal(table: Table, seat: int, generator: np.random.Generator, max_tries: int = MAX_TRIES) -> Table:
    """A table that ``seat`` cannot tell from this one, with the cards it has not seen dealt again.

    The seat's own hand, the pile, the spreads on the table and the cards that others took from the pile stay where they
    are. The stock and the rest of the other hands are exchanged, so that

    * no hand that the deck deals is an opening tonk (R7),
    * a player who must spread and has thrown a card holds no spread (R16),
    * what a tunker kept is little enough and holds no spread (R26),
    * the player on turn has a legal move, so that a card taken can be used and a tunk said can be made (R12, R26);

    every such arrangement is equally likely. What the others' choices suggest about their cards is not weighed. Later
    hands of the match are dealt from another series than the real ones. The table given is left alone.

    Args:
        table: any moment of an episode, its end too.
        seat: the seat that looks.
        generator: gives the random numbers; the same state of it, the same deal.
        max_tries: arrangements tried before giving up.

    Raises:
        ValueError: for a seat that is not at the table.
        RedealError: when no arrangement agreed in ``max_tries`` tries.
    """
    if not 0 <= seat < table.num_players:
        raise ValueError(f"seat {seat} is not at this table: 0 to {table.num_players - 1} are")
    key, series = generator.integers(2**64, size=2, dtype=np.uint64)
    records = new_tables(2)
    records[0] = table.record
    if not deal_unseen(np.array([table.rules.record()]), records, seat, key, max_tries):
        raise RedealError(f"no deal of the unseen cards agreed with what seat {seat} has seen in {max_tries} tries")
    other = table.copy()
    record = other.record
    for name in records.dtype.names or ():
        record[name] = records[1][name]
    record.seed = series
    other._refresh()
    return other
