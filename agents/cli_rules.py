"""`tonk rules`: the list of rule sets and the sheet of one, from the same data that the engine plays by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from agents.cli_options import console, rules_from
from tonk_env.rules import PRESETS, RuleSet, preset_info


def print_presets() -> None:
    """Print every preset with its players and what it is."""
    grid = Grid(title="Rule sets", title_justify="left")
    for heading in ("preset", "players", "cards", "settlement", "match", "what it is"):
        grid.add_column(heading, no_wrap=heading == "preset")
    for name, rules in PRESETS.items():
        least, most = rules.min_players, rules.max_players
        players = f"{least}–{most}" if least < most else str(least)
        grid.add_row(name, players, f"{rules.hand_size} of {rules.deck_size}", rules.settlement, match_words(rules),
                     preset_info(name).description)  # fmt: skip
    screen = console()
    screen.print(grid)
    screen.print("`tonk rules PRESET` prints the sheet of one; `--set KEY=VALUE` changes an option anywhere.")


def print_sheet(preset: str, settings: Sequence[str]) -> None:
    """Print every option of a rule set; those that differ from `points` stand out."""
    rules = rules_from(preset, settings)
    about = preset_info(rules.preset)
    screen = console()
    screen.print(Text(f"{rules.preset}: {about.title}", style="bold"))
    screen.print(Text(about.description))
    screen.print(Text(about.note, style="dim"))
    grid = Grid(caption="values in bold differ from `points`", caption_justify="left")
    for heading in ("clause", "option", "value", "meaning", "allowed"):
        grid.add_column(heading, no_wrap=heading in ("clause", "option"))
    for line in rules.sheet():
        changed = "bold" if line.value != line.default else ""
        value = Text(value_words(line.value), style=changed)
        grid.add_row(line.clause, line.option, value, line.doc, Text(line.allowed))
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
