"""What a seat may know (R39), in two steps: ``view_of`` packs it, ``write_view`` writes it as 0/1 bytes.

This is the only way to look at a table. ``read_view`` is the inverse of ``write_view``: search and rule-based players work
from the bytes alone.
"""

from __future__ import annotations

import numpy as np

from tonk_env.actions import ACTION_AT, ACTION_BIT, ACTION_WORD, DISCARD, W_DISCARD, W_FLAGS
from tonk_env.cards import BIT_OF_CARD
from tonk_env.kernels.bits import (
    ZERO,
    bit,
    close_lanes,
    has,
    kernel,
    load_bits,
    lowest,
    open_lanes,
    popcount,
    small,
    store_bits,
    store_one,
    without_lowest,
)
from tonk_env.kernels.deal import stock_size
from tonk_env.kernels.held import WILD_ORDER, count_of
from tonk_env.kernels.legal import TURN_WORDS
from tonk_env.state import NOBODY, NUM_WILDS, NUM_WORDS

PLACES = np.int64(52)  # bytes of a block of natural cards
ONE_BYTE = np.int64(1)


@kernel
def view_of(rule, layout, t, viewer, v):
    """Pack what ``viewer`` may know of a table into a view record.

    What the layout never shows is left as it is: zero, in a record that is used for one rule set only.
    """
    n = np.int64(t.num_players)
    v.hand = t.hand[viewer]
    v.top = bit(BIT_OF_CARD[np.int64(t.pile[t.pile_size - 1])]) if t.pile_size > 0 else ZERO
    v.taken = t.taken if rule.taken_discard != 0 else ZERO
    v.open_book, v.open_high, v.open_low = t.open_book, t.open_high, t.open_low
    v.thrown[NOBODY] = t.thrown[NOBODY]
    v.turns = t.turns
    v.hands_left = min(rule.hands - t.hands_played, layout.hands_width)
    v.hits = min(t.hits, layout.hits_width) if layout.hits_width > 0 else 0
    v.count = count_of(rule, t.hand[viewer])
    v.stock = stock_size(rule, t)
    v.phase, v.must_use, v.tunk_clean = t.phase, t.must_use, t.tunk_clean
    v.turn = relative(t.turn, viewer, n)
    v.tunker = relative(t.tunker, viewer, n) if t.tunker >= 0 else -1
    v.live = 0
    seat = np.int64(viewer)
    for k in range(n):
        view_seat(layout, t, v, k, seat)
        seat = seat + 1 if seat + 1 < n else 0
    v.wilds_laid = 0
    if rule.wild != 0:
        view_wilds(t, v, viewer, n)


@kernel
def relative(seat, viewer, n):
    """A seat counted from the viewer: 0 = me, 1 = left of me."""
    return seat - viewer if seat >= viewer else seat - viewer + n


@small
def view_seat(layout, t, v, k, seat):
    """Pack what is public about one seat."""
    v.thrown[k] = t.thrown[seat]
    v.known[k] = t.known[seat]
    v.laid[k] = t.laid[seat]
    v.sizes[k] = popcount(t.hand[seat])
    v.live |= ((t.in_hand >> seat) & 1) << k
    if layout.waiting_width > 0:
        v.waiting[k] = min(t.waiting[seat], layout.waiting_width)
    if layout.frozen_width > 0:
        v.frozen[k] = min(t.frozen[seat], layout.frozen_width)
    if layout.totals_width > 0:
        steps = np.int64(np.floor(t.totals[seat] * layout.totals_steps + 1e-6)) + layout.totals_zero
        v.totals[k] = min(max(steps, 0), layout.totals_width)


@kernel
def view_wilds(t, v, viewer, n):
    """Pack the wilds that lie on the table as wilds."""
    for k in range(n):
        v.wild_places[k] = ZERO
    for i in range(NUM_WILDS):
        if t.wild_place[i] >= 0:
            v.wilds_laid |= 1 << i
            v.wild_places[relative(t.spread_owner[t.wild_spread[i]], viewer, n)] |= bit(t.wild_place[i])


@small
def card_order(held):
    """Card set with one bit a card number instead of sixteen a suit."""
    jokers = ((held >> np.uint64(13)) & np.uint64(1)) | ((held >> np.uint64(28)) & np.uint64(2))
    return close_lanes(held) | (jokers << np.uint64(52))


@small
def put_naturals(row, at, held):
    """Write the natural cards of a set as 64 bytes, one a card: the zeros after its block are overwritten by the next."""
    store_bits(row, at, close_lanes(held))


@small
def put_jokers(row, at, held):
    """Write the jokers of a set at the end of its block."""
    for joker in range(2):
        if has(held, WILD_ORDER[joker]):
            store_one(row, at + PLACES + joker)


@kernel
def write_jokers(layout, v, row):
    """Write the jokers into the blocks of cards, where they are in the deck."""
    n, cards = layout.players, layout.cards
    put_jokers(row, layout.hand, v.hand)
    put_jokers(row, layout.top, v.top)
    for k in range(n):
        put_jokers(row, layout.thrown + k * cards, v.thrown[k])
        put_jokers(row, layout.known + k * cards, v.known[k])
    put_jokers(row, layout.thrown + n * cards, v.thrown[NOBODY])


