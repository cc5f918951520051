"""Dealing (R4): a deck is a function of seed, table and hand number; cards are shuffled only as far as they are dealt."""

from __future__ import annotations

import numpy as np

from tonk_env.cards import BIT_OF_CARD
from tonk_env.kernels.bits import ZERO, below, bit, copy_deck, draw, has, inline, jit, kernel, mix, popcount, small
from tonk_env.kernels.held import all_in_spreads
from tonk_env.kernels.lay import clear_spreads
from tonk_env.state import NOBODY


@kernel
def deck_key(seed, table_id, deal):
    """Key of one deck. Neighbouring seeds, tables and hands share nothing."""
    key = mix(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
    key = mix(key ^ (np.uint64(table_id) + np.uint64(0xD1B54A32D192ED03)))
    return mix(key ^ (np.uint64(deal) + np.uint64(0x8CB92BA72F3D8DD7)))


@small
def card_at(rule, t, at):
    """Card number at a place of the deck, counted from 0, when all before it are dealt.

    One step of a Fisher-Yates shuffle from the front: a deck is shuffled only as far as it is dealt.
    """
    if t.stacked:
        return np.int64(t.deck[at])
    other = at + below(draw(t.key, at), rule.deck_size - at)
    card = t.deck[other]
    t.deck[other] = t.deck[at]
    t.deck[at] = card
    return np.int64(card)


@kernel
def next_card(rule, t):
    """Card number of the next card of the deck."""
    at = np.int64(t.dealt)
    t.dealt = at + 1
    return card_at(rule, t, at)


@jit
def finish_shuffle(rules, tables):
    """Deal order of the cards still in the stock, without drawing them: completes ``deck``. Arrays of one record."""
    rule, t = rules[0], tables[0]
    dealt = t.dealt
    for _ in range(rule.deck_size - np.int64(dealt)):
        next_card(rule, t)
    t.dealt = dealt


@kernel
def stock_size(rule, t):
    """Cards left in the stock."""
    return np.int64(rule.deck_size) - np.int64(t.dealt)


@kernel
def push_pile(t, card, thrower):
    """Put a card on the discard pile; NOBODY throws the upcard."""
    t.pile[t.pile_size] = card
    t.pile_size += 1
    t.thrown[thrower] |= bit(BIT_OF_CARD[card])


@kernel
def pop_pile(t):
    """Take the top of the discard pile. Returns its card number."""
    t.pile_size -= 1
    card = np.int64(t.pile[t.pile_size])
    keep = ~bit(BIT_OF_CARD[card])
    for i in range(7):
        t.thrown[i] &= keep
    return card


@kernel
def clear_hand(t):
    """Reset everything that belongs to one hand."""
    for seat in range(6):
        t.hand[seat] = t.known[seat] = ZERO
        t.thrown[seat] = ZERO
        t.waiting[seat] = t.frozen[seat] = 0
    t.thrown[NOBODY] = ZERO
    clear_spreads(t)
    t.taken = ZERO
    t.turns = t.hits = t.last_left = 0
    t.pile_size = t.dealt = 0
    t.tunker = -1
    t.must_use = t.tunk_clean = False


@kernel
def left_of(t, seat, among):
    """Next seat to the left among some seats (R10)."""
    for _ in range(6):
        seat = seat + 1 if seat + 1 < t.num_players else 0
        if (among >> seat) & 1:
            return seat
    return seat


@inline
def size_of(seats):
    """Number of seats in a bit set."""
    return popcount(np.uint64(seats))


@kernel
def deal_cards(rule, t):
    """Deal a hand to the live seats, one card at a time from the seat that plays first, then the upcard (R4)."""
    if not t.stacked:
        t.key = deck_key(t.seed, t.table_id, t.deal)
        copy_deck(t.deck, rule.deck)
    players = size_of(t.in_hand)
    t.dealt = players * rule.hand_size
    for at in range(t.dealt):
        card_at(rule, t, np.int64(at))
    seat = np.int64(t.start)
    for first in range(players):
        held = ZERO
        for i in range(rule.hand_size):
            held |= bit(BIT_OF_CARD[t.deck[first + i * players]])
        t.hand[seat] = held
        seat = left_of(t, seat, np.int64(t.in_hand))
    if rule.upcard:
        push_pile(t, next_card(rule, t), NOBODY)


@kernel
def is_opening(rule, held, points):
    """Whether a dealt hand is an opening tonk (R7). ``points`` is its plain total."""
    if points < 128 and has(rule.opening_counts[points >> 6], points & 63):
        return True
    if points <= rule.opening_at_most or points >= rule.opening_at_least:
        return True
    return rule.opening_spread and all_in_spreads(rule, held)
