"""`tonk league`: everybody against everybody, kept in a folder that grows with every agent that joins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.cli_options import console, game_from
from agents.cli_progress import ProgressBar
from agents.extras import require
from agents.wording import counted

DEALS = 1000


def run_league(
    specs: Sequence[str],
    folder: Path,
    preset: str | None,
    settings: Sequence[str],
    players: int | None,
    deals: int | None,
    seed: int | None,
    default_seed: int,
) -> None:
    """Play the missing pairs of a league, print ladder and matrix and write its report."""
    from agents.league import Setting, folder_of, play_league, read_league
    from agents.report_folder import write_folder

    for package in ("matplotlib", "openskill"):
        require(package)
    folder = folder_of(folder)
    kept = read_league(folder)
    if kept is not None and preset is None and not settings:
        rules, seats = kept[0].rules, kept[0].rules.check_players(kept[0].num_players if players is None else players)
    else:
        rules, seats = game_from(preset, settings, players, specs)
    setting = Setting(
        rules,
        seats,
        deals if deals is not None else kept[0].deals if kept else DEALS,
        seed if seed is not None else kept[0].seed if kept else default_seed,
    )
    with ProgressBar("league", "pair") as progress:
        result = play_league(folder, specs, setting, progress)
    write_folder(result, folder / "report")
    screen = console()
    screen.print(result.table())
    pairs = len(result.names) * (len(result.names) - 1) // 2
    screen.print(f"{counted(pairs, 'pair')}; report in {folder / 'report'}", markup=False)
