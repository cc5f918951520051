"""What a seat may know (R39), in two steps: ``view_of`` packs it, ``write_view`` writes it as 0/1 bytes.

This is the only way to look at a table. ``read_view`` is the inverse of ``write_view``: search and rule-based players work
from the bytes alone.
"""

from __future__ import annotations

import numpy as np

from tonk_env.actions import ACTION_AT, ACTION_BIT, ACTION_WORD
from tonk_env.cards import BIT_OF_CARD
from tonk_env.kernels.bits import ZERO, bit, has, jit, kernel, lowest, popcount, small, store_bits, without_lowest
from tonk_env.kernels.deal import stock_size
from tonk_env.kernels.held import count_of
from tonk_env.state import NOBODY, NUM_WILDS, NUM_WORDS

PLACES = np.int64(52)  # bytes of a block of natural cards


@kernel
def view_of(rule, layout, t, viewer, v):
    """Pack what ``viewer`` may know of a table into a view record."""
    n = np.int64(t.num_players)
    v.hand = t.hand[viewer]
    v.top = bit(BIT_OF_CARD[np.int64(t.pile[t.pile_size - 1])]) if t.pile_size > 0 else ZERO
    v.taken = t.taken if rule.taken_discard != 0 else ZERO
    v.open_book, v.open_high, v.open_low = t.open_book, t.open_high, t.open_low
    v.thrown[NOBODY] = t.thrown[NOBODY]
    v.turns = t.turns
    v.hands_left = min(rule.hands - t.hands_played, layout.hands_width)
    v.hits = min(t.hits, layout.hits_width)
    v.count = count_of(rule, t.hand[viewer])
    v.stock = stock_size(rule, t)
    v.phase, v.must_use, v.tunk_clean = t.phase, t.must_use, t.tunk_clean
    v.turn = relative(t.turn, viewer, n)
    v.tunker = relative(t.tunker, viewer, n) if t.tunker >= 0 else -1
    v.live = 0
    for k in range(n):
        view_seat(layout, t, v, k, (viewer + k) % n)
    v.wilds_laid = 0
    if rule.wild != 0:
        view_wilds(t, v, viewer, n)


@kernel
def relative(seat, viewer, n):
    """A seat counted from the viewer: 0 = me, 1 = left of me."""
    return (seat - viewer + n) % n


@kernel
def view_seat(layout, t, v, k, seat):
    """Pack what is public about one seat."""
    v.thrown[k] = t.thrown[seat]
    v.known[k] = t.known[seat]
    v.laid[k] = t.laid[seat]
    v.wild_places[k] = ZERO
    v.sizes[k] = popcount(t.hand[seat])
    v.waiting[k] = min(t.waiting[seat], layout.waiting_width)
    v.frozen[k] = min(t.frozen[seat], layout.frozen_width)
    v.live |= ((t.in_hand >> seat) & 1) << k
    v.totals[k] = 0
    if layout.totals_width > 0:
        steps = np.int64(np.floor(t.totals[seat] / layout.totals_step + 1e-6)) + layout.totals_zero
        v.totals[k] = min(max(steps, 0), layout.totals_width)


@kernel
def view_wilds(t, v, viewer, n):
    """Pack the wilds that lie on the table as wilds."""
    for i in range(t.num_spreads):
        v.wild_places[relative(t.spread_owner[i], viewer, n)] |= t.spread_wilds[i]
    for i in range(NUM_WILDS):
        if t.wild_place[i] >= 0:
            v.wilds_laid |= 1 << i


@small
def card_order(held):
    """Card set with one bit a card number instead of sixteen a suit."""
    lanes = held & np.uint64(0x1FFF)
    lanes |= (held >> np.uint64(3)) & np.uint64(0x1FFF << 13)
    lanes |= (held >> np.uint64(6)) & np.uint64(0x1FFF << 26)
    lanes |= (held >> np.uint64(9)) & np.uint64(0x1FFF << 39)
    jokers = ((held >> np.uint64(13)) & np.uint64(1)) | ((held >> np.uint64(28)) & np.uint64(2))
    return lanes | (jokers << np.uint64(52))


@kernel
def put_tail(row, at, width, bits):
    """Write a block near the end of the row byte by byte."""
    for i in range(width):
        row[at + i] = np.int8((bits >> np.uint64(i)) & np.uint64(1))


