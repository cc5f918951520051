"""Stacked decks for tests: deals chosen hands, upcard and stock, plays moves in words, and sets out chosen tables."""

from __future__ import annotations

from typing import Any

from tonk_env.cards import CARD_NAMES
from tonk_env.rules import RuleSet, make_rules
from tonk_env.table import HandResult, Table

# Hands without a spread, by their count.
COUNT_12, COUNT_19, OTHER_19, COUNT_34 = "AS 2H 3C 2D 4S", "9C 2C AC 4D 3D", "9H AH 3S 2S 4C", "TC TD 6H 5C 3H"
HIGH = "KC QD 9H 8C 7D"  # 44 points: no threat to anybody


def full_deck(rules: RuleSet) -> list[str]:
    """Names of the cards of a rule set's deck, suit by suit, jokers last (R2)."""
    names = [rank + suit for suit in "CDHS"[: rules.suits] for rank in rules.ranks]
    return names + ["X1", "X2"][: rules.jokers]


def stacked_deck(rules: RuleSet, hands: list[str], upcard: str = "", stock: str = "", start: int = 0) -> str:
    """A whole deck in dealing order (R4): hands by seat, dealt from the seat that plays first; then upcard and stock.

    The cards not named follow in plain order. Without ``upcard`` the last of them is turned up, if one is.
    """
    held = [hand.split() for hand in hands]
    dealt = [card for cards in zip(*held[start:], *held[:start], strict=True) for card in cards]
    named = {*dealt, *upcard.split(), *stock.split()}
    rest = [card for card in full_deck(rules) if card not in named]
    turned = [upcard or rest.pop()] if rules.upcard else []
    return " ".join([*dealt, *turned, *stock.split(), *rest])


def deal(preset: str, hands: list[str], /, upcard: str = "", stock: str = "", **options: Any) -> Table:
    """A table at which seat 0 is first and holds ``hands[0]``, seat 1 ``hands[1]``, and so on.

    Hands of another size than the preset's set the option ``hand_size``.
    """
    rules = make_rules(preset, **{"hand_size": len(hands[0].split()), **options})
    table = Table(rules, len(hands), seed=0)
    table.reset(deck=stacked_deck(rules, hands, upcard, stock))
    return table


def play(table: Table, *moves: str) -> list[HandResult]:
    """Play moves in words, one after another. Returns the hands that the last one ended."""
    ended: list[HandResult] = []
    for words in moves:
        ended = table.step(words)
    return ended


def legal(table: Table, verb: str = "") -> list[str]:
    """Legal moves in words, those that begin with ``verb``."""
    return [words for words in table.legal_words() if words.startswith(verb)]


def held(table: Table, seat: int) -> set[str]:
    """Names of the cards held by a seat."""
    return {CARD_NAMES[card] for card in table.hand(seat)}


def on_table(table: Table) -> list[str]:
    """Words of the spreads on the table, in the order laid."""
    return [spread.words for spread in table.spreads()]


def pass_turn(table: Table) -> list[HandResult]:
    """A turn that changes nothing: draw a card and throw it."""
    before = set(table.hand(table.seat))
    seat = table.seat
    table.step("draw")
    (drawn,) = set(table.hand(seat)) - before
    return table.step(f"discard {CARD_NAMES[drawn]}")


def exhaust_stock(table: Table, leave: int = 0) -> list[HandResult]:
    """Turns that change nothing until ``leave`` cards lie in the stock. Returns the hands that the last one ended."""
    ended: list[HandResult] = []
    while not ended and table.stock_size > leave:
        ended = pass_turn(table)
    return ended


def outcome(results: list[HandResult]) -> tuple[str, list[float | None], list[int]]:
    """Ending, scores (or payoffs) and winners of the first of some finished hands."""
    return results[0].ending, results[0].scores, results[0].winners
