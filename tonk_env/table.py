"""One table, checked: what people, tests, records and the PettingZoo door play on. The rules themselves are the kernels'."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tonk_env.actions import num_actions
from tonk_env.cards import BIT_OF_CARD, CARD_NAMES, cards_of, parse_card
from tonk_env.compiling import announce
from tonk_env.kernels.held import WILD_ORDER
from tonk_env.kernels.match import MAX_DEALS
from tonk_env.kernels.one import (
    BEGIN,
    CHOICES_AT,
    DEAL,
    HELD,
    LIVE_AT,
    NEXT,
    OVER_AT,
    PHASE_AT,
    START,
    STOCK_AT,
    TELL,
    choose_one,
    do,
    handles_of,
    observe_seat,
)
from tonk_env.notation import NotationError, action_name, parse_action, spread_words
from tonk_env.observation import ObservationLayout
from tonk_env.result import HandResult, told_moves, whole_deck
from tonk_env.rule_record import rule_array
from tonk_env.rules import RuleSet, RuleSetError, make_rules
from tonk_env.seeding import series_seed
from tonk_env.state import TABLE_DTYPE, VIEW_DTYPE, Ending, Phase, new_tables

OVER = int(Phase.OVER)
_OVER_BIT = 1 << OVER_AT
_HELD_BITS = 2**64 - 1
_NO_DECISION = f"{MAX_DEALS} hands in a row were settled on the deal: these rules, with so many players, leave no decision"
_SPREAD_FIELDS = ("num_spreads", "spread_places", "spread_kind", "spread_owner", "wild_spread", "wild_place")

Rules = str | RuleSet | Mapping[str, Any]


class IllegalMoveError(ValueError):
    """A move that the rules do not allow here, with the reason."""


class DeckError(ValueError):
    """A deck that is not the rule set's deck, each card once."""


@dataclass(frozen=True)
class Spread:
    """A spread on the table: its owner, its kind (``book`` or ``run``), and the words of its places."""

    owner: int
    kind: str
    words: str
    cards: list[tuple[int, int]]  # (card number, card number of its place)


def _card_number(card: Any) -> int:
    """A card number, of Python or NumPy. Raises ValueError for anything else."""
    if isinstance(card, bool) or not isinstance(card, int | np.integer):
        raise ValueError(f"{card!r} is neither a card's name nor its number")
    return int(card)


