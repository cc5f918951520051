"""Walks the whole game tree of a single hand for two, depth first: counts it, writes it down level by level, shows its views.

Chance is enumerated where it speaks: the deal by the caller, a card of the stock when it is drawn. Nodes are decisions.
Every node has a number within its level (the number of moves before it), so that the tree lies in memory level by level.
"""

from __future__ import annotations

import numpy as np

from tonk_env.actions import ACTION_AT, F_DRAW, W_FLAGS
from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import ZERO, jit, keep, kernel, lowest, mix, row_of, without_lowest
from tonk_env.kernels.deal import stock_size
from tonk_env.kernels.match import book_hand
from tonk_env.kernels.observe import read_mask, view_of, write_view
from tonk_env.kernels.settle import OVER
from tonk_env.state import NUM_WILDS, NUM_WORDS, TABLE_DTYPE, VIEW_DTYPE

ONLY = np.int64(0)  # an array of one dimension is one row
COUNT, FILL, SHOW = 0, 1, 2  # what a walk does
MAX_DEPTH = 128  # moves of a hand
MAX_MOVES = 64  # legal moves of a decision
DONE, TOO_LARGE, TOO_DEEP, VOID, NOT_ZERO_SUM = 0, 1, 2, 3, 4  # how a walk ended

# A decision. Two nodes with one `key` are the same to the seat on turn: it has seen the same, in the same order.
NODE_DTYPE = np.dtype((np.record, np.dtype([
    ("first_edge", "<i8"),
    ("key", "<u8"),  # of everything the seat on turn has seen: its hands, and all moves in order
    ("shown", "<u8"),  # of the observation and the legal moves at this decision alone
    ("turn", "i1"),
    ("moves", "i1"),
], align=True)))

# A move, with the card that chance turns up for it.
EDGE_DTYPE = np.dtype((np.record, np.dtype([
    ("weight", "<f8"),  # probability of the card; where the hand ends, times the reward of seat 0
    ("target", "<i4"),  # node it leads to, -1 where the hand ends
    ("move", "<i2"),  # action number
    ("slot", "i1"),  # its place among the legal moves
], align=True)))

# A decision on the way down. `slot` is the place of the move being tried among the legal ones, `outcome` that of its card.
FRAME_DTYPE = np.dtype((np.record, np.dtype([
    ("node", "<i8"),
    ("edge", "<i8"),
    ("keys", "<u8", (2,)),
    ("moves", "<i8", (MAX_MOVES,)),
    ("count", "<i8"),
    ("slot", "<i8"),
    ("outcome", "<i8"),
], align=True)))


@kernel
def list_moves(t, moves):
    """Write the legal action numbers of the seat on turn, in the order of words and bits. Returns how many, -1 = too many."""
    count = 0
    for word in range(NUM_WORDS):
        left = t.legal[word]
        while left != ZERO:
            if count == MAX_MOVES:
                return -1
            moves[count] = ACTION_AT[word, lowest(left)]
            count += 1
            left = without_lowest(left)
    return count


@kernel
def outcomes_of(rule, t, move):
    """Cards that chance may turn up for a move: those of the stock for a draw, else one outcome."""
    if move == ACTION_AT[W_FLAGS, F_DRAW]:
        return max(stock_size(rule, t), 1)
    return np.int64(1)


@kernel
def choose_card(t, outcome):
    """Put one of the cards left in the stock on its top."""
    if outcome > 0:
        at = np.int64(t.dealt)
        card = t.deck[at]
        t.deck[at] = t.deck[at + outcome]
        t.deck[at + outcome] = card


@kernel
def root_key(t, seat):
    """What a seat has seen before the first move: its hand and the upcard."""
    return mix(mix(t.hand[seat] + np.uint64(seat)) ^ t.thrown[6])


@kernel
def key_after(t, key, seat, move):
    """What a seat has seen after a move: the move, its own hand, and the cards on the table."""
    key = mix(key ^ np.uint64(move + 1))
    key = mix(key ^ t.hand[seat])
    for i in range(t.num_spreads):
        key = mix(key ^ t.spread_places[i])
    for i in range(NUM_WILDS):
        key = mix(key ^ np.uint64(64 * (t.wild_spread[i] + 1) + t.wild_place[i] + 1))
    return key


@kernel
def hash_view(t, row):
    """A number for an observation and the legal moves."""
    key = ZERO
    for i in range(row.shape[0]):
        key = (key ^ np.uint64(row[i] + 1)) * np.uint64(0x100000001B3)  # FNV-1a's prime
    key = mix(key)
    for word in range(NUM_WORDS):
        key = mix(key ^ t.legal[word])
    return key


@kernel
def pack(row, bits):
    """Write zeros and ones as bits, the first as the highest of its byte."""
    for i in range(row.shape[0]):
        if row[i] != 0:
            bits[i >> 3] |= np.uint8(128 >> (i & 7))


