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
EVERY_LANE = np.uint64(0x0001000100010001)  # copies a lane to all four
BOOK_LANES = spreads.BOOK_LANES
WILD_NATURAL = spreads.WILD_BOOK_NATURAL_LANES
WILD_FILLED = spreads.WILD_BOOK_WILD_LANES
# Bits of the wilds in the order in which they are used: jokers, then deuces by suit (R14).
WILD_ORDER = np.array([13, 29, 1, 17, 33, 49], dtype=np.int64)
NO_NATURAL_SPREADS = (ZERO,) * 8
NO_WILD_SPREADS = (ZERO,) * 10
NUM_SPREAD_WORDS = 18
RANK_TWO = np.int64(cards.RANK_TWO)
DEUCES = 2  # code of wild=deuces in a rule record


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
def highest_value(rule, held):
    """Points of the highest card of a set, 0 for none (R5)."""
    highest = 0
    while held != ZERO:
        highest = max(highest, np.int64(rule.value[lowest(held) & 15]))
        held = without_lowest(held)
    return highest


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
def wild_shape(rule, lanes, shape, wilds):
    """Ranks of which a shape of wild book is legal: its naturals held, the places it fills not, wilds enough (R14)."""
    ranks = LANE
    for suit in range(4):
        lane = (lanes >> np.uint64(16 * suit)) & LANE
        if has(WILD_NATURAL[shape], 16 * suit):
            ranks &= lane
        elif has(WILD_FILLED[shape], 16 * suit):
            if suit >= rule.suits:
                return ZERO
            ranks &= ~lane
    filled = popcount(WILD_FILLED[shape])
    if wilds < filled:
        return ZERO
    if rule.wild == DEUCES and wilds - popcount(WILD_NATURAL[shape]) < filled:
        ranks &= ~bit(RANK_TWO)  # deuces in a book of deuces are no wilds
    return ranks


@kernel
def wild_books(rule, held, wilds):
    """Words of the books with wilds in a card set (R14): a tuple of four."""
    lanes = held & NATURALS
    c, d, h, s = lanes & LANE, (lanes >> np.uint64(16)) & LANE, (lanes >> np.uint64(32)) & LANE, (lanes >> np.uint64(48)) & LANE
    if (c & d) | (c & h) | (c & s) | (d & h) | (d & s) | (h & s) == ZERO:
        return ZERO, ZERO, ZERO, ZERO
    b0 = b1 = b2 = b3 = ZERO
    for lane in range(4):
        to = np.uint64(16 * lane)
        b0 |= wild_shape(rule, lanes, lane, wilds) << to
        b1 |= wild_shape(rule, lanes, 4 + lane, wilds) << to
        b2 |= wild_shape(rule, lanes, 8 + lane, wilds) << to
        b3 |= wild_shape(rule, lanes, 12 + lane, wilds) << to
    return b0, b1, b2, b3


@kernel
def at_most(ones, twos, fours, eights, most):
    """Where numbers are at most ``most``. A number is kept in four words, a binary digit in each, at every bit."""
    less, equal = ZERO, ~ZERO
    for digit in range(3, -1, -1):
        plane = eights if digit == 3 else fours if digit == 2 else twos if digit == 1 else ones
        if (most >> digit) & 1:
            less |= equal & ~plane
            equal &= plane
        else:
            equal &= ~plane
    return less | equal


@kernel
def wild_runs(rule, held, wilds):
    """Words of the runs with wilds in a card set, length 3 to 8 (R14): a tuple of six.

    Two naturals or more, and a wild for each missing place. All low cards of one length are tried at once: the missing
    places from each low card on are counted in binary digits, a word a digit.
    """
    y = by_place(rule, held & NATURALS) if rule.gapped else held & NATURALS
    first = 0 if rule.gapped else np.int64(rule.rank_at[0])  # bit of the lowest rank in use, in its lane
    r3 = r4 = r5 = r6 = r7 = r8 = ZERO
    ones = twos = fours = eights = ZERO
    deuces = ZERO
    if rule.wild == DEUCES:
        deuces = y & (EVERY_LANE << np.uint64(first + rule.pos_of_rank[RANK_TWO]))
    own = deuces  # low cards of runs that hold a deuce in its own place: one wild fewer
    longest = wilds + max(
        max(popcount(y & LANE), popcount(y & (LANE << np.uint64(16)))),
        max(popcount(y & (LANE << np.uint64(32))), popcount(y & (LANE << np.uint64(48)))),
    )
    for length in range(1, min(8, min(longest, rule.n_ranks)) + 1):
        carry = ~y >> np.uint64(length - 1)
        ones, carry = ones ^ carry, ones & carry
        twos, carry = twos ^ carry, twos & carry
        fours, eights = fours ^ carry, eights ^ (fours & carry)
        own |= deuces >> np.uint64(length - 1)
        if length < 3:
            continue
        fits = at_most(ones, twos, fours, eights, min(wilds, length - 2)) & (ones | twos | fours | eights)
        if own != ZERO:
            fits &= ~own | at_most(ones, twos, fours, eights, wilds - 1)
        fits &= ((bit(rule.n_ranks - length + 1) - ONE) << np.uint64(first)) * EVERY_LANE
        if rule.gapped:
            fits = by_rank(rule, fits)
        r3 = fits if length == 3 else r3
        r4 = fits if length == 4 else r4
        r5 = fits if length == 5 else r5
        r6 = fits if length == 6 else r6
        r7 = fits if length == 7 else r7
        r8 = fits if length == 8 else r8
    return r3, r4, r5, r6, r7, r8


@kernel
def wild_spreads(rule, held):
    """Words of the spreads in a card set that use wilds as such (R14): a tuple of ten."""
    wilds = popcount(held & rule.wild_mask)
    if wilds == 0:
        return NO_WILD_SPREADS
    return wild_books(rule, held, wilds) + wild_runs(rule, held, wilds)


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
def in_spreads(rule, held):
    """Cards that are in some spread of a card set; all of them when there are wilds, which may be in any (R13, R14)."""
    if held & rule.wild_mask != ZERO:
        return held
    x = held & NATURALS
    c, d, h, s = x & LANE, (x >> np.uint64(16)) & LANE, (x >> np.uint64(32)) & LANE, (x >> np.uint64(48)) & LANE
    cd, hs = c & d, h & s
    books = (d & hs) | (c & hs) | (cd & s) | (cd & h)
    y = by_place(rule, x) if rule.gapped else x
    low = y & (y >> np.uint64(1)) & (y >> np.uint64(2))
    runs = low | (low << np.uint64(1)) | (low << np.uint64(2))
    if rule.gapped:
        runs = by_rank(rule, runs)
    return runs | (x & (books * EVERY_LANE))


@kernel
def least_after_one(rule, held):
    """(points, cards) least left over with at most one spread set aside."""
    best_points, best_left = total(rule, held), popcount(held)
    if in_spreads(rule, held) == ZERO:
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
    if in_spreads(rule, held) == ZERO:
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
