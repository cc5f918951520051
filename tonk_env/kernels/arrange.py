"""The arrangement a tunker's spreads are laid in (R26): least left over, fewest cards, then first by its words."""

from __future__ import annotations

import numpy as np

from tonk_env.cards import RANK_NAMES, SUIT_NAMES
from tonk_env.kernels.bits import ZERO, has, kernel, lowest, popcount, without_lowest
from tonk_env.kernels.held import NUM_SPREAD_WORDS, WILD_ORDER, held_spreads, spread_cards, spread_word, total
from tonk_env.kernels.lay import is_book_word, lay_cards
from tonk_env.spreads import KIND_BOOK, KIND_RUN

RANK_CODES = np.frombuffer((RANK_NAMES + "X").encode(), dtype=np.uint8)
SUIT_CODES = np.frombuffer(SUIT_NAMES.encode(), dtype=np.uint8)
BLANK, EQUALS, ONE_CODE = ord(" "), ord("="), ord("1")
NO_WORD, NO_BIT, SECOND, BOTH = np.array([0, -1, 1, 2])
TEXT = 64  # bytes for the words of one spread: eight places of at most six characters


@kernel
def write_card(text, at, index):
    """Write the name of the card of a bit. Returns the next free byte."""
    rank, suit = index & 15, index >> 4
    text[at] = RANK_CODES[rank]
    text[at + 1] = SUIT_CODES[suit] if rank < 13 else ONE_CODE + suit
    return at + 2


@kernel
def write_spread(text, places, natural, wilds):
    """Write the places of a spread in words, zeros after the last: ``6H 2S=7H 8H`` (section 13)."""
    at, wild = 0, 0
    while places != ZERO:
        place = lowest(places)
        if at > 0:
            text[at] = BLANK
            at += 1
        if not has(natural, place):
            while not has(wilds, WILD_ORDER[wild]):
                wild += 1
            at = write_card(text, at, WILD_ORDER[wild])
            text[at] = EQUALS
            at += 1
            wild += 1
        at = write_card(text, at, place)
        places = without_lowest(places)
    for i in range(at, TEXT):
        text[i] = 0


@kernel
def compare(a, b):
    """Order of two texts: -1, 0 or 1. A text that is a prefix comes first."""
    for i in range(TEXT):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return 0


@kernel
def write_candidate(texts, sets, count):
    """Sort the one or two spreads of a candidate by their words."""
    if count == 2 and compare(texts[0], texts[1]) > 0:
        for i in range(TEXT):
            texts[0, i], texts[1, i] = texts[1, i], texts[0, i]
        for i in range(4):
            sets[0, i], sets[1, i] = sets[1, i], sets[0, i]


@kernel
def comes_first(texts, count, best, best_count):
    """Whether a sorted list of words comes before the best so far."""
    for i in range(min(count, best_count)):
        order = compare(texts[i], best[i])
        if order != 0:
            return order < 0
    return count < best_count


@kernel
def note_spread(rule, held, word, index, texts, sets, at):
    """Write one spread of a candidate. Returns the cards left."""
    places, natural, wilds = spread_cards(rule, held, word, index)
    write_spread(texts[at], places, natural, wilds)
    sets[at, 0], sets[at, 1], sets[at, 2] = places, natural, wilds
    sets[at, 3] = np.uint64(1 if is_book_word(word) else 0)
    return held & ~(natural | wilds)


@kernel
def consider(rule, held, first_word, first, second_word, second, texts, sets):
    """Write a candidate of one spread, or of two when ``second`` is not negative. Returns the cards left."""
    rest = note_spread(rule, held, first_word, first, texts, sets, NO_WORD)
    if second < 0:
        return rest
    rest = note_spread(rule, rest, second_word, second, texts, sets, SECOND)
    write_candidate(texts, sets, 2)
    return rest


@kernel
def better(rule, rest, texts, count, best_rest, best, best_count):
    """Whether a candidate beats the best so far by R26."""
    points, best_points = total(rule, rest), total(rule, best_rest)
    if points != best_points:
        return points < best_points
    left, best_left = popcount(rest), popcount(best_rest)
    if left != best_left:
        return left < best_left
    return comes_first(texts, count, best, best_count)


@kernel
def lay_arrangement(rule, t, seat):
    """Lay the spreads of the best arrangement of a hand on the table, in the order of their words."""
    held = t.hand[seat]
    texts, best = np.zeros((2, TEXT), np.uint8), np.zeros((2, TEXT), np.uint8)
    sets, best_sets = np.zeros((2, 4), np.uint64), np.zeros((2, 4), np.uint64)
    best_rest, best_count = held, np.int64(0)
    firsts = held_spreads(rule, held)
    for i in range(NUM_SPREAD_WORDS):
        left = firsts[i]
        while left != ZERO:
            first = lowest(left)
            rest = consider(rule, held, spread_word(i), first, NO_WORD, NO_BIT, texts, sets)
            if better(rule, rest, texts, SECOND, best_rest, best, best_count):
                best_rest, best_count = rest, np.int64(1)
                best[:], best_sets[:] = texts, sets
            seconds = held_spreads(rule, rest)
            for j in range(NUM_SPREAD_WORDS):
                right = seconds[j]
                while right != ZERO:
                    rest = consider(rule, held, spread_word(i), first, spread_word(j), lowest(right), texts, sets)
                    if better(rule, rest, texts, BOTH, best_rest, best, best_count):
                        best_rest, best_count = rest, np.int64(2)
                        best[:], best_sets[:] = texts, sets
                    right = without_lowest(right)
            left = without_lowest(left)
    for i in range(best_count):
        kind = KIND_BOOK if best_sets[i, 3] != ZERO else KIND_RUN
        lay_cards(rule, t, seat, kind, best_sets[i, 0], best_sets[i, 1], best_sets[i, 2])
