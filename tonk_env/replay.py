"""Recorded hands played again: opened at any move, or checked against what they say, a file at engine speed."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from tonk_env.cards import CARD_NAMES
from tonk_env.compiling import announce_part
from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import jit
from tonk_env.kernels.observe import is_legal
from tonk_env.kernels.one import BOOK, START
from tonk_env.notation import NotationError, parse_action
from tonk_env.records import RESULTS, RecordError, read_records
from tonk_env.result import HandResult
from tonk_env.rules import RuleSet
from tonk_env.state import Phase
from tonk_env.table import IllegalMoveError, Table

SAME = 1e-6  # numbers closer than this are equal (section 13)
OVER = int(Phase.OVER)


class HandTable(Table):
    """A table at which single hands of matches are played: dealt as a record says, and over when the hand is."""

    def deal(self, hand: HandResult, hands_played: int = 0) -> None:
        """Deal a recorded hand with its seats, start, totals and deck; ``hands_played`` of its match came before it."""
        self._do(START)
        self._t.live = sum(1 << seat for seat in hand.seats)
        for seat, total in enumerate(hand.totals):
            self._t.totals[seat] = self._rules[0].limit if total is None else total  # a seat that is out has no total here
        self._t.next_start = hand.start
        self._t.hands_dealt = hand.hand
        self._t.hands_played = hands_played
        self._match, self._started, self.truncated = hand.match, True, False
        self._refresh()
        self._deal(hand.deck)
        self._t.match_over = self._t.phase == OVER
        self._refresh()
        self.last_hand = self._result() if self.over else None

    def result(self) -> HandResult:
        """Return the hand on the table as a result; it must be over."""
        return self._result()

    def book(self) -> None:
        """Enter the finished hand in the match: totals, who is left, who starts next, whether the match is over."""
        self._t.match_over = False
        self._do(BOOK)

    def _settle(self) -> list[HandResult]:
        """End here: the hands that would follow are records of their own."""
        self.last_hand = self._result()
        self._t.match_over = True
        self._refresh()
        return [self.last_hand]


class Replay:
    """A recorded hand that can be opened at any move.

    ``position`` is the number of moves played, ``table`` the table there. Raises ``RecordError`` for a move that cannot
    be played, with its number.
    """

    def __init__(self, hand: HandResult) -> None:
        self.hand = hand
        self.table = HandTable(hand.rules, hand.players)
        self.position = 0
        self.table.deal(hand)

    def __len__(self) -> int:
        return len(self.hand.moves)

    def forward(self) -> str:
        """Play the next move and return it."""
        move = self.hand.moves[self.position]
        seat, _, words = move.partition(" ")
        if self.table.over:
            raise self._fault(f", but the hand is over after move {self.position}")
        if int(seat) != self.table.seat:
            raise self._fault(f", but seat {self.table.seat} is on turn")
        try:
            self.table.step(words)
        except IllegalMoveError as error:
            raise self._fault(f": {error}") from None
        self.position += 1
        return move

    def _fault(self, problem: str) -> RecordError:
        return RecordError(f"move {self.position + 1} is {self.hand.moves[self.position]!r}{problem}", "moves")

    def go(self, position: int) -> Table:
        """Return the table after ``position`` moves, forward or back. Raises ``IndexError`` for a place outside the hand."""
        position = operator.index(position)
        if not 0 <= position <= len(self):
            raise IndexError(f"position {position} is outside this hand: 0 to {len(self)}")
        if position < self.position:
            self.table.deal(self.hand)
            self.position = 0
        while self.position < position:
            self.forward()
        return self.table

    def __iter__(self) -> Iterator[tuple[str, Table]]:
        """Yield each move with the table after it, from the present position on."""
        while self.position < len(self):
            move = self.forward()
            yield move, self.table


class Checker:
    """Replays hands and compares all they say with what the engine makes of deck and moves.

    Hands of one match that follow each other are also checked to fit: seats, start and totals of the next hand.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[RuleSet, int], HandTable] = {}
        self._last: HandResult | None = None
        self._table: HandTable | None = None
        self._counted = False

    def check(self, hand: HandResult) -> None:
        """Raise ``RecordError`` if the hand, or the way it follows the last one, is not as the rules have it."""
        played = self._check_order(hand)
        table = self._table_for(hand)
        table.deal(hand, played)
        _play(table, hand)
        compare(table.result(), hand)
        table.book()
        self._last, self._table = hand, table

    def _table_for(self, hand: HandResult) -> HandTable:
        if self._last is not None and self._last.rules is hand.rules and self._last.players == hand.players:
            assert self._table is not None
            return self._table
        key = hand.rules, hand.players
        if key not in self._tables:
            self._tables[key] = HandTable(*key)
        return self._tables[key]

    def _check_order(self, hand: HandResult) -> int:
        """Compare a hand with the one before it; return the hands of its match that were played before it."""
        last, table = self._last, self._table
        _check_still_in(hand)
        if last is not None and hand.match < last.match:
            raise RecordError(f"is {hand.match} after {last.match}; matches are numbered upwards", "match")
        if last is not None and table is not None and hand.match > last.match and self._counted and not table.over:
            raise RecordError(f"is {hand.match}, but match {last.match} was not over with the hand before", "match")
        if last is None or table is None or hand.match > last.match:
            self._counted = hand.hand == 0
            if hand.hand == 0:
                _check_first(hand)
            return 0
        if hand.rules != last.rules or hand.players != last.players:
            raise RecordError("differ from those of the hand before in the same match", "rules")
        if table.over and (self._counted or hand.rules.match != "hands" or hand.rules.hands == 1):
            raise RecordError(f"match {hand.match} was over with the hand before", "match")
        if hand.hand != last.hand + 1:
            raise RecordError(f"is {hand.hand} after {last.hand} in the same match; hands follow each other", "hand")
        _check_next(hand, table)
        return table.hands_played


