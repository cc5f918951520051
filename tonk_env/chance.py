"""One hand whose cards are chosen from outside, one by one: for game trees and solvers, where chance is a player.

The kernels decide every rule, as everywhere. All that is open is which card comes next: when cards are to be dealt, and
when a player draws from the stock, the hand waits for one, and any card that has not come up yet may be put.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonk_env.actions import DRAW, num_actions
from tonk_env.compiling import announce
from tonk_env.kernels.one import BOOK, DEAL, HELD, PHASE_AT, START, STOCK_AT, do, handles_of, observe_seat
from tonk_env.kernels.unseen import deal_unseen
from tonk_env.notation import action_name
from tonk_env.observation import ObservationLayout
from tonk_env.redeal import MAX_TRIES, RedealError
from tonk_env.rule_record import rule_array
from tonk_env.rules import RuleSet, RuleSetError
from tonk_env.state import VIEW_DTYPE, Phase, new_tables
from tonk_env.table import IllegalMoveError

OVER = int(Phase.OVER)
CHANCE = -1  # who chooses a card
REPLAYS = 1000  # deals tried by ``redealt`` before it gives up

Event = tuple[int, int, int]  # seat or CHANCE, action or card, cards that left the hand of the seat as a set


class OpenHand:
    """A single hand of Tonk, dealt and drawn card by card from outside.

    Args:
        rules: a rule set whose match is one hand (``match="hands", hands=1``).
        num_players: seats.

    ``waits_for_card`` says whether ``put`` or ``play`` comes next. A hand that is settled on the deal (R7 to R9) is over
    without a move. Copies are cheap and independent.

    Raises:
        RuleSetError: for a match of several hands, and for a table that the rules refuse.
    """

    def __init__(self, rules: RuleSet, num_players: int) -> None:
        if not rules.single_hand:
            raise RuleSetError('only single hands are played card by card: set match="hands" and hands=1')
        announce(do)
        self.rules = rules
        self.num_players = rules.check_players(num_players)
        self.layout = ObservationLayout(rules, self.num_players)
        self.to_deal = rules.hand_size * self.num_players + int(rules.upcard)
        self.events: list[Event] = []
        self.cards: list[int] = []  # dealt and drawn so far
        self.over = False
        self.drawing = False
        self._rules, self._layouts = rule_array(rules), self.layout.records
        self._tables = new_tables(1)
        self._tables["num_players"] = self.num_players
        self._now = OVER << PHASE_AT  # what the kernels told last
        self._seen = np.zeros(self.layout.size, np.int8)
        self._legal = np.zeros(num_actions(rules), np.int8)
        self._bind()

    def _bind(self) -> None:
        """Handles of the arrays, which copies need anew."""
        self._scratch = np.zeros(1, VIEW_DTYPE), np.zeros(len(self._legal), np.int64)
        view, choices = self._scratch
        self._handles, self._handle = handles_of(
            self._rules, self._layouts, self._tables, view, self._seen, self._legal, choices
        )

    @classmethod
    def replayed(cls, rules: RuleSet, num_players: int, choices: Sequence[int]) -> OpenHand:
        """A hand after some cards and moves, in the order in which they came. Raises as ``put`` and ``play`` do."""
        hand = cls(rules, num_players)
        for choice in choices:
            hand.choose(choice)
        return hand

    # -- what happens --------------------------------------------------------------------------------------------

    def choose(self, choice: int) -> None:
        """Put a card or play a move, whichever is due."""
        if self.waits_for_card:
            self.put(choice)
        else:
            self.play(choice)

    def put(self, card: int) -> None:
        """Let a card come up (R4, R11). Raises IllegalMoveError when it cannot, or when none is due."""
        if not self.waits_for_card:
            raise IllegalMoveError("no card is due: it is a seat's move, or the hand is over")
        if card not in self.unseen():
            raise IllegalMoveError(f"card {card} has come up already or is not in the deck of these rules")
        self.events.append((CHANCE, card, 0))
        self.cards.append(card)
        if self.drawing:
            self._next_is(card)
            self.drawing = False
            self._do(DRAW)
        elif len(self.cards) == self.to_deal:
            self._deal()

    def play(self, action: int) -> None:
        """Play a move of the seat on turn. Raises IllegalMoveError for a move that is not legal now."""
        if self.seat < 0 or not 0 <= action < len(self._legal) or not self._legal[action]:
            raise IllegalMoveError(f"action {action} is not legal now: {self.legal_actions()} are")
        seat = self.seat
        self.drawing = action == DRAW and self.stock > 0
        if self.drawing:
            self.events.append((seat, action, 0))
            return
        self._do(action)
        left = int(self._handles[HELD]) & ~int(self._tables["hand"][0, seat])
        self.events.append((seat, action, left & (2**64 - 1)))

    def _deal(self) -> None:
        """Deal the chosen cards; the others follow in any order, for each is exchanged for the chosen one when drawn."""
        order = self.cards + self.unseen()
        self._tables["deck"][0, : len(order)] = order
        self._do(START)
        self._tables["stacked"] = True
        self._do(DEAL)
        self._tables["stacked"] = True  # dealing forgets it

    def _next_is(self, card: int) -> None:
        """Exchange the next card of the deck for another that is still in it."""
        deck, at = self._tables["deck"][0], int(self._tables["dealt"][0])
        where = at + int(np.flatnonzero(deck[at : self.rules.deck_size] == card)[0])
        deck[at], deck[where] = deck[where], deck[at]

    def _do(self, what: int) -> None:
        self._now = int(do(self._handle, what))
        if what != START and self._now >> PHASE_AT & 7 == OVER and not self.over:
            self.over = True
            self._now = int(do(self._handle, BOOK))

    # -- what is there -------------------------------------------------------------------------------------------

    @property
    def dealt(self) -> bool:
        """Whether every hand has been dealt."""
        return len(self.cards) >= self.to_deal

    @property
    def waits_for_card(self) -> bool:
        """Whether a card is to come up next."""
        return not self.over and (self.drawing or not self.dealt)

    @property
    def seat(self) -> int:
        """Seat on turn, -1 while a card is awaited and when the hand is over."""
        return -1 if self.over or self.waits_for_card else self._now & 7

    @property
    def stock(self) -> int:
        """Cards left in the stock."""
        return self._now >> STOCK_AT & 63

    @property
    def rewards(self) -> NDArray[np.float64]:
        """What each seat is paid for the hand (R40), zeros while it lasts: float64 [num_players]."""
        return self._tables["rewards"][0, : self.num_players].copy()

    def unseen(self) -> list[int]:
        """Cards that have not come up, rising."""
        deck = self._rules[0]["deck"][: self.rules.deck_size].tolist()
        return sorted(set(deck) - set(self.cards))

    def legal_actions(self) -> list[int]:
        """Legal moves of the seat on turn, rising; none while a card is awaited and when the hand is over."""
        return [] if self.seat < 0 else np.flatnonzero(self._legal).tolist()

    def observation(self, seat: int) -> NDArray[np.int8]:
        """What a seat sees (R39): int8 [layout.size], zeros before the deal is complete."""
        row = np.zeros(self.layout.size, dtype=np.int8)
        if self.dealt:
            observe_seat(self._rules, self._layouts, self._tables, seat, row)
        return row

    def dealt_to(self, seat: int) -> list[int]:
        """Cards dealt to a seat so far, rising (R4)."""
        return sorted(self.cards[: self.rules.hand_size * self.num_players][seat :: self.num_players])

    def upcard(self) -> int | None:
        """The card that began the pile, if there is one yet (R4)."""
        return self.cards[self.to_deal - 1] if self.rules.upcard and self.dealt else None

    def words(self, action: int) -> str:
        """Words of a move of the seat on turn."""
        held = int(self._tables["hand"][0, self.seat]) if self.seat >= 0 else None
        return action_name(action, self.rules, held)

    # -- copies --------------------------------------------------------------------------------------------------

    def redealt(self, seat: int, generator: np.random.Generator) -> OpenHand:
        """A hand that ``seat`` cannot tell from this one, with the cards that it has not seen dealt again (see ``redeal``).

        Moves and their order stay, and so does all that the seat has seen of them: a deal in which a move would not have
        been legal, or would have been made with another wild card, is not taken.

        Raises:
            RedealError: when no such deal was found.
        """
        records = new_tables(2)
        for _ in range(REPLAYS):
            records[0] = self._tables[0]
            key = generator.integers(2**64, dtype=np.uint64)
            if not deal_unseen(self._rules, records, seat, key, MAX_TRIES):
                break
            other = self._with_deck(records["deck"][1].tolist())
            if other is not None and (other.observation(seat) == self.observation(seat)).all():
                return other
        raise RedealError(f"no deal of the unseen cards agreed with what seat {seat} has seen")

    def _with_deck(self, deck: list[int]) -> OpenHand | None:
        """The same moves with another deck, None when they were not legal or not made with the same cards."""
        other, at = OpenHand(self.rules, self.num_players), 0
        for seat, choice, left in self.events:
            if other.waits_for_card != (seat == CHANCE) or other.over:
                return None
            if seat == CHANCE:
                other.put(deck[at])
                at += 1
                continue
            if not other._legal[choice]:
                return None
            other.play(choice)
            if other.events[-1] != (seat, choice, left):
                return None
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> OpenHand:
        twin = OpenHand.__new__(OpenHand)
        twin.__dict__.update(self.__dict__)
        twin.events, twin.cards = list(self.events), list(self.cards)
        for name in ("_tables", "_seen", "_legal"):
            setattr(twin, name, getattr(self, name).copy())
        twin._bind()
        return twin

    def __reduce__(self) -> Any:
        return OpenHand.replayed, (self.rules, self.num_players, [choice for _, choice, _ in self.events])
