"""Compiled players: random, drop at a count, greedy, expert. They see a view (R39) and the legal moves, nothing else."""

from __future__ import annotations

import numpy as np

from tonk_env.actions import ACTION_AT, F_DROP, F_PASS, F_TAKE, W_DISCARD, W_FLAGS
from tonk_env.kernels.bits import ZERO, below, bit, has, kernel, lowest, nth, popcount, without_lowest
from tonk_env.kernels.expert import choose_expert, settings_of
from tonk_env.kernels.held import any_spread, held_spreads, least_left, total
from tonk_env.kernels.legal import TURN_WORDS, cards_of_move

EXTERNAL, RANDOM, DROP, GREEDY, EXPERT = -1, 0, 1, 2, 3
GREEDY_DROP = np.int16(10)  # greedy drops at this count or less
SMALL = 3  # greedy takes a discard of at most this value


@kernel
def choose(rule, kind, param, v, t, random):
    """Action number chosen by a compiled player.

    Of the table ``t`` nothing is read but its legal moves; ``random`` is a fresh 64-bit random word.
    """
    if kind == RANDOM:
        return choose_random(t, random)
    if kind == DROP:
        return choose_greedy(rule, v, t, param)
    if kind == EXPERT:
        return choose_expert(rule, v, t.legal, settings_of(rule, v))
    return choose_greedy(rule, v, t, GREEDY_DROP)


@kernel
def choose_random(t, random):
    """Every legal move with the same probability."""
    others = np.int64(t.words) & ~TURN_WORDS
    flags, discards = popcount(t.legal[W_FLAGS]), popcount(t.legal[W_DISCARD])
    moves, left = flags + discards, others
    while left != 0:
        moves += popcount(t.legal[lowest(left)])
        left &= left - 1
    n = below(random, moves)
    first = n < flags  # a choice without a branch: half of all decisions have flags only, the others none
    word = W_FLAGS if first else W_DISCARD
    n -= 0 if first else flags
    if others != 0 and not first:
        here = discards
        while n >= here and others != 0:
            n -= here
            word = lowest(others)
            here = popcount(t.legal[word])
            others &= others - 1
    return np.int64(ACTION_AT[word, nth(t.legal[word], n)])


@kernel
def choose_greedy(rule, v, t, drop_at):
    """Leave the least count: drop at ``drop_at`` or less, lay and hit whatever takes most points off, throw the highest."""
    flags = t.legal[W_FLAGS]
    if has(flags, F_DROP) and (v.phase != 0 or v.count <= drop_at):
        return np.int64(ACTION_AT[W_FLAGS, F_DROP])
    if flags != ZERO and (v.phase == 0 or v.phase == 3):
        if has(flags, F_TAKE) and wants_top(rule, v):
            return np.int64(ACTION_AT[W_FLAGS, F_TAKE])
        rest = flags & ~(bit(F_TAKE) | bit(F_DROP))
        return np.int64(ACTION_AT[W_FLAGS, lowest(rest if rest != ZERO else flags)])
    best = best_lay(rule, v, t)
    if best >= 0:
        return best
    if has(flags, F_PASS):
        return np.int64(ACTION_AT[W_FLAGS, F_PASS])
    return best_discard(rule, v, t)


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
def best_lay(rule, v, t):
    """The spread or hit that takes the most points off the hand; -1 when there is none."""
    best, best_points = np.int64(-1), -1
    others = np.int64(t.words) & ~TURN_WORDS
    while others != 0:
        word = lowest(others)
        others &= others - 1
        left = t.legal[word]
        while left != ZERO:
            index = lowest(left)
            points = total(rule, cards_of_move(rule, v.hand, word, index))
            if points > best_points:
                best, best_points = np.int64(ACTION_AT[word, index]), points
            left = without_lowest(left)
    return best


@kernel
def best_discard(rule, v, t):
    """The discard that leaves the least; among equals the highest card, then the first."""
    best, best_left, best_value = np.int64(-1), 1000, -1
    left = t.legal[W_DISCARD]
    while left != ZERO:
        index = lowest(left)
        value = np.int64(rule.value[index & 15])
        rest = least_left(rule, v.hand & ~bit(index))[0]
        if rest < best_left or (rest == best_left and value > best_value):
            best, best_left, best_value = np.int64(ACTION_AT[W_DISCARD, index]), rest, value
        left = without_lowest(left)
    return best