@small
def feed(row, stream, width, bits):
    """Append up to 64 bytes of 0 and 1 to the row: whole words of 64 are written, the rest waits in the stream.

    A stream is (where the next word goes, bits waiting, how many, the word written last).
    """
    at, word, fill, last = stream
    word |= bits << np.uint64(fill)
    fill += width
    if fill < 64:
        return at, word, fill, last
    store_bits(row, at, word)
    fill -= 64
    rest = bits >> np.uint64(width - fill) if fill > 0 else ZERO
    return at + 64, rest, fill, word


@small
def finish(row, stream):
    """Write what waits in the stream, as the end of the row's last 64 bytes."""
    at, word, fill, last = stream
    if fill > 0:
        store_bits(row, at + fill - 64, (last >> np.uint64(fill)) | (word << np.uint64(64 - fill)))


@small
def feed_unary(row, stream, width, value):
    """Append a number as that many ones."""
    while width > 64:
        stream = feed(row, stream, np.int64(64), ones(min(value, 64)))
        width, value = width - 64, max(value - 64, 0)
    return feed(row, stream, width, ones(value))


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
    """Write a view as an observation into a row (see ``row_of``) of the layout's size. Blocks go in the layout's order."""
    n, cards = layout.players, layout.cards
    put_naturals(row, layout.hand, v.hand)
    put_naturals(row, layout.top, v.top)
    for k in range(n):
        put_naturals(row, layout.thrown + k * cards, v.thrown[k])
    put_naturals(row, layout.thrown + n * cards, v.thrown[NOBODY])
    for k in range(n):
        put_naturals(row, layout.known + k * cards, v.known[k])
    for k in range(n):
        put_naturals(row, layout.laid + k * 52, v.laid[k])
    put_naturals(row, layout.open, v.open_book)
    put_naturals(row, layout.open + 52, v.open_high)
    if cards > PLACES:
        write_jokers(layout, v, row)
    stream = (layout.open + 104, close_lanes(v.open_low), PLACES, ZERO)
    sizes = ZERO  # six hands of at most eight cards fit one word
    for k in range(n):
        sizes |= ones(v.sizes[k]) << np.uint64(k * layout.size_width)
    stream = feed(row, stream, n * layout.size_width, sizes)
    stream = feed_unary(row, stream, layout.stock_width, v.stock)
    stream = feed_unary(row, stream, layout.count_width, v.count)
    moment = one_hot(v.phase) & ones(layout.phase_width)  # phase, turn and turns lie side by side
    moment |= one_hot(layout.phase_width + v.turn) | (np.uint64(v.turns) << np.uint64(layout.phase_width + n))
    stream = feed(row, stream, layout.phase_width + n + layout.turns_width, moment)
    if layout.options:
        stream = write_options(layout, v, row, stream)
    finish(row, stream)


@small
def write_options(layout, v, row, stream):
    """Write the blocks that only some rule sets have, in the order of the layout."""
    n, cards = layout.players, layout.cards
    if layout.taken >= 0:
        stream = feed(row, stream, cards, card_order(v.taken))
    if layout.must_use >= 0:
        stream = feed(row, stream, ONE_BYTE, np.uint64(v.must_use))
    if layout.wild_places >= 0:
        for k in range(n):
            stream = feed(row, stream, PLACES, close_lanes(v.wild_places[k]))
        stream = feed(row, stream, np.int64(NUM_WILDS), np.uint64(v.wilds_laid))
    if layout.waiting_width > 0:
        for k in range(n):
            stream = feed_unary(row, stream, layout.waiting_width, v.waiting[k])
    if layout.frozen_width > 0:
        for k in range(n):
            stream = feed_unary(row, stream, layout.frozen_width, v.frozen[k])
    if layout.hits_width > 0:
        stream = feed_unary(row, stream, layout.hits_width, v.hits)
    if layout.tunker >= 0:
        stream = feed(row, stream, n + 1, one_hot(v.tunker) | (np.uint64(v.tunk_clean) << np.uint64(n)))
    if layout.live >= 0:
        stream = feed(row, stream, n, np.uint64(v.live))
    if layout.totals_width > 0:
        for k in range(n):
            stream = feed_unary(row, stream, layout.totals_width, v.totals[k])
    if layout.hands_width > 0:
        stream = feed_unary(row, stream, layout.hands_width, v.hands_left)
    return stream


@small
def get_bits(layout, row, at, width):
    """Read up to 64 bytes of 0 and 1."""
    if at + 64 <= layout.total:
        return load_bits(row, at) & ones(width)
    return (load_bits(row, layout.total - 64) >> np.uint64(at + 64 - layout.total)) & ones(width)


@small
def get_cards(layout, row, at, width):
    """Read a card set of ``width`` cards, 52 or 54."""
    cards = get_bits(layout, row, at, width)
    held = open_lanes(cards & ones(PLACES))
    return held | ((cards >> np.uint64(39)) & bit(13)) | ((cards >> np.uint64(24)) & bit(29))


