"""What is legal in each phase, written as words of legal moves (see ``actions.py``). Built from zero each time."""

from __future__ import annotations

import numpy as np

from tonk_env.actions import (
    F_DRAW,
    F_DROP,
    F_PASS,
    F_TAKE,
    W_BOOK,
    W_DISCARD,
    W_FLAGS,
    W_HIT_BOOK,
    W_HIT_HIGH,
    W_HIT_LOW,
    W_WILD_HIT_BOOK,
    W_WILD_HIT_HIGH,
    W_WILD_HIT_LOW,
)
from tonk_env.cards import BIT_OF_CARD
from tonk_env.kernels.bits import ZERO, bit, inline, keep, kernel, lowest, without_lowest
from tonk_env.kernels.deal import stock_size
from tonk_env.kernels.held import (
    any_spread,
    count_of,
    held_spreads,
    highest_value,
    in_spreads,
    least_left,
    natural_spreads,
    spread_cards,
    spread_word,
    total,
    wild_spreads,
)
from tonk_env.kernels.lay import hit_card, is_hit_word, lay_hit, lay_spread, wild_hits
from tonk_env.state import NUM_WORDS, TABLE_DTYPE, Phase

START, PLAY, TUNK, LAST_START, LAST_PLAY, PASSED, OVER = np.array([int(phase) for phase in Phase])
AFTER_DRAW = 1
NO_RETURN, MUST_USE = 1, 2
NONE = np.int64(0)
TURN_WORDS = np.int64((1 << W_FLAGS) | (1 << W_DISCARD))  # all that most decisions need


@kernel
def clear_legal(t):
    """No move is legal."""
    if t.words > TURN_WORDS:
        for word in range(NUM_WORDS):
            t.legal[word] = ZERO
    else:
        t.legal[W_FLAGS] = t.legal[W_DISCARD] = ZERO
    t.words = 0


@inline
def mark(t, word, moves):
    """Make the moves of a word legal."""
    t.legal[word] = moves
    t.words |= 1 << word


@kernel
def update_legal(rule, t):
    """Write the legal moves of the seat on turn."""
    clear_legal(t)
    if t.phase == START:
        legal_start(rule, t)
    elif t.phase == PLAY:
        if rule.drop == AFTER_DRAW:
            legal_before_tunk(rule, t)
        else:
            legal_play(rule, t)
    elif t.phase == TUNK:
        mark(t, W_DISCARD, tunk_discards(rule, t))
    elif t.phase == LAST_START:
        legal_last_start(rule, t)
    elif t.phase == LAST_PLAY:
        legal_last_play(rule, t)
    elif t.phase == PASSED:
        mark(t, W_FLAGS, bit(F_PASS))
        write_hits(rule, t)


@kernel
def legal_start(rule, t):
    """Drop, draw or take (R11, R20, R22, R23)."""
    flags = bit(F_DROP) if rule.drop == 0 and may_drop(rule, t) else ZERO
    if rule.on_demand or stock_size(rule, t) > 0:
        flags |= bit(F_DRAW)
    if t.pile_size > 0 and may_take(rule, t):
        flags |= bit(F_TAKE)
    mark(t, W_FLAGS, flags)


@kernel
def may_drop(rule, t):
    """Whether the seat on turn may drop (R20, R22, R23)."""
    seat = t.turn
    if t.waiting[seat] > 0 or t.frozen[seat] > 0:
        return False
    return rule.drop_at_most == 0 or count_of(rule, t.hand[seat]) <= rule.drop_at_most


@kernel
def may_take(rule, t):
    """Whether taking the top discard leaves a turn that can be finished (R12)."""
    if rule.taken_discard == 0 or (rule.taken_discard == NO_RETURN and not rule.must_spread):
        return True
    scratch = np.empty(12, TABLE_DTYPE)
    scratch[0] = t
    trial = scratch[0]
    card = bit(BIT_OF_CARD[np.int64(t.pile[t.pile_size - 1])])
    trial.hand[t.turn] |= card
    trial.taken = card
    trial.hits = 0
    if rule.taken_discard == NO_RETURN:
        return can_finish(rule, scratch, NONE)
    clear_legal(trial)
    write_spreads(rule, trial)
    write_hits(rule, trial)
    keep_uses_of_taken(rule, trial)
    found = has_moves(trial)
    keep(scratch)
    return found


@kernel
def has_moves(t):
    """Whether any spread or hit is marked legal."""
    found = ZERO
    for word in range(W_HIT_BOOK, NUM_WORDS):
        found |= t.legal[word]
    return found != ZERO


@kernel
def write_spreads(rule, t):
    """Mark the spreads held by the seat on turn (R13, R14). Returns whether there is one."""
    held = t.hand[t.turn]
    natural = natural_spreads(rule, held)
    found = ZERO
    for i in range(8):
        found |= natural[i]
    if found != ZERO:
        for i in range(8):
            mark(t, W_BOOK + i, natural[i])
    if rule.wild != 0:
        wild = wild_spreads(rule, held)
        for i in range(10):
            mark(t, spread_word(8 + i), wild[i])
            found |= wild[i]
    return found != ZERO


