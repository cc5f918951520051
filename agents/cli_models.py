"""`tonk export` and `tonk info`: opponents as files, and what their cards say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from agents.cli_options import check_output, console

CARD_ORDER = ("rules", "num_players", "strength", "provenance")  # what people ask first

MEASURED = {"mean", "low", "high"}  # of a payoff with its interval


def run_export(run: Path, output: Path) -> None:
    """Export the best policy of a run, or one checkpoint, and say what was written."""
    from agents.exporting import export_run

    check_output(output)
    export_run(run, output)
    console().print(f"wrote {output} ({output.stat().st_size:,} bytes)", markup=False)


def print_card(file: Path, as_json: bool) -> None:
    """Print the card of an opponent: as JSON text, or as a table of its entries."""
    from agents.card import read_card
    from agents.onnx_file import read_opponent
    from agents.specs import parse_spec

    if file.is_dir():
        file = parse_spec(str(file)).path or file
    data, text = read_opponent(file)
    card = read_card(text, str(file))
    if as_json:
        typer.echo(json.dumps(card, indent=1))
        return
    grid = Grid(title=Text(f"{file} ({len(data):,} bytes)"), title_justify="left", show_header=False)
    grid.add_column("entry", overflow="fold")
    grid.add_column("value", overflow="fold")
    if isinstance(card.get("provenance"), dict):
        card["provenance"].pop("config", None)
    for entry, value in entries({key: card[key] for key in CARD_ORDER if key in card} | card):
        grid.add_row(Text(printable(entry)), Text(printable(value)))
    grid.caption = "`--json` prints the configuration it was trained with too"
    console().print(grid)


def entries(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted path, text) for everything in a card; a list of plain values, or a payoff with interval, is one entry."""
    if isinstance(value, Mapping) and set(value) == MEASURED and all(isinstance(part, float) for part in value.values()):
        yield path, f"{value['mean']:+.4f} ({value['low']:+.4f} to {value['high']:+.4f})"
    elif isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from entries(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for number, inner in enumerate(value):
            yield from entries(inner, f"{path}[{number}]")
    elif isinstance(value, list):
        yield path, ", ".join(map(_words, value)) or "none"
    else:
        yield path, _words(value)


def printable(text: str) -> str:
    """Return a stranger's text with what steers a terminal, such as escape sequences, written out."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _words(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    return str(value) if value != {} else "none"
