"""What moves are worth when the hand is played out from the very position on the table, hidden cards and all.

For training: the true hands are looked at, so nothing that plays may use it.
"""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import ZERO, draw, jit, kernel, mix
from tonk_env.kernels.match import hand_reward
from tonk_env.kernels.observe import view_of
from tonk_env.kernels.players import EXPERT, EXTERNAL, choose
from tonk_env.kernels.settle import OVER


@kernel
def play_to_end(rule, layout, t, players, view, key):
    """Play a hand to its end: compiled seats as they are, the expert at the others. Returns nothing."""
    at = np.int64(0)
    while t.phase != OVER:
        kind = players.kind[t.turn]
        view_of(rule, layout, t, np.int64(t.turn), view)
        at += 1
        if kind == EXTERNAL:
            apply(rule, t, choose(rule, np.int8(EXPERT), np.int16(0), view, t, ZERO))
        else:
            apply(rule, t, choose(rule, kind, players.param[t.turn], view, t, draw(key, at)))


@jit
def move_values_rows(rules, layouts, tables, players, rows, legal, plays, key, spare, views, values):
    """Write to ``values`` float32[R, K] what the seat on turn at each of ``rows`` earns in this hand after its legal moves.

    ``legal`` int16[R, K] are moves, filled up with -1. Each is tried on the same ``plays`` orders of the stock, and the hand
    played out; the mean of the rewards is written, in reward units. ``spare`` (one table) and ``views`` (one) are overwritten.
    """
    rule, layout, view = rules[0], layouts[0], views[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        seat = np.int64(tables[row].turn)
        for number in range(plays):
            stock = draw(mix(key ^ np.uint64(row)), np.int64(number))
            for j in range(legal.shape[1]):
                if legal[i, j] < 0:
                    break
                spare[0] = tables[row]
                t = spare[0]
                t.key = stock
                apply(rule, t, np.int64(legal[i, j]))
                play_to_end(rule, layout, t, players[row], view, stock)
                values[i, j] += np.float32(hand_reward(rule, t, seat) / rule.scale / plays)
