"""Records the golden hands: `python tests/record_golden.py` searches those that are missing; `--views` draws all views anew."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from golden_hands import FOLDER, golden_text, read_golden

from tonk_env.batch import GREEDY, choose_from_observations
from tonk_env.rules import RuleSet, make_rules
from tonk_env.table import HandResult, Table

MOST_HANDS = 20_000
ENOUGH = 15  # hands found before the shortest is taken


@dataclass(frozen=True)
class Wanted:
    """A golden hand to look for: by ending, and by a test of its own."""

    title: str
    preset: str
    players: int
    ending: str
    set: dict[str, Any] = field(default_factory=dict)
    test: Callable[[HandResult], bool] = lambda hand: True
    drops: float = 0.3  # how readily players drop

    @property
    def rules(self) -> RuleSet:
        """The rules to play by."""
        return make_rules(self.preset, **self.set)


def says(*parts: str) -> Callable[[HandResult], bool]:
    """Return a test for hands in which some move holds each of the parts."""
    return lambda hand: all(any(part in move for move in hand.moves) for part in parts)


SHORT = {"ranks": "A234567JQK"}
WANTED = {
    "points_drop": Wanted("The dropper is lowest and the others score their counts (R21, R30)", "points", 3, "drop",
                          test=lambda hand: not any(hand.totals) and len(hand.moves) > 6),
    "points_seat_out": Wanted("A hand of a match after a seat has gone out (R36)", "points", 3, "drop",
                              test=lambda hand: None in hand.totals and len(hand.moves) > 4),
    "deadwood_run_out": Wanted("The last card is discarded (R17)", "deadwood", 3, "run_out", set={"hand_size": 4},
                               test=says("spread"), drops=0.0),
    "speno_opening_clash": Wanted("Two opening tonks cancel each other (R9)", "speno", 3, "opening_clash"),
    "speno_opening": Wanted("A dealt hand of 15 or less, or 49 or more, wins at once (R7, R8)", "speno", 3, "opening"),
    "tonkroom_caught": Wanted("An equal count catches the dropper (R21)", "tonkroom", 2, "caught",
                              test=lambda hand: hand.counts[0] == hand.counts[1] and len(hand.moves) > 4),
    "rockets_caught": Wanted("Every catcher is paid twice (R33)", "rockets", 3, "caught",
                             test=lambda hand: min(hand.scores) == -4 and says("hit")(hand)),
    "tunk_tunk": Wanted("A tunk that holds after the last turns (R26 to R28)", "tunk", 2, "tunk", test=says("hit")),
    "tunk_caught": Wanted("A tunk that another player undercuts scores double (R28)", "tunk", 2, "tunk_caught",
                          test=lambda hand: max(hand.scores) > 0),
    "tunk_void": Wanted("The stock runs out without a tunk: nobody scores (R29)", "tunk", 5, "void", set=SHORT, drops=0.0),
    "seven_card_tonk_out": Wanted("Spreads and hits empty the hand: double (R18)", "seven_card", 2, "tonk_out", drops=0.0),
    "navy_stock": Wanted("The last drawer's discard ends the hand (R24)", "navy", 5, "stock", drops=0.0),
    "short_deck_run": Wanted("7 and J are neighbours in the short deck (R2)", "short_deck", 2, "drop",
                             test=lambda hand: any("spread" in move and "7" in move and "J" in move for move in hand.moves)),
    "low_tonk_opening": Wanted("A dealt 15 or less wins at once (R7)", "low_tonk", 2, "opening",
                               test=lambda hand: min(hand.counts) <= 15),
    "waiting_drop": Wanted("A spread bars the own drop for three turns (R22)", "waiting", 2, "drop",
                           test=lambda hand: any(move.startswith(f"{hand.winners[0]} spread") for move in hand.moves)),
    "strict_take": Wanted("A taken discard is used at once (R12), a held spread is laid (R16)", "strict", 2, "drop",
                          test=says("take", "spread")),
    "difference_caught": Wanted("The caught dropper pays twice the gap (R32, R33)", "difference", 2, "caught",
                                test=lambda hand: len(hand.moves) > 4),
    "high_courts_drop": Wanted("Courts count 11, 12 and 13 (R5)", "high_courts", 2, "drop", test=says("discard K")),
    "jokers_drop": Wanted("A dead joker counts nothing (R3)", "jokers", 2, "drop", test=says("discard X")),
    "wild_jokers_wild": Wanted("A joker fills a place in a spread (R14)", "wild_jokers", 2, "tonk_out",
                               test=says("X1=", "spread"), drops=0.0),
    "pagat_stock": Wanted("A player asks for the empty stock (R24)", "pagat", 6, "stock", set={"hand_size": 7}, drops=0.0),
    "no_upcard_drop": Wanted("The pile starts with the first discard (R4)", "no_upcard", 2, "drop", test=says("take")),
    "mini_turn_limit": Wanted("Four turns at most (R19)", "mini", 2, "turn_limit", test=says("take"), drops=0.0),
    "micro_drop": Wanted("The smallest game of all", "micro", 2, "drop", test=lambda hand: len(hand.moves) > 2),
}  # fmt: skip


def play(table: Table, random: np.random.Generator, drops: float) -> Iterator[HandResult]:
    """Yield hand after hand: mostly sensible moves, some at random, drops as often as asked."""
    while True:
        if table.over:
            table.reset()
            yield from table.opened
            continue
        words = table.legal_words()
        ends = [move for move in words if move in ("drop", "tunk")]
        rest = [move for move in words if move not in ends]
        if ends and (random.random() < drops or not rest):
            yield from table.step(ends[0])
        elif random.random() < 0.2:
            yield from table.step(rest[random.integers(len(rest))])
        else:
            yield from table.step(sensible(table))


def sensible(table: Table) -> int:
    """Return the move of a player who lays what it can, throws high cards and never drops."""
    mask = table.action_mask
    mask[0] = 0
    observation = table.observation(table.seat)
    return int(choose_from_observations(table.layout, GREEDY, 0, observation[None], mask[None])[0])


def search(wanted: Wanted) -> HandResult:
    """Return the shortest of the first fitting hands."""
    table = Table(wanted.rules, wanted.players, seed=1)
    found: list[HandResult] = []
    for number, hand in enumerate(play(table, np.random.default_rng(1), wanted.drops)):
        if hand.ending == wanted.ending and wanted.test(hand):
            found.append(hand)
        if len(found) == ENOUGH or (number >= MOST_HANDS / 5 and found) or number == MOST_HANDS:
            break
    if not found:
        raise SystemExit(f"no hand found in {MOST_HANDS:,}: {wanted.title}")
    return min(found, key=lambda hand: len(hand.moves))


def main() -> None:
    """Write what is missing, or draw the views of what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", action="store_true", help="keep decks and moves, draw all views and results anew")
    arguments = parser.parse_args()
    for name, wanted in WANTED.items():
        path = FOLDER / f"{name}.txt"
        if path.exists() and not arguments.views:
            continue
        hand = read_golden(path)[1] if path.exists() else search(wanted)
        path.write_text(golden_text(wanted.title, hand), encoding="utf-8")
        sys.stdout.write(f"{path.name}: {len(hand.moves)} moves\n")


if __name__ == "__main__":
    main()
