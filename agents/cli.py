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

AGENTS = "Agents: random, greedy, expert, champion, drop:N, search:N, a run folder, FILE.onnx."
Specs = Annotated[list[str], typer.Argument(metavar="SPEC", help=AGENTS)]
Preset = Annotated[
    str | None,
    typer.Option("--rules", metavar="PRESET", help="Rule set; else that of an exported opponent, else points."),
]
Players = Annotated[int | None, typer.Option("--players", metavar="N", help="Seats at the table.")]
Options = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Set one option of the rules; may be repeated.")
]
MOST_DEALS = 1_000_000_000  # as in agents.evaluate
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
    preset: Annotated[str | None, typer.Argument(metavar="PRESET", help="The preset whose sheet to print.")] = None,
    set_: Options = None,
) -> None:
    """List the rule sets, or print the sheet of one: every option with its value, its clause and its meaning."""
    from agents.cli_rules import print_presets, print_sheet

    if preset is None and not set_:
        print_presets()
    else:
        print_sheet("points" if preset is None else preset, set_ or [])


@app.command()
def evaluate(
    specs: Specs,
    rules: Preset = None,
    players: Players = None,
    set_: Options = None,
    deals: Annotated[
        int, typer.Option("--deals", min=1, max=MOST_DEALS, help="Deals; each is played in all seatings.")
    ] = 1000,
    seed: Seed = EVALUATION_SEED,
    json: JsonFile = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it (.png .pdf .svg).")] = None,
    together: Annotated[bool, typer.Option("--together", help="Seat all agents at one table, not in pairs.")] = False,
    ratings: Annotated[bool, typer.Option("--ratings", help="Add OpenSkill ratings.")] = False,
    precision: Annotated[
        float | None, typer.Option("--precision", metavar="X", help="Go on until every interval is ± X; --deals come first.")
    ] = None,
    max_deals: Annotated[
        int, typer.Option("--max-deals", min=1, max=MOST_DEALS, help="Most deals that --precision leads to.")
    ] = 1_000_000,
    control: Annotated[bool, typer.Option("--control", help="Use control variates where they help.")] = False,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FOLDER", help="Write JSON, text, CSV tables and pictures there.")
    ] = None,
    batch_tables: Annotated[int, typer.Option("--batch-tables", min=1, help="Tables in play at once.")] = 2048,
) -> None:
    """Measure agents against each other: same decks for all, seats rotated, 95 % intervals.

    Rule sets such as `points` are matches by default; `--set match=hands` evaluates single hands.
    """
    from agents.cli_evaluate import run_evaluation

    run_evaluation(
        specs, rules, set_ or [], players, deals, seed, json_file=json, plot_file=plot,
        together=together, ratings=ratings, batch_tables=batch_tables,
        precision=precision, max_deals=max_deals, control=control, report=report,
    )  # fmt: skip


@app.command()
def exploit(
    specs: Specs,
    rules: Preset = None,
    players: Players = None,
    set_: Options = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="N", help="Train a best response for N decisions (20M), in any game.")
    ] = None,
    config: Annotated[
        list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="Change a setting of its training.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of its training.")] = 0,
    curve: Annotated[bool, typer.Option("--curve", help="All checkpoints of a run, exactly.")] = False,
    json: JsonFile = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it (.png .pdf .svg).")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE.onnx", help="Keep the response.")] = None,
) -> None:
    """Find out how much can be won from agents: exactly in small games such as `mini`, or with a trained best response."""
    from agents.cli_exploit import run_exploit

    run_exploit(
        specs, rules, set_ or [], players, budget,
        changes=config or [], seed=seed, curve=curve, json_file=json, plot_file=plot, output=output,
    )  # fmt: skip


@app.command()
def league(
    specs: Annotated[list[str] | None, typer.Argument(metavar="SPEC", help="Agents that join.")] = None,
    folder: Annotated[Path, typer.Option("--folder", metavar="FOLDER", help="Where the league is kept.")] = Path("league"),
    rules: Preset = None,
    players: Players = None,
    set_: Options = None,
    deals: Annotated[
        int | None,
        typer.Option("--deals", min=1, max=MOST_DEALS, help="Deals of each pair, in all seatings (a new league: 1000)."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the deals.")] = None,
) -> None:
    """Let everybody meet everybody; what was played is kept, so that an agent that joins plays only its own pairs."""
    from agents.cli_league import run_league

    run_league(specs or [], folder, rules, set_ or [], players, deals, seed, EVALUATION_SEED)


@app.command()
def solve(
    rules: Annotated[str, typer.Option("--rules", metavar="PRESET", help="A small rule set: mini or micro.")] = "mini",
    set_: Options = None,
    iterations: Annotated[int, typer.Option("--iterations", min=1, help="Iterations of CFR+.")] = 200,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE.npz", help="Keep it as cfr:FILE.npz.")] = None,
    json: JsonFile = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it (.png .pdf .svg).")] = None,
) -> None:
    """Solve a small game by CFR+: its value, and an agent that is next to unbeatable in it."""
    from agents.cli_exploit import run_solve

    run_solve(rules, set_ or [], iterations, output, json, plot)


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
    file: Annotated[Path, typer.Argument(metavar="FILE.onnx|RUN|NAME", help="Opponent, its run folder, or a champion.")],
    json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Print the card of an exported opponent: rules, spaces, where it comes from and how strong it is."""
    from agents.cli_models import print_card

    print_card(file, as_json=json)


@app.command()
def champions() -> None:
    """List the trained opponents that come with the project; `champion` plays as the one of the game."""
    from agents.cli_models import print_champions

    print_champions()


@app.command()
def play(
    specs: Annotated[list[str] | None, typer.Argument(metavar="SPEC", help="Opponents, your left first; else greedy.")] = None,
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