@kernel
def get_unary(layout, row, at, width):
    """Read a number written as ones."""
    value = np.int64(0)
    while width > 0:
        value += popcount(get_bits(layout, row, at, min(width, 64)))
        at, width = at + 64, width - 64
    return value


@small
def get_one_hot(layout, row, at, width):
    """Index of the 1 of a one-hot block, -1 when there is none."""
    bits = get_bits(layout, row, at, width)
    return lowest(bits) if bits != ZERO else np.int64(-1)


@kernel
def read_view(layout, row, v):
    """Read an observation back from a row (see ``row_of``) into a view record."""
    n, cards = layout.players, layout.cards
    v.hand = get_cards(layout, row, layout.hand, cards)
    v.top = get_cards(layout, row, layout.top, cards)
    v.taken = get_cards(layout, row, layout.taken, cards) if layout.taken >= 0 else ZERO
    for k in range(n):
        v.thrown[k] = get_cards(layout, row, layout.thrown + k * cards, cards)
        v.known[k] = get_cards(layout, row, layout.known + k * cards, cards)
        v.laid[k] = get_cards(layout, row, layout.laid + k * 52, PLACES)
        v.sizes[k] = get_unary(layout, row, layout.sizes + k * layout.size_width, layout.size_width)
    v.thrown[NOBODY] = get_cards(layout, row, layout.thrown + n * cards, cards)
    v.open_book = get_cards(layout, row, layout.open, PLACES)
    v.open_high = get_cards(layout, row, layout.open + 52, PLACES)
    v.open_low = get_cards(layout, row, layout.open + 104, PLACES)
    v.stock = get_unary(layout, row, layout.stock, layout.stock_width)
    v.count = get_unary(layout, row, layout.count, layout.count_width)
    v.turns = np.int64(get_bits(layout, row, layout.turns, layout.turns_width))
    v.turn = get_one_hot(layout, row, layout.turn, n)
    phase = get_one_hot(layout, row, layout.phase, layout.phase_width)
    v.phase = phase if phase >= 0 else 6
    read_options(layout, row, v)


@kernel
def read_options(layout, row, v):
    """Read the blocks that only some rule sets have."""
    n = layout.players
    v.live = (1 << n) - 1 if layout.live < 0 else np.int64(get_bits(layout, row, layout.live, n))
    for k in range(n):
        v.waiting[k] = get_unary(layout, row, layout.waiting + k * layout.waiting_width, layout.waiting_width)
        v.frozen[k] = get_unary(layout, row, layout.frozen + k * layout.frozen_width, layout.frozen_width)
        v.totals[k] = get_unary(layout, row, layout.totals + k * layout.totals_width, layout.totals_width)
        if layout.wild_places >= 0:
            v.wild_places[k] = get_cards(layout, row, layout.wild_places + k * 52, PLACES)
    v.hits = get_unary(layout, row, layout.hits, layout.hits_width)
    v.hands_left = get_unary(layout, row, layout.hands_left, layout.hands_width)
    v.must_use = layout.must_use >= 0 and get_bits(layout, row, layout.must_use, ONE_BYTE) != ZERO
    v.wilds_laid = np.int64(get_bits(layout, row, layout.wilds_laid, np.int64(NUM_WILDS))) if layout.wilds_laid >= 0 else 0
    v.tunker = get_one_hot(layout, row, layout.tunker, n) if layout.tunker >= 0 else -1
    v.tunk_clean = layout.tunker >= 0 and get_bits(layout, row, layout.tunker + n, ONE_BYTE) != ZERO


@small
def clear_row(row, size):
    """Write zeros into a row of at least 64 bytes."""
    for at in range(0, size - 64, 64):
        store_bits(row, at, ZERO)
    store_bits(row, size - 64, ZERO)


@kernel
def write_mask(t, row, size):
    """Write the legal moves of a table as an action mask into a row (see ``row_of``) of ``size`` bytes."""
    clear_row(row, size)
    store_bits(row, 0, t.legal[W_FLAGS] | (card_order(t.legal[W_DISCARD]) << np.uint64(DISCARD)))
    others = np.int64(t.words) & ~TURN_WORDS
    while others != 0:
        word = lowest(others)
        left = t.legal[word]
        while left != ZERO:
            store_one(row, ACTION_AT[word, lowest(left)])
            left = without_lowest(left)
        others &= others - 1


@kernel
def read_mask(row, size, t):
    """Read an action mask back from a row of ``size`` bytes into the legal moves of a table."""
    for word in range(NUM_WORDS):
        t.legal[word] = ZERO
    words, at = np.int64(0), np.int64(0)
    while at < size:
        start = min(at, size - 64)
        left = load_bits(row, start) >> np.uint64(at - start)
        while left != ZERO:
            action = at + lowest(left)
            t.legal[ACTION_WORD[action]] |= bit(ACTION_BIT[action])
            words |= np.int64(1) << np.int64(ACTION_WORD[action])
            left = without_lowest(left)
        at += 64
    t.words = words


@kernel
def is_legal(t, action):
    """Whether an action number within the space is legal for the seat on turn."""
    return has(t.legal[ACTION_WORD[action]], ACTION_BIT[action])
