"""The second engine's turn after the draw: what may be laid, hit and discarded without being stranded (R12-R16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from oracle_spreads import SUITS, Laid, cards_of, deck_kind, filler, shown, spread_words, spreads_in


@dataclass(frozen=True)
class Spread:
    """A spread on the table; `cards` are (card, place it fills), in suit order for a book and low to high for a run."""

    owner: int
    cards: Laid

    @property
    def is_book(self) -> bool:
        """Say whether all its places are of one rank."""
        return self.cards[0][1][0] == self.cards[1][1][0]


@dataclass(frozen=True)
class Position:
    """A player in mid-turn: the hand, the table, and what this turn's earlier moves still forbid or ask."""

    seat: int
    hand: frozenset[str]
    table: tuple[Spread, ...]
    may_spread: bool = True
    may_hit: bool = True
    hits: int = 0
    taken: str | None = None
    must_use_taken: bool = False


class Placement(NamedTuple):
    """What a spread or hit would do: the cards it uses, the position after it, whose spread it hits (else None)."""

    cards: frozenset[str]
    after: Position
    hit_owner: int | None


def open_places(rules: Any, spread: Spread) -> list[tuple[str, str]]:
    """Return the (end, place) pairs where one card may be added to a spread (R15)."""
    places = [place for _, place in spread.cards]
    rank, suit = places[0][0], places[0][1]
    if spread.is_book:
        missing = [rank + other for other in SUITS[: rules.suits] if rank + other not in places]
        return [("book", missing[0])] if missing and rules.hits_on == "all" else []
    low, high = rules.ranks.index(rank) - 1, rules.ranks.index(places[-1][0]) + 1
    ends = [("low", rules.ranks[low] + suit)] if low >= 0 else []
    return ends + ([("high", rules.ranks[high] + suit)] if high < len(rules.ranks) else [])


def grown(rules: Any, spread: Spread, card: str, place: str) -> Spread:
    """Return a spread with one more card, in the order of its words."""

    def order(pair: tuple[str, str]) -> tuple[int, int]:
        return rules.ranks.index(pair[1][0]), SUITS.index(pair[1][1])

    return replace(spread, cards=tuple(sorted([*spread.cards, (card, place)], key=order)))


def lay_moves(rules: Any, position: Position) -> Iterator[tuple[str, Placement]]:
    """Give every spread of R13 and R14 that the hand holds, in words and with what it does."""
    for laid in spreads_in(deck_kind(rules), position.hand) if position.may_spread else ():
        table = (*position.table, Spread(position.seat, laid))
        after = replace(position, hand=position.hand - cards_of(laid), table=table, must_use_taken=False)
        yield spread_words(laid), Placement(cards_of(laid), after, None)


def hit_moves(rules: Any, position: Position) -> Iterator[tuple[str, Placement]]:
    """Give every hit of R15 on every spread, the spread laid first coming first; words may repeat."""
    allowed = position.may_hit and not 0 < rules.max_hits <= position.hits
    for index, spread in enumerate(position.table if allowed else ()):
        for end, place in open_places(rules, spread):
            card = filler(deck_kind(rules), position.hand, place)
            if card is None:
                continue
            table = list(position.table)
            table[index] = grown(rules, spread, card, place)
            hand = position.hand - {card}
            after = replace(position, hand=hand, table=tuple(table), hits=position.hits + 1, must_use_taken=False)
            yield f"hit {shown(card, place)} {end}", Placement(frozenset([card]), after, spread.owner)


def placements(rules: Any, position: Position) -> dict[str, Placement]:
    """Return the spreads and hits of a position, stranding ones included; equal words go to the spread laid first."""
    found: dict[str, Placement] = {}
    for moves in (lay_moves(rules, position), hit_moves(rules, position)):
        for words, placement in moves:
            if not position.must_use_taken or position.taken in placement.cards:
                found.setdefault(words, placement)
    return found


def discards(rules: Any, position: Position) -> list[str]:
    """Return the cards that may be discarded now (R12, R16, R17)."""
    if position.must_use_taken:
        return []
    if rules.must_spread and position.may_spread and spreads_in(deck_kind(rules), position.hand):
        return []
    barred = position.taken if rules.taken_discard == "no_return" else None
    return [card for card in position.hand if card != barred]


def can_finish(rules: Any, position: Position) -> bool:
    """Say whether some way of playing on ends the turn: an empty hand or a legal discard (R12)."""
    if not position.hand or discards(rules, position):
        return True
    return any(can_finish(rules, placement.after) for placement in placements(rules, position).values())


def safe_placements(rules: Any, position: Position) -> dict[str, Placement]:
    """Return the spreads and hits after which the turn can still be finished (R12)."""
    moves = placements(rules, position)
    return {words: placement for words, placement in moves.items() if can_finish(rules, placement.after)}