@kernel
def enter(rule, layout, t, frame, stage, sizes, starts, depth, nodes, view, row, wanted, packed):
    """Number a decision and, by the stage, write it down or show it. Returns False for more moves than there is room for."""
    frame.count = list_moves(t, frame.moves)
    if frame.count < 0:
        return False
    frame.slot = frame.outcome = 0
    frame.node = starts[0, depth] + sizes[0, depth]
    frame.edge = starts[1, depth] + sizes[1, depth]
    sizes[0, depth] += 1
    for slot in range(frame.count):
        sizes[1, depth] += outcomes_of(rule, t, frame.moves[slot])
    if stage == FILL:
        view_of(rule, layout, t, np.int64(t.turn), view)
        write_view(layout, view, row_of(row, ONLY))
        node = nodes[frame.node]
        node.first_edge, node.turn, node.moves = frame.edge, t.turn, frame.count
        node.key, node.shown = frame.keys[t.turn], hash_view(t, row)
    elif stage == SHOW and wanted[frame.node] >= 0:
        view_of(rule, layout, t, np.int64(t.turn), view)
        write_view(layout, view, row_of(row, ONLY))
        pack(row, packed[wanted[frame.node]])
    return True


@kernel
def finish(rule, t):
    """Book a finished hand. Returns how that went."""
    book_hand(rule, t)
    if not t.match_over:
        return VOID
    if abs(t.rewards[0] + t.rewards[1]) > 1e-9:
        return NOT_ZERO_SUM
    return DONE


@kernel
def advance_edge(frame, outcomes):
    """Go on to the next edge of a decision: the next card, or the next move. Returns the edge before."""
    edge = frame.edge
    frame.edge += 1
    frame.outcome += 1
    if frame.outcome == outcomes:
        frame.outcome = 0
        frame.slot += 1
    return edge


@kernel
def begin_root(t, frame):
    """What both seats have seen when the first decision comes."""
    for seat in range(2):
        frame.keys[seat] = root_key(t, seat)


@kernel
def pass_on(t, frame, below, move):
    """What both seats have seen after a move."""
    for seat in range(2):
        below.keys[seat] = key_after(t, frame.keys[seat], seat, move)


@jit
def walk(rule, layout, roots, path, frames, row, stage, limit, sizes, starts, nodes, edges, wanted, packed):
    """Walk the trees of all ``roots``, table records at their first decision with decks that are stacked.

    ``sizes`` int64[2, MAX_DEPTH] counts nodes and edges of each level and must be zero; ``starts`` int64[2, MAX_DEPTH] says
    where each level begins. FILL writes ``nodes`` and ``edges``, SHOW the observation of nodes with ``wanted[node] >= 0``
    as bits to that row of ``packed``. ``row`` int8[O] is for notes. Returns DONE, or why it gave up.
    """
    views = np.zeros(1, VIEW_DTYPE)
    view = views[0]
    total = 0
    for root in range(roots.shape[0]):
        depth, new = np.int64(0), True
        path[0] = roots[root]
        begin_root(path[0], frames[0])
        while depth >= 0:
            frame, t = frames[depth], path[depth]
            if new and not enter(rule, layout, t, frame, stage, sizes, starts, depth, nodes, view, row, wanted, packed):
                return TOO_LARGE
            new = False
            if frame.slot == frame.count:
                depth -= 1
                continue
            if depth + 1 == MAX_DEPTH:
                return TOO_DEEP
            total += 1
            if total > limit:
                return TOO_LARGE
            move, slot = frame.moves[frame.slot], frame.slot
            outcomes = outcomes_of(rule, t, move)
            path[depth + 1] = t
            child = path[depth + 1]
            choose_card(child, frame.outcome)
            edge = advance_edge(frame, outcomes)
            apply(rule, child, move)
            weight, target = 1.0 / outcomes, np.int64(-1)
            if child.phase == OVER:
                how = finish(rule, child)
                if how != DONE:
                    return how
                weight *= child.rewards[0]
            else:
                pass_on(child, frame, frames[depth + 1], move)
                target = starts[0, depth + 1] + sizes[0, depth + 1]
                depth, new = depth + 1, True
            if stage == FILL:
                edges[edge].target, edges[edge].weight = target, weight
                edges[edge].move, edges[edge].slot = move, slot
    keep(views)
    return DONE


@jit
def look_keys(observations, masks, keys):
    """``keys[i]`` = the number of an observation with its mask, as in ``shown`` of a node."""
    tables = np.zeros(1, TABLE_DTYPE)
    t = tables[0]
    for i in range(observations.shape[0]):
        read_mask(row_of(masks, i), masks.shape[1], t)
        keys[i] = hash_view(t, observations[i])
    keep(tables)
