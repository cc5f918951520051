"""The named presets as data: which options each one sets on top of which other, and the page it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHORT_DECK = "A234567JQK"

TONK_RULES = '"Tonk Rules", the full rule set of a tonk site that the page does not name'
DEADWOOD_PAGE = '"Tonk card game: deadwood, spreads and how to go out", a page of a site that it does not name'
SPENO_PAGE = '"Tonk Card Game Rules", rendition by John P. Speno (1992), The Game Cabinet'
TONKROOM_PAGE = '"How to play Tonk card game", Tonkroom'
ROCKETS_PAGE = '"How to Play Tunk | Card Game Rules", Rockets'
NO_PAGE = "no page: made for this project"


@dataclass(frozen=True)
class PresetInfo:
    """What is known of one preset.

    title: its name for people. source: the published page (title, publisher as far as the page states it).
    description: one or two sentences. base: the preset it changes. set: the options it sets on top of `base`.
    full_sheet: whether a page publishes the whole sheet; False for the local forms that pages only name.
    """

    title: str
    source: str
    description: str
    base: str = "points"
    set: Mapping[str, Any] = field(default_factory=dict)
    full_sheet: bool = True

    @property
    def note(self) -> str:
        """A sentence on where the sheet comes from, for the docs and the command line."""
        if self.source == NO_PAGE:
            return "No page publishes this form; it was made for this project."
        if self.full_sheet:
            return f"From {self.source}."
        return f"A local form named by {self.source}; no page publishes a full sheet of it."


def _local(title: str, source: str, description: str, base: str, **options: Any) -> PresetInfo:
    """A further preset: a small change of another one that a page names without publishing a full sheet."""
    return PresetInfo(title, source, description, base, options, full_sheet=False)


_STAKES = {"max_players": 6, "settlement": "stakes", "match": "hands"}

PRESET_INFO: dict[str, PresetInfo] = {
    "points": PresetInfo(
        "Tonk for points",
        TONK_RULES,
        "Five-card Tonk for penalty points; a player who reaches 100 is out and the last one left wins.",
    ),
    "deadwood": PresetInfo(
        "Deadwood Tonk",
        DEADWOOD_PAGE,
        "Five-card Tonk for stakes; a dealt hand that is all spreads wins at once, a caught caller pays the low hand.",
        set={
            **_STAKES,
            "opening_exact": (),
            "opening_spread": True,
            "caught_pays": "low_hand",
            "stock_end": "on_demand",
            "stock_tie": "dead",
        },
    ),
    "speno": PresetInfo(
        "Speno's Tonk",
        SPENO_PAGE,
        "The game pieced together from the Black Company novels: 15 or less or 49 or more wins on the deal, "
        "no upcard, hits on runs only.",
        set={
            **_STAKES,
            "upcard": False,
            "opening_exact": (),
            "opening_at_most": 15,
            "opening_at_least": 49,
            "hits_on": "runs",
            "caught_pays": "each_catcher",
            "stock_end": "on_demand",
            "tonk_out_multiplier": 1,
        },
    ),
    "tonkroom": PresetInfo(
        "Tonkroom",
        TONKROOM_PAGE,
        "Five-card Tonk for two without wagers: a hand is won, lost or tied.",
        set={
            **_STAKES,
            "max_players": 2,
            "opening_clash": "tie",
            "opening_multiplier": 1,
            "caught_pays": "low_hand",
            "caught_multiplier": 1,
            "stock_end": "on_demand",
            "stock_tie": "dead",
            "tonk_out_multiplier": 1,
        },
    ),
    "rockets": PresetInfo(
        "Rockets Tunk",
        ROCKETS_PAGE,
        "Five-card Tunk for stakes; a hit on your spread freezes your drop for a turn, a caught dropper pays every "
        "catcher double.",
        set={**_STAKES, "caught_pays": "each_catcher", "freeze_on_hit": 1},
    ),
    "tunk": PresetInfo(
        "Seven-card Tunk",
        f'{TONK_RULES} (last section, "Seven-Card Tunk Is a Different Game"), and the first lines of {SPENO_PAGE}',
        "Seven cards, deuces wild, nothing laid before a tunk: with 5 or less unmatched you tunk after drawing and "
        "everybody else has one last turn.",
        set={
            "max_players": 5,
            "hand_size": 7,
            "wild": "deuces",
            "opening_exact": (),
            "drop": "after_draw",
            "drop_at_most": 5,
            "drop_tie": "safe",
            "stock_tie": "dead",
            "tonk_out_multiplier": 1,
        },
    ),
    "seven_card": _local(
        "Seven-card Tonk",
        f"{SPENO_PAGE} (first lines: Seattle union tables), and {ROCKETS_PAGE}",
        "The rockets game with seven cards each and no opening tonk, as at Seattle union tables.",
        "rockets",
        hand_size=7,
        opening_exact=(),
    ),
    "navy": _local(
        "Navy Tonk",
        f"{SPENO_PAGE} (first lines: sailors in Vietnam)",
        "Seven cards each from a 40-card deck without 8s, 9s and tens.",
        "seven_card",
        ranks=SHORT_DECK,
        max_players=5,
    ),
    "short_deck": _local(
        "Short-deck Tonk",
        f"{ROCKETS_PAGE}, and {DEADWOOD_PAGE}",
        "The rockets game with 40 cards: without 8s, 9s and tens 7 and J are neighbours, and a dealt 49 cannot occur.",
        "rockets",
        ranks=SHORT_DECK,
    ),
    "low_tonk": _local(
        "Low opening tonk",
        ROCKETS_PAGE,
        "The rockets game in which a dealt hand of 15 or less also wins at once.",
        "rockets",
        opening_at_most=15,
    ),
    "waiting": _local(
        "Waiting rule",
        f"{ROCKETS_PAGE}, and {DEADWOOD_PAGE}",
        "The rockets game in which laying a spread bars one's drop for the next three turns.",
        "rockets",
        wait_after_spread=3,
    ),
    "strict": _local(
        "Strict Tonk",
        DEADWOOD_PAGE,
        "The deadwood game in which a held spread must be laid and a taken discard must be used at once.",
        "deadwood",
        must_spread=True,
        taken_discard="must_use",
    ),
    "difference": _local(
        "Difference settlement",
        DEADWOOD_PAGE,
        "The deadwood game in which losers pay the gap between the counts.",
        "deadwood",
        settlement="difference",
    ),
    "high_courts": _local(
        "High courts",
        DEADWOOD_PAGE,
        "The deadwood game with courts counting 11, 12 and 13 and no opening tonk by counts.",
        "deadwood",
        court_values=(11, 12, 13),
        opening_exact=(),
        opening_at_most=None,
        opening_at_least=None,
    ),
    "jokers": _local(
        "Dead jokers",
        DEADWOOD_PAGE,
        "The deadwood game with two jokers that count 0 and enter no spread.",
        "deadwood",
        jokers=2,
    ),
    "wild_jokers": _local(
        "Wild jokers",
        DEADWOOD_PAGE,
        "The deadwood game with two wild jokers.",
        "deadwood",
        jokers=2,
        wild="jokers",
    ),
    "pagat": _local(
        "Pagat's payments",
        f"{DEADWOOD_PAGE}, which cites Pagat's survey of American tables",
        "The rockets game without the freeze, played on past the last stock card, in which a caught dropper pays "
        "every catcher and the low hand also collects from the rest.",
        "rockets",
        freeze_on_hit=0,
        caught_pays="catchers_and_low_collects",
        stock_end="on_demand",
    ),
    "no_upcard": _local(
        "No upcard",
        DEADWOOD_PAGE,
        "The deadwood game in which the discard pile starts with the first player's discard.",
        "deadwood",
        upcard=False,
    ),
    "mini": _local(
        "Mini Tonk",
        NO_PAGE,
        "Eight cards, two each, four turns at most: small enough to solve exactly.",
        "tonkroom",
        ranks="A234",
        suits=2,
        hand_size=2,
        opening_exact=(),
        stock_end="last_discard",
        max_turns=4,
    ),
    "micro": _local(
        "Micro Tonk",
        NO_PAGE,
        "Six cards, two each, three turns at most: for slow exact algorithms.",
        "mini",
        ranks="A23",
        max_turns=3,
    ),
}


def preset_options(name: str) -> dict[str, Any]:
    """Return every option that preset `name` sets on top of the defaults, its base's options included."""
    info = PRESET_INFO[name]
    inherited = {} if info.base == "points" else preset_options(info.base)
    return {**inherited, **info.set}
