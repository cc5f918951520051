"""`tonk rules`: the list of rule sets and the sheet of one, from the same data that the engine plays by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table as Grid
from rich.text import Text

from agents.cli_options import console, rules_from
from tonk_env.rules import PRESETS, RuleSet, preset_info


def print_presets() -> None:
    """Print every preset with its players and what it is."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("preset", "players", "what it is", "cards", "settlement", "match"):
        grid.add_column(heading, overflow="fold")
    for name, rules in PRESETS.items():
        least, most = rules.min_players, rules.max_players
        players = f"{least}–{most}" if least < most else str(least)
        cards = f"{rules.hand_size} of {rules.deck_size}"
        grid.add_row(name, players, preset_info(name).title, cards, rules.settlement, match_words(rules))
    screen = console()
    screen.print(grid)
    screen.print("\n`tonk rules PRESET` tells all about one; `--set KEY=VALUE` changes an option anywhere.")


def print_sheet(preset: str, settings: Sequence[str]) -> None:
    """Print every option of a rule set; those that differ from `points` stand out."""
    rules = rules_from(preset, settings)
    about = preset_info(rules.preset)
    screen = console()
    screen.print(Text(f"{rules.preset}: {about.title}", style="bold"))
    screen.print(Text(about.description))
    screen.print(Text(about.note, style="dim"))
    grid = Grid(box=SIMPLE_HEAD, padding=(0, 1), caption="* differs from `points`", caption_justify="left")
    for heading in ("option", "value", "meaning, (clause), what is allowed"):
        grid.add_column(heading, overflow="fold", no_wrap=heading == "option")
    for line in rules.sheet():
        value = Text(value_words(line.value))
        if line.value != line.default:
            value = Text.assemble((value.plain, "bold"), " *")
        meaning = Text.assemble(f"{line.doc} ({line.clause})\n", (line.allowed, "dim"))
        grid.add_row(line.option, value, meaning)
    screen.print(grid)
    screen.print(f"fingerprint {rules.fingerprint()}")


def match_words(rules: RuleSet) -> str:
    """Return what ends a match, in a few words."""
    return {
        "hands": "single hand" if rules.hands == 1 else f"{rules.hands} hands",
        "elimination": f"out at {rules.elimination}",
        "target": f"to {rules.target}",
    }[rules.match]


def value_words(value: Any) -> str:
    """Return an option's value as it is typed after `--set KEY=`."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value == ():
        return "off"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
