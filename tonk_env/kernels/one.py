"""One table for Python: each call plays or deals, and writes what Python wants to read next into plain arrays.

Rule set, layout and table come as arrays of one record: Python passes those to compiled code faster than single records.
``now`` is int64: seat on turn (-1 when the match is over), phase, match over, live seats as bits, hand of the seat that
moved before its move (as 64 bits), cards left in the stock.
"""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import jit, kernel, row_of
from tonk_env.kernels.deal import stock_size
from tonk_env.kernels.held import spread_cards, spread_places
from tonk_env.kernels.lay import hit_card
from tonk_env.kernels.many import show
from tonk_env.kernels.match import book_hand, deal_next, start_match
from tonk_env.kernels.observe import is_legal, view_of, write_view
from tonk_env.kernels.settle import OVER
from tonk_env.state import VIEW_DTYPE

NOW_SIZE = 6
ONLY = np.int64(0)  # an array of one dimension is one row
SEAT, PHASE, MATCH_OVER, LIVE, HELD, STOCK = range(NOW_SIZE)
DEAL, BOOK, START, TELL = np.array([-1, -2, -3, -4])  # what to do; an action from 0 is played


@kernel
def tell(rule, layout, t, now, observation, mask):
    """Write the moment, and what the seat on turn sees unless the hand is over."""
    now[SEAT] = -1 if t.match_over else np.int64(t.turn)
    now[PHASE] = t.phase
    now[MATCH_OVER] = t.match_over
    now[LIVE] = t.live
    now[STOCK] = stock_size(rule, t)
    if t.phase != OVER or t.match_over:
        show(rule, layout, t, np.zeros(1, VIEW_DTYPE)[0], row_of(observation, ONLY), row_of(mask, ONLY))


@jit
def do(rules, layouts, tables, what, now, observation, mask):
    """Play action ``what`` if it is legal, or deal, book, start or only look. Returns whether it was done."""
    rule, t = rules[0], tables[0]
    if what >= 0:
        if t.match_over or t.phase == OVER or what >= mask.shape[0] or not is_legal(t, what):
            return False
        for seat in range(6):
            t.rewards[seat] = 0.0
        now[HELD] = np.int64(t.hand[t.turn])
        apply(rule, t, what)
    elif what == DEAL:
        deal_next(rule, t)
    elif what == BOOK:
        book_hand(rule, t)
    elif what == START:
        start_match(rule, t)
    tell(rule, layouts[0], t, now, observation, mask)
    return True


@jit
def places_of(rules, word, index):
    """Places of the spread that a bit of a word of legal moves stands for, as a card set."""
    return spread_places(rules[0], word, index)


@jit
def cards_of_spread(rules, held, word, index):
    """(places, natural cards, wilds) of a spread laid from a hand, as card sets."""
    return spread_cards(rules[0], held, word, index)


@jit
def card_of_hit(rules, held, word, index):
    """Card with which a hit is made from a hand, as a set."""
    return hit_card(rules[0], held, word, index)


@jit
def observe_seat(rules, layouts, tables, seat, observation):
    """Write what any seat may know now."""
    view = np.zeros(1, VIEW_DTYPE)[0]
    view_of(rules[0], layouts[0], tables[0], seat, view)
    write_view(layouts[0], view, row_of(observation, ONLY))
