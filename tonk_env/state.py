"""What a moment of the game is: one record per table, one record per rule set, every field with unit and meaning.

Cards in records are bits of 64-bit sets (see ``cards``). Seats are absolute (0 to 5) in a table and relative to the viewer
(0 = me, 1 = left of me, ...) in a view. The dtypes are record dtypes, so ``table.phase`` reads the same in compiled and in
interpreted code.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

MAX_SEATS = 6
MAX_SPREADS = 12  # a hand of 7 can lay two spreads before it runs out, six seats
NUM_WILDS = 6  # X1 X2 2C 2D 2H 2S, in the order in which R14 uses them
NOBODY = np.int64(6)  # thrower of the upcard
NUM_WORDS = 26  # words of legal moves, see actions.py


class Phase(IntEnum):
    """Where a turn stands. For each phase there is one "what is legal" and one "what it does" in the kernels."""

    START = 0  # drop, draw or take (R11)
    PLAY = 1  # spread, hit, tunk, discard (R13 to R18, R26)
    TUNK = 2  # tunk said, the discard is due (R26)
    LAST_START = 3  # a last turn: draw, take or pass (R27)
    LAST_PLAY = 4  # a last turn after drawing: hit, discard (R27)
    PASSED = 5  # a last turn after passing: hit, pass again (R27)
    OVER = 6  # the hand is over


class Ending(IntEnum):
    """How a hand ended. The names are those of the records."""

    NONE = -1
    OPENING = 0
    OPENING_CLASH = 1
    DROP = 2
    CAUGHT = 3
    TONK_OUT = 4
    RUN_OUT = 5
    STOCK = 6
    TURN_LIMIT = 7
    TUNK = 8
    TUNK_CAUGHT = 9
    VOID = 10


def ending_name(ending: int) -> str:
    """Name of an ending in records: ``drop``, ``tonk_out`` and so on."""
    return Ending(int(ending)).name.lower()


def parse_ending(name: str) -> Ending:
    """Ending of a name. Raises ValueError for a name that is none."""
    for ending in Ending:
        if ending is not Ending.NONE and ending.name.lower() == name:
            return ending
    raise ValueError(f"{name!r} is not an ending: {', '.join(ending_name(e) for e in Ending if e >= 0)}")


def _record(fields: list[tuple[object, ...]]) -> np.dtype[np.void]:
    """Aligned record dtype whose scalars allow attribute access."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


# A rule set as the kernels read it. Filled by RuleSet.record().
RULE_DTYPE = _record([
    ("wild_mask", "<u8"),  # card set: cards of this deck that are wild (R3)
    ("ones", "<u8"),  # card set: cards whose value (R5) has bit 0; a hand's total is four counts of bits
    ("twos", "<u8"),  # bit 1
    ("fours", "<u8"),  # bit 2
    ("eights", "<u8"),  # bit 3
    ("opening_counts", "<u8", (2,)),  # bit c: a dealt count of c is an opening tonk (R7)
    ("opening_multiplier", "<f8"),  # R8
    ("tonk_out_multiplier", "<f8"),  # section 7
    ("run_out_multiplier", "<f8"),  # section 7
    ("caught_multiplier", "<f8"),  # R28, R33
    ("difference_cap", "<f8"),  # R32, 0 = none
    ("limit", "<f8"),  # total at which a seat is out or a match ends (R35)
    ("scale", "<f8"),  # reward_scale (R40)
    ("max_turns", "<i4"),  # R19, turns
    ("hands", "<i4"),  # R35, hands of a match
    ("opening_at_most", "<i2"),  # R7, -1 = off
    ("opening_at_least", "<i2"),  # R7, 32767 = off
    ("max_hits", "<i2"),  # R15, 0 = any number
    ("drop_at_most", "<i2"),  # R20, 0 = no limit
    ("wait", "<i2"),  # R22, own turns
    ("freeze", "<i2"),  # R23, own turns
    ("deck", "u1", (54,)),  # cards of the deck before shuffling, suit by suit, jokers last; card numbers
    ("value", "i1", (14,)),  # R5, points by rank; 13 = joker
    ("rank_up", "i1", (13,)),  # next rank in use, -1 = none (R2)
    ("rank_down", "i1", (13,)),  # rank in use before, -1 = none
    ("pos_of_rank", "i1", (13,)),  # place of a rank among those in use, -1 = not in use
    ("rank_at", "i1", (13,)),  # rank at a place, -1 = none
    ("n_ranks", "i1"),
    ("suits", "i1"),
    ("jokers", "i1"),
    ("wild", "i1"),  # 0 none, 1 jokers, 2 deuces (R3)
    ("deck_size", "i1"),
    ("hand_size", "i1"),
    ("opening_clash", "i1"),  # 0 cancel, 1 tie (R9)
    ("next_start", "i1"),  # 0 left, 1 winner (R10)
    ("taken_discard", "i1"),  # 0 free, 1 no_return, 2 must_use (R12)
    ("drop", "i1"),  # 0 before_draw, 1 after_draw, 2 never (R20)
    ("settlement", "i1"),  # 0 points, 1 stakes, 2 difference
    ("caught_pays", "i1"),  # 0 own_count ... 6 catchers_and_low_collects, in the order of R33
    ("match", "i1"),  # 0 hands, 1 elimination, 2 target (R35)
    ("gapped", "?"),  # the ranks in use are not consecutive
    ("upcard", "?"),  # R4
    ("held_count", "?"),  # held_spreads_count (R6)
    ("opening_spread", "?"),  # R7
    ("runs_only", "?"),  # hits_on = runs (R15)
    ("must_spread", "?"),  # R16
    ("drop_tie_safe", "?"),  # R21
    ("freeze_stacks", "?"),  # R23
    ("on_demand", "?"),  # stock_end (R24)
    ("stock_dead", "?"),  # stock_result = dead (R25)
    ("stock_tie_dead", "?"),  # stock_tie = dead (R25)
    ("place_reward", "?"),  # match_reward = place (R40)
])

