"""Counts move sequences by depth from fixed deals, through the kernels and through the plain second engine.

    python tests/perft.py                                 counts every file of tests/perft and compares
    python tests/perft.py tests/perft/tunk.txt --depth 3  one file, to another depth
    python tests/perft.py tests/perft/new.txt --write     writes the counts, once both engines agree on them

A sequence ends with the hand. ``counts`` holds the sequences of 1, 2, 3, ... moves and ``ended`` how many of these end the
hand with their last move; once all have ended the counts stop, so that the whole tree is counted.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from oracle import OracleHand

from tonk_env.rules import RuleSet, make_rules
from tonk_env.table import Table

FOLDER = Path(__file__).parent / "perft"
MANY = 99  # depth at which every tiny game has ended


@dataclass(frozen=True)
class Position:
    """A file: a deal, moves that lead into the position, and the counts from there."""

    path: Path
    origin: list[str]
    rules: RuleSet
    players: int
    deck: str
    moves: list[str]
    depth: int
    counts: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)


def read(path: Path) -> Position:
    """Read a file. Lines that begin with # say where the position comes from; every other line is ``name: value``."""
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith("#"))
    return Position(
        path=path,
        origin=[line for line in lines if line.startswith("#")],
        rules=make_rules(entries["rules"], **json.loads(entries.get("set", "{}"))),
        players=int(entries["players"]),
        deck=entries["deck"],
        moves=[move.strip() for move in entries.get("moves", "").split(",") if move.strip()],
        depth=MANY if entries["depth"] == "end" else int(entries["depth"]),
        counts=[int(number) for number in entries.get("counts", "").split()],
        ended=[int(number) for number in entries.get("ended", "").split()],
    )


def write(position: Position, counts: list[int], ended: list[int]) -> None:
    """Write the counts into the position's file, in the place of those that are there."""
    text = position.path.read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith(("counts:", "ended:"))]
    rows = [f"{name}: {' '.join(map(str, row))}" for name, row in (("counts", counts), ("ended", ended))]
    position.path.write_text("\n".join(kept + rows) + "\n", encoding="utf-8")


class Side(Protocol):
    """One engine in one position of a hand."""

    over: bool

    def legal(self) -> list[Any]:
        """Legal moves as this engine names them."""
        ...

    def words(self, move: Any) -> str:
        """A legal move in words."""
        ...

    def after(self, move: Any) -> Side:
        """The position after a legal move, which may also be given in words; this one stays as it is."""
        ...


class Kernels:
    """The compiled engine, through ``Table.copy`` and ``Table.step``."""

    name = "kernels"

    def __init__(self, table: Table, over: bool = False) -> None:
        self.table, self.over = table, over

    def legal(self) -> list[int]:
        return [int(action) for action in self.table.legal_actions()]

    def words(self, move: int) -> str:
        return self.table.words(move)

    def after(self, move: int | str) -> Kernels:
        table = self.table.copy()
        return Kernels(table, bool(table.step(move)))


class Plain:
    """The plain second engine, copied whole for every move."""

    name = "second engine"

    def __init__(self, hand: OracleHand) -> None:
        self.hand = hand

    @property
    def over(self) -> bool:
        return self.hand.over

    def legal(self) -> list[str]:
        return self.hand.legal()

    def words(self, move: str) -> str:
        return move

    def after(self, move: str) -> Plain:
        shared = {id(part): part for part in (self.hand.rules, self.hand.kind)}
        hand = copy.deepcopy(self.hand, shared)
        hand.play(move)
        return Plain(hand)


def kernels(position: Position) -> Kernels:
    """The position in the compiled engine."""
    table = Table(position.rules, position.players, seed=0)
    table.reset(deck=position.deck)
    for move in position.moves:
        table.step(move)
    return Kernels(table)


