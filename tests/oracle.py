"""The second engine, slow and plain, written from the rule sheet alone: one hand and one match (R1-R40)."""

from __future__ import annotations

from typing import Any

import oracle_settle as settle
from oracle_spreads import all_in_spreads, best_arrangement, deck_kind, least_left, total
from oracle_turn import Position, Spread, can_finish, discards, safe_placements

SAME = 1e-6
"""Totals this near are equal (section 13)."""


class OracleHand:
    """One hand from the deal to the settlement.

    `rules` has one attribute for each option. `players` is the number of seats of the match, `seats` those still in,
    `start` the seat that plays first, `deck` every card in dealing order.
    """

    def __init__(
        self, rules: Any, players: int, seats: list[int], start: int, deck: list[str], totals: Any = None
    ) -> None:
        self.rules, self.players, self.seats, self.start = rules, players, sorted(seats), start
        self.totals = totals
        self.kind = deck_kind(rules)
        self.hands: dict[int, list[str]] = {seat: [] for seat in self.seats}
        self.known: dict[int, set[str]] = {seat: set() for seat in self.seats}
        self.waiting = dict.fromkeys(self.seats, 0)
        self.frozen = dict.fromkeys(self.seats, 0)
        self.pile: list[tuple[str, int | None]] = []
        self.spreads: list[Spread] = []
        self.turn, self.turns, self.phase = start, 0, "start"
        self.taken: str | None = None
        self.must_use_taken = False
        self.hits = 0
        self.dropper: int | None = None
        self.last_turns: list[int] | None = None
        self.over, self.cut_short = False, False
        self.ending: str | None = None
        self.counts: list[int | None] = []
        self.scores: list[float | None] = []
        self.winners: list[int] = []
        self._deal(list(deck))
        self._open()

    # ----- the deal and the opening (R4, R7-R9)

    def _from(self, seat: int) -> list[int]:
        """Return the live seats from one seat on, to the left."""
        return [s for s in self.seats if s >= seat] + [s for s in self.seats if s < seat]

    def _deal(self, deck: list[str]) -> None:
        for _ in range(self.rules.hand_size):
            for seat in self._from(self.start):
                self.hands[seat].append(deck.pop(0))
        if self.rules.upcard:
            self.pile.append((deck.pop(0), None))
        self.stock = deck

    def _is_opening(self, hand: list[str]) -> bool:
        rules, count = self.rules, total(self.kind, hand)
        return (
            count in rules.opening_exact
            or (rules.opening_at_most is not None and count <= rules.opening_at_most)
            or (rules.opening_at_least is not None and count >= rules.opening_at_least)
            or (rules.opening_spread and all_in_spreads(self.kind, hand))
        )

    def _open(self) -> None:
        tonks = [seat for seat in self.seats if self._is_opening(self.hands[seat])]
        counts = self._count()
        if len(tonks) == 1:
            self._end("opening", settle.out(self.rules, counts, tonks[0], self.rules.opening_multiplier))
        elif tonks:
            self._end("opening_clash", settle.nothing(counts))

    # ----- what may be done

    def legal(self) -> list[str]:
        """Return the legal moves of the seat on turn in words, sorted by text; none when the hand is over."""
        if self.over:
            return []
        if self.phase == "start":
            return sorted(self._start_words())
        position = self._position()
        words = list(safe_placements(self.rules, position))
        if self.phase == "passed":
            return sorted([*words, "pass"])
        cards = discards(self.rules, position)
        if self.phase == "tunk":
            return sorted(f"discard {card}" for card in cards if self._tunk_holds(card))
        if self._before_tunk() and any(self._tunk_holds(card) for card in cards):
            words.append("tunk")
        return sorted(words + [f"discard {card}" for card in cards])

    def _start_words(self) -> list[str]:
        words = ["drop"] if self._may_drop() else []
        if self.stock or (self.rules.stock_end == "on_demand" and not self._in_last_turns()):
            words.append("draw")
        elif self._in_last_turns():
            words.append("pass")
        return words + (["take"] if self._may_take() else [])

    def _may_drop(self) -> bool:
        limit = self.rules.drop_at_most
        return (
            self.rules.drop == "before_draw"
            and not self.waiting[self.turn]
            and not self.frozen[self.turn]
            and (limit == 0 or self._count()[self.turn] <= limit)
        )

    def _may_take(self) -> bool:
        """Taking needs a pile, and a way to finish the turn (R11, R12)."""
        if not self.pile:
            return False
        card = self.pile[-1][0]
        after = self._position([*self.hands[self.turn], card], card, self.rules.taken_discard == "must_use")
        return can_finish(self.rules, after)

    def _position(self, hand: list[str] | None = None, taken: str | None = None, must_use: bool = False) -> Position:
        """Return the turn as it stands, or as it would stand with another hand and taken card."""
        if hand is None:
            hand, taken, must_use = self.hands[self.turn], self.taken, self.must_use_taken
        after_draw = self.rules.drop == "after_draw"
        return Position(
            self.turn,
            frozenset(hand),
            tuple(self.spreads),
            may_spread=not after_draw,
            may_hit=not after_draw or self._tunker_has_cards(),
            hits=self.hits,
            taken=taken,
            must_use_taken=must_use,
        )

    def _tunker_has_cards(self) -> bool:
        """Say whether a tunk's spreads may be hit: in the last turns, if the tunker had a card left over (R27)."""
        return self.last_turns is not None and self.dropper is not None and bool(self.hands[self.dropper])

    def _before_tunk(self) -> bool:
        return self.rules.drop == "after_draw" and not self._in_last_turns()

    def _in_last_turns(self) -> bool:
        return self.last_turns is not None

    def _tunk_holds(self, card: str) -> bool:
        """Say whether discarding a card leaves little enough unmatched for a tunk (R26); 0 is no limit (R20)."""
        rest = [other for other in self.hands[self.turn] if other != card]
        return bool(self.rules.drop_at_most == 0 or least_left(self.kind, rest) <= self.rules.drop_at_most)

    # ----- the moves

    def play(self, words: str) -> None:
        """Play one legal move; ValueError for any other."""
        if words not in self.legal():
            raise ValueError(f"seat {self.turn} cannot {words!r} here; legal: {self.legal()}")
        verb, _, card = words.partition(" ")
        if verb in ("spread", "hit"):
            self._place(words)
        elif verb == "discard":
            self._discard(card)
        else:
            {"drop": self._drop, "draw": self._draw, "take": self._take, "pass": self._pass, "tunk": self._tunk}[verb]()

    def _drop(self) -> None:
        self.dropper = self.turn
        ending, result = settle.drop(self.rules, self._count(), self.turn)
        self._end(ending, result)

    def _drawn(self) -> None:
        self.phase = "drawn"
        for counters in (self.waiting, self.frozen):
            counters[self.turn] = max(0, counters[self.turn] - 1)

    def _draw(self) -> None:
        if not self.stock:
            self._end("stock", settle.stock(self.rules, self._count()))
            return
        self.hands[self.turn].append(self.stock.pop(0))
        self._drawn()

    def _take(self) -> None:
        card, _ = self.pile.pop()
        self.hands[self.turn].append(card)
        self.known[self.turn].add(card)
        self.taken, self.must_use_taken = card, self.rules.taken_discard == "must_use"
        self._drawn()

    def _pass(self) -> None:
        if self.phase == "passed":
            self._next_last_turn()
        else:
            self.phase = "passed"

    def _tunk(self) -> None:
        self.dropper, self.phase = self.turn, "tunk"

    def _place(self, words: str) -> None:
        """Lay a spread or hit one (R13, R15), with what follows from it (R18, R22, R23, R27)."""
        move = safe_placements(self.rules, self._position())[words]
        seat = self.turn
        self._lose(seat, move.cards)
        self.spreads = list(move.after.table)
        self.hits, self.must_use_taken = move.after.hits, False
        if move.hit_owner is None:
            self.waiting[seat] = self.rules.wait_after_spread
        elif move.hit_owner != seat and self.rules.freeze_on_hit:
            before = self.frozen[move.hit_owner] if self.rules.freeze_stacks else 0
            self.frozen[move.hit_owner] = before + self.rules.freeze_on_hit
        if not self.hands[seat]:
            if self._in_last_turns():
                self._next_last_turn()
            else:
                self._end("tonk_out", settle.out(self.rules, self._count(), seat, self.rules.tonk_out_multiplier))

    def _lose(self, seat: int, cards: frozenset[str]) -> None:
        self.hands[seat] = [card for card in self.hands[seat] if card not in cards]
        self.known[seat] -= cards

    def _discard(self, card: str) -> None:
        self._lose(self.turn, frozenset([card]))
        self.pile.append((card, self.turn))
        if self.phase == "tunk":
            self._lay_tunk()
        elif self._in_last_turns():
            self._next_last_turn()
        else:
            self._end_turn()

    # ----- the end of a turn and of the hand

    def _end_turn(self) -> None:
        """Look at the reasons to end the hand in their order: R17, R24, R19."""
        self.turns += 1
        after_draw = self.rules.drop == "after_draw"
        counts = self._count()
        if not self.hands[self.turn]:
            self._end("run_out", settle.out(self.rules, counts, self.turn, self.rules.run_out_multiplier))
        elif not self.stock and self.rules.stock_end == "last_discard":
            if after_draw:
                self._end("void", settle.nothing(counts))
            else:
                self._end("stock", settle.stock(self.rules, counts))
        elif self.turns >= self.rules.max_turns:
            self.cut_short = True
            self._end("turn_limit", settle.nothing(counts) if after_draw else settle.stock(self.rules, counts))
        else:
            self._begin_turn(self._from(self.turn)[1])

    def _begin_turn(self, seat: int) -> None:
        self.turn, self.phase = seat, "start"
        self.taken, self.must_use_taken, self.hits = None, False, 0

    def _lay_tunk(self) -> None:
        """Lay the tunker's spreads and give every other player one last turn (R26, R27)."""
        self.turns += 1
        for laid in best_arrangement(self.kind, self.hands[self.turn]):
            self.spreads.append(Spread(self.turn, laid))
            self._lose(self.turn, frozenset(card for card, _ in laid))
        self.last_turns = self._from(self.turn)[1:]
        self._begin_turn(self.last_turns[0])

    def _next_last_turn(self) -> None:
        assert self.last_turns is not None
        assert self.dropper is not None
        self.turns += 1
        self.last_turns = self.last_turns[1:]
        if self.last_turns:
            self._begin_turn(self.last_turns[0])
        else:
            self._end(*settle.tunk(self.rules, self._count(), self.dropper))

    def _count(self) -> dict[int, int]:
        """Return every live seat's count (R6)."""
        if self.rules.held_spreads_count and self.rules.drop != "after_draw":
            return {seat: total(self.kind, hand) for seat, hand in self.hands.items()}
        return {seat: least_left(self.kind, hand) for seat, hand in self.hands.items()}

    def _end(self, ending: str, result: settle.Result) -> None:
        scores, winners = result
        counts = self._count()
        self.over, self.ending, self.winners = True, ending, sorted(winners)
        self.counts = [counts.get(seat) for seat in range(self.players)]
        self.scores = [scores.get(seat) for seat in range(self.players)]

    @property
    def counts_as_played(self) -> bool:
        """Say whether the finished hand is one of the match's hands: not when cancelled or void (R9, R29)."""
        cancelled = self.ending == "opening_clash" and self.rules.opening_clash == "cancel"
        return self.over and self.ending != "void" and not cancelled


