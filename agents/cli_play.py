"""`tonk play`: a person against agents in the terminal."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import typer

from agents.base import Agent, AgentSpecError
from agents.cli_options import game_from, width
from agents.cli_records import ended
from agents.recording import choose, seat_agents
from agents.wording import counted, rules_title
from tonk_env.replay import Replay
from tonk_env.table import HandResult, Table
from tonk_env.view import look, seat_words

HELP = "Type the number or the words of a move; its first letters do where they are clear."
COMMANDS = "? or help shows this; q leaves. `tonk rules PRESET` in another window tells the rules of a game"
WORDS = "draw, take, pass, drop, tunk, discard CARD, spread CARDS, hit CARD book (or high, low: the end of a run)"


def run_play(
    specs: Sequence[str], preset: str | None, settings: Sequence[str], players: int | None, seed: int | None, seat: int
) -> None:
    """Play matches until the person has had enough."""
    rules, players = game_from(preset, settings, players, specs, len(specs) + 1 if len(specs) > 1 else None)
    if seat >= players:
        raise AgentSpecError(f"there is no seat {seat} at a table of {players}; --seat is 0 to {players - 1}")
    if len(specs) not in (1, players - 1):
        raise AgentSpecError(f"{len(specs)} opponents are named for {counted(players - 1, 'seat')}; name one for each, or one")
    others = list(specs) * (players - 1 if len(specs) == 1 else 1)
    fresh = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    agents = seat_agents([*others[:seat], "random", *others[seat:]], rules, players, fresh)
    names = ["you" if at == seat else f"player_{at} ({agent.name})" for at, agent in enumerate(agents)]
    sitting = Sitting(Table(rules, players, seed=fresh), agents, names, seat)
    _say(f"{rules_title(rules)} · {players} players · seed {fresh}")
    _say(f"You are player_{seat}. {HELP} ? shows the commands, q leaves.")
    try:
        while True:
            sitting.play()
            if _ask("\nAnother one? [Y/n] ").strip().lower() not in ("", "y", "yes"):
                break
    except EOFError:
        typer.echo("")
    typer.echo("Goodbye.")


class Sitting:
    """A person at a table with agents, for as many matches or single hands as it likes."""

    def __init__(self, table: Table, agents: Sequence[Agent], names: Sequence[str], seat: int) -> None:
        self._table, self._agents, self._names, self._seat = table, agents, names, seat
        self._score = [0.0] * table.num_players  # over the single hands of this sitting
        self._hands = 0

    def play(self) -> None:
        """Play one episode; raises EOFError when the person leaves."""
        table, agents = self._table, self._agents
        table.reset()
        for at, agent in enumerate(agents):
            agent.reset(np.array([at], dtype=np.int64))
        self._tell(table.opened)
        self._head()
        while not table.over:
            if table.seat == self._seat:
                hands = table.step(_choose_move(table, self._seat))
            else:
                action = choose(agents[table.seat], table)
                typer.echo(f"  {self._names[table.seat]}: {table.words(action)}")
                hands = table.step(action)
            self._tell(hands)
            if hands and not table.over:
                self._head()
        if not table.rules.single_hand:
            _say(f"The match is over. Places: {self._row(table.places())}")

    def _head(self) -> None:
        """Say which hand of a match begins."""
        if not self._table.rules.single_hand:
            typer.echo(f"\n=== Hand {self._table.hand_number + 1} ===")

    def _tell(self, hands: Sequence[HandResult]) -> None:
        """Say how hands ended, with the cards that were laid open, and what the score is."""
        for hand in hands:
            replay = Replay(hand)
            view = look(replay.go(len(replay)), self._seat)
            typer.echo("")
            how = ended(hand)
            _say(f"*** {how[0].upper()}{how[1:]} ***")
            width = max(map(len, self._names))
            for name, one in zip(self._names, view.seats, strict=True):
                _say(f"  {name:<{width}}  {seat_words(replace(one, total=''))}", indent=width + 4)
            self._add(hand)
        if hands and not self._table.rules.single_hand:
            _say(f"Totals: {self._row(self._table.totals.tolist())}")
        elif hands:
            _say(f"Score after {counted(self._hands, 'hand')}: {self._row(self._score)}")

    def _add(self, hand: HandResult) -> None:
        self._hands += 1
        self._score = [score + (value or 0) for score, value in zip(self._score, hand.scores, strict=True)]

    def _row(self, values: Sequence[float]) -> str:
        return ", ".join(f"{name} {value:g}" for name, value in zip(self._names, values, strict=True))


def _choose_move(table: Table, seat: int) -> int:
    """Show the table and ask until the answer is a legal move."""
    typer.echo("")
    for line in table.render(seat).splitlines():
        if not line.startswith("moves:"):
            _say(line, indent=4)
    legal = [table.words(int(action)) for action in table.legal_actions()]  # discards in the order of the hand
    typer.echo("\n".join(in_lines([f"{number} {words}" for number, words in enumerate(legal, start=1)], width())))
    while True:
        answer = " ".join(_ask("your move: ").split())
        if answer.lower() in ("q", "quit", "exit"):
            raise EOFError
        found = meanings(answer, legal)
        if len(found) == 1:
            return table.parse(found[0])
        _say(_hint(answer, found, legal))


def _hint(answer: str, found: Sequence[str], legal: Sequence[str]) -> str:
    """Return what to say to an answer that is not one move."""
    if not answer:
        return "Your move, please: a number or the words of a move; ? shows the commands."
    if answer.lower() in ("?", "h", "help"):
        return f"{HELP} Moves are: {WORDS}. {COMMANDS}."
    if found:
        return f"{answer!r} is ambiguous: {_choices(found)}"
    close = difflib.get_close_matches(answer, legal, 1, 0.75)
    return f"{answer!r} is no legal move" + (f"; did you mean {close[0]!r}?" if close else f". {HELP} ? shows the commands.")


def _choices(found: Sequence[str]) -> str:
    """Return moves as a choice; of many alike, the first words."""
    words = list(dict.fromkeys(move.partition(" ")[0] for move in found))
    options = list(found) if len(words) == 1 else sorted(words)
    return f"{', '.join(options[:-1])} or {options[-1]}"


def in_lines(items: Sequence[str], room: int) -> list[str]:
    """Return items side by side in lines of at most ``room`` columns, none of them broken."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 3 + len(item) <= room:
            lines[-1] += "   " + item
        else:
            lines.append(item)
    return lines


def _say(text: str, indent: int = 0) -> None:
    """Print a text, broken between words where the window is narrower."""
    typer.echo(textwrap.fill(text, width(), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False))


def meanings(answer: str, legal: Sequence[str]) -> list[str]:
    """Return the legal moves that an answer may mean: by number, by words in any case, or by beginnings of words."""
    if answer.isascii() and answer.isdigit():
        return [words for number, words in enumerate(legal, start=1) if answer.lstrip("0") == str(number)]
    exact = [words for words in legal if words.lower() == answer.lower()]
    parts = answer.lower().split()
    return exact or [words for words in legal if parts and _begins(words.lower().split(), parts)]


def read_move(answer: str, legal: Sequence[str]) -> str | None:
    """Return the legal move that an answer means; None where it means none, or several."""
    found = meanings(answer, legal)
    return found[0] if len(found) == 1 else None


def _begins(words: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether each part begins the word in its place, as in `di ks` for `discard KS`."""
    return len(parts) <= len(words) and all(word.startswith(part) for word, part in zip(words, parts, strict=False))


def _ask(question: str) -> str:
    return input(question)
