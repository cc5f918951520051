"""Determinised rollouts: the hidden cards dealt as they may well lie, every candidate move tried on the same deals.

A seat's knowledge (its observation and mask) is all that goes in. Hidden cards are drawn one by one, as likely as the
others' play makes them, and each deal is played to the end of the hand by `expert` at all seats.
"""

from __future__ import annotations

import numpy as np

from tonk_env.actions import ACTION_AT, W_DISCARD, W_FLAGS
from tonk_env.cards import CARD_OF_BIT
from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import ZERO, below, bit, draw, jit, kernel, lowest, mix, nth, popcount, row_of, without_lowest
from tonk_env.kernels.expert import EXCEPTION, NUM_SETTINGS, choose_expert, drop_gain, outlasts, settings_of
from tonk_env.kernels.guess import count_of_value, lowest_value, unseen_of
from tonk_env.kernels.held import any_spread, count_of, held_spreads, least_left, total
from tonk_env.kernels.legal import AFTER_DRAW, TUNK, cards_of_move, update_legal
from tonk_env.kernels.match import ELIMINATION, hand_reward
from tonk_env.kernels.observe import read_mask, read_view, view_of
from tonk_env.kernels.rebuild import rebuild_public
from tonk_env.kernels.settle import OVER
from tonk_env.state import NUM_WORDS

ONLY = np.int64(0)  # an array of one dimension is one row
MAX_MOVES = 16  # candidates; of more legal moves those are tried that leave least in hand
MAX_HARD, MAX_SOFT = 2000, 24  # deals tried before what is impossible, and what is implausible, is let pass
# What the search takes to be so, float64[3]:
(
    HIGHER,  # weight of a card above the lowest that its holder threw
    TRUST,  # weight that the others in play-outs give such a card of mine: 1 is no trust in discards at all
    DOUBT,  # share of deals kept in which somebody who did not drop should have
) = range(3)


@kernel
def set_up(rule, v, beliefs, settings):
    """Fill ``settings`` float64[2, NUM_SETTINGS]: the viewer's in play-outs, and the others'."""
    mine = settings_of(rule, v)
    for i in range(NUM_SETTINGS):
        settings[0, i] = settings[1, i] = mine[i]
    settings[1, EXCEPTION] = beliefs[TRUST]



@kernel
def play_out(rule, layout, t, view, settings):
    """Play a hand to its end, the expert at every seat."""
    while t.phase != OVER:
        view_of(rule, layout, t, np.int64(t.turn), view)
        apply(rule, t, choose_expert(rule, view, t.legal, settings[0 if t.turn == 0 else 1]))


@kernel
def worth(rule, t):
    """What a finished hand is worth to seat 0: its reward, or in a match to elimination the chance to outlast the others.

    The chance is scaled to the reward of places, -1 to 1.
    """
    if rule.match != ELIMINATION or not rule.place_reward:
        return hand_reward(rule, t, 0) / rule.scale
    chance, others = 0.0, 0
    for k in range(1, 6):
        if (t.in_hand >> k) & 1:
            mine, theirs = rule.limit - t.totals[0] - t.scores[0], rule.limit - t.totals[k] - t.scores[k]
            chance += 0.5 if mine <= 0.0 and theirs <= 0.0 else outlasts(mine, theirs)
            others += 1
    return 2.0 * chance / max(others, 1) - 1.0


@kernel
def uniform(key, at):
    """A number in [0, 1)."""
    return np.float64(draw(key, at) >> np.uint64(40)) / 16777216.0


