"""The compiled player `expert`: counts cards, drops by what it expects to win and lose, and keeps cards that may fit.

It sees a view (R39) and the legal moves, nothing else, and draws no random numbers.
"""

from __future__ import annotations

import math

import numpy as np

from tonk_env.actions import ACTION_AT, F_DROP, F_PASS, F_TAKE, W_DISCARD, W_FLAGS, W_HIT_BOOK
from tonk_env.kernels.bits import ZERO, bit, has, kernel, lowest, popcount, without_lowest
from tonk_env.kernels.guess import RANK, below_normal, density, fits_nearby, guess_hand, near_spreads, unseen_of
from tonk_env.kernels.held import any_spread, held_spreads, highest_value, least_left, total
from tonk_env.kernels.legal import cards_of_move
from tonk_env.state import NUM_WORDS

# Settings of the expert, each found by paired play of two settings against each other and against drop:N.
NUM_SETTINGS = 10
(
    EXCEPTION,  # weight of a card above the lowest that its holder threw
    WIDTH,  # standard deviation of an opponent's count, as a multiple of what the cards left suggest
    SHARE,  # chance to win the hand by playing on: constant,
    SHARE_CHANCE,  # a multiple of the chance to win by dropping now,
    SHARE_COUNT,  # and of one's count, in 25 points above 25
    LATER,  # part of one's count that is still there when another wins
    TAKE_MARGIN,  # points that a take must be better than a draw
    PROMISE,  # what a point that the next card may take off is worth, as there may be more cards
    FEED,  # points that a discard costs which completes a spread of the next player's
    KNOWN_FEED,  # points that it costs for every card that the next player is known to hold beside it
) = range(NUM_SETTINGS)


def _settings() -> np.ndarray:
    """Settings by what is at stake (points, stakes, a match to elimination) and by number of opponents (1, 2, 3 or more)."""
    table = np.empty((3, 3, NUM_SETTINGS))
    table[:] = [0.35, 0.9, 0.0, 0.7, 0.0, 0.7, 1.0, 3.0, 4.0, 1.0]
    table[0, :, SHARE], table[0, :, SHARE_COUNT] = (0.12, -0.02, -0.1), (-0.1, 0.0, 0.1)
    table[1, :, SHARE], table[1, :, SHARE_COUNT] = (0.18, 0.13, 0.09), (-0.1, -0.1, 0.0)
    table[1, :, PROMISE] = (3.0, 3.5, 4.5)
    table[2, :, SHARE], table[2, :, SHARE_COUNT] = (0.12, 0.14, 0.14), (0.05, 0.25, 0.4)
    table[2, 0, LATER] = 0.55
    return table


SETTINGS = _settings()


@kernel
def settings_of(rule, v):
    """The expert's settings float64[NUM_SETTINGS] for a rule set and the players in the hand."""
    return SETTINGS[row_of(rule, v)]


@kernel
def row_of(rule, v):
    """Row of a table of settings, (what is at stake, opponents), for a rule set and the players in the hand."""
    others = 0
    for k in range(1, 6):
        others += (v.live >> k) & 1
    at_stake = 1 if rule.settlement != 0 else 2 if rule.match == 1 else 0
    return at_stake, min(max(others, 1), 3) - 1


@kernel
def choose_expert(rule, v, words, p):
    """Action number that the expert chooses; ``p`` float64[NUM_SETTINGS] are its settings."""
    flags = words[W_FLAGS]
    if v.phase == 0 or v.phase == 3:
        return choose_start(rule, v, flags, p)
    if has(flags, F_DROP):
        return np.int64(ACTION_AT[W_FLAGS, F_DROP])
    lay = choose_lay(rule, v, words)
    if lay >= 0:
        return lay
    if has(flags, F_PASS):
        return np.int64(ACTION_AT[W_FLAGS, F_PASS])
    return choose_discard(rule, v, words, p)