# One table: a hand in play and the match around it. What every decision reads comes first, side by side.
TABLE_DTYPE = _record([
    ("choice", "<u8"),  # where the stream stands from which compiled players draw
    ("words", "<u4"),  # bit w: word w may have a legal move; where it is not set there is none
    ("turn", "i1"),  # seat on turn
    ("phase", "i1"),
    ("match_over", "?"),
    ("num_players", "i1"),
    ("legal", "<u8", (26,)),  # legal moves of the seat on turn, by word (see actions.py)
    ("hand", "<u8", (6,)),  # card set held by each seat
    ("known", "<u8", (6,)),  # of these, cards that were taken from the pile (R39)
    ("thrown", "<u8", (7,)),  # cards in the pile by who threw them; 6 = the upcard
    ("laid", "<u8", (6,)),  # natural cards lying as themselves in each seat's spreads
    ("taken", "<u8"),  # card taken from the pile in this turn, as a set
    ("open_book", "<u8"),  # places open to a hit in a book
    ("open_high", "<u8"),  # places open to a hit at the high end of a run
    ("open_low", "<u8"),  # places open to a hit at the low end of a run
    ("turns", "<i4"),  # finished turns of the hand
    ("waiting", "<i2", (6,)),  # own turns still barred after a spread (R22)
    ("frozen", "<i2", (6,)),  # own turns still barred after being hit (R23)
    ("hits", "<i2"),  # in this turn
    ("dealt", "u1"),  # cards dealt or drawn from the deck
    ("pile_size", "u1"),
    ("in_hand", "u1"),  # seats dealt into the last dealt hand, as bits
    ("live", "u1"),  # seats still in the match, as bits
    ("num_spreads", "i1"),
    ("tunker", "i1"),  # seat that said tunk, -1 = none
    ("last_left", "i1"),  # last turns still to come (R27)
    ("start", "i1"),  # seat that played first in this hand
    ("must_use", "?"),  # the card taken must be used by the next move (R12)
    ("tunk_clean", "?"),  # the tunker had no card left over: no hits (R27)
    ("stacked", "?"),  # the deck was set by hand: no shuffling
    ("deck", "u1", (54,)),  # card numbers; dealt part in order, the rest not yet shuffled
    ("pile", "u1", (54,)),  # discard pile, bottom first
    ("key", "<u8"),  # of this hand's deck, from seed, table_id and deal
    ("seed", "<u8"),  # of the series of deals
    ("table_id", "<i8"),  # which series of that seed
    ("deal", "<i8"),  # number of this hand's deck in the series, from 0
    ("counts", "<f8", (6,)),  # of the last finished hand, points (R6)
    ("scores", "<f8", (6,)),  # of the last finished hand: penalty points or payoffs (section 7)
    ("totals", "<f8", (6,)),  # of the match before the hand in play (after it, once it is booked)
    ("rewards", "<f8", (6,)),  # since the last move (R40)
    ("places", "<f4", (6,)),  # place in the match, 0 = not yet placed (R37)
    ("hands_played", "<i4"),  # of the match
    ("hands_dealt", "<i4"),  # of the match, cancelled and void ones too, the hand in play too
    ("winners", "u1"),  # seats as bits, of the last finished hand
    ("next_start", "i1"),  # seat that plays first in the next hand of the match
    ("dropper", "i1"),  # seat that dropped or tunked, -1 = none, of the last finished hand
    ("ending", "i1"),  # of the last finished hand
    ("cut_short", "?"),  # the last finished hand reached max_turns (R19)
    ("spread_places", "<u8", (12,)),  # places of each spread, in the order laid
    ("spread_owner", "i1", (12,)),
    ("spread_kind", "i1", (12,)),  # 0 book, 1 run
    ("wild_place", "i1", (6,)),  # bit of the place that each wild on the table fills, -1 = not on the table as a wild
    ("wild_spread", "i1", (6,)),  # spread in which it lies
])

