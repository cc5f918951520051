"""The command line: every command does its work, and every mistake is one sentence with exit status 2."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from interrupts import interrupted
from typer.testing import CliRunner

from agents.cli import app
from agents.cli_models import entries
from agents.cli_options import option_value, rules_from
from agents.cli_play import in_lines, read_move
from agents.cli_progress import ProgressBar
from agents.extras import install_words
from tonk_env.replay import check_file
from tonk_env.rules import OPTIONS, PRESETS, make_rules


@pytest.fixture
def tonk(tmp_path, monkeypatch):
    """Run one command in an empty folder: (exit status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # 80 then

    def run(*arguments, given=""):
        result = CliRunner().invoke(app, list(arguments), input=given, prog_name="tonk")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


# -- rules -----------------------------------------------------------------------------------------------------------


def test_rules_lists_every_preset(tonk):
    status, out, _ = tonk("rules")
    assert status == 0
    lines = out.splitlines()
    assert all(sum(line.split()[:1] == [name] for line in lines) == 1 for name in PRESETS), "one line a preset"
    assert len(lines) < len(PRESETS) + 6


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_prints_the_sheet_of_every_preset(tonk, preset):
    status, out, _ = tonk("rules", preset)
    assert status == 0
    assert all(f" {name} " in out for name in OPTIONS)
    assert PRESETS[preset].fingerprint() in out


@pytest.mark.parametrize("columns", ["80", "60", ""])
@pytest.mark.parametrize("preset", [(), ("rockets",), ("tunk",)])
def test_rules_fit_the_width_and_nothing_is_cut(tonk, monkeypatch, preset, columns):
    monkeypatch.setenv("COLUMNS", columns)
    out = tonk("rules", *preset)[1]
    assert max(map(len, out.splitlines())) <= int(columns or 80)
    assert "…" not in out
    if preset and columns != "60":
        allowed = {choice for line in make_rules(*preset).sheet() for choice in OPTIONS[line.option].metadata["choices"] or ()}
        assert not [choice for choice in allowed if isinstance(choice, str) and choice not in out]


def test_rules_shows_what_was_set(tonk):
    status, out, _ = tonk("rules", "rockets", "--set", "hand_size=7", "--set", "opening_exact=off")
    assert status == 0
    assert make_rules("rockets", hand_size=7, opening_exact=()).fingerprint() in out


def test_rules_marks_what_differs_without_colours_too(tonk):
    lines = tonk("rules", "rockets")[1].splitlines()
    marked = {line.split()[0] for line in lines if line.split()[2:3] == ["*"]}
    assert marked == {name for name, option in OPTIONS.items() if getattr(PRESETS["rockets"], name) != option.default}
    assert not [line for line in tonk("rules", "points")[1].splitlines() if line.split()[2:3] == ["*"]]


SETTINGS = [
    ("hand_size=7", 7),
    ("opening_exact=49,50", (49, 50)),
    ("opening_exact=[48]", (48,)),
    ("opening_exact=", ()),
    ("opening_at_most=15", 15),
    ("opening_at_most=off", None),
    ("upcard=false", False),
    ("upcard=No", False),
    ("must_spread=on", True),
    ("ranks=A234567JQK", "A234567JQK"),
    ("court_values=11,12,13", (11, 12, 13)),
    ("reward_scale=2.5", 2.5),
    ("freeze-on-hit=2", 2),
    ("match=hands", "hands"),
]


@pytest.mark.parametrize("setting, value", SETTINGS)
def test_settings_are_read_as_their_option_needs(setting, value):
    key = setting.partition("=")[0].replace("-", "_")
    assert getattr(rules_from("points", [setting]), key) == value


def test_digits_stay_text_where_the_option_is_text():
    assert option_value("ranks", "23456789") == "23456789"


# -- evaluate --------------------------------------------------------------------------------------------------------


def test_evaluate_prints_and_writes(tonk, tmp_path):
    arguments = "evaluate greedy random --rules rockets --players 3 --set hand_size=4 --deals 30 --seed 2".split()
    status, out, err = tonk(*arguments, "--json", "e.json", "--plot", "e.png")
    assert status == 0, err
    assert "greedy is better than 2 x random" in out
    data = json.loads((tmp_path / "e.json").read_text())
    assert data["rules"] == {"preset": "rockets", "set": {"hand_size": 4}}
    assert (data["players"], data["deals"], data["seed"]) == (3, 30, 2)
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["e.json", "e.png"]


def test_evaluate_is_repeatable(tonk):
    arguments = "evaluate random drop:20 --rules tonkroom --deals 20 --ratings".split()
    first, second = tonk(*arguments)[1], tonk(*arguments)[1]
    assert first.splitlines()[:-1] == second.splitlines()[:-1]  # the last line tells the time it took


def test_evaluate_prints_json_alone_when_asked(tonk, tmp_path):
    status, out, err = tonk(*"evaluate greedy random --rules mini --deals 4 --json -".split())
    assert status == 0
    assert json.loads(out)["deals"] == 4
    assert "16 hands" not in out
    assert "Payoff" in err
    assert not list(tmp_path.iterdir())


def test_compiling_is_over_before_the_clock_starts(monkeypatch):
    import agents.evaluate as module

    order = []
    real = module._Play.staged
    monkeypatch.setattr(module, "compile_batch", lambda: order.append("compiled"))
    monkeypatch.setattr(module._Play, "staged", lambda *given: (order.append("played"), real(*given))[1])
    monkeypatch.setattr(module.time, "perf_counter", lambda: order.append("clock") or 0.0)
    calls = []
    module.evaluate(["greedy", "random"], "mini", 2, 5, progress=lambda *call: calls.append(call))
    assert order[:3] == ["compiled", "clock", "played"]
    assert calls[0] == (0, 10)
    assert calls[-1][0] == calls[-1][1]


def test_rates_of_a_progress_bar_count_from_its_zero(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("agents.cli_progress.time.monotonic", lambda: now[0])
    with ProgressBar("checking", "hand") as progress:
        now[0] = 100.0
        progress(0, 3)
        now[0] = 120.0
        progress(1, None)
        now[0] = 140.0
        progress(2, 3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2:] == ["checking: 1 hand, 0 a second", "checking: 2 of 3 hands, 0 a second, 20 s left"]


# -- record and replay -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset, players", [("points", 3), ("rockets", 2), ("tunk", 3), ("wild_jokers", 2), ("mini", 2)])
@pytest.mark.parametrize("spec", ["random", "greedy"])
def test_record_writes_hands_that_replay(tonk, tmp_path, preset, players, spec):
    arguments = ["record", *[spec] * players, "--rules", preset, "--hands", "15", "--seed", "1", "-o", "r.jsonl"]
    status, out, err = tonk(*arguments)
    assert (status, out) == (0, "wrote 15 hands to r.jsonl\n"), err
    assert check_file(tmp_path / "r.jsonl") == 15
    assert tonk("replay", "--check", "r.jsonl")[:2] == (0, "r.jsonl: 15 hands replay exactly\n")
    before = (tmp_path / "r.jsonl").read_bytes()
    tonk(*arguments)
    assert (tmp_path / "r.jsonl").read_bytes() == before


def test_replay_tells_a_hand_in_words(tonk, tmp_path):
    tonk("record", "greedy", "--rules", "rockets", "--players", "2", "--hands", "3", "-o", "r.jsonl")
    record = json.loads((tmp_path / "r.jsonl").read_text().splitlines()[1])
    status, out, _ = tonk("replay", "r.jsonl", "--hand", "2")
    assert status == 0
    for number, move in enumerate(record["moves"], start=1):
        seat, _, words = move.partition(" ")
        assert f"\n{number}. player_{seat}: {words}\n" in out
    assert record["ending"].replace("_", " ") + ": won by" in out
    assert out.count("stock ") == len(record["moves"]) + 1, "the table after each move, and the deal"
    hidden = tonk("replay", "r.jsonl", "--hand", "2", "--seat", "0")[1]
    assert "??" in hidden
    assert "??" not in out


def test_replay_names_what_is_damaged(tonk, tmp_path):
    tonk("record", "greedy", "--rules", "rockets", "--players", "2", "--hands", "3", "-o", "r.jsonl")
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    record = json.loads(lines[1])
    record["moves"][0] = "0 pass"
    (tmp_path / "r.jsonl").write_text("\n".join([lines[0], json.dumps(record), lines[2]]) + "\n")
    for arguments in (["--check"], ["--hand", "2"]):
        status, out, err = tonk("replay", "r.jsonl", *arguments)
        assert (status, out) == (2, "")
        assert err.startswith("tonk: r.jsonl line 2: field `moves`: move 1 is '0 pass': ")
    assert tonk("replay", "--check", "r.jsonl", "--hand", "3")[0] == 0


# -- exported opponents ----------------------------------------------------------------------------------------------


@pytest.fixture
def opponent(tmp_path):
    """An untrained opponent of the points game in single hands."""
    torch = pytest.importorskip("torch")
    from agents.card import describe_game, make_card
    from agents.export import export_policy
    from agents.network import Network

    rules = make_rules("points", match="hands")
    sizes = describe_game(rules, 2)["spaces"]
    torch.manual_seed(0)
    torso = torch.nn.Sequential(torch.nn.Linear(sizes["observation"]["size"], 8), torch.nn.ReLU())
    heads = torch.nn.Sequential(torch.nn.Linear(8, sizes["action"]["size"])), torch.nn.Sequential(torch.nn.Linear(8, 1))
    card = make_card(rules, 2, {"run": "nowhere", "config": {"seed": 0}}, {"deals": 7})
    return export_policy(Network(torso, *heads), tmp_path / "mine.onnx", card)


def test_info_prints_the_card(tonk, opponent):
    status, out, _ = tonk("info", "mine.onnx")
    assert status == 0
    for words in ("rules.preset", "strength.deals", "provenance.run", "nowhere"):
        assert words in out
    run = opponent.parent / "runs" / "mine"
    run.mkdir(parents=True)
    (run / "opponent.onnx").write_bytes(opponent.read_bytes())
    of_folder = tonk("info", "runs/mine")[1]
    assert "runs/mine/opponent.onnx" in of_folder
    assert "provenance.run" in of_folder
    assert json.loads(tonk("info", "mine.onnx", "--json")[1])["provenance"]["config"] == {"seed": 0}


def test_info_puts_a_payoff_and_its_interval_on_one_line():
    payoffs = {"greedy": {"mean": 0.25, "low": 0.125, "high": 0.375}, "odd": {"mean": "much", "low": 0.0, "high": 1.0}}
    assert list(entries({"payoffs": payoffs})) == [
        ("payoffs.greedy", "+0.2500 (+0.1250 to +0.3750)"),
        ("payoffs.odd.mean", "much"),
        ("payoffs.odd.low", "0"),
        ("payoffs.odd.high", "1"),
    ]


def test_a_strangers_claims_cannot_steer_the_terminal(tonk, opponent):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(opponent)
    card = json.loads(model.metadata_props[0].value)
    card["strength"], card["provenance"] = "best \x1b[2J\x9b31m\rof all", ["somebody", None]
    model.metadata_props[0].value = json.dumps(card)
    onnx.save(model, opponent)
    status, out, _ = tonk("info", "mine.onnx")
    assert status == 0
    assert r"best \x1b[2J\x9b31m\rof all" in out
    assert "somebody, –" in out
    assert all(sign.isprintable() for line in out.split("\n") for sign in line)


def test_rules_and_players_come_from_the_card_unless_they_are_named(tonk, opponent):
    status, _, err = tonk("evaluate", "mine.onnx", "mine.onnx@greedy", "--deals", "3", "--json", "e.json")
    assert status == 0, err
    data = json.loads((opponent.parent / "e.json").read_text())
    assert data["rules"] == {"preset": "points", "set": {"match": "hands"}}
    assert [agent["actions"] for agent in data["agents"]] == ["sampled", "likeliest"]
    assert tonk("record", "mine.onnx", "--hands", "3", "-o", "r.jsonl")[0] == 0
    assert check_file(opponent.parent / "r.jsonl") == 3
    assert "you are player_0" in tonk("play", "mine.onnx", given="q\n")[1].lower()
    status, _, err = tonk("evaluate", "mine.onnx", "greedy", "--rules", "rockets")
    assert status == 2
    assert "plays by other rules" in err
    assert "at tables of 2, not of 3" in tonk("evaluate", "mine.onnx", "greedy", "--players", "3")[2]


# -- bench, play -----------------------------------------------------------------------------------------------------


def test_bench_measures_every_door(tonk, tmp_path):
    status, out, err = tonk("bench", "--seconds", "0.01", "--repeats", "1", "--json", "b.json")
    assert status == 0, err
    data = json.loads((tmp_path / "b.json").read_text())
    assert {rate["players"] for rate in data["rates"]} == {2, 3, 4, 5, 6}
    assert all(rate["median"] > 0 and f"{rate['median']:,.0f}" in out for rate in data["rates"])
    assert all(word in out for rate in data["rates"] for word in rate["door"].split())
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert {"machine", "versions", "seconds", "repeats"} <= set(data)


def test_play_ends_a_hand_and_says_who_won(tonk):
    status, out, _ = tonk("play", "greedy", "--rules", "tonkroom", "--seed", "1", given="nonsense\ndrop\ny\ndrop\nn\n" * 40)
    assert status == 0
    assert "'nonsense' is no legal move" in out
    assert "won by" in out
    assert "Score after 2 hands: you " in out
    assert out.rstrip().endswith("Goodbye.")


def test_play_explains_itself_and_breaks_no_word(tonk, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    out = tonk("play", "greedy", "--rules", "points", "--set", "match=hands", "--seed", "3", given="\nd\n?\nq\n")[1]
    assert out.startswith("points (match=hands) · 2 players · seed 3\nYou are player_0. Type ")
    assert "Your move, please" in out
    assert "'d' is ambiguous: draw or drop" in out
    assert "`tonk rules PRESET`" in " ".join(out.split())
    assert all(len(line.removeprefix("your move: ")) <= 50 for line in out.splitlines())
    assert in_lines(["1 discard 2C", "2 discard 3C"], 20) == ["1 discard 2C", "2 discard 3C"]


def test_play_tells_hands_and_totals_of_a_match(tonk):
    given = "draw\n1\n" + "drop\n" * 3 + "q\n"
    out = tonk("play", "greedy", "--rules", "points", "--seed", "3", given=given)[1]
    assert out.index("=== Hand 1 ===") < out.index("*** Caught: won by") < out.index("=== Hand 2 ===")
    shown = out[out.index("*** Caught") : out.index("=== Hand 2")]
    assert "??" not in shown
    assert shown.count("| count ") == 2
    assert "Totals: you 82, player_1 (greedy) 0" in shown
    moves = next(line for line in out.splitlines() if line.startswith("1 discard"))
    assert moves.startswith("1 discard 8C   2 discard 2D   3 discard 9D"), "in the order of the hand"


@pytest.mark.parametrize(
    "answer, move",
    [
        ("1", "discard 2D"),
        ("3", "hit 5H low"),
        ("4", None),
        ("0", None),
        ("00", None),
        ("02", "discard KS"),
        ("9" * 5000, None),
        ("DISCARD ks", "discard KS"),
        ("di k", "discard KS"),
        ("di", None),
        ("h", "hit 5H low"),
        ("", None),
    ],
)
def test_short_answers_are_understood_where_they_are_clear(answer, move):
    assert read_move(answer, ["discard 2D", "discard KS", "hit 5H low"]) == move


# -- mistakes --------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("ruls", "Did you mean 'rules'?"),
    ("rules ponts", "did you mean `points`"),
    ("rules --set hand_sise=7", "did you mean `hand_size`"),
    ("rules poker", "There is no preset 'poker'; known are points"),
    ("evaluate greedy random --plot -", "cannot write to -"),
    ("record greedy -o -", "cannot write to -"),
    ("evaluate greedy random --json /proc/x.json", "cannot write /proc/x.json: "),
    ("info empty_run", "it holds no opponent.onnx"),
    ("rules --set hand_size", "not of the form KEY=VALUE"),
    ("rules --set hand_size=9", "from 1 to 7"),
    ("rules --set upcard=perhaps", "true or false"),
    ("rules --set suits=2 --set suits=3", "twice"),
    ("rules --set settlement=stakes", "caught_pays"),
    ("evaluate greedy", "at least two agents"),
    ("evaluate greedy randm", "random"),
    ("evaluate greedy drop:x", "drop"),
    ("evaluate greedy no.onnx", "no.onnx"),
    ("evaluate greedy random --players 9", "2 to 4"),
    ("evaluate greedy random --playrs 2", "--players"),
    ("evaluate greedy random --deals 0", "--deals"),
    ("evaluate greedy random --deals many", "--deals"),
    (f"evaluate greedy random --deals {10**23}", "--deals"),
    (f"evaluate greedy random --precision 0.1 --max-deals {10**23}", "--max-deals"),
    (f"league greedy random --deals {10**18}", "--deals"),
    ("evaluate greedy random --rules=", "There is no preset ''"),
    ("solve --rules=", "There is no preset ''"),
    ("evaluate greedy random --seed -1", "--seed"),
    ("evaluate greedy random --plot e.gif", "must end in one of"),
    ("evaluate greedy random --json no/e.json", "there is no folder no"),
    ("evaluate greedy random --json .", "it is a folder"),
    ("record greedy", "--output"),
    ("record greedy greedy greedy --rules rockets --players 2 -o r.jsonl", "3 agents are named for 2 seats"),
    ("record greedy --hands 0 -o r.jsonl", "--hands"),
    ("record greedy -o no/r.jsonl", "there is no folder no"),
    ("replay no.jsonl", "no.jsonl: No such file or directory"),
    ("replay .", "directory"),
    ("replay empty --check", "empty holds no hands"),
    ("replay rubbish", "rubbish line 1: column 1: not valid JSON"),
    ("replay", "FILE.jsonl"),
    ("info rubbish", "rubbish"),
    ("info no.onnx", "no.onnx"),
    ("export no -o x.onnx", "no"),
    ("bench --json no/b.json", "there is no folder no"),
    ("play greedy greedy greedy --players 2", "3 opponents are named for 1 seat;"),
    ("play --seat 4", "there is no seat 4"),
]


def test_rules_of_an_empty_name_are_refused(tonk):
    assert tonk("rules", "")[0] == 2


@pytest.mark.parametrize("arguments, words", MISTAKES)
def test_a_mistake_is_one_sentence_and_status_2(tonk, tmp_path, arguments, words):
    (tmp_path / "rubbish").write_text("rubbish")
    (tmp_path / "empty").write_text("")
    (tmp_path / "empty_run").mkdir()
    status, out, err = tonk(*arguments.split())
    assert (status, out) == (2, "")
    assert err.startswith("tonk: ")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty", "empty_run", "rubbish"], "nothing is left half-written"


def test_a_fault_of_the_program_is_not_hidden(tonk, monkeypatch):
    def broken():
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("agents.cli_rules.print_presets", broken)
    with pytest.raises(AssertionError, match="a fault"):
        tonk("rules")


# -- the process -----------------------------------------------------------------------------------------------------


def run(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "agents", *arguments], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("missing, extra", [("typer", "play"), ("rich", "play")])
def test_a_missing_package_is_one_sentence_with_what_to_install(root, missing, extra):
    code = f"import sys\nsys.modules[{missing!r}] = None\nsys.argv = ['tonk', 'rules']\nfrom agents.start import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f'tonk: this needs the package {missing}: run  pip install ".[{extra}]"  in the project\'s folder\n'


def test_every_requirement_has_its_extra():
    assert {install_words(name) for name in ("torch", "yaml", "pydantic", "matplotlib", "openskill", "onnx")} == {".[train]"}
    assert {install_words(name) for name in ("typer", "rich", "onnxruntime")} == {".[play]"}
    assert (install_words("pygame"), install_words("numpy")) == (".[render]", ".")


def test_help_names_every_command_and_loads_nothing_heavy(root):
    code = (
        "import sys\n"
        "from agents.cli import app\n"
        "try:\n app(['--help'], prog_name='tonk')\n"
        "except SystemExit as end:\n print(end.code, sorted({'numba', 'torch', 'matplotlib', 'numpy'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr
    for command in "rules evaluate record replay bench export info play".split():
        assert f" {command} " in done.stdout


def test_without_arguments_the_help_is_printed(tonk):
    status, out, _ = tonk()
    assert status == 0
    assert "Usage: tonk" in out


def test_python_m_agents_reports_mistakes_alike(root):
    done = run("rules", "ponts", cwd=root)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tonk: There is no preset 'ponts'")
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error(root):
    command = f"{sys.executable} -m agents rules | head -1"
    done = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX systems")
def test_an_interrupt_leaves_no_file_and_status_130(root, tmp_path):
    command = [sys.executable, "-m", "agents", "record", "random", "--hands", "1000000", "-o", str(tmp_path / "r.jsonl")]
    process = subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job starts with Ctrl-C ignored
    )  # fmt: skip
    until = time.monotonic() + 120
    while not list(tmp_path.iterdir()) and time.monotonic() < until:
        time.sleep(0.1)
    err = interrupted(process)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.endswith("tonk: interrupted\n")
    assert not list(tmp_path.iterdir())
