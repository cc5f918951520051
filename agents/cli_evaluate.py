"""`tonk evaluate` and `tonk bench`: measure, print, and keep the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from agents.cli_options import STDOUT, check_output, console, game_from
from agents.cli_progress import ProgressBar
from agents.extras import require
from agents.wording import counted


def run_evaluation(
    specs: Sequence[str],
    preset: str | None,
    settings: Sequence[str],
    players: int | None,
    deals: int,
    seed: int,
    *,
    json_file: Path | None,
    plot_file: Path | None,
    together: bool,
    ratings: bool,
    batch_tables: int,
    precision: float | None = None,
    max_deals: int = 1_000_000,
    control: bool = False,
    report: Path | None = None,
) -> None:
    """Evaluate, print the tables and write the files; what can be refused is refused before play begins."""
    from agents.evaluate import evaluate, unit_of
    from agents.plots import check_format
    from agents.report_folder import make_folder

    check_output(None if json_file == STDOUT else json_file)
    check_output(plot_file)
    if plot_file is not None:
        check_format(plot_file)
    if plot_file is not None or report is not None:
        require("matplotlib")
    if report is not None:
        make_folder(report)
        ratings = True  # a report has a ladder
    if ratings:
        require("openskill")
    rules, players = game_from(preset, settings, players, specs, len(specs) if together else None)
    noun = unit_of(rules).episode
    with ProgressBar("evaluating", noun) as progress:
        result = evaluate(
            list(specs), rules, players, deals, seed, progress,
            together=together, ratings=ratings, batch_tables=batch_tables,
            precision=precision, max_deals=max_deals, control=control,
        )  # fmt: skip
    if json_file is not None:
        text = result.to_json(None if json_file == STDOUT else json_file)
        if json_file == STDOUT:
            typer.echo(text, nl=False)
    if plot_file is not None:
        result.plot(plot_file)
    if report is not None:
        result.write_report(report)
    screen = console(stderr=json_file == STDOUT)
    screen.print(result.table())
    rate = result.episodes / result.seconds
    screen.print(f"{counted(result.episodes, noun)} in {result.seconds:.1f} s ({rate:,.0f} a second)")
    if report is not None:
        screen.print(f"report in {report}", markup=False)


def run_bench(json_file: Path | None, seconds: float, repeats: int) -> None:
    """Measure, print the rates and write them down."""
    from agents.bench import measure_all, rate_table, rates_text, write_rates

    check_output(None if json_file == STDOUT else json_file)
    with ProgressBar("measuring", "run") as progress:
        rates = measure_all(seconds, repeats, progress)
    if json_file == STDOUT:
        typer.echo(rates_text(rates, seconds, repeats), nl=False)
    elif json_file is not None:
        write_rates(rates, json_file, seconds, repeats)
    console(stderr=json_file == STDOUT).print(rate_table(rates, seconds, repeats))
