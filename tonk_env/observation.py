"""The observation: named blocks of one int8 vector of zeros and ones, in one order, written by one function.

``ObservationLayout`` says where each block lies for a rule set and a number of players; ``decode`` gives a vector back as
a readable view. Counts are unary, seats are relative (row 0 = me, row 1 = left of me, ...), cards are one byte each by card
number. Blocks that a rule set cannot use are left out.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tonk_env.actions import num_actions
from tonk_env.cards import CARD_NAMES, cards_of
from tonk_env.kernels.look import read_row
from tonk_env.rules import RuleSet
from tonk_env.state import LAYOUT_DTYPE, NOBODY, VIEW_DTYPE, Phase

OBSERVATION_SPACE_VERSION = 1

TOTAL_STEPS = 25  # steps in which a seat's total is shown
HANDS_SHOWN = 10  # hands left in a match that are told apart
HITS_SHOWN = 8
NUM_COMMON_BLOCKS = 12  # blocks that every rule set has
STACKED_FREEZE_SHOWN = 8  # own turns, where freezes stack without end

@dataclass(frozen=True)
class Block:
    """A named part of the observation vector: ``vector[offset : offset + size].reshape(shape)``."""

    name: str
    offset: int
    shape: tuple[int, ...]
    doc: str

    @property
    def size(self) -> int:
        """Bytes of the block."""
        return math.prod(self.shape)

    def of(self, vector: np.ndarray) -> np.ndarray:
        """View of this block in one observation or a batch of them (last axis)."""
        return vector[..., self.offset : self.offset + self.size].reshape(*vector.shape[:-1], *self.shape)


class ObservationLayout:
    """Where everything lies in the observation of a rule set at a table of ``num_players``."""

    def __init__(self, rules: RuleSet, num_players: int) -> None:
        self.rules = rules
        self.num_players = num_players
        self.blocks: list[Block] = []
        offset = 0
        for name, shape, doc in _shapes(rules, num_players):
            self.blocks.append(Block(name, offset, shape, doc))
            offset += self.blocks[-1].size
        self.size = offset

    @cached_property
    def record(self) -> Any:
        """The layout as the kernels read it (a scalar of LAYOUT_DTYPE)."""
        record = np.zeros(1, LAYOUT_DTYPE)[0]
        for name in ("taken", "wild_places", "wilds_laid", "live", "tunker", "must_use"):
            record[name] = -1
        for block in self.blocks:
            record[block.name] = block.offset
        record.total, record.actions = self.size, num_actions(self.rules)
        record.players, record.cards = self.num_players, _cards(self.rules)
        for field, name in _WIDTHS.items():
            record[field] = next((b.shape[-1] for b in self.blocks if b.name == name), 0)
        assert self.size - record.open - 104 >= 64, "the blocks after the first open places fill a word"
        record.options = len(self.blocks) > NUM_COMMON_BLOCKS
        step, zero = _totals_scale(self.rules)
        record.totals_steps, record.totals_zero = 1 / step, zero
        return record

    @cached_property
    def records(self) -> np.ndarray:
        """The same in an array of one, which Python passes to compiled code faster."""
        return np.array([self.record])

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when the vector's meaning does."""
        text = f"v{OBSERVATION_SPACE_VERSION}|" + "|".join(f"{b.name}{b.shape}" for b in self.blocks)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def block(self, name: str) -> Block:
        """A block by name. Raises KeyError for one that this rule set does not have."""
        for block in self.blocks:
            if block.name == name:
                return block
        raise KeyError(f"this layout has no block {name!r}; it has {', '.join(b.name for b in self.blocks)}")

    def decode(self, vector: np.ndarray) -> View:
        """Readable view of one observation (int8, shape ``(size,)``). Raises ValueError for another shape."""
        if np.shape(vector) != (self.size,):
            raise ValueError(f"an observation here has shape ({self.size},), not {np.shape(vector)}")
        records = np.zeros(1, VIEW_DTYPE)
        read_row(self.records, np.ascontiguousarray(vector, dtype=np.int8), records)
        return View(self, records[0])


_WIDTHS = {
    "size_width": "sizes", "stock_width": "stock", "count_width": "count", "phase_width": "phase",
    "waiting_width": "waiting", "frozen_width": "frozen", "hits_width": "hits", "turns_width": "turns",
    "totals_width": "totals", "hands_width": "hands_left",
}


def _cards(rules: RuleSet) -> int:
    """Bytes of a block of cards: 52, or 54 when jokers are in the deck."""
    return 54 if rules.jokers else 52


def _totals_scale(rules: RuleSet) -> tuple[float, int]:
    """(points a step, step that stands for a total of 0) of the totals block."""
    if rules.settlement == "points":
        limit = {"elimination": rules.elimination, "target": rules.target}.get(rules.match) or 100
        return limit / TOTAL_STEPS, 0
    middle = TOTAL_STEPS // 2
    return (rules.target / middle if rules.match == "target" and rules.target else rules.scale), middle


