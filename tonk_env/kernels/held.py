"""Spreads held in a hand: which are legal (R13, R14), what each is made of, and the least that is left over (R6).

Words of spreads follow ``actions.py``: eight natural words (books, fours, runs of 3 to 8), ten wild ones (books by shape,
runs of 3 to 8).
"""

from __future__ import annotations

import numpy as np

from tonk_env import cards, spreads
from tonk_env.actions import W_BOOK, W_FOUR, W_RUN, W_WILD_BOOK, W_WILD_RUN
from tonk_env.kernels.bits import ONE, ZERO, bit, has, inline, kernel, lowest, popcount, without_lowest

NATURALS = np.uint64(cards.NATURALS)
LANE = np.uint64(0x1FFF)
BOOK_LANES = spreads.BOOK_LANES
WILD_NATURAL = spreads.WILD_BOOK_NATURAL_LANES
WILD_FILLED = spreads.WILD_BOOK_WILD_LANES
# Bits of the wilds in the order in which they are used: jokers, then deuces by suit (R14).
WILD_ORDER = np.array([13, 29, 1, 17, 33, 49], dtype=np.int64)
NO_NATURAL_SPREADS = (ZERO,) * 8
NO_WILD_SPREADS = (ZERO,) * 10
NUM_SPREAD_WORDS = 18


@inline
def spread_word(index):
    """Word of legal moves in which the index-th of the 18 words of spreads is kept."""
    return W_BOOK + index if index < 8 else W_WILD_BOOK + index - 8


@kernel
def total(rule, held):
    """Plain total of a card set, in points (R5)."""
    return (
        popcount(held & rule.ones)
        + (popcount(held & rule.twos) << 1)
        + (popcount(held & rule.fours) << 2)
        + (popcount(held & rule.eights) << 3)
    )


@kernel
def by_place(rule, held):
    """Card set with each rank moved to its place among the ranks in use, so that runs are neighbours (R2)."""
    moved = ZERO
    while held != ZERO:
        index = lowest(held)
        moved |= bit((index & 48) + rule.pos_of_rank[index & 15])
        held = without_lowest(held)
    return moved


@kernel
def by_rank(rule, placed):
    """The way back from ``by_place``."""
    held = ZERO
    while placed != ZERO:
        index = lowest(placed)
        held |= bit((index & 48) + rule.rank_at[index & 15])
        placed = without_lowest(placed)
    return held


