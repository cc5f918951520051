"""The command `tonk`: its commands, their arguments, and how a mistake is told in one sentence.

Every command imports what it needs when it runs, so that `tonk --help` and a mistyped option answer at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from agents.extras import OWN_PACKAGES, missing_package

USAGE_ERROR = 2
INTERRUPTED = 130
ClickException: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

AGENTS = "Agents: random, greedy, expert, drop:N, search:N, a run folder, FILE.onnx."
Specs = Annotated[list[str], typer.Argument(metavar="SPEC...", help=AGENTS)]
Preset = Annotated[
    str | None,
    typer.Option("--rules", metavar="PRESET", help="Rule set; else that of an exported opponent, else points."),
]
Players = Annotated[int | None, typer.Option("--players", metavar="N", help="Seats at the table.")]
Options = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Set one option of the rules; may be repeated.")
]
EVALUATION_SEED = 1_000_000  # not the 0 that training starts from: its deals would be known ones
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the decks and of agents that draw at random.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result with all its inputs (-: print it).")
]
RecordFile = Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="Recorded hands, one a line.")]


class SentenceGroup(TyperGroup):
    """A command group that answers every mistake with one sentence on the error stream and exit status 2."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the command line and leave the process, or the test runner, with its exit status."""
        kwargs["standalone_mode"] = False
        try:
            status = super().main(*args, **kwargs)
        except typer.Abort:
            status = INTERRUPTED
        except Exception as error:
            sentence = explain(error)
            if sentence is None:
                raise
            typer.echo(f"tonk: {sentence}", err=True)
            sys.exit(USAGE_ERROR)
        if status == INTERRUPTED:
            typer.echo("tonk: interrupted", err=True)
        sys.exit(status if isinstance(status, int) else 0)


def explain(error: Exception) -> str | None:
    """Return the sentence for an error that a user can cause, None for one that is a fault of the program."""
    if isinstance(error, ClickException):
        return _one_line(error.format_message())
    if type(error).__module__.partition(".")[0] in OWN_PACKAGES:
        return _one_line(str(error))
    if isinstance(error, ModuleNotFoundError):
        return missing_package(error)
    if isinstance(error, OSError):
        return _one_line(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    return None


def _one_line(text: str) -> str:
    return " ".join(text.split())


app = typer.Typer(
    cls=SentenceGroup,
    name="tonk",
    help="Tonk, the card game: play it, record it, measure the agents that play it.",
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def tonk(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Tonk, the card game: play it, record it, measure the agents that play it."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"tonk-env {installed('tonk-env')}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def rules(
    preset: Annotated[str | None, typer.Argument(metavar="[PRESET]", help="The preset whose sheet to print.")] = None,
    set_: Options = None,
) -> None:
    """List the rule sets, or print the sheet of one: every option with its value, its clause and its meaning."""
    from agents.cli_rules import print_presets, print_sheet

    if preset is None and not set_:
        print_presets()
    else:
        print_sheet(preset or "points", set_ or [])


@app.command()
def evaluate(
    specs: Specs,
    rules: Preset = None,
    players: Players = None,
    set_: Options = None,
    deals: Annotated[int, typer.Option("--deals", min=1, help="Deals; each is played in all seatings.")] = 1000,
    seed: Seed = EVALUATION_SEED,
    json: JsonFile = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it (.png .pdf .svg).")] = None,
    together: Annotated[bool, typer.Option("--together", help="Seat all agents at one table, not in pairs.")] = False,
    ratings: Annotated[bool, typer.Option("--ratings", help="Add OpenSkill ratings.")] = False,
    batch_tables: Annotated[int, typer.Option("--batch-tables", min=1, help="Tables in play at once.")] = 2048,
) -> None:
    """Measure agents against each other: same decks for all, seats rotated, 95 % intervals.

    Rule sets such as `points` are matches by default; `--set match=hands` evaluates single hands.
    """
    from agents.cli_evaluate import run_evaluation

    run_evaluation(
        specs, rules, set_ or [], players, deals, seed, json_file=json, plot_file=plot,
        together=together, ratings=ratings, batch_tables=batch_tables,
    )  # fmt: skip


@app.command()
def record(
    specs: Specs,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.jsonl", help="File to write.")],
    rules: Preset = None,
    players: Players = None,
    set_: Options = None,
    hands: Annotated[int, typer.Option("--hands", min=1, help="Hands to record.")] = 1000,
    seed: Seed = 0,
) -> None:
    """Record hands played by agents: one for each seat, or one agent for all seats."""
    from agents.cli_records import run_record

    run_record(specs, rules, set_ or [], players, hands, seed, output)


@app.command()
def replay(
    file: RecordFile,
    check: Annotated[bool, typer.Option("--check", help="Verify every hand of the file instead of printing.")] = False,
    hand: Annotated[int | None, typer.Option("--hand", min=1, metavar="K", help="Only the hand on line K.")] = None,
    seat: Annotated[int | None, typer.Option("--seat", min=0, help="Show what this seat sees, not all hands.")] = None,
) -> None:
    """Print recorded hands move by move, with the table after each move, or check that they replay exactly."""
    from agents.cli_records import run_check, run_replay

    if check:
        run_check(file, hand)
    else:
        run_replay(file, hand, seat)


@app.command()
def bench(
    json: JsonFile = None,
    seconds: Annotated[float, typer.Option("--seconds", min=0.01, help="Length of one run of one measurement.")] = 0.7,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Runs of each measurement; the median counts.")] = 5,
) -> None:
    """Measure how fast the environment plays here, through each of its doors."""
    from agents.cli_evaluate import run_bench

    run_bench(json, seconds, repeats)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder or checkpoint to export.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.onnx", help="File to write.")],
) -> None:
    """Write the policy of a training run as one .onnx file that plays without torch."""
    from agents.cli_models import run_export

    run_export(run, output)


@app.command()
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE.onnx|RUN", help="Exported opponent, or the run folder it is in.")],
    json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Print the card of an exported opponent: rules, spaces, where it comes from and how strong it is."""
    from agents.cli_models import print_card

    print_card(file, as_json=json)


@app.command()
def play(
    specs: Annotated[list[str] | None, typer.Argument(metavar="[SPEC...]", help="Opponents, your left first.")] = None,
    rules: Preset = None,
    players: Players = None,
    set_: Options = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the deals; else new ones.")] = None,
    seat: Annotated[int, typer.Option("--seat", min=0, help="Your seat.")] = 0,
) -> None:
    """Play against agents in the terminal."""
    from agents.cli_play import run_play

    run_play(specs or ["greedy"], rules, set_ or [], players, seed, seat)


def main() -> NoReturn:
    """Run the command line and leave the process."""
    app(prog_name="tonk")
    raise AssertionError("the command line leaves the process itself")


if __name__ == "__main__":
    main()