@kernel
def choose_start(rule, v, flags, p):
    """Drop, take, draw or pass."""
    if has(flags, F_DROP) and drop_gain(rule, v, p) > 0.0:
        return np.int64(ACTION_AT[W_FLAGS, F_DROP])
    rest = flags & ~(bit(F_TAKE) | bit(F_DROP))
    if has(flags, F_TAKE) and (rest == ZERO or take_gain(rule, v, p) > 0.0):
        return np.int64(ACTION_AT[W_FLAGS, F_TAKE])
    return np.int64(ACTION_AT[W_FLAGS, lowest(rest if rest != ZERO else flags)])


@kernel
def drop_gain(rule, v, p):
    """What dropping now is expected to earn, less what playing on is expected to, in points or stakes."""
    unseen = unseen_of(rule, v)
    own = np.float64(v.count)
    chance, catchers, others, sum_mean = 1.0, 0.0, 0, 0.0
    for k in range(1, 6):
        if not (v.live >> k) & 1:
            continue
        mean, variance = guess_hand(rule, v, unseen, k, p[EXCEPTION])
        dev = p[WIDTH] * math.sqrt(variance)
        z = (mean - own) / dev
        above = below_normal(z)
        chance *= above
        catchers += 1.0 - above
        others += 1
        sum_mean += mean + dev * density(z) / max(above, 1e-6)
    mean = sum_mean / max(others, 1)
    gain, loss, later = stakes_of(rule, v, own, mean, catchers / max(1.0 - chance, 1e-6), others, p)
    share = p[SHARE] + p[SHARE_CHANCE] * chance + p[SHARE_COUNT] * (own - 25.0) / 25.0
    share = min(max(share, 0.0), 1.0)
    return chance * gain - (1.0 - chance) * loss - (share * gain - (1.0 - share) * later)


@kernel
def stakes_of(rule, v, own, mean, catchers, others, p):
    """(won by a good drop, lost by a caught one, lost when another wins) for a count and the others' mean count."""
    multiplier = rule.caught_multiplier
    if rule.settlement == 0:
        later = own * p[LATER]
        if rule.match == 1:
            return in_match(rule, v, own, mean, later)
        return mean, multiplier * own, later - (others - 1) / others * mean
    if rule.settlement == 2:
        gap = max(mean - own, 1.0)
        return others * gap, multiplier * 5.0 * catchers, gap
    paid = 1.0
    if rule.caught_pays == 4:
        paid = others
    elif rule.caught_pays == 2 or rule.caught_pays == 3 or rule.caught_pays == 6:
        paid = catchers
    return np.float64(others), multiplier * paid, 1.0


@kernel
def in_match(rule, v, own, mean, later):
    """The same three numbers in a match to elimination, as changes of the chance to outlast the others."""
    step = rule.limit / 25.0
    mine = rule.limit - (v.totals[0] + 0.5) * step
    gain, loss, lost, others = 0.0, 0.0, 0.0, 0
    winner = 1.0 / max(popcount(np.uint64(v.live)) - 1, 1)  # chance of each other player to be the one who wins instead
    for k in range(1, 6):
        if not (v.live >> k) & 1:
            continue
        theirs = rule.limit - (v.totals[k] + 0.5) * step
        now = outlasts(mine, theirs)
        gain += outlasts(mine, theirs - mean) - now
        loss += now - outlasts(mine - rule.caught_multiplier * own, theirs)
        lost += now - winner * outlasts(mine - later, theirs) - (1.0 - winner) * outlasts(mine - later, theirs - mean)
        others += 1
    return gain / others, loss / others, lost / others


@kernel
def outlasts(mine, theirs):
    """Chance to outlast one opponent, from the points that either may still score."""
    if mine <= 0.0:
        return 0.0
    if theirs <= 0.0:
        return 1.0
    a, b = mine * math.sqrt(mine), theirs * math.sqrt(theirs)
    return a / (a + b)