@kernel
def natural_spreads(rule, held):
    """Words of the spreads in a card set that use no wild as such (R13): a tuple of eight."""
    x = held & NATURALS
    c, d, h, s = x & LANE, (x >> np.uint64(16)) & LANE, (x >> np.uint64(32)) & LANE, (x >> np.uint64(48)) & LANE
    cd, hs = c & d, h & s
    books = (d & hs) | ((c & hs) << np.uint64(16)) | ((cd & s) << np.uint64(32)) | ((cd & h) << np.uint64(48))
    y = by_place(rule, x) if rule.gapped else x
    r3 = y & (y >> np.uint64(1)) & (y >> np.uint64(2))
    if r3 == ZERO:
        return (books, cd & hs, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
    r4 = r3 & (y >> np.uint64(3))
    r5 = r4 & (y >> np.uint64(4))
    r6 = r5 & (y >> np.uint64(5))
    r7 = r6 & (y >> np.uint64(6))
    r8 = r7 & (y >> np.uint64(7))
    if rule.gapped:
        r3, r4, r5 = by_rank(rule, r3), by_rank(rule, r4), by_rank(rule, r5)
        r6, r7, r8 = by_rank(rule, r6), by_rank(rule, r7), by_rank(rule, r8)
    return (books, cd & hs, r3, r4, r5, r6, r7, r8)


@kernel
def run_places(rule, low, length):
    """Places of a run from the bit of its low card and its length."""
    if not rule.gapped:
        return ((ONE << np.uint64(length)) - ONE) << np.uint64(low)
    places, lane, at = ZERO, low & 48, rule.pos_of_rank[low & 15]
    for i in range(length):
        places |= bit(lane + rule.rank_at[at + i])
    return places


@kernel
def wild_books(rule, held, rank, pool):
    """Shapes of legal books with wilds of one rank, as 16 bits (R14)."""
    shapes = np.int64(0)
    lanes = held >> np.uint64(rank)
    for shape in range(16):
        natural, filled = WILD_NATURAL[shape], WILD_FILLED[shape]
        if lanes & natural != natural or lanes & filled != ZERO:
            continue
        if lowest(filled >> np.uint64(16 * rule.suits)) < 64 and rule.suits < 4:
            continue
        if popcount(pool & ~(natural << np.uint64(rank))) >= popcount(filled):
            shapes |= 1 << shape
    return shapes


@kernel
def wild_run_fits(rule, held, pool, places, length):
    """Whether a run with wilds is legal: two naturals or more, each missing place filled by a wild (R14)."""
    natural = places & held
    count = popcount(natural)
    return 2 <= count < length and popcount(pool & ~natural) >= length - count


@kernel
def wild_spreads(rule, held):
    """Words of the spreads in a card set that use wilds as such (R14): a tuple of ten."""
    pool = held & rule.wild_mask
    if pool == ZERO:
        return NO_WILD_SPREADS
    b0 = b1 = b2 = b3 = ZERO
    r3 = r4 = r5 = r6 = r7 = r8 = ZERO
    for at in range(rule.n_ranks):
        rank = np.int64(rule.rank_at[at])
        shapes = wild_books(rule, held, rank, pool)
        for lane in range(4):
            to = np.uint64(16 * lane + rank)
            b0 |= np.uint64((shapes >> lane) & 1) << to
            b1 |= np.uint64((shapes >> (4 + lane)) & 1) << to
            b2 |= np.uint64((shapes >> (8 + lane)) & 1) << to
            b3 |= np.uint64((shapes >> (12 + lane)) & 1) << to
        for suit in range(rule.suits):
            if (held >> np.uint64(16 * suit)) & LANE == ZERO:
                continue
            low = 16 * suit + rank
            for length in range(3, min(8, rule.n_ranks - at) + 1):
                if wild_run_fits(rule, held, pool, run_places(rule, low, length), length):
                    mark = bit(low)
                    r3 |= mark if length == 3 else ZERO
                    r4 |= mark if length == 4 else ZERO
                    r5 |= mark if length == 5 else ZERO
                    r6 |= mark if length == 6 else ZERO
                    r7 |= mark if length == 7 else ZERO
                    r8 |= mark if length == 8 else ZERO
    return (b0, b1, b2, b3, r3, r4, r5, r6, r7, r8)


@kernel
def first_wilds(pool, count):
    """The first wilds of a pool in the order of use (R14)."""
    chosen = ZERO
    for i in range(6):
        if count > 0 and has(pool, WILD_ORDER[i]):
            chosen |= bit(WILD_ORDER[i])
            count -= 1
    return chosen


@kernel
def spread_places(rule, word, index):
    """Places of the spread that a bit of a word of legal moves stands for."""
    rank = np.uint64(index & 15)
    if word == W_BOOK:
        return BOOK_LANES[index >> 4] << rank
    if word == W_FOUR:
        return BOOK_LANES[4] << rank
    if word < W_WILD_BOOK:
        return run_places(rule, index, word - W_RUN + 3)
    if word < W_WILD_RUN:
        shape = (word - W_WILD_BOOK) * 4 + (index >> 4)
        return (WILD_NATURAL[shape] | WILD_FILLED[shape]) << rank
    return run_places(rule, index, word - W_WILD_RUN + 3)


@kernel
def spread_cards(rule, held, word, index):
    """Cards of a hand that a legal spread uses: (places, natural cards in their own places, wilds)."""
    places = spread_places(rule, word, index)
    if word < W_WILD_BOOK:
        return places, places, ZERO
    if word < W_WILD_RUN:
        shape = (word - W_WILD_BOOK) * 4 + (index >> 4)
        natural = WILD_NATURAL[shape] << np.uint64(index & 15)
    else:
        natural = places & held
    missing = popcount(places) - popcount(natural)
    return places, natural, first_wilds(held & rule.wild_mask & ~natural, missing)


@kernel
def held_spreads(rule, held):
    """All 18 words of spreads of a card set, natural ones first."""
    if rule.wild == 0:
        return natural_spreads(rule, held) + NO_WILD_SPREADS
    return natural_spreads(rule, held) + wild_spreads(rule, held)


@kernel
def any_spread(words):
    """Whether any of some words has a bit."""
    found = ZERO
    for i in range(NUM_SPREAD_WORDS):
        found |= words[i]
    return found != ZERO


@kernel
def least_after_one(rule, held):
    """(points, cards) least left over with at most one spread set aside."""
    points, left = total(rule, held), popcount(held)
    best_points, best_left = points, left
    if left < 3:
        return best_points, best_left
    words = held_spreads(rule, held)
    for i in range(NUM_SPREAD_WORDS):
        word = words[i]
        while word != ZERO:
            _, natural, wilds = spread_cards(rule, held, spread_word(i), lowest(word))
            rest = held & ~(natural | wilds)
            rest_points, rest_left = total(rule, rest), popcount(rest)
            if rest_points < best_points or (rest_points == best_points and rest_left < best_left):
                best_points, best_left = rest_points, rest_left
            word = without_lowest(word)
    return best_points, best_left


@kernel
def least_left(rule, held):
    """(points, cards) least left over after setting aside disjoint spreads one after another (R6).

    A hand has at most eight cards, so at most two spreads.
    """
    best_points, best_left = total(rule, held), popcount(held)
    if best_left < 3:
        return best_points, best_left
    words = held_spreads(rule, held)
    for i in range(NUM_SPREAD_WORDS):
        word = words[i]
        while word != ZERO:
            _, natural, wilds = spread_cards(rule, held, spread_word(i), lowest(word))
            points, left = least_after_one(rule, held & ~(natural | wilds))
            if points < best_points or (points == best_points and left < best_left):
                best_points, best_left = points, left
            word = without_lowest(word)
    return best_points, best_left


@kernel
def all_in_spreads(rule, held):
    """Whether a whole hand is disjoint spreads with nothing left over (R7)."""
    words = held_spreads(rule, held)
    for i in range(NUM_SPREAD_WORDS):
        word = words[i]
        while word != ZERO:
            _, natural, wilds = spread_cards(rule, held, spread_word(i), lowest(word))
            rest = held & ~(natural | wilds)
            if rest == ZERO or one_spread(rule, rest):
                return True
            word = without_lowest(word)
    return False


@kernel
def one_spread(rule, held):
    """Whether a card set is exactly one spread."""
    words = held_spreads(rule, held)
    for i in range(NUM_SPREAD_WORDS):
        word = words[i]
        while word != ZERO:
            _, natural, wilds = spread_cards(rule, held, spread_word(i), lowest(word))
            if natural | wilds == held:
                return True
            word = without_lowest(word)
    return False


@kernel
def count_of(rule, held):
    """Count of a hand, in points (R6)."""
    if rule.held_count and rule.drop != 1:
        return total(rule, held)
    return least_left(rule, held)[0]
