"""What a seat can work out about the cards it does not see: which are left, and how high the others' counts are."""

from __future__ import annotations

import math

import numpy as np

from tonk_env.cards import JOKER_BITS
from tonk_env.kernels.bits import ZERO, bit, kernel, lowest, popcount, without_lowest
from tonk_env.kernels.held import LANE, NATURALS, WILD_ORDER, by_place, total
from tonk_env.state import NOBODY, NUM_WILDS

RANK = np.uint64(0x0001000100010001)  # the four cards of the first rank
JOKERS = np.uint64(JOKER_BITS)
SQRT_HALF = math.sqrt(0.5)
SOME = 1.3  # cards of the value of the lowest card thrown that a hand still holds, where there is one
DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


@kernel
def deck_of(rule):
    """All cards of the deck as a set."""
    cards = ZERO
    if rule.n_ranks == 13 and rule.suits == 4:
        cards = NATURALS
    else:
        for at in range(rule.n_ranks):
            cards |= RANK << np.uint64(rule.rank_at[at])
        if rule.suits < 4:
            cards &= (np.uint64(1) << np.uint64(16 * rule.suits)) - np.uint64(1)
    if rule.jokers > 0:
        cards |= bit(13)
    if rule.jokers > 1:
        cards |= bit(29)
    return cards


@kernel
def unseen_of(rule, v):
    """Cards that the viewer has not seen or cannot place: the stock, and others' hands but for what they took (R39)."""
    seen = v.hand | v.thrown[NOBODY]
    for k in range(6):
        seen |= v.thrown[k] | v.known[k] | v.laid[k]
    if v.wilds_laid != 0:
        for i in range(NUM_WILDS):
            if (v.wilds_laid >> i) & 1:
                seen |= bit(WILD_ORDER[i])
    return deck_of(rule) & ~seen


@kernel
def lowest_value(rule, held):
    """Value of the lowest card of a set, in points; 99 for an empty set."""
    for at in range(rule.n_ranks):
        if held & (RANK << np.uint64(rule.rank_at[at])) != ZERO:
            return np.int64(rule.value[rule.rank_at[at]])
    return np.int64(99)


@kernel
def count_of_value(rule, held, value):
    """Number of cards of one value in a set."""
    count = 0
    while held != ZERO:
        count += 1 if rule.value[lowest(held) & 15] == value else 0
        held = without_lowest(held)
    return count


@kernel
def guess_hand(rule, v, unseen, k, exception):
    """(mean, variance) of the plain total of an opponent's hand, in points.

    Players throw their highest cards, so the cards that one has kept are taken to be no higher than the lowest it threw;
    a card above that counts only ``exception`` times as much (it may be kept for a spread). One of the same value as t
    cards thrown is rarer too: were there j of them, any of the j + t might have been thrown first.
    """
    hidden = v.sizes[k] - popcount(v.known[k])
    ceiling = lowest_value(rule, v.thrown[k])
    level = SOME / (SOME + count_of_value(rule, v.thrown[k], ceiling))
    weight, first, second = 1e-9, 0.0, 0.0
    for at in range(rule.n_ranks):
        rank = np.int64(rule.rank_at[at])
        value = np.float64(rule.value[rank])
        likely = 1.0 if value < ceiling else level if value == ceiling else exception
        share = popcount(unseen & (RANK << np.uint64(rank))) * likely
        weight += share
        first += share * value
        second += share * value * value
    if rule.jokers > 0:
        weight += popcount(unseen & JOKERS)
    mean = first / weight
    spread = max(second / weight - mean * mean, 0.0)
    left = max(1.0 - (hidden - 1.0) / max(weight, hidden), 0.1)
    return total(rule, v.known[k]) + hidden * mean, hidden * spread * left + 0.5


@kernel
def below_normal(z):
    """Probability that a standard normal number is below ``z``."""
    return 0.5 * math.erfc(-z * SQRT_HALF)


@kernel
def density(z):
    """Density of the standard normal distribution."""
    return DENSITY * math.exp(-0.5 * z * z)


@kernel
def near_spreads(rule, held, unseen):
    """Points that a drawn card would take off by completing a spread, times the unseen cards that would do it.

    Pairs of a rank wait for its other suits, two cards of a suit for the third of a run.
    """
    c, d, h, s = held & LANE, (held >> np.uint64(16)) & LANE, (held >> np.uint64(32)) & LANE, (held >> np.uint64(48)) & LANE
    promise = 0
    pairs = ((c | d) & (h | s)) | (c & d) | (h & s)
    while pairs != ZERO:
        rank = lowest(pairs)
        promise += 2 * rule.value[rank] * popcount(unseen & (RANK << np.uint64(rank)))
        pairs = without_lowest(pairs)
    naturals = held & NATURALS
    y = by_place(rule, naturals) if rule.gapped else naturals
    out = by_place(rule, unseen & NATURALS) if rule.gapped else unseen & NATURALS
    near = y & (y >> np.uint64(1))
    while near != ZERO:
        low = lowest(near)
        outs = popcount(out & ((bit(low) << np.uint64(2)) | (bit(low) >> np.uint64(1))))
        promise += outs * (rule.value[rule.rank_at[low & 15]] + rule.value[rule.rank_at[(low & 15) + 1]])
        near = without_lowest(near)
    gaps = y & (y >> np.uint64(2))
    while gaps != ZERO:
        low = lowest(gaps)
        outs = popcount(out & (bit(low) << np.uint64(1)))
        promise += outs * (rule.value[rule.rank_at[low & 15]] + rule.value[rule.rank_at[(low & 15) + 2]])
        gaps = without_lowest(gaps)
    return promise


@kernel
def fits_nearby(rule, card, held):
    """How many pairs of a card set would make a spread with a card: what somebody might hold who wants it."""
    index = lowest(card)
    if not rule.gapped:
        same = popcount(held & (RANK << np.uint64(index & 15)) & ~card)
        lane = index & 48
        y, at = (held >> np.uint64(lane)) & LANE, np.uint64(index & 15)
    else:
        same = popcount(held & (RANK << np.uint64(index & 15)) & ~card)
        y = (by_place(rule, held & NATURALS) >> np.uint64(index & 48)) & LANE
        at = np.uint64(rule.pos_of_rank[index & 15])
    wide = y << np.uint64(2)  # room for the two places below the ace
    below2, below1 = (wide >> at) & np.uint64(1), (wide >> (at + np.uint64(1))) & np.uint64(1)
    above1, above2 = (wide >> (at + np.uint64(3))) & np.uint64(1), (wide >> (at + np.uint64(4))) & np.uint64(1)
    runs = (below2 & below1) + (below1 & above1) + (above1 & above2)
    return same * (same - 1) // 2 + np.int64(runs)