@kernel
def deal_hidden(rule, v, t, unseen, key, pool, higher):
    """Deal the unseen cards to the others' hands and the stock of a rebuilt table.

    Players throw their highest cards: one above the lowest card that a player threw is ``higher`` times as likely in its
    hand. Of cards of that very value any might have been thrown: the i-th kept beside t thrown has the weight i / (i + t).
    """
    n, at = 0, 0
    while unseen != ZERO:
        pool[n] = lowest(unseen)
        unseen = without_lowest(unseen)
        n += 1
    for k in range(1, 6):
        hidden = v.sizes[k] - popcount(v.known[k]) if (v.live >> k) & 1 else 0
        ceiling = lowest_value(rule, v.thrown[k]) if rule.drop != AFTER_DRAW else 99
        thrown, equal = count_of_value(rule, v.thrown[k], ceiling), 0
        for _ in range(min(hidden, n)):
            level = (equal + 1.0) / (equal + 1.0 + thrown)
            sum_weights = 0.0
            for i in range(n):
                value = rule.value[pool[i] & 15]
                sum_weights += 1.0 if value < ceiling else level if value == ceiling else higher
            rest, i = uniform(key, at) * sum_weights, -1
            at += 1
            while rest >= 0.0 and i < n - 1:
                i += 1
                value = rule.value[pool[i] & 15]
                rest -= 1.0 if value < ceiling else level if value == ceiling else higher
            equal += 1 if rule.value[pool[i] & 15] == ceiling else 0
            t.hand[k] |= bit(pool[i])
            n -= 1
            pool[i] = pool[n]
    for i in range(min(n, np.int64(rule.deck_size) - np.int64(t.dealt))):
        other = i + below(draw(key, at + i), n - i)
        pool[i], pool[other] = pool[other], pool[i]
        t.deck[t.dealt + i] = CARD_OF_BIT[pool[i]]


@kernel
def possible(rule, v, t):
    """Whether the others' hands agree with the rules: R16 for those who threw a card, R26 for the tunker."""
    for k in range(1, 6):
        if not (v.live >> k) & 1:
            continue
        if k == v.tunker and v.phase > TUNK:
            if any_spread(held_spreads(rule, t.hand[k])):
                return False
            if rule.drop_at_most > 0 and total(rule, t.hand[k]) > rule.drop_at_most:
                return False
        elif rule.must_spread and v.thrown[k] != ZERO and any_spread(held_spreads(rule, t.hand[k])):
            return False
    return True


@kernel
def plausible(rule, layout, v, t, view, key, p):
    """Whether everybody who has had a turn and did not drop, or tunk, would have played so with the hand dealt here."""
    for k in range(1, 6):
        if not (v.live >> k) & 1 or v.thrown[k] == ZERO or k == v.tunker:
            continue
        if rule.drop == AFTER_DRAW:
            if v.tunker < 0 and rule.drop_at_most > 0 and least_left(rule, t.hand[k])[0] <= rule.drop_at_most:
                return False
            continue
        hidden = t.hand[k] & ~t.known[k]
        if rule.drop != 0 or hidden == ZERO or v.frozen[k] > 0 or v.waiting[k] > 0:
            continue
        drawn = bit(nth(hidden, below(draw(key, np.int64(k)), popcount(hidden))))
        thrown = v.thrown[k] & v.top if v.thrown[k] & v.top != ZERO else lowest_of(rule, v.thrown[k])
        view_of(rule, layout, t, k, view)
        view.hand = (t.hand[k] & ~drawn) | thrown
        view.count = count_of(rule, view.hand)
        if drop_gain(rule, view, p) > 0.0:
            return False
    return True


@kernel
def lowest_of(rule, held):
    """A card of least value in a set, as a set."""
    best, least = ZERO, 100
    while held != ZERO:
        index = lowest(held)
        if rule.value[index & 15] < least:
            best, least = bit(index), np.int64(rule.value[index & 15])
        held = without_lowest(held)
    return best


@kernel
def imagine(rule, layout, v, tables, unseen, key, view, pool, settings, beliefs):
    """Deal ``tables[1]`` from ``tables[0]``: possible hands, and plausible ones but for a share of doubt."""
    doubtful = 0
    for i in range(MAX_HARD):
        tables[1] = tables[0]
        one = draw(key, np.int64(i))
        deal_hidden(rule, v, tables[1], unseen, one, pool, beliefs[HIGHER])
        if not possible(rule, v, tables[1]):
            continue
        once = mix(one)
        if doubtful >= MAX_SOFT or uniform(once, np.int64(9)) < beliefs[DOUBT]:
            return
        if plausible(rule, layout, v, tables[1], view, once, settings[1]):
            return
        doubtful += 1