class OracleMatch:
    """A match: who is still in, totals, who starts, places and rewards (R10, R35-R38, R40)."""

    def __init__(self, rules: Any, players: int) -> None:
        self.rules, self.players = rules, players
        self.seats = list(range(players))
        self.totals = [0.0] * players
        self.start = 0
        self.over = False
        self.places: list[int | None] = [None] * players
        self.hands_played = 0

    def finish(self, hand: OracleHand) -> list[float]:
        """Book a finished hand and return every seat's reward for it (R40)."""
        rewards = [0.0] * self.players
        went_out: list[int] = []
        if hand.counts_as_played:
            self.hands_played += 1
            for seat in hand.seats:
                self.totals[seat] += hand.scores[seat] or 0.0
            went_out = [seat for seat in self.seats if self._is_out(seat)]
            self.seats = [seat for seat in self.seats if seat not in went_out]
            self.over = self._is_over()
            rewards = self._rewards(hand, went_out)
        self.start = self._next_start(hand)
        return rewards

    def _reaches(self, seat: int, limit: float) -> bool:
        return self.totals[seat] >= limit - SAME

    def _is_out(self, seat: int) -> bool:
        return self.rules.match == "elimination" and self._reaches(seat, self.rules.elimination)

    def _is_over(self) -> bool:
        if self.rules.match == "elimination":
            return len(self.seats) <= 1
        if self.rules.match == "target":
            return any(self._reaches(seat, self.rules.target) for seat in self.seats)
        return bool(self.hands_played >= self.rules.hands)

    def _rewards(self, hand: OracleHand, went_out: list[int]) -> list[float]:
        """Return this hand's rewards; places become certain here whether they are paid or not."""
        by_place = self._place(went_out, first=len(self.seats) + 1)
        if self.over:
            by_place |= self._place(self.seats, first=1)
        one_hand = self.rules.match == "hands" and self.rules.hands == 1
        if one_hand or self.rules.match_reward == "hands":
            return [self._hand_reward(hand, seat) for seat in range(self.players)]
        return [by_place.get(seat, 0.0) for seat in range(self.players)]

    def _hand_reward(self, hand: OracleHand, seat: int) -> float:
        own = hand.scores[seat]
        if own is None:
            return 0.0
        if self.rules.settlement != "points":
            return float(own / self.rules.scale)
        others = [score for other, score in enumerate(hand.scores) if score is not None and other != seat]
        return float((sum(others) / len(others) - own) / self.rules.scale)

    def _place(self, group: list[int], first: int) -> dict[int, float]:
        """Place seats from `first` on by total, best first, and return their place rewards (R37, R40)."""
        sign = 1 if self.rules.settlement == "points" else -1
        rewards = {}
        for seat in group:
            gaps = [sign * (self.totals[other] - self.totals[seat]) for other in group]
            better, level = sum(gap < -SAME for gap in gaps), sum(abs(gap) <= SAME for gap in gaps)
            self.places[seat] = first + better
            mean_place = first + better + (level - 1) / 2
            rewards[seat] = 1 - 2 * (mean_place - 1) / (self.players - 1)
        return rewards

    def _next_start(self, hand: OracleHand) -> int:
        """Return who starts the next hand (R10)."""
        if self.rules.next_start == "winner" and len(hand.winners) == 1 and hand.winners[0] in self.seats:
            return hand.winners[0]
        left = [(hand.start + step) % self.players for step in range(1, self.players + 1)]
        return next((seat for seat in left if seat in self.seats), hand.start)