def check_hand(hand: HandResult) -> None:
    """Replay one hand and raise ``RecordError`` if anything in it is not what the engine makes of deck and moves."""
    Checker().check(hand)


def check_file(path: str | os.PathLike[str]) -> int:
    """Check every hand of a file and return their number. ``RecordError`` names line and field of a fault."""
    checker, hands = Checker(), 0
    for line, hand in read_records(path):
        try:
            checker.check(hand)
        except RecordError as error:
            raise error.at(f"{os.fspath(path)} line {line}") from None
        hands += 1
    return hands


def compare(played: HandResult, written: HandResult) -> None:
    """Raise ``RecordError`` for the first part of a result that differs from the one played."""
    if played.ending != written.ending:
        raise RecordError(f"is {written.ending!r}, but the moves end in {played.ending!r}", "ending")
    result = RESULTS[written.rules.settlement != "points"]
    for name, ours, theirs in (("counts", played.counts, written.counts), (result, played.scores, written.scores)):
        for seat, (number, stated) in enumerate(zip(ours, theirs, strict=True)):
            if number is not None and stated is not None and abs(number - stated) > SAME:
                raise RecordError(f"entry {seat} is {stated:g}, but it comes to {number:g}", name)
    if played.winners != written.winners:
        raise RecordError(f"is {written.winners}, but the winners are {played.winners}", "winners")


def _play(table: HandTable, hand: HandResult) -> None:
    """Play a hand's moves: those without wilds in one compiled stretch, the rest as words against the legal moves."""
    numbers = _action_numbers(hand)
    announce_part(play_on, "what replays hands (some ten seconds)")
    done = 0
    while numbers is not None and done < len(hand.moves):
        done += int(play_on(table._rules, table._tables, numbers[0][done:], numbers[1][done:]))
        table._refresh()
        if done == len(hand.moves) or table.record.phase == OVER or numbers[1][done] >= 0:
            break
        done += _step_in_words(table, hand.moves[done])
    if numbers is None or done < len(hand.moves):
        Replay(hand).go(len(hand.moves))  # says which move is at fault, and why
        raise AssertionError("a hand that replays in words must replay compiled")
    if table.record.phase != OVER:
        last = f"after the last of {done} moves" if done else "without any move"
        raise RecordError(f"the hand is not over {last}: seat {table.seat} is on turn", "moves")