@kernel
def write_hits(rule, t):
    """Mark the hits of the seat on turn (R15, R27)."""
    if t.num_spreads == 0 or t.tunk_clean or (rule.max_hits > 0 and t.hits >= rule.max_hits):
        return
    held = t.hand[t.turn]
    mark(t, W_HIT_BOOK, held & t.open_book)
    mark(t, W_HIT_HIGH, held & t.open_high)
    mark(t, W_HIT_LOW, held & t.open_low)
    if rule.wild != 0:
        mark(t, W_WILD_HIT_BOOK, wild_hits(rule, held, t.open_book))
        mark(t, W_WILD_HIT_HIGH, wild_hits(rule, held, t.open_high))
        mark(t, W_WILD_HIT_LOW, wild_hits(rule, held, t.open_low))


@kernel
def legal_play(rule, t):
    """Spread, hit or discard after drawing (R12 to R17)."""
    held_one = write_spreads(rule, t)
    write_hits(rule, t)
    if t.must_use:
        keep_uses_of_taken(rule, t)
        return
    if not (rule.must_spread and held_one):
        mark(t, W_DISCARD, t.hand[t.turn])
    if rule.taken_discard == NO_RETURN and t.hand[t.turn] & t.taken != ZERO:
        t.legal[W_DISCARD] &= ~t.taken
        keep_finishable(rule, t)


@kernel
def legal_before_tunk(rule, t):
    """Tunk or discard after drawing (R26)."""
    mark(t, W_DISCARD, returnable(rule, t))
    if tunk_discards(rule, t) != ZERO:
        mark(t, W_FLAGS, bit(F_DROP))


@kernel
def returnable(rule, t):
    """Cards of the seat on turn that R12 lets it discard."""
    held = t.hand[t.turn]
    return held & ~t.taken if rule.taken_discard == NO_RETURN else held


@kernel
def tunk_discards(rule, t):
    """Discards after which the least left over is small enough for a tunk (R26)."""
    held = t.hand[t.turn]
    left = returnable(rule, t)
    if rule.drop_at_most == 0:
        return left
    fitting = ZERO
    apart = held & ~in_spreads(rule, held)  # one of these can be thrown, the rest is left over in any case
    if total(rule, apart) - highest_value(rule, apart) > rule.drop_at_most:
        return fitting
    while left != ZERO:
        card = bit(lowest(left))
        if least_left(rule, held & ~card)[0] <= rule.drop_at_most:
            fitting |= card
        left = without_lowest(left)
    return fitting


@kernel
def legal_last_start(rule, t):
    """Draw or take; with no stock, take or pass (R27)."""
    flags = bit(F_DRAW) if stock_size(rule, t) > 0 else bit(F_PASS)
    if t.pile_size > 0 and may_take(rule, t):
        flags |= bit(F_TAKE)
    mark(t, W_FLAGS, flags)


@kernel
def legal_last_play(rule, t):
    """Hit the tunker's spreads or discard (R27)."""
    write_hits(rule, t)
    mark(t, W_DISCARD, returnable(rule, t))
    if rule.taken_discard == NO_RETURN and t.hand[t.turn] & t.taken != ZERO:
        keep_finishable(rule, t)


@kernel
def cards_of_move(rule, held, word, index):
    """Cards of a hand that a spread or hit uses, as a set."""
    if is_hit_word(word):
        return hit_card(rule, held, word, index)
    _, natural, wilds = spread_cards(rule, held, word, index)
    return natural | wilds


@kernel
def keep_uses_of_taken(rule, t):
    """Keep only the spreads and hits that use the card taken this turn (R12, ``must_use``)."""
    held = t.hand[t.turn]
    for word in range(W_HIT_BOOK, NUM_WORDS):
        left = t.legal[word]
        while left != ZERO:
            index = lowest(left)
            if cards_of_move(rule, held, word, index) & t.taken == ZERO:
                t.legal[word] &= ~bit(index)
            left = without_lowest(left)


@kernel
def lay_move(rule, t, word, index):
    """Lay a spread or a hit of the seat on turn, without anything that follows from it."""
    if is_hit_word(word):
        lay_hit(rule, t, np.int64(t.turn), word, index)
        t.hits += 1
    else:
        lay_spread(rule, t, np.int64(t.turn), word, index)


@kernel
def keep_finishable(rule, t):
    """Keep only the spreads and hits after which the turn can be finished (R12, ``no_return``)."""
    scratch = np.empty(12, TABLE_DTYPE)
    for word in range(W_HIT_BOOK, NUM_WORDS):
        left = t.legal[word]
        while left != ZERO:
            index = lowest(left)
            scratch[0] = t
            lay_move(rule, scratch[0], word, index)
            if not can_finish(rule, scratch, NONE):
                t.legal[word] &= ~bit(index)
            left = without_lowest(left)


@kernel
def can_finish(rule, scratch, depth):
    """Whether a turn in play can be finished legally: search over the spreads and hits that may still be made.

    ``scratch[depth]`` is the position; deeper entries are overwritten. Needed only where a card taken may not be thrown
    back (R12): elsewhere any hand can discard.
    """
    t = scratch[depth]
    held = t.hand[t.turn]
    if held == ZERO:
        return True
    blocked = rule.must_spread and rule.drop != AFTER_DRAW and any_spread(held_spreads(rule, held))
    if held & ~t.taken != ZERO and not blocked:
        return True
    clear_legal(t)
    if rule.drop != AFTER_DRAW:
        write_spreads(rule, t)
    write_hits(rule, t)
    for word in range(W_HIT_BOOK, NUM_WORDS):
        left = t.legal[word]
        while left != ZERO:
            scratch[depth + 1] = scratch[depth]
            lay_move(rule, scratch[depth + 1], word, lowest(left))
            if can_finish(rule, scratch, depth + 1):
                return True
            left = without_lowest(left)
    return False
