"""A table from what one seat sees (R39): everything public as it is, the hidden cards left open for somebody to deal.

The viewer sits at seat 0, the others in order from its left. Unknown and without bearing on the hand: who played first,
the order of the pile below its top, and which cards of an owner lie in which of its spreads where several ways of
sorting them leave the same places open.
"""

from __future__ import annotations

import numpy as np

from tonk_env.cards import CARD_OF_BIT
from tonk_env.kernels.bits import ZERO, bit, has, kernel, lowest, popcount, without_lowest
from tonk_env.kernels.deal import push_pile
from tonk_env.kernels.guess import RANK
from tonk_env.kernels.lay import refresh_open
from tonk_env.kernels.legal import LAST_START
from tonk_env.spreads import KIND_BOOK, KIND_RUN
from tonk_env.state import MAX_SPREADS, NOBODY, NUM_WILDS

MAX_STEPS = 4000  # ways of sorting the cards on the table that are tried before giving up
NUM_RUNS = 11  # lengths of runs, 3 to 13


@kernel
def rebuild_public(rule, layout, v, t):
    """Fill a table with what a view shows; ``t`` is zeroed but for its series of deals. Hands hold the known cards.

    Returns whether the spreads could be told apart; if not, they are left out and no hits are possible.
    """
    n = np.int64(layout.players)
    t.num_players = n
    t.in_hand = t.live = v.live
    t.phase, t.turn, t.start, t.next_start = v.phase, 0, 0, 0
    t.stacked, t.match_over = True, False
    t.turns, t.hits = v.turns, v.hits
    t.taken, t.must_use, t.tunk_clean = v.taken, v.must_use, v.tunk_clean
    t.tunker = v.tunker
    t.dropper = -1
    t.hands_dealt = 1
    t.hands_played = max(rule.hands - v.hands_left, 0) if layout.hands_width > 0 else 0
    t.last_left = turns_left(v) if v.phase >= LAST_START else 0
    t.dealt = rule.deck_size - v.stock
    for k in range(6):
        t.hand[k] = t.known[k] = v.known[k]
        t.waiting[k], t.frozen[k] = v.waiting[k], v.frozen[k]
        t.laid[k] = v.laid[k]
        t.thrown[k] = ZERO
        t.totals[k] = (v.totals[k] - layout.totals_zero + 0.5) / layout.totals_steps if layout.totals_width > 0 else 0.0
        t.rewards[k] = 0.0
    t.hand[0] = v.hand
    t.thrown[NOBODY] = ZERO
    rebuild_pile(v, t)
    return rebuild_spreads(rule, v, t)


@kernel
def turns_left(v):
    """Last turns still to come, the one of the viewer on turn included (R27)."""
    count = 0
    for k in range(6):
        if k == v.tunker:
            break
        count += (v.live >> k) & 1
    return count


@kernel
def rebuild_pile(v, t):
    """Put the discards back: the upcard first, the others in turn by thrower, the top last."""
    t.pile_size = 0
    put_thrown(t, v.thrown[NOBODY] & ~v.top, NOBODY)
    for k in range(6):
        put_thrown(t, v.thrown[k] & ~v.top, np.int64(k))
    for k in range(7):
        put_thrown(t, v.thrown[k] & v.top, np.int64(k))


@kernel
def put_thrown(t, cards, thrower):
    """Put some cards of one thrower on the pile."""
    while cards != ZERO:
        push_pile(t, CARD_OF_BIT[lowest(cards)], thrower)
        cards = without_lowest(cards)


@kernel
def rebuild_spreads(rule, v, t):
    """Sort the cards on the table into spreads that leave open what the view says is open. Returns whether it worked."""
    t.num_spreads = 0
    for i in range(NUM_WILDS):
        t.wild_place[i] = 0 if (v.wilds_laid >> i) & 1 else -1
        t.wild_spread[i] = 0 if (v.wilds_laid >> i) & 1 else -1
    some = v.open_book | v.open_high | v.open_low
    for k in range(6):
        some |= v.laid[k] | v.wild_places[k]
    if some == ZERO:
        t.open_book = t.open_high = t.open_low = ZERO
        return True
    natural, wild = np.zeros(6, np.uint64), np.zeros(6, np.uint64)
    for k in range(6):
        natural[k], wild[k] = v.laid[k], v.wild_places[k]
    steps, as_wilds = np.zeros(1, np.int64), np.zeros(MAX_SPREADS, np.uint64)
    if sort_spreads(rule, v, t, natural, wild, as_wilds, np.int64(0), steps):
        place_laid_wilds(v, t, as_wilds)
        return True
    t.num_spreads = 0
    t.open_book = t.open_high = t.open_low = ZERO
    return False


@kernel
def place_laid_wilds(v, t, as_wilds):
    """Give each place that a wild fills to one of the wilds on the table: which is which has no bearing on the hand."""
    wild = 0
    for spread in range(t.num_spreads):
        places = as_wilds[spread]
        while places != ZERO and wild < NUM_WILDS:
            if (v.wilds_laid >> wild) & 1:
                t.wild_place[wild], t.wild_spread[wild] = lowest(places), spread
                places = without_lowest(places)
            wild += 1


@kernel
def nth_spread(rule, cards, low, option):
    """Places of the ``option``-th spread of a card set that holds its lowest place; empty if there is no such spread.

    First the runs of 3 cards and more, then the book of all its rank, then the books that leave one suit of four out.
    """
    if option < NUM_RUNS:
        places, at = bit(low), low
        for _ in range(option + 2):
            rank = np.int64(rule.rank_up[at & 15])
            at = (at & 48) + rank
            if rank < 0 or not has(cards, at):
                return ZERO
            places |= bit(at)
        return places
    book = cards & (RANK << np.uint64(low & 15))
    if option == NUM_RUNS:
        return book if popcount(book) >= 3 else ZERO
    left_out = bit((option - NUM_RUNS) * 16 + (low & 15))
    return book & ~left_out if popcount(book) == 4 and not has(left_out, low) else ZERO


@kernel
def sort_spreads(rule, v, t, natural, wild, as_wilds, owner, steps):
    """Take the lowest place of an owner into a run or a book and sort the rest after it; undo what leads nowhere.

    A place filled both by a natural card and, in another spread, by a wild is taken from either.
    """
    steps[0] += 1
    while owner < 6 and natural[owner] | wild[owner] == ZERO:
        owner += 1
    if owner == 6:
        refresh_open(rule, t)
        return t.open_book == v.open_book and t.open_high == v.open_high and t.open_low == v.open_low
    spread = np.int64(t.num_spreads)
    if spread == MAX_SPREADS or steps[0] > MAX_STEPS:
        return False
    old_natural, old_wild = natural[owner], wild[owner]
    low = lowest(old_natural | old_wild)
    for option in range(NUM_RUNS + 4):
        places = nth_spread(rule, old_natural | old_wild, low, option)
        both = places & old_natural & old_wild
        for way in range(0 if places == ZERO else 1 if both == ZERO else 2):
            as_wild = (places & ~old_natural) | (both if way == 1 else ZERO)
            t.spread_places[spread], as_wilds[spread] = places, as_wild
            t.spread_kind[spread] = KIND_RUN if option < NUM_RUNS else KIND_BOOK
            t.spread_owner[spread] = owner
            t.num_spreads = spread + 1
            natural[owner], wild[owner] = old_natural & ~(places & ~as_wild), old_wild & ~as_wild
            if sort_spreads(rule, v, t, natural, wild, as_wilds, owner, steps):
                return True
            natural[owner], wild[owner] = old_natural, old_wild
            t.num_spreads = spread
    return False