def _action_numbers(hand: HandResult) -> tuple[np.ndarray, np.ndarray] | None:
    """Return int64[M] seats and int64[M] actions, -1 for moves with wilds; None if some words are no move."""
    parts = [move.partition(" ") for move in hand.moves]
    actions = np.full(len(parts), -1, dtype=np.int64)
    known = _known_moves(hand.rules)
    for at, (_, _, words) in enumerate(parts):
        if "=" in words:
            continue
        if words not in known:
            try:
                known[words] = parse_action(words, hand.rules)
            except NotationError:
                return None
        actions[at] = known[words]
    return np.array([int(seat) for seat, _, _ in parts], dtype=np.int64), actions


_LAST_RULES: list[Any] = [None, {}]


def _known_moves(rules: RuleSet) -> dict[str, int]:
    """Return the moves read so far under the rule set at hand, words to number."""
    if _LAST_RULES[0] is not rules:
        _LAST_RULES[:] = [rules, {}]
    known: dict[str, int] = _LAST_RULES[1]
    return known


def _step_in_words(table: HandTable, move: str) -> int:
    """Play one move by its words if it is legal; return the number of moves played, 1 or 0."""
    seat, _, words = move.partition(" ")
    if int(seat) != table.record.turn:
        return 0
    try:
        number = table.parse(words)
    except IllegalMoveError:
        return 0
    table._do(number)
    return 1


@jit
def play_on(rules: Any, tables: Any, seats: Any, actions: Any) -> int:
    """Play moves until one is not legal, is another seat's, or is -1. Returns the number of moves played."""
    rule, t = rules[0], tables[0]
    for i in range(len(actions)):
        if t.phase == OVER or t.turn != seats[i] or actions[i] < 0 or not is_legal(t, actions[i]):
            return i
        apply(rule, t, actions[i])
    return len(actions)


def _check_still_in(hand: HandResult) -> None:
    """A seat whose total has reached the limit is out of an elimination match (R36)."""
    for seat in hand.seats:
        total = hand.totals[seat]
        if hand.rules.match == "elimination" and total is not None and total >= hand.rules.elimination - SAME:
            raise RecordError(f"entry {seat} is {total:g}: a seat that reached {hand.rules.elimination:g} is out", "totals")


def _check_first(hand: HandResult) -> None:
    """Compare the first hand of a match with how matches begin: all seats in, nothing scored, seat 0 first (R10)."""
    if hand.seats != list(range(hand.players)):
        raise RecordError(f"is {hand.seats}; all {hand.players} seats are in the first hand of a match", "seats")
    if any(hand.totals):
        raise RecordError("nobody has scored before the first hand of a match, so zeros are needed", "totals")
    if hand.start != 0:
        raise RecordError(f"is {hand.start}; seat 0 plays first in the first hand of a match", "start")


def _check_next(hand: HandResult, table: HandTable) -> None:
    """Compare a hand with what the hand before left: who is in, with what totals, and who starts."""
    seats = [seat for seat in range(hand.players) if table.live[seat]]
    if hand.seats != seats:
        raise RecordError(f"is {hand.seats}, but {seats} are left after the hand before", "seats")
    for seat in seats:
        total = float(table.totals[seat])
        if abs((hand.totals[seat] or 0.0) - total) > SAME:
            stated = hand.totals[seat]
            raise RecordError(f"entry {seat} is {stated:g}, but it was {total:g} after the hand before", "totals")
    start = int(table.record.next_start)
    if hand.start != start:
        raise RecordError(f"is {hand.start}, but seat {start} starts after the hand before", "start")


def deck_words(hand: HandResult) -> str:
    """Return the deck of a hand in words."""
    return " ".join(CARD_NAMES[card] for card in hand.deck)
