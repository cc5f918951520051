"""The second engine's cards: values, the spreads that a hand can lay, the least total left over (R2-R6, R13, R14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

SUITS = "CDHS"
Laid = tuple[tuple[str, str], ...]
"""A spread as (card, place it fills) pairs in the order of its words; card and place differ for a wild."""


class DeckKind(NamedTuple):
    """The options that decide which spreads exist and what cards count."""

    ranks: str
    suits: int
    wild: str
    court_values: tuple[int, int, int]


def deck_kind(rules: Any) -> DeckKind:
    """Return the part of a rule set that this file needs."""
    return DeckKind(rules.ranks, rules.suits, str(rules.wild), tuple(rules.court_values))


def full_deck(rules: Any) -> list[str]:
    """Return every card of the rule set's deck, unshuffled (R2)."""
    plain = [rank + suit for suit in SUITS[: rules.suits] for rank in rules.ranks]
    return plain + ["X1", "X2"][: rules.jokers]


def value(deck: DeckKind, card: str) -> int:
    """Return what one card counts (R5)."""
    if card[0] == "X":
        return 0
    courts = dict(zip("JQK", deck.court_values, strict=True))
    return {"A": 1, "T": 10, **courts}.get(card[0]) or int(card[0])


def total(deck: DeckKind, cards: Iterable[str]) -> int:
    """Return the plain total of some cards."""
    return sum(value(deck, card) for card in cards)


def wilds_held(deck: DeckKind, hand: Iterable[str]) -> list[str]:
    """Return the wild cards of a hand in the order in which they are used: jokers, then C D H S (R14)."""
    first = {"none": " ", "jokers": "X", "deuces": "2"}[deck.wild]
    wilds = [card for card in hand if card[0] == first]
    return sorted(wilds, key=lambda card: SUITS.find(card[1]) if card[0] == "2" else int(card[1]))


def filler(deck: DeckKind, hand: Iterable[str], place: str) -> str | None:
    """Return the card that a hand puts on one place: the natural card if held, else the first wild (R14)."""
    if place in hand:
        return place
    wilds = wilds_held(deck, hand)
    return wilds[0] if wilds else None


def filled(deck: DeckKind, hand: frozenset[str], places: tuple[str, ...]) -> Laid | None:
    """Put cards of a hand on all places of a spread, or return None if R14 does not allow it."""
    naturals = [place for place in places if place in hand]
    missing = [place for place in places if place not in hand]
    wilds = [card for card in wilds_held(deck, hand) if card not in naturals] if missing else []
    if len(naturals) < 2 or len(missing) > len(wilds):
        return None
    stands = dict(zip(missing, wilds, strict=False))
    return tuple((stands.get(place, place), place) for place in places)


@lru_cache(maxsize=1000)
def run_places(deck: DeckKind, suit: str, length: int) -> tuple[tuple[str, ...], ...]:
    """Return the places of every run of one suit and length, low to high: neighbours in the deck's order (R13)."""
    lows = range(len(deck.ranks) - length + 1)
    return tuple(tuple(rank + suit for rank in deck.ranks[low : low + length]) for low in lows)


def book_places(deck: DeckKind, hand: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Give the places of every book that a hand can try: its own naturals and the first suits missing from them."""
    for rank in deck.ranks:
        every = [rank + suit for suit in SUITS[: deck.suits]]
        held = [card for card in every if card in hand]
        for number in range(2, len(held) + 1):
            for own in combinations(held, number):
                missing = [place for place in every if place not in own]
                for size in range(max(3, number), len(every) + 1):
                    added = missing[: size - number]
                    if not any(place in hand for place in added):
                        yield tuple(place for place in every if place in own or place in added)


def run_tries(deck: DeckKind, hand: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Give the places of every run that a hand can try: no longer than its cards of the suit and its wilds."""
    wilds = len(wilds_held(deck, hand))
    for suit in SUITS[: deck.suits]:
        naturals = sum(card[1] == suit for card in hand)
        for length in range(3, naturals + wilds + 1) if naturals >= 2 else ():
            for places in run_places(deck, suit, length):
                if len(hand.intersection(places)) >= max(2, length - wilds):
                    yield places


@lru_cache(maxsize=200_000)
def _spreads_in(deck: DeckKind, hand: frozenset[str]) -> tuple[Laid, ...]:
    tries = [filled(deck, hand, places) for shapes in (book_places, run_tries) for places in shapes(deck, hand)]
    return tuple(laid for laid in tries if laid is not None)


def spreads_in(deck: DeckKind, hand: Iterable[str]) -> tuple[Laid, ...]:
    """Return every spread that may be laid from a hand (R13, R14)."""
    return _spreads_in(deck, frozenset(hand))


def shown(card: str, place: str) -> str:
    """Return one card of a spread in words: `6H`, or `2S=7H` for a wild (section 13)."""
    return card if card == place else f"{card}={place}"


def spread_words(laid: Laid) -> str:
    """Return the words of the move that lays a spread (section 13)."""
    return "spread " + " ".join(shown(card, place) for card, place in laid)


def cards_of(laid: Laid) -> frozenset[str]:
    """Return the cards that lie in a spread."""
    return frozenset(card for card, _ in laid)


@lru_cache(maxsize=200_000)
def _least_left(deck: DeckKind, hand: frozenset[str]) -> tuple[int, int]:
    best = (total(deck, hand), len(hand))
    for laid in _spreads_in(deck, hand):
        best = min(best, _least_left(deck, hand - cards_of(laid)))
    return best


def least_left(deck: DeckKind, hand: Iterable[str]) -> int:
    """Return the least total left over after setting spreads aside one after another (R6)."""
    return _least_left(deck, frozenset(hand))[0]


def all_in_spreads(deck: DeckKind, hand: Iterable[str]) -> bool:
    """Say whether a hand is nothing but disjoint spreads (R7)."""
    whole = frozenset(hand)
    return not whole or any(all_in_spreads(deck, whole - cards_of(laid)) for laid in spreads_in(deck, whole))


def arrangements(deck: DeckKind, hand: frozenset[str]) -> Iterator[tuple[tuple[Laid, ...], frozenset[str]]]:
    """Give every way to set spreads aside from a hand, in every order, with the cards left over."""
    yield (), hand
    for laid in spreads_in(deck, hand):
        for more, left in arrangements(deck, hand - cards_of(laid)):
            yield (laid, *more), left


def best_arrangement(deck: DeckKind, hand: Iterable[str]) -> list[Laid]:
    """Return the spreads that a tunk lays, sorted by their words: least total left, fewest cards left, words (R26)."""

    def order(arrangement: tuple[tuple[Laid, ...], frozenset[str]]) -> tuple[int, int, list[str]]:
        spreads, left = arrangement
        return total(deck, left), len(left), sorted(map(spread_words, spreads))

    spreads, _ = min(arrangements(deck, frozenset(hand)), key=order)
    return sorted(spreads, key=spread_words)
