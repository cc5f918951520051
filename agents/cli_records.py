"""`tonk record` and `tonk replay`: hands to a file, and back from it in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from agents.cli_options import check_output, game_from
from agents.cli_progress import ProgressBar
from agents.wording import counted
from tonk_env.records import RecordError, read_records, write_records
from tonk_env.replay import Checker, Replay
from tonk_env.table import HandResult, Table


def run_record(
    specs: Sequence[str],
    preset: str | None,
    settings: Sequence[str],
    players: int | None,
    hands: int,
    seed: int,
    output: Path,
) -> None:
    """Play hands and write them; the file appears when the last one is played."""
    from agents.recording import record_hands

    check_output(output)
    rules, players = game_from(preset, settings, players, specs, len(specs) if len(specs) > 1 else None)
    with ProgressBar("recording", "hand") as progress:
        written = write_records(output, record_hands(specs, rules, players, hands, seed, progress))
    typer.echo(f"wrote {counted(written, 'hand')} to {output}")


def run_check(file: Path, hand: int | None) -> None:
    """Replay every hand of a file, or one, and say that they are as written; RecordError for the first that is not."""
    checker, hands = Checker(), 0
    with ProgressBar("checking", "hand") as progress:
        for line, record in _select(file, hand):
            with _At(file, line):
                checker.check(record)
            hands += 1
            progress(hands, None)
    typer.echo(f"{file}: {counted(hands, 'hand')} {'replays' if hands == 1 else 'replay'} exactly")


def run_replay(file: Path, hand: int | None, seat: int | None) -> None:
    """Print hands move by move, with the table after each move."""
    for line, record in _select(file, hand):
        with _At(file, line):
            _check_seat(record, seat)
            typer.echo("\n".join(_told(record, f"{file} line {line}", seat)) + "\n")


def _told(record: HandResult, where: str, seat: int | None) -> Iterator[str]:
    """Yield a hand as text: heading, deal, each move with the table after it, result."""
    numbers = f"match {record.match}, hand {record.hand} (numbered from 0)"
    yield f"== {where}: {record.rules.preset}, {record.players} players, {numbers} =="
    replay = Replay(record)
    yield "the deal"
    yield _picture(replay.table, seat)
    for number, (move, table) in enumerate(replay, start=1):
        by, _, words = move.partition(" ")
        yield f"\n{number}. player_{by}: {words}"
        yield _picture(table, seat)
    yield f"\n{ended(record)}"


def _picture(table: Table, seat: int | None) -> str:
    """Return the table in text without the list of legal moves: the next line says which one was played."""
    return "\n".join(f"   {line}" for line in table.render(seat).splitlines() if not line.startswith("moves:"))


def ended(record: HandResult) -> str:
    """Return how a hand ended, in one line."""
    data = record.to_record()
    result = "scores" if "scores" in data else "payoffs"

    def row(values: Sequence[float | None]) -> str:
        return ", ".join("out" if value is None else f"{value:g}" for value in values)

    winners = " and ".join(f"player_{seat}" for seat in record.winners) or "nobody"
    ending = record.ending.replace("_", " ")
    return f"{ending}: won by {winners}; counts {row(data['counts'])}; {result} {row(data[result])}"


def _check_seat(record: HandResult, seat: int | None) -> None:
    if seat is not None and seat >= record.players:
        raise RecordError(f"there is no seat {seat} at this table; --seat is 0 to {record.players - 1}")


def _select(file: Path, hand: int | None) -> Iterator[tuple[int, HandResult]]:
    """Yield (line, hand) for all hands of a file, or for the one on a line. Raises RecordError if there is none."""
    lines = 0
    for line, record in read_records(file):
        lines = line
        if hand is None or line == hand:
            yield line, record
        if line == hand:
            return
    if hand is not None:
        raise RecordError(f"{file} has {counted(lines, 'hand')}; there is no hand {hand:,}")
    if not lines:
        raise RecordError(f"{file} holds no hands")


class _At:
    """A context that adds file and line to a RecordError raised inside it."""

    def __init__(self, file: Path, line: int) -> None:
        self._where = f"{file} line {line}"

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecordError) and not error.where:
            raise error.at(self._where) from None
