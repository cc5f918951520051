"""The worked hands that the pages show: deals, moves and the results they must have, for tables and tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tonk_env.cards import CARD_NAMES
from tonk_env.rules import RuleSet, make_rules
from tonk_env.table import HandResult, Table


@dataclass(frozen=True)
class Worked:
    """A deal and some moves: ``hands`` by seat, ``upcard`` and the first cards of the ``stock`` as names.

    ``result`` holds what the hand must come to: ``ending``, ``scores`` (or payoffs) and ``winners``; empty where it
    goes on.
    """

    preset: str
    hands: tuple[str, ...]
    upcard: str = ""
    stock: str = ""
    moves: tuple[str, ...] = ()
    result: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rules(self) -> RuleSet:
        """The rule set it is played by."""
        return make_rules(self.preset, **self.options)

    def deck(self) -> list[str]:
        """A whole deck that deals these cards; what nobody sees follows by number."""
        rules, hands = self.rules, [hand.split() for hand in self.hands]
        front = [hand[place] for place in range(rules.hand_size) for hand in hands]
        front += self.upcard.split() + self.stock.split()
        cards = [CARD_NAMES[card] for card in rules.record().deck[: rules.deck_size]]
        return front + [card for card in cards if card not in front]

    def play(self, moves: int | None = None) -> tuple[Table, HandResult | None]:
        """The table after the deal and some moves (all for None), and the hand's result if it is over."""
        table = Table(self.rules, len(self.hands), seed=0)
        table.reset(deck=self.deck())
        finished = list(table.opened)
        for move in self.moves[:moves]:
            finished += table.step(move)
        return table, finished[0] if finished else None


STORY = Worked(
    "points",
    ("5D 6D QS JC 3H", "9C 9S 7H TD 6C", "AS 4H 8S KD QH"),
    upcard="7D",
    stock="9H 8D 2C 9D 4D 3D 2D",
    moves=(
        "take", "spread 5D 6D 7D", "discard QS",
        "draw", "spread 9C 9H 9S", "discard TD",
        "draw", "hit 8D high", "discard KD",
        "draw", "discard JC",
        "draw", "hit 9D book", "discard 7H",
        "draw", "hit 4D low", "discard QH",
        "drop",
    ),
    result={"ending": "drop", "scores": [0, 6, 13], "winners": [0]},
)  # fmt: skip
STORY_TURNS = (0, 3, 6, 9, 11, 14, 17, 18)  # moves played when each picture of the story is drawn

_ON = ("draw", "hit 3D low", "discard 3H")
WORKED: dict[str, Worked] = {
    "story, caught": Worked(
        STORY.preset, STORY.hands, STORY.upcard, STORY.stock, (*STORY.moves[:-1], *_ON, "drop"),
        {"ending": "caught", "scores": [0, 12, 0], "winners": [0]},
    ),
    "story, run out": Worked(
        STORY.preset, STORY.hands, STORY.upcard, STORY.stock,
        (*STORY.moves[:-1], *_ON, "draw", "hit 2D low", "discard 6C"),
        {"ending": "run_out", "scores": [2, 0, 13], "winners": [1]},
    ),
    "a good drop": Worked(
        "points", ("AS 2H 3C 2D 4S", "AC AD 2S 5H TS", "KH 9C 8D 4H 3D"), "6C", "", ("drop",),
        {"ending": "drop", "scores": [0, 19, 34], "winners": [0]},
    ),
    "an equal count catches": Worked(
        "points", ("AH 2C 3S 4D 9H", "AC AD 2S 5H TS", "KH 9C 8D 4H 3D"), "6C", "", ("drop",),
        {"ending": "caught", "scores": [38, 0, 0], "winners": [1]},
    ),
    "tonk out": Worked(
        "points", ("6S 7S 8S QC QD", "AC AD 2S 5H TS", "KH 9C 8D 4H 3D"), "6C", "QS",
        ("draw", "spread 6S 7S 8S", "spread QC QD QS"), {"ending": "tonk_out", "scores": [0, 38, 68], "winners": [0]},
    ),
    "a turn": Worked(
        "deadwood", ("7H 8H 9H KS 4C", "2C 3D 9S JD QH"), "5S", "6H", ("draw", "spread 6H 7H 8H 9H", "discard KS"),
    ),
    "one catcher": Worked(
        "deadwood", ("3C 4D", "2S 5H", "4C 8D"), "KS", "", ("drop",),
        {"ending": "caught", "scores": [-2, 2, 0], "winners": [1]}, {"hand_size": 2},
    ),
    "a paid drop": Worked(
        "deadwood", ("AC AD", "4H 5H", "6S 8C"), "KS", "", ("drop",),
        {"ending": "drop", "scores": [2, -1, -1], "winners": [0]}, {"hand_size": 2},
    ),
    "opening": Worked(
        "speno", ("AC 2D 3H 4S 5C", "2C 3D 4H 5S 6D", "3S 4C 6H 7S TD"),
        result={"ending": "opening", "scores": [4, -2, -2], "winners": [0]},
    ),
    "two catchers": Worked(
        "rockets", ("4C 6D", "3H 5S", "2C 8H"), "KS", "", ("drop",),
        {"ending": "caught", "scores": [-4, 2, 2], "winners": [1]}, {"hand_size": 2},
    ),
    "frozen": Worked(
        "rockets", ("8D 4S KC QD 2C", "5D 6D 7D JH 3S"), "TS", "QH 9S KH",
        ("draw", "discard QH", "draw", "spread 5D 6D 7D", "discard JH", "draw", "hit 8D high", "discard KH"),
    ),
    "thawed": Worked(
        "rockets", ("8D 4S KC QD 2C", "5D 6D 7D JH 3S"), "TS", "QH 9S KH TH JC",
        ("draw", "discard QH", "draw", "spread 5D 6D 7D", "discard JH", "draw", "hit 8D high", "discard KH",
         "draw", "discard TH", "draw", "discard JC"),
    ),
    "empty stock": Worked(
        "tonkroom", ("AC 4D 5C", "2D 3C 5D"), "AD", "2C 3D 4C",
        ("draw", "discard 2C", "draw", "discard 3D", "draw", "discard 4C", "draw"),
        {"ending": "stock", "scores": [0, 0], "winners": []}, {"ranks": "A2345", "suits": 2, "hand_size": 3},
    ),
    "clash": Worked(
        "points", ("KC QC JC TC 9C", "KD QD JD TD KH"), "4S",
        result={"ending": "opening_clash", "scores": [0, 0], "winners": []},
    ),
    "tunk caught": Worked(
        "tunk", ("5H 6H 7H 9C 9D 9S 5C", "8S 8C 8D 4H 4C 4D 3S"), "JD", "KD QH",
        ("draw", "tunk", "discard KD", "draw", "discard QH"),
        {"ending": "tunk_caught", "scores": [10, 3], "winners": [1]},
    ),
}  # fmt: skip