@kernel
def take_gain(rule, v, p):
    """How many points less are expected to be left after taking the top discard than after drawing."""
    if v.top & (v.open_book | v.open_high | v.open_low) != ZERO or v.top & rule.wild_mask != ZERO:
        return 1.0
    unseen = unseen_of(rule, v)
    before, _ = least_left(rule, v.hand)
    taken = left_after_discard(rule, v.hand | v.top)
    high = highest_loose(rule, v.hand)
    cards, kept = 0, 0
    for at in range(rule.n_ranks):
        rank = np.int64(rule.rank_at[at])
        number = popcount(unseen & (RANK << np.uint64(rank)))
        cards += number
        kept += number * min(np.int64(rule.value[rank]), high)
    drawn = before - high + (kept - near_spreads(rule, v.hand, unseen)) / max(cards, 1)
    return drawn - taken - p[TAKE_MARGIN]


@kernel
def left_after_discard(rule, held):
    """Least that is left over after the best discard."""
    if not any_spread(held_spreads(rule, held)):
        return total(rule, held) - highest_value(rule, held)
    best, left = 1000, held
    while left != ZERO:
        rest = least_left(rule, held & ~bit(lowest(left)))[0]
        best = min(best, rest)
        left = without_lowest(left)
    return best


@kernel
def highest_loose(rule, held):
    """Points that the best discard takes off a hand."""
    if not any_spread(held_spreads(rule, held)):
        return highest_value(rule, held)
    return least_left(rule, held)[0] - left_after_discard(rule, held)


@kernel
def choose_lay(rule, v, words):
    """The spread or hit after which the least is left over, more points first; -1 when there is none."""
    best, best_left, best_points = np.int64(-1), 1000, -1
    for word in range(W_HIT_BOOK, NUM_WORDS):
        left = words[word]
        while left != ZERO:
            index = lowest(left)
            cards = cards_of_move(rule, v.hand, word, index)
            rest, points = least_left(rule, v.hand & ~cards)[0], total(rule, cards)
            if rest < best_left or (rest == best_left and points > best_points):
                best, best_left, best_points = np.int64(ACTION_AT[word, index]), rest, points
            left = without_lowest(left)
    return best


@kernel
def next_player(v):
    """Relative seat of the next player in the hand."""
    for k in range(1, 6):
        if (v.live >> k) & 1:
            return k
    return 1


@kernel
def choose_discard(rule, v, words, p):
    """The discard that leaves the least, less what may still come of the cards kept, plus what it may give the next."""
    unseen = unseen_of(rule, v)
    cards = max(popcount(unseen), 1)
    after = next_player(v)
    density_held = (v.sizes[after] - popcount(v.known[after])) / cards
    spreads = any_spread(held_spreads(rule, v.hand))
    points = total(rule, v.hand)
    promise = p[PROMISE] * min(rule.hand_size - 1, 4) / 4.0 if v.phase < 2 else 0.0  # small hands are over sooner
    open_places = v.open_book | v.open_high | v.open_low
    best, best_score = np.int64(-1), 1e9
    left = words[W_DISCARD]
    while left != ZERO:
        index = lowest(left)
        card = bit(index)
        rest = v.hand & ~card
        score = 1.0 * (least_left(rule, rest)[0] if spreads else points - rule.value[index & 15])
        score -= promise * near_spreads(rule, rest, unseen) / cards
        score += p[FEED] * density_held * density_held * fits_nearby(rule, card, unseen)
        if v.known[after] != ZERO:
            score += p[KNOWN_FEED] * known_fit(rule, card, v.known[after])
        if card & open_places != ZERO:
            score += 5.0
        if card & rule.wild_mask != ZERO:
            score += 20.0
        if score < best_score:
            best, best_score = np.int64(ACTION_AT[W_DISCARD, index]), score
        left = without_lowest(left)
    return best


@kernel
def known_fit(rule, card, known):
    """How many cards known to be in a hand lie beside a card: of its rank, or next to it in its suit."""
    index = lowest(card)
    beside = (card << np.uint64(1)) | (card >> np.uint64(1)) | (card << np.uint64(2)) | (card >> np.uint64(2))
    return popcount(known & ((RANK << np.uint64(index & 15)) | beside))
