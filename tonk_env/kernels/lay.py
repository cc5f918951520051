"""Spreads on the table: laying them, hitting them, and the places that are open to hits (R13 to R15)."""

from __future__ import annotations

import numpy as np

from tonk_env.actions import W_BOOK, W_FOUR, W_HIT_BOOK, W_HIT_HIGH, W_WILD_BOOK, W_WILD_HIT_BOOK, W_WILD_HIT_LOW, W_WILD_RUN
from tonk_env.kernels.bits import ZERO, bit, has, kernel, lowest, popcount, without_lowest
from tonk_env.kernels.held import WILD_ORDER, first_wilds, spread_cards
from tonk_env.spreads import KIND_BOOK, KIND_RUN

ONE_WILD = np.int64(1)


@kernel
def highest(bits):
    """Index of the highest set bit of a non-empty set."""
    index = 0
    while bits != ZERO:
        index = lowest(bits)
        bits = without_lowest(bits)
    return index


@kernel
def book_place(rule, places):
    """The place missing from a book of three, as a set; empty when it is full or the suit is not in use."""
    if popcount(places) != 3:
        return ZERO
    rank = lowest(places) & 15
    for suit in range(rule.suits):
        if not has(places, suit * 16 + rank):
            return bit(suit * 16 + rank)
    return ZERO


@kernel
def high_place(rule, places):
    """The place above a run, as a set; empty above the last rank."""
    index = highest(places)
    rank = rule.rank_up[index & 15]
    return bit((index & 48) + rank) if rank >= 0 else ZERO


@kernel
def low_place(rule, places):
    """The place below a run, as a set; empty below the first rank (the ace is low, R13)."""
    index = lowest(places)
    rank = rule.rank_down[index & 15]
    return bit((index & 48) + rank) if rank >= 0 else ZERO


@kernel
def refresh_open(rule, t):
    """Work out again which places are open to hits, after a spread was laid or grew."""
    t.open_book = t.open_high = t.open_low = ZERO
    for i in range(t.num_spreads):
        places = t.spread_places[i]
        if t.spread_kind[i] == KIND_RUN:
            t.open_high |= high_place(rule, places)
            t.open_low |= low_place(rule, places)
        elif not rule.runs_only:
            t.open_book |= book_place(rule, places)


@kernel
def place_wilds(t, spread, places, wilds):
    """Note which wild fills which place: wilds in the order of R14, places from the lowest."""
    for i in range(6):
        if has(wilds, WILD_ORDER[i]):
            t.wild_place[i] = lowest(places)
            t.wild_spread[i] = spread
            places = without_lowest(places)


@kernel
def lay_cards(rule, t, seat, kind, places, natural, wilds):
    """Move cards from a hand into a new spread."""
    spread = t.num_spreads
    t.num_spreads = spread + 1
    t.spread_places[spread] = places
    t.spread_kind[spread] = kind
    t.spread_owner[spread] = seat
    t.hand[seat] &= ~(natural | wilds)
    t.known[seat] &= ~(natural | wilds)
    t.laid[seat] |= natural
    if wilds != ZERO:
        place_wilds(t, spread, places & ~natural, wilds)
    refresh_open(rule, t)


@kernel
def is_book_word(word):
    """Whether a word of spreads holds books."""
    return word <= W_FOUR or (W_WILD_BOOK <= word < W_WILD_RUN)


@kernel
def is_hit_word(word):
    """Whether a word of spreads and hits holds hits."""
    return word < W_BOOK or W_WILD_HIT_BOOK <= word <= W_WILD_HIT_LOW


@kernel
def lay_spread(rule, t, seat, word, index):
    """Lay the spread that a bit of a word of legal moves stands for."""
    places, natural, wilds = spread_cards(rule, t.hand[seat], word, index)
    lay_cards(rule, t, seat, KIND_BOOK if is_book_word(word) else KIND_RUN, places, natural, wilds)


@kernel
def hit_card(rule, held, word, index):
    """Card with which a hit is made, as a set: the natural card of the place, or the first wild held (R14)."""
    if word < W_WILD_HIT_BOOK:
        return bit(index)
    return first_wilds(held & rule.wild_mask, ONE_WILD)


@kernel
def hit_spread(rule, t, word, index):
    """Spread that takes a hit: the one laid first among those with this place open (R15)."""
    place = bit(index)
    family = word - W_WILD_HIT_BOOK if word >= W_WILD_HIT_BOOK else word - W_HIT_BOOK
    for i in range(t.num_spreads):
        places = t.spread_places[i]
        if t.spread_kind[i] == KIND_BOOK:
            fits = family == 0 and book_place(rule, places) == place
        elif family == W_HIT_HIGH - W_HIT_BOOK:
            fits = high_place(rule, places) == place
        else:
            fits = family == 2 and low_place(rule, places) == place
        if fits:
            return i
    return -1


@kernel
def lay_hit(rule, t, seat, word, index):
    """Add a card to a spread on the table. Returns the owner of the spread."""
    held = t.hand[seat]
    card = hit_card(rule, held, word, index)
    spread = hit_spread(rule, t, word, index)
    place = bit(index)
    owner = t.spread_owner[spread]
    t.spread_places[spread] |= place
    t.hand[seat] = held & ~card
    t.known[seat] &= ~card
    if word >= W_WILD_HIT_BOOK:
        place_wilds(t, spread, place, card)
    else:
        t.laid[owner] |= place
    refresh_open(rule, t)
    return owner


@kernel
def clear_spreads(t):
    """Take everything off the table."""
    t.num_spreads = 0
    t.open_book = t.open_high = t.open_low = ZERO
    for i in range(6):
        t.wild_place[i] = -1
        t.wild_spread[i] = -1
        t.laid[i] = ZERO


@kernel
def wild_hits(rule, held, open_places):
    """Open places that a wild may fill: those whose own card is not held (R14)."""
    if held & rule.wild_mask == ZERO:
        return ZERO
    return open_places & ~held