def plain(position: Position) -> Plain:
    """The position in the second engine."""
    hand = OracleHand(position.rules, position.players, list(range(position.players)), 0, position.deck.split())
    for move in position.moves:
        hand.play(move)
    return Plain(hand)


def perft(side: Side, depth: int) -> tuple[list[int], list[int]]:
    """Sequences of 1 to ``depth`` moves, and how many of each length end the hand. Stops where all have ended."""
    counts: list[int] = []
    ended: list[int] = []
    _count(side, depth, 0, counts, ended)
    return counts, ended


def _count(side: Side, depth: int, level: int, counts: list[int], ended: list[int]) -> None:
    if level == depth:
        return
    if level == len(counts):
        counts.append(0)
        ended.append(0)
    moves = side.legal()
    counts[level] += len(moves)
    for move in moves:
        child = side.after(move)
        if child.over:
            ended[level] += 1
        else:
            _count(child, depth, level + 1, counts, ended)


def divide(side: Side, depth: int) -> dict[str, int]:
    """The sequences of exactly ``depth`` moves below each first move, by its words; 1 below each at depth 1."""
    below = {}
    for move in sorted(side.legal(), key=side.words):
        child = side.after(move)
        counts = [] if child.over else perft(child, depth - 1)[0]
        below[side.words(move)] = 1 if depth == 1 else counts[depth - 2] if len(counts) >= depth - 1 else 0
    return below


def explain(position: Position, depth: int) -> str:
    """Where the engines differ at a depth: the count below each move, level by level along the first that differs."""
    ours, theirs, path = kernels(position), plain(position), list(position.moves)
    report = []
    for left in range(depth, 0, -1):
        a, b = divide(ours, left), divide(theirs, left)
        report.append(f"{left} moves after {', '.join(path) or 'the deal'}: kernels, second engine")
        for words in sorted(a | b):
            mark = "" if a.get(words) == b.get(words) else "   <-- differs"
            report.append(f"  {words:<28} {a.get(words, '-'):>9} {b.get(words, '-'):>9}{mark}")
        different = [words for words in a if words in b and a[words] != b[words]]
        if set(a) != set(b) or not different:
            break
        ours, theirs = ours.after(different[0]), theirs.after(different[0])
        path.append(different[0])
    return "\n".join(report)


def compare(position: Position, depth: int | None = None) -> str:
    """Count on both engines. Returns "" if they and the file agree, else what differs and the count below each move."""
    depth = position.depth if depth is None else depth
    ours, theirs = perft(kernels(position), depth), perft(plain(position), depth)
    known = min(depth, len(position.counts))
    written = position.counts[:known], position.ended[:known]
    for level in range(max(len(ours[0]), len(theirs[0]))):
        a, b = ([row[level : level + 1] for row in side] for side in (ours, theirs))
        c = [row[level : level + 1] for row in written] if level < known or depth <= position.depth else a
        if not a == b == c:
            sums = f"sequences, ended: kernels {a}, second engine {b}, file {c}"
            return f"{position.path.name}, depth {level + 1}: {sums}\n{explain(position, level + 1)}"
    return ""


def main() -> int:
    """Compare files, or write their counts. Exit status 1 if anything differs."""
    parser = argparse.ArgumentParser(description="Count move sequences by depth on both engines.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: every file of tests/perft")
    parser.add_argument("--depth", type=int, help="moves to count, instead of the depth that the file names")
    parser.add_argument("--write", action="store_true", help="write the counts that both engines agree on")
    options = parser.parse_args()
    faults = 0
    for path in options.files or sorted(FOLDER.glob("*.txt")):
        position = read(path)
        depth = options.depth or position.depth
        counts, ended = perft(kernels(position), depth)
        if options.write and (counts, ended) == perft(plain(position), depth):
            write(position, counts, ended)
            position = read(path)
        fault = compare(position, options.depth)
        faults += bool(fault)
        sys.stdout.write(fault + "\n" if fault else f"{path.name}: {' '.join(map(str, counts))}\n")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