@small
def put_bits(row, at, width, bits):
    """Write a block of at most 64 bytes. Zeros may spill over what follows it, which is written later."""
    if at + 64 <= row.shape[0]:
        store_bits(row, at, bits)
        return
    put_tail(row, at, width, bits)


@small
def put_cards(row, at, width, held):
    """Write a card set, one byte a card."""
    put_bits(row, at, width, card_order(held))


@small
def put_unary(row, at, width, value):
    """Write a number as that many ones."""
    while width > 64:
        put_bits(row, at, width, ~ZERO if value >= 64 else ones(max(value, 0)))
        at, width, value = at + 64, width - 64, value - 64
    put_bits(row, at, width, ones(max(value, 0)))


@small
def ones(count):
    """Set of the first ``count`` bits, fewer than 65."""
    return ~ZERO if count >= 64 else (np.uint64(1) << np.uint64(count)) - np.uint64(1)


@small
def one_hot(index):
    """Set of one bit, none for a negative index."""
    return ZERO if index < 0 else np.uint64(1) << np.uint64(index)


@kernel
def write_view(layout, v, row):
    """Write a view as an observation; ``row`` is int8 of the layout's size. Blocks go in the order of the layout."""
    n, cards = layout.players, layout.cards
    put_cards(row, layout.hand, cards, v.hand)
    put_cards(row, layout.top, cards, v.top)
    for k in range(n):
        put_cards(row, layout.thrown + k * cards, cards, v.thrown[k])
    put_cards(row, layout.thrown + n * cards, cards, v.thrown[NOBODY])
    for k in range(n):
        put_cards(row, layout.known + k * cards, cards, v.known[k])
    for k in range(n):
        put_cards(row, layout.laid + k * 52, PLACES, v.laid[k])
    put_cards(row, layout.open, PLACES, v.open_book)
    put_cards(row, layout.open + 52, PLACES, v.open_high)
    put_cards(row, layout.open + 104, PLACES, v.open_low)
    sizes = ZERO  # six hands of at most eight cards fit one word
    for k in range(n):
        sizes |= ones(v.sizes[k]) << np.uint64(k * layout.size_width)
    put_bits(row, layout.sizes, n * layout.size_width, sizes)
    put_unary(row, layout.stock, layout.stock_width, v.stock)
    put_unary(row, layout.count, layout.count_width, v.count)
    moment = one_hot(v.phase) & ones(layout.phase_width)  # phase, turn and turns lie side by side
    moment |= one_hot(layout.phase_width + v.turn) | (np.uint64(v.turns) << np.uint64(layout.phase_width + n))
    put_bits(row, layout.phase, layout.phase_width + n + layout.turns_width, moment)
    if layout.options:
        write_options(layout, v, row)


@kernel
def write_options(layout, v, row):
    """Write the blocks that only some rule sets have, in the order of the layout."""
    n, cards = layout.players, layout.cards
    if layout.taken >= 0:
        put_cards(row, layout.taken, cards, v.taken)
    if layout.must_use >= 0:
        row[layout.must_use] = v.must_use
    if layout.wild_places >= 0:
        for k in range(n):
            put_cards(row, layout.wild_places + k * 52, PLACES, v.wild_places[k])
        put_bits(row, layout.wilds_laid, NUM_WILDS, np.uint64(v.wilds_laid))
    put_unary_rows(row, layout.waiting, layout.waiting_width, v.waiting, n)
    put_unary_rows(row, layout.frozen, layout.frozen_width, v.frozen, n)
    if layout.hits_width > 0:
        put_unary(row, layout.hits, layout.hits_width, v.hits)
    if layout.tunker >= 0:
        put_bits(row, layout.tunker, n, one_hot(v.tunker))
        row[layout.tunker + n] = v.tunk_clean
    if layout.live >= 0:
        put_bits(row, layout.live, n, np.uint64(v.live))
    put_unary_rows(row, layout.totals, layout.totals_width, v.totals, n)
    if layout.hands_width > 0:
        put_unary(row, layout.hands_left, layout.hands_width, v.hands_left)


@kernel
def put_unary_rows(row, at, width, values, n):
    """Write one number a seat, where the layout has the block."""
    if width > 0:
        for k in range(n):
            put_unary(row, at + k * width, width, values[k])


