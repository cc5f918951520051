"""What each move does: one function a move, and the end of a turn (R11 to R29). Unchecked: the move must be legal."""

from __future__ import annotations

import numpy as np

from tonk_env.actions import (
    ACTION_BIT,
    ACTION_WORD,
    F_DRAW,
    F_DROP,
    F_TAKE,
    W_DISCARD,
    W_FLAGS,
)
from tonk_env.cards import BIT_OF_CARD, CARD_OF_BIT
from tonk_env.kernels.arrange import lay_arrangement
from tonk_env.kernels.bits import ZERO, bit, kernel
from tonk_env.kernels.deal import clear_hand, deal_cards, is_opening, left_of, next_card, pop_pile, push_pile, stock_size
from tonk_env.kernels.held import total
from tonk_env.kernels.lay import is_hit_word, lay_hit, lay_spread
from tonk_env.kernels.legal import LAST_PLAY, LAST_START, PASSED, PLAY, START, TUNK, update_legal
from tonk_env.kernels.settle import (
    OVER,
    RUN_OUT,
    STOCK,
    TONK_OUT,
    TURN_LIMIT,
    settle_drop,
    settle_opening,
    settle_out,
    settle_stock,
    settle_tunk,
    settle_void,
    sits,
)


@kernel
def start_hand(rule, t):
    """Deal a hand to the seats in ``live`` and settle it if a dealt hand is an opening tonk (R4, R7)."""
    clear_hand(t)
    t.in_hand = t.live
    deal_cards(rule, t)
    t.turn = t.start
    t.phase = START
    openers = np.int64(0)
    for seat in range(t.num_players):
        if sits(t, seat) and is_opening(rule, t.hand[seat], total(rule, t.hand[seat])):
            openers |= 1 << seat
    if openers:
        settle_opening(rule, t, openers)
    else:
        update_legal(rule, t)


@kernel
def apply(rule, t, action):
    """Play a legal move at a table and work out what is legal next."""
    word, index = np.int64(ACTION_WORD[action]), np.int64(ACTION_BIT[action])
    if word == W_FLAGS:
        if index == F_DROP:
            drop_or_tunk(rule, t)
        elif index == F_DRAW:
            draw_stock(rule, t)
        elif index == F_TAKE:
            take_discard(rule, t)
        else:
            pass_turn(rule, t)
    elif word == W_DISCARD:
        discard(rule, t, index)
    else:
        if is_hit_word(word):
            hit(rule, t, word, index)
        else:
            spread(rule, t, word, index)
        if t.hand[t.turn] == ZERO:
            hand_emptied(rule, t)
    if t.phase != OVER:
        update_legal(rule, t)


@kernel
def drop_or_tunk(rule, t):
    """Drop (R21), or say tunk (R26)."""
    if t.phase == PLAY:
        t.tunker = t.turn
        t.phase = TUNK
    else:
        settle_drop(rule, t, np.int64(t.turn))


@kernel
def begin_play(t):
    """After drawing or taking: the bars on dropping fall by one (R23)."""
    seat = t.turn
    if t.waiting[seat] > 0:
        t.waiting[seat] -= 1
    if t.frozen[seat] > 0:
        t.frozen[seat] -= 1
    t.hits = 0
    t.phase = PLAY if t.phase == START else LAST_PLAY


@kernel
def draw_stock(rule, t):
    """Draw the top stock card (R11), or end the hand by asking for the empty stock (R24)."""
    if stock_size(rule, t) == 0:
        settle_stock(rule, t, STOCK)
        return
    t.hand[t.turn] |= bit(BIT_OF_CARD[next_card(rule, t)])
    begin_play(t)


@kernel
def take_discard(rule, t):
    """Take the top of the discard pile (R11, R12). Everybody knows the card."""
    card = bit(BIT_OF_CARD[pop_pile(t)])
    t.hand[t.turn] |= card
    t.known[t.turn] |= card
    t.taken = card
    t.must_use = rule.taken_discard == 2
    begin_play(t)


@kernel
def pass_turn(rule, t):
    """Pass instead of drawing; the second pass ends the last turn (R27)."""
    if t.phase == LAST_START:
        t.phase = PASSED
    else:
        end_turn(rule, t)


@kernel
def spread(rule, t, word, index):
    """Lay a spread (R13, R14) and bar the own drop (R22)."""
    lay_spread(rule, t, np.int64(t.turn), word, index)
    t.must_use = False
    if rule.wait > 0:
        t.waiting[t.turn] = rule.wait


@kernel
def hit(rule, t, word, index):
    """Hit a spread (R15) and freeze its owner (R23)."""
    seat = np.int64(t.turn)
    owner = np.int64(lay_hit(rule, t, seat, word, index))
    t.must_use = False
    t.hits += 1
    if rule.freeze > 0 and owner != seat:
        t.frozen[owner] = t.frozen[owner] + rule.freeze if rule.freeze_stacks else rule.freeze


@kernel
def hand_emptied(rule, t):
    """A spread or hit emptied the hand: tonk out (R18), or the end of a last turn (R27)."""
    if t.tunker >= 0:
        end_turn(rule, t)
    else:
        settle_out(rule, t, np.int64(t.turn), TONK_OUT)


@kernel
def discard(rule, t, index):
    """Put a card on the pile (R17)."""
    seat = np.int64(t.turn)
    keep = ~bit(index)
    t.hand[seat] &= keep
    t.known[seat] &= keep
    push_pile(t, CARD_OF_BIT[index], seat)
    if t.phase == TUNK:
        begin_last_turns(rule, t)
    elif t.hand[seat] == ZERO and t.tunker < 0:
        settle_out(rule, t, seat, RUN_OUT)
    else:
        end_turn(rule, t)


@kernel
def begin_last_turns(rule, t):
    """Lay the tunker's spreads; every other player has one last turn (R26, R27)."""
    seat = np.int64(t.turn)
    lay_arrangement(rule, t, seat)
    t.tunk_clean = t.hand[seat] == ZERO
    others = 0
    for other in range(t.num_players):
        others += 1 if sits(t, other) and other != seat else 0
    t.last_left = others + 1
    end_turn(rule, t)


@kernel
def end_turn(rule, t):
    """End a turn that did not empty the hand: stock, turn limit, or the next seat (R19, R24, R29)."""
    t.turns += 1
    t.taken = ZERO
    t.must_use = False
    if t.tunker >= 0:
        t.last_left -= 1
        if t.last_left == 0:
            settle_tunk(rule, t)
            return
        t.phase = LAST_START
    elif stock_size(rule, t) == 0 and not rule.on_demand:
        if rule.drop == 1:
            settle_void(rule, t)
        else:
            settle_stock(rule, t, STOCK)
        return
    elif t.turns >= rule.max_turns:
        settle_stock(rule, t, TURN_LIMIT)
        return
    else:
        t.phase = START
    t.turn = left_of(t, np.int64(t.turn), np.int64(t.in_hand))