# What one seat may know (R39), packed. The observation is this, written out as 0/1 bytes.
VIEW_DTYPE = _record([
    ("hand", "<u8"),  # my cards
    ("top", "<u8"),  # top of the pile, as a set
    ("taken", "<u8"),  # card taken from the pile in this turn
    ("thrown", "<u8", (7,)),  # cards in the pile by relative thrower; 6 = the upcard
    ("known", "<u8", (6,)),  # cards known to be in each hand
    ("laid", "<u8", (6,)),  # natural cards lying as themselves, by owner of the spread
    ("wild_places", "<u8", (6,)),  # places that wilds fill, by owner of the spread
    ("open_book", "<u8"),
    ("open_high", "<u8"),
    ("open_low", "<u8"),
    ("turns", "<i8"),
    ("hands_left", "<i8"),  # of a match of hands, this one included; at most HANDS_SHOWN
    ("count", "<i8"),  # mine (R6)
    ("hits", "<i8"),  # in this turn, at most MAX_HITS_SHOWN
    ("waiting", "<i8", (6,)),  # at most what the layout shows
    ("frozen", "<i8", (6,)),
    ("totals", "<i8", (6,)),  # steps of the match's scale, see observation.py
    ("sizes", "<i8", (6,)),  # cards in each hand
    ("stock", "<i8"),  # cards
    ("phase", "<i8"),
    ("turn", "<i8"),  # relative seat on turn
    ("tunker", "<i8"),  # relative seat, -1 = none
    ("live", "<i8"),  # relative seats in the hand, as bits
    ("wilds_laid", "<i8"),  # wilds lying as wilds, as bits in the order of R14
    ("must_use", "?"),
    ("tunk_clean", "?"),
])


def new_tables(count: int) -> np.ndarray:
    """Zeroed array of ``count`` table records."""
    return np.zeros(count, dtype=TABLE_DTYPE)


# What ended at one table during the last step of a batch, and running sums.
OUT_DTYPE = _record([
    ("counts", "<f8", (6,)),  # of the last hand that ended, points (R6)
    ("scores", "<f8", (6,)),  # penalty points or payoffs
    ("returns", "<f8", (6,)),  # sum of the episode's rewards
    ("skipped", "<i8"),  # episodes that ended before an external seat could act
    ("ending", "i1"),  # Ending of that hand, -1 = none ended
    ("dropper", "i1"),  # seat that dropped or tunked, -1 = none
    ("winners", "u1"),  # seats as bits
    ("over", "?"),  # the episode ended
    ("truncated", "?"),  # by the turn limit of a single hand (R19)
])


# Who plays the seats of one table in a batch.
PLAYERS_DTYPE = _record([
    ("param", "<i2", (6,)),  # number that belongs to the kind: the count of drop:N
    ("kind", "i1", (6,)),  # player of each seat, -1 = external (see kernels/players.py)
])


# Where everything lies in an observation: offsets (-1 = the block is absent) and widths of its blocks, ``total`` bytes;
# ``actions`` of the mask. Filled by ObservationLayout.
LAYOUT_DTYPE = _record([
    *((name, "<i8") for name in (
        "total actions players cards hand top taken thrown known laid wild_places wilds_laid open sizes size_width stock "
        "stock_width count "
        "count_width phase phase_width turn live tunker waiting waiting_width frozen frozen_width hits hits_width must_use "
        "options turns turns_width totals totals_width totals_zero hands_left hands_width"
    ).split()),
    ("totals_steps", "<f8"),  # steps a point
])