@kernel
def get_cards(row, at, count):
    """Read a card set of ``count`` cards."""
    held = ZERO
    for card in range(count):
        if row[at + card] != 0:
            held |= bit(BIT_OF_CARD[card])
    return held


@kernel
def get_unary(row, at, width):
    """Read a number written as ones."""
    value = 0
    for i in range(width):
        value += row[at + i]
    return value


@jit
def read_view(layout, row, v):
    """Read an observation back into a view record."""
    n, cards = layout.players, layout.cards
    v.hand = get_cards(row, layout.hand, cards)
    v.top = get_cards(row, layout.top, cards)
    v.taken = get_cards(row, layout.taken, cards) if layout.taken >= 0 else ZERO
    for k in range(7):
        v.thrown[k] = ZERO
    for k in range(n):
        v.thrown[k] = get_cards(row, layout.thrown + k * cards, cards)
        v.known[k] = get_cards(row, layout.known + k * cards, cards)
        v.laid[k] = get_cards(row, layout.laid + k * 52, PLACES)
        v.sizes[k] = get_unary(row, layout.sizes + k * layout.size_width, layout.size_width)
    v.thrown[NOBODY] = get_cards(row, layout.thrown + n * cards, cards)
    v.open_book = get_cards(row, layout.open, PLACES)
    v.open_high = get_cards(row, layout.open + 52, PLACES)
    v.open_low = get_cards(row, layout.open + 104, PLACES)
    v.stock = get_unary(row, layout.stock, layout.stock_width)
    v.count = get_unary(row, layout.count, layout.count_width)
    v.turns = 0
    for i in range(layout.turns_width):
        v.turns += np.int64(row[layout.turns + i]) << i
    v.turn = first_one(row, layout.turn, n)
    phase = first_one(row, layout.phase, layout.phase_width)
    v.phase = phase if phase >= 0 else 6
    read_options(layout, row, v)


@kernel
def first_one(row, at, width):
    """Index of the first 1 of a one-hot block, -1 when there is none."""
    for i in range(width):
        if row[at + i] != 0:
            return i
    return -1


@kernel
def read_options(layout, row, v):
    """Read the blocks that only some rule sets have."""
    n = layout.players
    v.live = 0
    for k in range(n):
        v.waiting[k] = get_unary(row, layout.waiting + k * layout.waiting_width, layout.waiting_width)
        v.frozen[k] = get_unary(row, layout.frozen + k * layout.frozen_width, layout.frozen_width)
        v.totals[k] = get_unary(row, layout.totals + k * layout.totals_width, layout.totals_width)
        v.live |= (1 if layout.live < 0 else np.int64(row[layout.live + k])) << k
        v.wild_places[k] = get_cards(row, layout.wild_places + k * 52, PLACES) if layout.wild_places >= 0 else ZERO
    v.hits = get_unary(row, layout.hits, layout.hits_width)
    v.hands_left = get_unary(row, layout.hands_left, layout.hands_width)
    v.must_use = layout.must_use >= 0 and row[layout.must_use] != 0
    v.wilds_laid = 0
    if layout.wilds_laid >= 0:
        for i in range(NUM_WILDS):
            v.wilds_laid |= np.int64(row[layout.wilds_laid + i]) << i
    v.tunker = first_one(row, layout.tunker, n) if layout.tunker >= 0 else -1
    v.tunk_clean = layout.tunker >= 0 and row[layout.tunker + n] != 0


@kernel
def write_mask(words, row):
    """Write words of legal moves as an action mask; ``row`` is int8 of the action space's size, zeroed here."""
    row[:] = 0
    for word in range(NUM_WORDS):
        left = words[word]
        while left != ZERO:
            row[ACTION_AT[word, lowest(left)]] = 1
            left = without_lowest(left)


@kernel
def read_mask(row, words):
    """Read an action mask back into words of legal moves."""
    for word in range(NUM_WORDS):
        words[word] = ZERO
    for action in range(row.shape[0]):
        if row[action] != 0:
            words[ACTION_WORD[action]] |= bit(ACTION_BIT[action])


@kernel
def is_legal(t, action):
    """Whether an action number within the space is legal for the seat on turn."""
    return has(t.legal[ACTION_WORD[action]], ACTION_BIT[action])