class Table:
    """One table of Tonk with checked moves. No RL in here.

    Args:
        rules: preset name, RuleSet, or ``{"preset": …, "set": {…}}``.
        num_players: seats; None takes the rule set's usual number.
        seed: of the series of deals, any whole number from 0; None takes one from the system at the first reset.
        table: number of the series within the seed.

    Raises:
        RuleSetError: for rules or a number of players that are not allowed.
    """

    def __init__(self, rules: Rules = "points", num_players: int | None = None, seed: int | None = None, table: int = 0):
        self.rules = make_rules(rules)
        self.num_players = self.rules.check_players(num_players)
        self.layout = ObservationLayout(self.rules, self.num_players)
        self.num_actions = num_actions(self.rules)
        announce(do)
        self._tables = new_tables(1)
        self._tables["num_players"] = self.num_players
        if isinstance(table, bool) or not isinstance(table, int | np.integer) or not 0 <= table < 2**63:
            raise ValueError(f"table is the number of a series, a whole number from 0, not {table!r}")
        self._tables["table_id"] = table
        self._tables["phase"] = Phase.OVER
        self._view = np.zeros(1, VIEW_DTYPE)  # the kernels' scratch paper
        self._seen = np.zeros(self.layout.size, np.int8)  # by the seat on turn
        self._legal = np.zeros(self.num_actions, np.int8)
        self._choices = np.zeros(self.num_actions, np.int64)
        self._now = OVER << PHASE_AT  # what the kernels told last
        self._has_wilds = self.rules.wild != "none"
        self._bind()
        self._seeded = False
        self._started = False
        self._single_hand = self.rules.single_hand
        self._match = -1
        self._moves: list[tuple[int, int, int]] = []  # seat, action, card set held before it
        self.opened: list[HandResult] = []
        self.last_hand: HandResult | None = None
        self.truncated = False
        if seed is not None:
            self._seed(seed)

    def _bind(self) -> None:
        """Arrays and views into the record that copies and pickles make anew."""
        self._t = self._tables[0]
        self._rules = rule_array(self.rules)
        self._layouts = self.layout.records
        self._handles, self._handle = handles_of(
            self._rules, self._layouts, self._tables, self._view, self._seen, self._legal, self._choices
        )
        self._rewards = self._tables["rewards"][0, : self.num_players]
        # Views are read many times faster than attributes of the record.
        self._fields = {name: self._tables[name] for name in TABLE_DTYPE.names or ()}
        self._hands = self._fields["hand"][0]

    def _do(self, what: int) -> bool:
        """Play an action or deal, book or start; False when the action is not legal."""
        told = int(do(self._handle, what))
        if told >= 0:
            self._now = told
        return told >= 0

    def _refresh(self) -> None:
        """Look at the record again, after something else has written to it."""
        self._do(TELL)

    # -- episodes ------------------------------------------------------------------------------------------------

    def _seed(self, seed: int) -> None:
        self._tables["seed"] = series_seed(seed)
        self._tables["deal"] = 0
        self._seeded = True
        self._match = -1

    def reset(self, seed: int | None = None, deck: str | Sequence[str | int] | None = None) -> None:
        """Begin an episode: a match of the rule set, at its first decision.

        Args:
            seed: start the series of deals of this seed; None goes on with the next deals of the current series.
            deck: cards of the first hand in dealing order (R4), as names, numbers, or one string of names.

        Raises:
            DeckError: when the deck has a missing, repeated or foreign card.
            RuleSetError: when the rules settle every hand on the deal.
        """
        order = None if deck is None else self.check_deck(deck)
        if seed is not None or not self._seeded:
            self._seed(np.random.SeedSequence().entropy if seed is None else seed)  # type: ignore[arg-type]
        self.opened, self._started, self.truncated = [], True, False
        for _ in range(MAX_DEALS):
            self._match += 1
            self._begin(order)
            order = None
            self.opened += self._settle()
            if not self.over:
                return
        raise RuleSetError(_NO_DECISION)

    def check_deck(self, deck: str | Sequence[str | int]) -> list[int]:
        """Card numbers of a deck in dealing order. Raises DeckError unless it is the rule set's deck, each card once."""
        try:
            cards = deck.split() if isinstance(deck, str) else list(deck)
            order = [parse_card(c) if isinstance(c, str) else _card_number(c) for c in cards]
        except (TypeError, ValueError) as error:
            raise DeckError(f"deck: {error}") from None
        wanted = {int(c) for c in self._rules[0].deck[: self.rules.deck_size]}
        seen: set[int] = set()
        for position, card in enumerate(order):
            name = CARD_NAMES[card] if 0 <= card < len(CARD_NAMES) else str(card)
            if card not in wanted:
                raise DeckError(f"deck: card {name} at position {position} is not in the deck of these rules")
            if card in seen:
                raise DeckError(f"deck: card {name} at position {position} is there twice")
            seen.add(card)
        missing = sorted(wanted - seen)
        if missing:
            names = " ".join(CARD_NAMES[c] for c in missing[:5]) + (" …" if len(missing) > 5 else "")
            raise DeckError(f"deck: {len(missing)} of {self.rules.deck_size} cards are missing: {names}")
        return order

    def _begin(self, order: list[int] | None) -> None:
        """Start a match and deal its first hand."""
        self._moves = []
        if order is None:
            self._do(BEGIN)
        else:
            self._do(START)
            self._deal(order)

    def _deal(self, order: list[int]) -> None:
        """Deal the next hand from a stacked deck."""
        self._t.deck[: len(order)] = order
        self._t.stacked = True
        self._moves = []
        self._do(DEAL)
        self._t.stacked = True  # the kernels forget it: only this hand is stacked

    def _settle(self) -> list[HandResult]:
        """Book finished hands and deal on until there is a decision or the match is over."""
        finished: list[HandResult] = []
        while self._now >> PHASE_AT & 7 == OVER and not self._now & _OVER_BIT:
            if len(finished) > MAX_DEALS:
                raise RuleSetError(_NO_DECISION)
            finished.append(self._result())
            self.last_hand = finished[-1]
            self._moves = []
            self._do(NEXT)
        self.truncated = self._single_hand and bool(self._now & _OVER_BIT) and bool(self._fields["cut_short"][0])
        return finished

    def _result(self) -> HandResult:
        """The finished hand on the table. The record is kept; the words are found when somebody asks for them."""
        return HandResult.of_record(self.rules, self._match, self._tables.tobytes(), self._moves)

    # -- moves ---------------------------------------------------------------------------------------------------

    def verify(self, action: int | str) -> int:
        """Action number of a legal move. Raises IllegalMoveError with the reason for anything else."""
        if not self._started:
            raise IllegalMoveError("no hand has been dealt: call reset() first")
        if self.over:
            raise IllegalMoveError("the episode is over: call reset() for the next one")
        if isinstance(action, str):
            return self.parse(action)
        if isinstance(action, bool) or not isinstance(action, int | np.integer):
            raise IllegalMoveError(f"a move is an action number or its words, not {action!r}")
        if not 0 <= action < self.num_actions:
            raise IllegalMoveError(f"action {action} is out of range: 0 to {self.num_actions - 1} under these rules")
        if not self._legal[action]:
            raise IllegalMoveError(f"{action_name(int(action), self.rules)!r} (action {action}) {self._why_not()}")
        return int(action)

    def _why_not(self) -> str:
        """Tail of the sentence about an illegal move."""
        legal = self.legal_words()
        shown = ", ".join(legal[:6]) + (f" and {len(legal) - 6} more" if len(legal) > 6 else "")
        return f"is not legal for seat {self.seat} in phase {self.phase.name}: legal are {shown}"

    def can(self, action: int | str) -> bool:
        """Whether a move is legal now."""
        try:
            self.verify(action)
        except IllegalMoveError:
            return False
        return True

    def step(self, action: int | str) -> list[HandResult]:
        """Play a legal move. Returns the hands that ended by it, those settled on the next deals too.

        Raises IllegalMoveError, with nothing changed, when the move is not legal.
        """
        number = action if type(action) is int and self._started else self.verify(action)
        seat = self._now & 7
        told = do(self._handle, number) if 0 <= number < self.num_actions else -1
        if told < 0:
            self.verify(action)
        self._now = told
        held = int(self._handles[HELD]) & _HELD_BITS if self._has_wilds else 0  # only words of wilds depend on the hand
        self._moves.append((seat, number, held))
        return self._settle() if told >> PHASE_AT & 7 == OVER else []

    def choose(self, kind: int, param: int, random: int) -> int:
        """Legal action of a compiled player (``tonk_env.batch``: DROP, GREEDY, ...) for the seat on turn, from its view.

        ``random`` is a whole number below 2**63, fresh for each choice. Raises IllegalMoveError when nobody is on turn.
        """
        if self.over:
            raise IllegalMoveError("nobody is on turn: call reset() first")
        return int(choose_one(self._handle, kind, param, random))

    def words(self, action: int) -> str:
        """Words of an action for the seat on turn (section 13)."""
        return action_name(int(action), self.rules, int(self._hands[self._fields["turn"][0]]))

    def parse(self, words: str) -> int:
        """Action number of the words of a legal move. Raises IllegalMoveError when they are not one."""
        for action in self.legal_actions():
            if self.words(int(action)) == words:
                return int(action)
        try:
            parse_action(words, self.rules)
        except NotationError as error:
            if "=" not in words:
                raise IllegalMoveError(str(error)) from None
        raise IllegalMoveError(f"{words!r} {self._why_not()}")

    # -- what is there -------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the episode has ended (or none has begun)."""
        return bool(self._now & _OVER_BIT) or not self._started

    @property
    def phase(self) -> Phase:
        """Where the turn stands."""
        return Phase(self._now >> PHASE_AT & 7) if self._started else Phase.OVER

    @property
    def seat(self) -> int:
        """Seat on turn, -1 when the episode is over."""
        return -1 if self._now & _OVER_BIT or not self._started else self._now & 7

    @property
    def action_mask(self) -> np.ndarray:
        """Legal moves of the seat on turn: int8, shape ``(num_actions,)``, all zero when the episode is over."""
        return self._legal.copy()

    def allows(self, action: int) -> bool:
        """Whether an action number within the space is legal for the seat on turn."""
        return bool(self._legal[action])

    @property
    def seen(self) -> np.ndarray:
        """Observation of the seat on turn: int8, shape ``(layout.size,)``; zeros when the episode is over."""
        return self._seen.copy()

    def _check_seat(self, seat: int) -> int:
        """A seat of this table after a reset."""
        if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < self.num_players:
            raise ValueError(f"seat {seat!r} is not at this table: seats are 0 to {self.num_players - 1}")
        if not self._started:
            raise ValueError("no hand has been dealt: call reset() first")
        return int(seat)

    def mask(self, seat: int) -> np.ndarray:
        """The action mask as a seat sees it: zeros off turn. Raises ValueError like ``observation``."""
        self._check_seat(seat)
        return self.action_mask if seat == self.seat else np.zeros(self.num_actions, dtype=np.int8)

    def legal_actions(self) -> np.ndarray:
        """Legal action numbers, rising: int64."""
        return self._choices[: self._now >> CHOICES_AT].copy()

    def legal_words(self) -> list[str]:
        """Legal moves in words, sorted by text."""
        return sorted(self.words(int(a)) for a in self.legal_actions())

    def observation(self, seat: int) -> np.ndarray:
        """What a seat may know (R39): int8 of zeros and ones, shape ``(layout.size,)``.

        Raises ValueError for a seat that is not at this table, and before the first reset.
        """
        if type(seat) is int and seat == self._now & 7 and self._started and not self._now & _OVER_BIT:
            return self._seen.copy()
        seat = self._check_seat(seat)
        row = np.zeros(self.layout.size, dtype=np.int8)
        observe_seat(self._rules, self._layouts, self._tables, seat, row)
        return row

    @property
    def rewards(self) -> np.ndarray:
        """Rewards of the last step (R40): float64, one a seat. After reset: of hands settled on the deal."""
        return self._rewards.copy()

    @property
    def totals(self) -> np.ndarray:
        """Totals of the match: float64, one a seat."""
        return self._tables["totals"][0, : self.num_players].copy()

    @property
    def live(self) -> np.ndarray:
        """Seats still in the match: bool, one a seat."""
        return np.array([bool(self._now >> LIVE_AT + seat & 1) for seat in range(self.num_players)])

    def is_live(self, seat: int) -> bool:
        """Whether a seat of this table is still in the match."""
        return bool(self._now >> LIVE_AT + seat & 1)

    def places(self) -> list[float]:
        """Places in the match (R37), 0 for a seat that has none yet."""
        return [float(p) for p in self._t.places[: self.num_players]]

    def hand(self, seat: int) -> list[int]:
        """Card numbers held by a seat, rising. Everybody's cards are to be had here: this is the table, not a view."""
        return cards_of(int(self._hands[self._check_seat(seat)]))

    @property
    def deck(self) -> list[int]:
        """The whole deck of this hand in dealing order, the undealt part too."""
        return whole_deck(self.rules, self._tables)

    @property
    def stock_size(self) -> int:
        """Cards left in the stock."""
        return self._now >> STOCK_AT & 63

    @property
    def pile(self) -> list[tuple[int, int | None]]:
        """The discard pile, bottom first: (card number, seat that threw it or None for the upcard)."""
        thrown = self._fields["thrown"][0, : self.num_players].tolist()
        pile: list[tuple[int, int | None]] = []
        for card in self._fields["pile"][0, : self._fields["pile_size"][0]].tolist():
            bit = int(BIT_OF_CARD[card])
            pile.append((card, next((seat for seat, cards in enumerate(thrown) if cards >> bit & 1), None)))
        return pile

    @property
    def top(self) -> int | None:
        """Card number on top of the discard pile."""
        size = int(self._fields["pile_size"][0])
        return int(self._fields["pile"][0, size - 1]) if size else None

    @property
    def start(self) -> int:
        """Seat that played first in this hand."""
        return int(self._fields["start"][0])

    @property
    def hand_number(self) -> int:
        """Number of this hand among those dealt in the match, from 0."""
        return int(self._fields["hands_dealt"][0]) - 1

    @property
    def hands_played(self) -> int:
        """Hands of the match that count as played."""
        return int(self._fields["hands_played"][0])

    @property
    def moves(self) -> list[str]:
        """Moves of the hand so far, ``"0 draw"`` and so on."""
        return told_moves(self.rules, self._moves)

    @property
    def record(self) -> Any:
        """The table's record (a scalar of TABLE_DTYPE), for tools that look closer."""
        return self._t

    def spreads(self) -> list[Spread]:
        """Spreads on the table in the order laid."""
        t = {name: self._fields[name][0] for name in _SPREAD_FIELDS}
        found = []
        for i in range(int(t["num_spreads"])):
            places = int(t["spread_places"][i])
            wilds = sum(1 << int(place) for place, spread in zip(t["wild_place"], t["wild_spread"], strict=True) if spread == i)
            cards = [(c, c) for c in cards_of(places & ~wilds)]
            names = {}
            for wild, bit in enumerate(WILD_ORDER.tolist()):
                if t["wild_spread"][wild] == i:
                    card, place = cards_of(1 << bit)[0], cards_of(1 << int(t["wild_place"][wild]))[0]
                    cards.append((card, place))
                    names[place] = f"{CARD_NAMES[card]}={CARD_NAMES[place]}"
            words = " ".join(names.get(place, CARD_NAMES[place]) for place in sorted(p for _, p in cards))
            kind = "run" if t["spread_kind"][i] else "book"
            found.append(Spread(int(t["spread_owner"][i]), kind, words, sorted(cards, key=lambda pair: pair[1])))
        return found

    def copy(self) -> Table:
        """An independent copy."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_t", "_rules", "_layouts", "_handles", "_handle", "_rewards", "_fields", "_hands", "layout"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.layout = ObservationLayout(self.rules, self.num_players)
        self._bind()

    def render(self, seat: int | None = None) -> str:
        """The table as text, from a seat's view, or with all hands open when ``seat`` is None."""
        from tonk_env.render import render_text

        return render_text(self, seat)


__all__ = ["DeckError", "Ending", "HandResult", "IllegalMoveError", "Phase", "Spread", "Table", "spread_words"]