@kernel
def hand_after(rule, v, word, index):
    """Points left in hand after a move, as far as they tell which moves are worth trying."""
    if word == W_FLAGS:
        return -1000
    if word == W_DISCARD:
        return least_left(rule, v.hand & ~bit(index))[0]
    return least_left(rule, v.hand & ~cards_of_move(rule, v.hand, word, index))[0]


@jit
def candidates(rules, layouts, observation, mask, tables, views, moves):
    """Write the moves worth trying to ``moves`` int64[MAX_MOVES], the expert's first. Returns how many.

    ``tables`` (one record or more) and ``views`` are overwritten.
    """
    rule, v, words = rules[0], views[0], tables[0].legal
    read_view(layouts[0], row_of(observation, ONLY), v)
    read_mask(row_of(mask, ONLY), mask.shape[0], tables[0])
    moves[0] = choose_expert(rule, v, words, settings_of(rule, v))
    left = np.zeros(MAX_MOVES, np.int64)
    left[0] = -2000
    count = 1
    for word in range(NUM_WORDS):
        rest = words[word]
        while rest != ZERO:
            index = lowest(rest)
            rest = without_lowest(rest)
            move, points = np.int64(ACTION_AT[word, index]), hand_after(rule, v, word, index)
            if move == moves[0] or (count == MAX_MOVES and points >= left[count - 1]):
                continue
            at = min(count, MAX_MOVES - 1)
            while left[at - 1] > points:
                moves[at], left[at] = moves[at - 1], left[at - 1]
                at -= 1
            moves[at], left[at] = move, points
            count = min(count + 1, MAX_MOVES)
    return count


@jit
def imagine_one(rules, layouts, observation, seed, number, tables, views, settings, beliefs):
    """Deal ``tables[1]``, one of the tables that the search plays out, with what is legal there.

    The viewer sits at seat 0. ``tables`` has three records, ``views`` two. Returns whether the spreads on the table could be
    told apart.
    """
    rule, layout, v = rules[0], layouts[0], views[0]
    read_view(layout, row_of(observation, ONLY), v)
    sorted_out = rebuild_public(rule, layout, v, tables[0])
    key = draw(deals_key(v, seed), number)
    set_up(rule, v, beliefs, settings)
    imagine(rule, layout, v, tables, unseen_of(rule, v), key, views[1], np.zeros(64, np.int64), settings, beliefs)
    update_legal(rule, tables[1])
    return sorted_out


@kernel
def deals_key(v, seed):
    """Key of the deals imagined for a view."""
    return mix(seed ^ v.hand ^ mix(v.top + np.uint64(v.turns)) ^ mix(v.known[1] ^ v.thrown[1]))


@jit
def explore(
    rules, layouts, observation, seed, first, last, tables, views, settings, beliefs, moves, alive, sums, squares
):
    """Play deals ``first`` to ``last - 1`` with every candidate that is ``alive``; the deals are the same for all.

    Adds what each candidate earned over the first one, deal by deal, to ``sums`` and ``squares`` float64[M]; the first
    one's own result goes to ``sums[0]``. Deals depend on the observation, ``seed`` and their number alone. ``tables`` (three
    records) and ``views`` (two) are overwritten; they come from outside, as a record does not keep its array alive.
    """
    rule, layout, v, view = rules[0], layouts[0], views[0], views[1]
    read_view(layout, row_of(observation, ONLY), v)
    set_up(rule, v, beliefs, settings)
    rebuild_public(rule, layout, v, tables[0])
    unseen, pool = unseen_of(rule, v), np.zeros(64, np.int64)
    key = deals_key(v, seed)
    for world in range(first, last):
        imagine(rule, layout, v, tables, unseen, draw(key, world), view, pool, settings, beliefs)
        base = 0.0
        for i in range(moves.shape[0]):
            if not alive[i]:
                continue
            tables[2] = tables[1]
            apply(rule, tables[2], moves[i])
            play_out(rule, layout, tables[2], view, settings)
            value = worth(rule, tables[2])
            if i == 0:
                base = value
                sums[0] += value
            else:
                sums[i] += value - base
                squares[i] += (value - base) * (value - base)
