"""`tonk play`: a person against agents in the terminal."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
import typer

from agents.base import Agent, AgentSpecError
from agents.cli_options import game_from
from agents.cli_records import ended
from agents.recording import choose, seat_agents
from tonk_env.table import HandResult, Table

HELP = "type the number or the words of a move; its first letters do where they are clear; q leaves"


def run_play(
    specs: Sequence[str], preset: str | None, settings: Sequence[str], players: int | None, seed: int | None, seat: int
) -> None:
    """Play matches until the person has had enough."""
    rules, players = game_from(preset, settings, players, specs, len(specs) + 1 if len(specs) > 1 else None)
    if seat >= players:
        raise AgentSpecError(f"there is no seat {seat} at a table of {players}; --seat is 0 to {players - 1}")
    if len(specs) not in (1, players - 1):
        raise AgentSpecError(f"{len(specs)} opponents are named for {players - 1} seats; name one for each, or one")
    others = list(specs) * (players - 1 if len(specs) == 1 else 1)
    fresh = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    agents = seat_agents([*others[:seat], "random", *others[seat:]], rules, players, fresh)
    names = ["you" if at == seat else f"player_{at} ({agent.name})" for at, agent in enumerate(agents)]
    table = Table(rules, players, seed=fresh)
    typer.echo(f"{rules.preset}, {players} players, seed {fresh}. You are player_{seat}. {HELP}.")
    try:
        while True:
            play_match(table, agents, names, seat)
            if _ask("\nAnother one? [Y/n] ").strip().lower() not in ("", "y", "yes"):
                break
    except EOFError:
        typer.echo("")
    typer.echo("Goodbye.")


def play_match(table: Table, agents: Sequence[Agent], names: Sequence[str], seat: int) -> None:
    """Play one episode; raises EOFError when the person leaves."""
    table.reset()
    for at, agent in enumerate(agents):
        agent.reset(np.array([at], dtype=np.int64))
    _tell(table.opened)
    while not table.over:
        if table.seat == seat:
            hands = table.step(_choose_move(table, seat))
        else:
            action = choose(agents[table.seat], table)
            typer.echo(f"  {names[table.seat]}: {table.words(action)}")
            hands = table.step(action)
        _tell(hands)
    if not table.rules.single_hand:
        places = ", ".join(f"{name} {place:g}" for name, place in zip(names, table.places(), strict=True))
        typer.echo(f"The match is over. Places: {places}")


def _tell(hands: Sequence[HandResult]) -> None:
    """Say how hands ended."""
    for hand in hands:
        typer.echo(f"\n*** {ended(hand)} ***")


def _choose_move(table: Table, seat: int) -> int:
    """Show the table and ask until the answer is a legal move."""
    shown = [line for line in table.render(seat).splitlines() if not line.startswith("moves:")]
    typer.echo("\n" + "\n".join(shown))
    legal = table.legal_words()
    typer.echo("   ".join(f"{number} {words}" for number, words in enumerate(legal, start=1)))
    while True:
        answer = " ".join(_ask("your move: ").split())
        if answer.lower() in ("q", "quit", "exit"):
            raise EOFError
        words = read_move(answer, legal)
        if words is not None:
            return table.parse(words)
        close = difflib.get_close_matches(answer, legal, 1)
        typer.echo(f"{answer!r} is no legal move" + (f"; did you mean {close[0]!r}?" if close else f": {HELP}"))


def read_move(answer: str, legal: Sequence[str]) -> str | None:
    """Return the legal move that an answer means: its number, its words in any case, or a clear beginning."""
    if answer.isascii() and answer.isdigit():
        return legal[int(answer) - 1] if 1 <= int(answer) <= len(legal) else None
    exact = [words for words in legal if words.lower() == answer.lower()]
    parts = answer.lower().split()
    near = [words for words in legal if parts and _begins(words.lower().split(), parts)]
    found = exact or near
    return found[0] if len(found) == 1 else None


def _begins(words: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether each part begins the word in its place, as in `di ks` for `discard KS`."""
    return len(parts) <= len(words) and all(word.startswith(part) for word, part in zip(words, parts, strict=False))


def _ask(question: str) -> str:
    return input(question)


