"""A finished hand: everything that section 13 of the rules records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tonk_env.cards import CARD_NAMES
from tonk_env.rules import RuleSet


@dataclass
class HandResult:
    """A finished hand, from the deck to the result. Lists of counts, scores and totals have one entry a seat of the match."""

    rules: RuleSet
    match: int
    hand: int
    players: int
    seats: list[int]
    start: int
    totals: list[float | None]
    deck: list[int]
    moves: list[str]
    ending: str
    counts: list[float | None]
    scores: list[float | None]
    winners: list[int]

    @classmethod
    def later(cls, result: Callable[[], dict[str, Any]], story: Callable[[], dict[str, Any]]) -> HandResult:
        """A hand whose fields are worked out when first asked for: deck and moves by ``story``, the rest by ``result``."""
        hand = cls.__new__(cls)
        hand.__dict__["_sources"] = (result, story)
        return hand

    def __getattr__(self, name: str) -> Any:
        sources = self.__dict__.get("_sources")
        if sources is None or name not in _FIELDS:
            raise AttributeError(f"a hand has no {name!r}")
        self.__dict__.update(sources[name in ("deck", "moves")]())
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def to_record(self) -> dict[str, Any]:
        """The hand as the JSON object of section 13: totals, counts and scores as whole numbers where they are."""
        result = "scores" if self.rules.settlement == "points" else "payoffs"
        return {
            "record": 1, "match": self.match, "hand": self.hand, "rules": self.rules.to_dict(), "players": self.players,
            "seats": self.seats, "start": self.start, "totals": _plain(self.totals),
            "deck": " ".join(CARD_NAMES[c] for c in self.deck), "moves": self.moves, "ending": self.ending,
            "counts": _plain(self.counts), result: _plain(self.scores), "winners": self.winners,
        }

    def to_public(self) -> dict[str, Any]:
        """What all players have seen of the hand, under the same names: no deck and no moves."""
        result = "scores" if self.rules.settlement == "points" else "payoffs"
        return {
            "match": self.match, "hand": self.hand, "seats": list(self.seats), "start": self.start,
            "totals": _plain(self.totals), "ending": self.ending, "counts": _plain(self.counts),
            result: _plain(self.scores), "winners": list(self.winners),
        }


_FIELDS = [field.name for field in fields(HandResult)]


def _plain(values: Sequence[float | None]) -> list[float | int | None]:
    """Whole numbers as ints, others rounded to nine decimals."""
    return [None if v is None else int(v) if v.is_integer() else round(v, 9) for v in values]
