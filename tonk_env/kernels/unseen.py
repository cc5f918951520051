"""Deals the cards that a seat cannot see again, consistently with what it knows (R39)."""

from __future__ import annotations

import numpy as np

from tonk_env.cards import BIT_OF_CARD, CARD_OF_BIT, NUM_CARDS
from tonk_env.kernels.bits import ZERO, below, bit, draw, jit, kernel, lowest, without_lowest
from tonk_env.kernels.deal import finish_shuffle, is_opening, left_of
from tonk_env.kernels.held import any_spread, held_spreads, total
from tonk_env.kernels.legal import OVER, START, TUNK, update_legal
from tonk_env.kernels.settle import sits
from tonk_env.state import NUM_WORDS


@kernel
def unseen_cards(rule, t, seat, cards):
    """Write the cards that a seat cannot see: the stock, and hands of others but for cards taken. Returns how many."""
    count = 0
    for other in range(t.num_players):
        if other != seat and sits(t, other):
            left = t.hand[other] & ~t.known[other]
            while left != ZERO:
                cards[count] = CARD_OF_BIT[lowest(left)]
                count += 1
                left = without_lowest(left)
    for i in range(t.dealt, rule.deck_size):
        cards[count] = t.deck[i]
        count += 1
    return count


@kernel
def exchange(cards, count, key, image):
    """Draw a random permutation of some cards: ``image[card]`` is the card that takes its place."""
    shuffled = cards.copy()
    for i in range(count - 1):
        other = i + below(draw(key, i), count - i)
        shuffled[i], shuffled[other] = shuffled[other], shuffled[i]
    for card in range(NUM_CARDS):
        image[card] = card
    for i in range(count):
        image[cards[i]] = shuffled[i]


@kernel
def put_images(rule, t, seat, image):
    """Replace every unseen card, where it lies and where the deck deals it."""
    for other in range(t.num_players):
        if other != seat and sits(t, other):
            left = t.hand[other] & ~t.known[other]
            t.hand[other] &= t.known[other]
            while left != ZERO:
                t.hand[other] |= bit(BIT_OF_CARD[image[CARD_OF_BIT[lowest(left)]]])
                left = without_lowest(left)
    for i in range(rule.deck_size):
        t.deck[i] = image[t.deck[i]]


@kernel
def no_opening(rule, t):
    """Whether no hand, as the deck deals it, would have ended the deal (R7)."""
    players = 0
    for seat in range(t.num_players):
        players += 1 if sits(t, seat) else 0
    for first in range(players):
        held = ZERO
        for i in range(rule.hand_size):
            held |= bit(BIT_OF_CARD[t.deck[first + i * players]])
        if is_opening(rule, held, total(rule, held)):
            return False
    return True


@kernel
def hands_possible(rule, t):
    """Whether the hands agree with the moves seen: R16 for those who threw a card, R26 for the tunker."""
    seat, turn_begun = np.int64(t.start), t.phase != START
    if t.tunker >= 0 and t.phase != TUNK:
        rest = t.hand[t.tunker]
        if any_spread(held_spreads(rule, rest)):
            return False
        if rule.drop_at_most > 0 and total(rule, rest) > rule.drop_at_most:
            return False
    if rule.must_spread:
        for _ in range(min(t.turns, 6)):
            if not (seat == t.turn and turn_begun) and any_spread(held_spreads(rule, t.hand[seat])):
                return False
            seat = left_of(t, seat, np.int64(t.in_hand))
    return True


@kernel
def can_move(t):
    """Whether the seat on turn has a legal move."""
    found = ZERO
    for word in range(NUM_WORDS):
        found |= t.legal[word]
    return found != ZERO


@jit
def deal_unseen(rules, tables, seat, key, tries):
    """Deal again at ``tables[1]`` what ``seat`` cannot see at ``tables[0]``; ``rules`` holds one record and
    ``tables`` two.

    Every arrangement of the unseen cards that agrees with the rules and the moves seen is equally likely. Returns the
    number of tries, or 0 when none of ``tries`` agreed (``tables[1]`` is then as ``tables[0]``).
    """
    rule = rules[0]
    finish_shuffle(rules, tables)
    tables[0].stacked = True
    image, cards = np.zeros(NUM_CARDS, np.int64), np.zeros(NUM_CARDS, np.int64)
    for i in range(tries):
        tables[1] = tables[0]
        t = tables[1]
        exchange(cards, unseen_cards(rule, t, seat, cards), draw(key, i), image)
        put_images(rule, t, seat, image)
        if t.phase == OVER:
            return i + 1
        if no_opening(rule, t) and hands_possible(rule, t):
            update_legal(rule, t)
            if can_move(t):
                return i + 1
    tables[1] = tables[0]
    return 0
