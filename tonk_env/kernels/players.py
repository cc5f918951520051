"""Compiled players: random, drop at a count, greedy, expert. They see a view (R39) and the legal moves, nothing else."""

from __future__ import annotations

import numpy as np

from tonk_env.actions import ACTION_AT, F_DROP, F_PASS, F_TAKE, W_DISCARD, W_FLAGS, W_HIT_BOOK
from tonk_env.kernels.bits import ZERO, below, bit, has, kernel, lowest, nth, popcount, without_lowest
from tonk_env.kernels.expert import choose_expert, settings_of
from tonk_env.kernels.held import any_spread, held_spreads, least_left, total
from tonk_env.kernels.legal import cards_of_move
from tonk_env.state import NUM_WORDS

EXTERNAL, RANDOM, DROP, GREEDY, EXPERT = -1, 0, 1, 2, 3
GREEDY_DROP = np.int16(10)  # greedy drops at this count or less
SMALL = 3  # greedy takes a discard of at most this value


@kernel
def choose(rule, kind, param, v, words, random):
    """Action number chosen by a compiled player. ``random`` is a fresh 64-bit random word."""
    if kind == RANDOM:
        return choose_random(words, random)
    if kind == DROP:
        return choose_greedy(rule, v, words, param)
    if kind == EXPERT:
        return choose_expert(rule, v, words, settings_of(rule, v))
    return choose_greedy(rule, v, words, GREEDY_DROP)


@kernel
def choose_random(words, random):
    """Every legal move with the same probability."""
    moves = np.int64(0)
    for word in range(NUM_WORDS):
        moves += popcount(words[word])
    n = below(random, moves)
    if n < popcount(words[W_FLAGS]):
        return np.int64(ACTION_AT[W_FLAGS, nth(words[W_FLAGS], n)])
    for word in range(NUM_WORDS):
        here = popcount(words[word])
        if n < here:
            return np.int64(ACTION_AT[word, nth(words[word], n)])
        n -= here
    return np.int64(-1)


@kernel
def choose_greedy(rule, v, words, drop_at):
    """Leave the least count: drop at ``drop_at`` or less, lay and hit whatever takes most points off, throw the highest."""
    flags = words[W_FLAGS]
    if has(flags, F_DROP) and (v.phase != 0 or v.count <= drop_at):
        return np.int64(ACTION_AT[W_FLAGS, F_DROP])
    if flags != ZERO and (v.phase == 0 or v.phase == 3):
        if has(flags, F_TAKE) and wants_top(rule, v):
            return np.int64(ACTION_AT[W_FLAGS, F_TAKE])
        rest = flags & ~(bit(F_TAKE) | bit(F_DROP))
        return np.int64(ACTION_AT[W_FLAGS, lowest(rest if rest != ZERO else flags)])
    best = best_lay(rule, v, words)
    if best >= 0:
        return best
    if has(flags, F_PASS):
        return np.int64(ACTION_AT[W_FLAGS, F_PASS])
    return best_discard(rule, v, words)


@kernel
def wants_top(rule, v):
    """Whether the top discard is small, fits a spread on the table, or completes one in hand."""
    card = v.top
    if rule.value[lowest(card) & 15] <= SMALL or card & rule.wild_mask != ZERO:
        return True
    if card & (v.open_book | v.open_high | v.open_low) != ZERO:
        return True
    with_card = least_left(rule, v.hand | card)[0]
    return with_card < least_left(rule, v.hand)[0] + 1 and any_spread(held_spreads(rule, v.hand | card))


@kernel
def best_lay(rule, v, words):
    """The spread or hit that takes the most points off the hand; -1 when there is none."""
    best, best_points = np.int64(-1), -1
    for word in range(W_HIT_BOOK, NUM_WORDS):
        left = words[word]
        while left != ZERO:
            index = lowest(left)
            points = total(rule, cards_of_move(rule, v.hand, word, index))
            if points > best_points:
                best, best_points = np.int64(ACTION_AT[word, index]), points
            left = without_lowest(left)
    return best


@kernel
def best_discard(rule, v, words):
    """The discard that leaves the least; among equals the highest card, then the first."""
    best, best_left, best_value = np.int64(-1), 1000, -1
    left = words[W_DISCARD]
    while left != ZERO:
        index = lowest(left)
        value = np.int64(rule.value[index & 15])
        rest = least_left(rule, v.hand & ~bit(index))[0]
        if rest < best_left or (rest == best_left and value > best_value):
            best, best_left, best_value = np.int64(ACTION_AT[W_DISCARD, index]), rest, value
        left = without_lowest(left)
    return best


