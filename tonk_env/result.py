"""A finished hand: everything that section 13 of the rules records."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tonk_env.cards import CARD_NAMES
from tonk_env.kernels.deal import finish_shuffle
from tonk_env.notation import action_name
from tonk_env.rule_record import rule_array
from tonk_env.rules import RuleSet
from tonk_env.state import TABLE_DTYPE, Ending, ending_name


def _at(name: str) -> int:
    """Byte of a field in a table's record."""
    assert TABLE_DTYPE.fields is not None
    return int(TABLE_DTYPE.fields[name][1])


_HANDS_DEALT, _POINTS = struct.Struct("<i"), struct.Struct("<6d")
_PLAYERS_AT, _IN_HAND_AT, _WINNERS_AT, _START_AT, _ENDING_AT, _HANDS_DEALT_AT, _CUT_SHORT_AT = (
    _at(name) for name in ("num_players", "in_hand", "winners", "start", "ending", "hands_dealt", "cut_short")
)
_ENDINGS = [ending_name(ending) for ending in Ending if ending is not Ending.NONE]
_POINTS_AT = {name: _at(name) for name in ("totals", "counts", "scores")}


def _told(rules: RuleSet, match: int, played: bytes) -> dict[str, Any]:
    """Fields of a HandResult, all but deck and moves, from the record of a finished hand that is not booked yet."""
    n, dealt, won = played[_PLAYERS_AT], played[_IN_HAND_AT], played[_WINNERS_AT]
    points = {
        name: [value if dealt >> seat & 1 else None for seat, value in enumerate(_POINTS.unpack_from(played, at)[:n])]
        for name, at in _POINTS_AT.items()
    }
    return {
        "rules": rules, "match": match, "hand": _HANDS_DEALT.unpack_from(played, _HANDS_DEALT_AT)[0] - 1, "players": n,
        "seats": [seat for seat in range(n) if dealt >> seat & 1], "start": played[_START_AT],
        "ending": ending_name(played[_ENDING_AT]), **points, "winners": [seat for seat in range(n) if won >> seat & 1],
    }


def _public(rules: RuleSet, match: int, played: bytes) -> dict[str, Any]:
    """What ``to_public`` gives, straight from the record: environments tell it after every hand."""
    n, dealt, won = played[_PLAYERS_AT], played[_IN_HAND_AT], played[_WINNERS_AT]
    seats = [seat for seat in range(n) if dealt >> seat & 1]
    rows = []
    for at in _POINTS_AT.values():
        values = _POINTS.unpack_from(played, at)
        rows.append(_plain(values[:n] if len(seats) == n else [values[s] if s in seats else None for s in range(n)]))
    totals, counts, scores = rows
    return {
        "match": match, "hand": _HANDS_DEALT.unpack_from(played, _HANDS_DEALT_AT)[0] - 1, "seats": seats,
        "start": played[_START_AT], "totals": totals, "ending": _ENDINGS[played[_ENDING_AT]], "counts": counts,
        "scores" if rules.settlement == "points" else "payoffs": scores,
        "winners": [seat for seat in seats if won >> seat & 1],
    }


def whole_deck(rules: RuleSet, played: np.ndarray) -> list[int]:
    """The deck of a table's record in dealing order, the undealt part too."""
    whole = played.copy()
    finish_shuffle(rule_array(rules), whole)
    deck: list[int] = whole["deck"][0].tolist()
    return deck[: rules.deck_size]


def told_moves(rules: RuleSet, moves: list[tuple[int, int, int]]) -> list[str]:
    """Moves in words: ``"0 draw"`` and so on."""
    return [f"{seat} {action_name(action, rules, held)}" for seat, action, held in moves]


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
    def of_record(cls, rules: RuleSet, match: int, played: bytes, moves: list[tuple[int, int, int]]) -> HandResult:
        """The finished hand of a table's record that is not booked yet; ``moves`` are (seat, action, card set held before).

        Nothing is worked out before somebody asks for it.
        """
        hand = cls.__new__(cls)
        hand.__dict__["_played"] = (rules, match, played, moves)
        return hand

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__.get("_played")
        if known is None or name not in _FIELDS:
            raise AttributeError(f"a hand has no {name!r}")
        rules, match, played, moves = known
        if name == "deck":
            self.deck = whole_deck(rules, np.frombuffer(played, TABLE_DTYPE))
        elif name == "moves":
            self.moves = told_moves(rules, moves)
        else:
            self.__dict__.update(_told(rules, match, played))
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
        played = self.__dict__.get("_played")
        if played is not None and "seats" not in self.__dict__:
            return _public(*played[:3])
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
