"""`tonk export`, `tonk info` and `tonk champions`: opponents as files, and what their cards say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table as Grid
from rich.text import Text

from agents.cli_options import check_output, console
from agents.wording import counted, rules_title

CARD_ORDER = ("rules", "num_players", "strength", "provenance")  # what people ask first

MEASURED = {"mean", "low", "high"}  # of a payoff with its interval


def run_export(run: Path, output: Path) -> None:
    """Export the best policy of a run, or one checkpoint, and say what was written."""
    from agents.exporting import export_run

    check_output(output)
    export_run(run, output)
    console().print(f"wrote {output} ({output.stat().st_size:,} bytes)", markup=False)


def print_card(file: Path, as_json: bool) -> None:
    """Print the card of an opponent: as JSON text, or as a table of its entries.

    ``file`` may also be a run folder or the name of a champion, such as ``points-2``. Raises ``AgentSpecError``.
    """
    from agents.card import read_card
    from agents.onnx_file import read_opponent

    file = _card_file(file)
    data, text = read_opponent(file)
    card = read_card(text, str(file))
    if as_json:
        typer.echo(json.dumps(card, indent=1))
        return
    grid = Grid(title=Text(f"{file} ({len(data):,} bytes)"), title_justify="left", show_header=False)
    grid.add_column("entry", overflow="fold")
    grid.add_column("value", overflow="fold")
    if isinstance(provenance := card.get("provenance"), dict):
        provenance.pop("config", None)
        if isinstance(provenance.get("log"), list) and provenance["log"]:
            provenance["log"] = _log_words(provenance["log"])
    for entry, value in entries({key: card[key] for key in CARD_ORDER if key in card} | card):
        grid.add_row(Text(printable(entry)), Text(printable(value)))
    grid.caption = "`--json` prints the configuration it was trained with and the whole log too"
    console().print(grid)


def _card_file(file: Path) -> Path:
    """Return the file that is meant by a file, a run folder or the name of a champion. Raises ``AgentSpecError``."""
    from agents.base import AgentSpecError
    from agents.champion import champion_file, champions
    from agents.specs import parse_spec

    if file.is_dir():
        return parse_spec(str(file)).path or file
    if file.exists() or file.is_symlink() or file.suffix or file.name != str(file):
        return file
    if file.name == "champion":
        names = ", ".join(one.name for one in champions()) or "none, as none come with this installation"
        raise AgentSpecError(f"champion is the name of many, one for each game; for the card of one give one of: {names}")
    found = champion_file(file.name)
    if found is None:
        raise AgentSpecError(f"there is no file, run folder or champion {file}; `tonk champions` lists the last")
    return found


def _log_words(log: list[Mapping[str, Any]]) -> str:
    """Return a run's evaluations in a line: how many there are, and the first, the best and the last score.

    A card is its maker's claim: lines in another form are only counted.
    """
    try:
        best = max(log, key=lambda line: float(line["score"]))
        words = [f"{line['score']:+.3f} at {line['decisions']:,}" for line in (log[0], best, log[-1])]
    except (KeyError, TypeError, ValueError):
        return counted(len(log), "line")
    return f"{counted(len(log), 'evaluation')}; score {words[0]} decisions, best {words[1]}, last {words[2]}"


def print_champions() -> None:
    """Print the trained opponents that come with the project: game, players, size, training, measured strength."""
    from agents.champion import champions, damaged

    known = champions()
    for sentence in damaged():
        typer.echo(f"tonk: {sentence}", err=True)
    if not known:
        console().print("no champions come with this installation; `make champion CHAMPION=points-2` trains one", markup=False)
        return
    grid = Grid(title="Champions", title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    grid.padding, grid.pad_edge = (0, 1, 0, 0), False  # eighty columns are few
    for heading in ("champion", "game", "seats", "size", "decisions", "payoff against"):
        number = heading in ("seats", "size", "decisions")
        grid.add_column(heading, overflow="fold", justify="right" if number else "left", no_wrap=True)
    for one in known:
        grid.add_row(
            one.name, _in_lines(rules_title(one.rules)), str(one.num_players), f"{one.size / 1000:,.0f} kB", one.decisions,
            Text("\n".join(one.payoffs) or "not measured"),
        )  # fmt: skip
    screen = console()
    screen.print(grid)
    screen.print("name `champion` plays them, by rules and players; `tonk info NAME` tells all about one")


def _in_lines(title: str) -> str:
    """Return the title of rules with each option in a line of its own: columns are narrow."""
    return title.replace(" (", "\n(", 1).replace(", ", ",\n ")


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