def _shapes(rules: RuleSet, n: int) -> list[tuple[str, tuple[int, ...], str]]:
    """Blocks of a rule set in order: name, shape, meaning."""
    cards = _cards(rules)
    largest = max(rules.rank_values)
    stock = rules.deck_size - 2 * rules.hand_size - int(rules.upcard)
    blocks = [
        ("hand", (cards,), "cards I hold"),
        ("top", (cards,), "top of the discard pile"),
        ("thrown", (n + 1, cards), "cards in the discard pile by who threw them; the last row is the upcard"),
        ("known", (n, cards), "cards taken from the pile and still held, by holder"),
        ("laid", (n, 52), "natural cards on the table, by owner of the spread"),
        ("open", (3, 52), "places open to a hit: in a book, at the high end of a run, at its low end"),
        ("sizes", (n, rules.hand_size + 1), "cards in each hand, unary"),
        ("stock", (stock,), "cards left in the stock, unary"),
        ("count", ((rules.hand_size + 1) * largest,), "my count (R6), unary"),
        ("phase", (6 if rules.drop == "after_draw" else 2,), "start of a turn or in play; in Tunk also tunk said, the "
         "two phases of a last turn, and passed"),
        ("turn", (n,), "seat on turn, one-hot"),
        ("turns", (int(rules.max_turns).bit_length(),), "finished turns of the hand, binary digits, lowest first"),
    ]
    return blocks + _option_shapes(rules, n, cards)


def _option_shapes(rules: RuleSet, n: int, cards: int) -> list[tuple[str, tuple[int, ...], str]]:
    """Blocks that only some rule sets have."""
    freeze = STACKED_FREEZE_SHOWN if rules.freeze_stacks else rules.freeze_on_hit
    blocks: list[tuple[bool, str, tuple[int, ...], str]] = [
        (rules.taken_discard != "free", "taken", (cards,), "card taken from the pile in this turn"),
        (rules.taken_discard == "must_use", "must_use", (1,), "the card taken must be used by the next move"),
        (rules.wild != "none", "wild_places", (n, 52), "places that wilds fill, by owner of the spread"),
        (rules.wild != "none", "wilds_laid", (6,), "wilds on the table as wilds: X1 X2 2C 2D 2H 2S"),
        (rules.wait_after_spread > 0, "waiting", (n, rules.wait_after_spread), "own turns still barred after a spread, unary"),
        (rules.freeze_on_hit > 0, "frozen", (n, freeze), "own turns still barred after being hit, unary"),
        (rules.max_hits > 0, "hits", (min(rules.max_hits, HITS_SHOWN),), "hits made in this turn, unary"),
        (rules.drop == "after_draw", "tunker", (n + 1,), "seat that said tunk; the last byte: it had no card left over"),
        (rules.match == "elimination", "live", (n,), "seats in this hand"),
        (not rules.single_hand, "totals", (n, TOTAL_STEPS), "total of each seat in the match, unary in steps"),
        (rules.match == "hands" and not rules.single_hand, "hands_left", (min(rules.hands, HANDS_SHOWN),),
         "hands of the match still to play, this one included, unary"),
    ]
    return [(name, shape, doc) for used, name, shape, doc in blocks if used]


class View:
    """One observation, readable: what a seat knows of its table. Seats are relative, cards are names."""

    def __init__(self, layout: ObservationLayout, record: Any) -> None:
        self.layout = layout
        self.record = record

    def _cards(self, bits: Any) -> list[str]:
        return [CARD_NAMES[c] for c in cards_of(int(bits))]

    def _rows(self, bits: Any) -> list[list[str]]:
        return [self._cards(bits[k]) for k in range(self.layout.num_players)]

    @property
    def hand(self) -> list[str]:
        """My cards."""
        return self._cards(self.record.hand)

    @property
    def top(self) -> str | None:
        """Top of the discard pile."""
        return next(iter(self._cards(self.record.top)), None)

    @property
    def phase(self) -> Phase:
        """Where the turn stands."""
        return Phase(int(self.record.phase))

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain names and numbers, keyed like the blocks."""
        r, n = self.record, self.layout.num_players
        values: dict[str, Any] = {
            "hand": self.hand, "top": self.top, "thrown": [*self._rows(r.thrown), self._cards(r.thrown[NOBODY])],
            "known": self._rows(r.known), "laid": self._rows(r.laid),
            "open": [self._cards(r.open_book), self._cards(r.open_high), self._cards(r.open_low)],
            "stock": int(r.stock), "count": int(r.count), "phase": self.phase.name.lower(), "turn": int(r.turn),
            "turns": int(r.turns), "taken": next(iter(self._cards(r.taken)), None), "must_use": bool(r.must_use),
            "wild_places": self._rows(r.wild_places), "tunker": int(r.tunker), "hits": int(r.hits),
            "wilds_laid": [w for i, w in enumerate(("X1", "X2", "2C", "2D", "2H", "2S")) if r.wilds_laid >> i & 1],
            "hands_left": int(r.hands_left), "live": [bool(r.live >> k & 1) for k in range(n)],
        }
        values |= {name: [int(x) for x in r[name][:n]] for name in ("sizes", "waiting", "frozen", "totals")}
        return {block.name: values[block.name] for block in self.layout.blocks}

    def __repr__(self) -> str:
        return f"View({self.as_dict()})"
