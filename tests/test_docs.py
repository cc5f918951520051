"""Keeps pages, code and engine in step: tables, clauses, options, worked hands, commands, links, and code that must run."""

import ast
import importlib
import re
import runpy
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tonk_env.actions import FAMILIES
from tonk_env.observation import ObservationLayout
from tonk_env.rules import OPTIONS, PRESETS, make_rules
from tonk_env.state import Ending, ending_name
from tonk_env.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import build_tables  # noqa: E402 (it lies beside the pages that it writes)
import worked  # noqa: E402

PAGES = [
    *build_tables.PAGES,
    *(ROOT / page for page in ("CONTRIBUTING.md", "runs/README.md", "agents/champions/README.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLAUSE = re.compile(r"^- \*\*R(\d+) .*?(?=^- \*\*R|^#|^These apply|^One of R30)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks_of(language: str) -> list[Any]:
    """Every block of a language on the pages, with a name such as README.md-1."""
    return [
        pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
        for page in PAGES
        for number, (found, block) in enumerate(BLOCK.findall(text_of(page)), start=1)
        if found == language
    ]


@pytest.fixture(scope="module")
def clauses() -> dict[int, str]:
    """Clause number to its text in docs/rules.md."""
    found = [(int(match[1]), match[0]) for match in CLAUSE.finditer(text_of(ROOT / "docs" / "rules.md"))]
    assert [number for number, _ in found] == list(range(1, 41)), "every clause R1 to R40 stands there once, in order"
    return dict(found)


# ----- tables


@pytest.mark.parametrize("page", build_tables.PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_code(page: Path) -> None:
    text = text_of(page)
    assert build_tables.rebuilt(text) == text, "run `python docs/build_tables.py`"


def test_every_table_is_on_a_page() -> None:
    used = {match["name"] for page in build_tables.PAGES for match in build_tables.MARKED.finditer(text_of(page))}
    stories = {f"story: {at}" for at in worked.STORY_TURNS}
    hands = {f"branch: {n}" if n.startswith("story") else f"worked: {n}" for n in worked.WORKED}
    assert used == {*build_tables.TABLES, *stories, *hands}


def test_tables_name_every_option_preset_ending_and_family() -> None:
    rules, environment = (text_of(ROOT / "docs" / name) for name in ("rules.md", "environment.md"))
    assert not [name for name in OPTIONS if f"| `{name}` | {OPTIONS[name].metadata['clause']} |" not in rules]
    assert not [name for name in PRESETS if f"| `{name}` |" not in rules]
    assert not [ending_name(e) for e in Ending if e is not Ending.NONE and f"| `{ending_name(e)}` |" not in rules]
    assert not [family for family in FAMILIES if f"| `{family}` |" not in environment]
    assert ("twenty published or local rule sets" in " ".join(text_of(ROOT / "README.md").split())) == (len(PRESETS) == 20)


def test_presets_are_main_or_further_and_main_ones_differ_only_where_the_table_says() -> None:
    assert set(build_tables.MAIN) == {"points", "deadwood", "speno", "tonkroom", "rockets", "tunk"}
    table = build_tables.main_presets()
    shown = {name for name in OPTIONS if f"| `{name}` |" in table}
    same = {name: {getattr(PRESETS[preset], name) for preset in build_tables.MAIN} for name in set(OPTIONS) - shown}
    assert not [name for name, values in same.items() if values != {OPTIONS[name].default}]


def test_every_block_of_every_rule_set_is_explained() -> None:
    plain = {block.name for block in build_tables._layout({}).blocks}
    shown = plain | set(build_tables.EXTRA_BLOCKS)
    layouts = [ObservationLayout(rules, rules.max_players) for rules in PRESETS.values()]
    layouts += [build_tables._layout(settings) for settings in build_tables.EXTRA_BLOCKS.values()]
    assert {block.name for layout in layouts for block in layout.blocks} == shown
    assert not [name for name, settings in build_tables.EXTRA_BLOCKS.items() if name in plain or not settings]


# ----- clauses, options, engine


def test_every_option_is_explained_in_its_clause(clauses: dict[int, str]) -> None:
    missing = []
    for name, spec in OPTIONS.items():
        numbers = [int(number) for number in re.findall(r"\d+", spec.metadata["clause"])]
        text = "".join(clauses[number] for number in range(numbers[0], numbers[-1] + 1))
        if f"`{name}`" not in text:
            missing.append((name, spec.metadata["clause"]))
    assert not missing


def test_every_choice_is_named_in_the_clauses(clauses: dict[int, str]) -> None:
    text = "".join(clauses.values())
    choices = {c for spec in OPTIONS.values() for c in spec.metadata["choices"] or () if isinstance(c, str)}
    assert not [choice for choice in choices if f"`{choice}`" not in text]


def test_clauses_name_only_what_exists(clauses: dict[int, str]) -> None:
    choices = {str(c) for spec in OPTIONS.values() for c in spec.metadata["choices"] or ()}
    known = set(OPTIONS) | choices | {ending_name(ending) for ending in Ending} | {"draw", "deck[0]", "A234567JQK"}
    named = {name for text in clauses.values() for name in re.findall(r"`([^`]+)`", text)}
    assert not named - known


STAKES = {"settlement": "stakes", "caught_pays": "low_hand", "match": "hands"}
FLIPS: dict[str, tuple[dict[str, Any], Any]] = {  # where one more, or the other choice, is not allowed or not seen
    "ranks": ({}, "A234567JQK"), "suits": ({}, 3), "wild": ({}, "deuces"), "opening_exact": ({}, [48]),
    "opening_at_most": ({}, 15), "opening_at_least": ({}, 60), "settlement": (STAKES, "difference"),
    "difference_cap": (STAKES | {"settlement": "difference"}, 5), "caught_pays": (STAKES, "each_lower"),
    "hands": ({"match": "hands", "hands": 2}, 3), "target": ({"match": "target", "target": 50}, 60), "reward_scale": ({}, 3),
    "match": ({}, "hands"), "match_reward": ({"match": "hands", "hands": 2}, "hands"),
    "drop": ({"drop_tie": "safe"}, "after_draw"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(OPTIONS) - {"min_players", "max_players"}))  # those two bind `check_players`
def test_every_option_reaches_the_engine(name: str) -> None:
    default, choices = OPTIONS[name].default, OPTIONS[name].metadata["choices"] or ()
    other = next((choice for choice in choices if choice != default), None)
    settings, value = FLIPS[name] if name in FLIPS else ({}, default + 1 if other is None else other)
    before = make_rules("points", **settings)
    assert before.record().tobytes() != before.replace(**{name: value}).record().tobytes()


# ----- worked hands


@pytest.mark.parametrize("name", ["the story", *worked.WORKED])
def test_worked_hands_come_out_as_they_must(name: str) -> None:
    example = worked.WORKED.get(name, worked.STORY)
    hand = example.play()[1]
    found = {} if hand is None else {key: getattr(hand, key) for key in ("ending", "scores", "winners")}
    assert found == dict(example.result)


def test_worked_positions_are_as_the_text_says() -> None:
    turn, count = worked.WORKED["a turn"], "count"
    assert [turn.play(at)[0].layout.decode(turn.play(at)[0].observation(0)).as_dict()[count] for at in (0, 3)] == [38, 4]
    assert not worked.WORKED["frozen"].play()[0].can("drop")
    assert worked.WORKED["thawed"].play()[0].can("drop")
    four = Table("points", 2, seed=1)
    four.reset()
    assert four.stock_size == 41


# ----- code and commands


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which runs/latest holds an exported, untrained opponent."""
    from agents.card import make_card
    from agents.config import NetworkConfig
    from agents.export import export_policy
    from agents.network import new_network

    rules = make_rules("points", match="hands")
    folder = tmp_path_factory.mktemp("place")
    (folder / "runs" / "latest").mkdir(parents=True)
    network = new_network(NetworkConfig(torso=[8]), rules, 2)
    export_policy(network, folder / "runs" / "latest" / "opponent.onnx", make_card(rules, 2, {}))
    return folder


@pytest.fixture
def a_champion(workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The champion of `points` for two; an untrained one as long as none is shipped."""
    from agents import champion

    if not (champion.FOLDER / "points-2.onnx").is_file():
        (tmp_path / "points-2.onnx").write_bytes((workplace / "runs" / "latest" / "opponent.onnx").read_bytes())
        monkeypatch.setattr(champion, "FOLDER", tmp_path)


@pytest.mark.parametrize("code", blocks_of("python"))
def test_python_on_the_pages_runs(code: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if 'opponents="champion"' in code:
        request.getfixturevalue("a_champion")
    if "runs/latest" in code:
        monkeypatch.chdir(request.getfixturevalue("workplace"))
    exec(compile(code, "page", "exec"), {"__name__": "page"})


def test_the_readme_plays_a_whole_game_in_ten_lines() -> None:
    code = next(code for language, code in BLOCK.findall(text_of(ROOT / "README.md")) if language == "python")
    assert len([line for line in code.splitlines() if line]) <= 10
    scope: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["env"].unwrapped.table.over
    assert not scope["env"].agents


def test_the_opponent_loads_in_three_lines() -> None:
    code = next(code for _, code in BLOCK.findall(text_of(ROOT / "README.md")) if "OnnxAgent(" in code)
    assert len([line for line in code.splitlines() if line]) <= 3


@pytest.mark.parametrize("text", blocks_of("bash"))
def test_commands_on_the_pages_exist(text: str) -> None:
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.split("#")[0].strip()]
    for line in lines:
        words = shlex.split(line, comments=True)
        while "=" in words[0]:  # NAME=value before a command
            words = words[1:]
        COMMANDS[Path(words[0]).name](words[1:])


def check_make(words: list[str]) -> None:
    targets = [word for word in words if "=" not in word]
    assert not [target for target in targets if f"\n{target}:" not in text_of(ROOT / "Makefile")]


def check_pip(words: list[str]) -> None:
    extras = set(tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["optional-dependencies"])
    wanted = {extra for word in words for names in re.findall(r"\[(.*)\]", word) for extra in names.split(",")}
    assert wanted <= extras


def check_tonk(words: list[str]) -> None:
    import typer

    from agents.cli import app

    command: Any = typer.main.get_command(app)
    command.commands[words[0]].make_context(words[0], words[1:])


def check_python(words: list[str]) -> None:
    if words[0] == "-m":
        assert importlib.util.find_spec(words[1])
        return
    assert (ROOT / words[0]).is_file()
    if words[0] == "train.py" and words[1] != "--resume":
        from agents.config import load_config

        load_config(ROOT / words[1], words[2:])


def check_file(words: list[str]) -> None:
    assert (ROOT / words[0]).is_file()


def check_tensorboard(words: list[str]) -> None:
    assert importlib.util.find_spec("tensorboard")
    assert words == ["--logdir", "runs"]


COMMANDS = {
    "make": check_make, "pip": check_pip, "tonk": check_tonk, "python": check_python, "bash": check_file,
    "tensorboard": check_tensorboard,
}  # fmt: skip


# ----- training, evaluation, agents


def fields_under(page: str, heading: str) -> list[str]:
    """The names in the first column of the table below a heading, in order."""
    section = re.split(r"^#+ ", text_of(ROOT / "docs" / page).split(f"# {heading}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
    cells = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_settings_named_in_the_text_exist() -> None:
    from agents.config import TrainConfig, describe_config

    keys = {key for key, _, _ in describe_config()}
    pattern = re.compile(rf"`((?:{'|'.join(TrainConfig.model_fields)})\.\w+)`")
    text = "".join(text_of(ROOT / "docs" / f"{page}.md") for page in ("training", "evaluation", "agents"))
    named = set(pattern.findall(text)) - {"evaluation.jsonl", "cluster.yaml"}
    assert len(named) > 15
    assert not named - keys


def test_the_json_of_an_evaluation_is_as_the_page_says() -> None:
    from agents.evaluate import evaluate

    evidence = evaluate(["greedy", "drop:20"], make_rules("points", match="hands"), 2, deals=2, ratings=True).to_dict()
    assert fields_under("evaluation.md", "The JSON") == list(evidence)
    text = text_of(ROOT / "docs" / "evaluation.md")
    inner = {*evidence["agents"][0], *evidence["payoffs"][0], *evidence["unit"]}
    assert not [name for name in inner if f"`{name}`" not in text]


def test_the_card_and_the_graph_are_as_the_page_says() -> None:
    from agents.card import REQUIRED, make_card
    from agents.onnx_agent import INPUTS, OUTPUTS

    required = {part.partition(".")[0] for part in REQUIRED}
    assert set(fields_under("agents.md", "The card")) == {*make_card(make_rules("points"), 2, {}), *required}
    assert fields_under("agents.md", "Exported files") == [*INPUTS, *OUTPUTS]


def test_the_parts_of_an_agent_are_as_the_page_says() -> None:
    from agents.specs import PARTS

    assert {name.partition("(")[0] for name in fields_under("agents.md", "Writing one")} == set(PARTS)


def test_verdicts_on_the_page_are_those_of_the_code() -> None:
    from agents.statistics import FEWEST_CLUSTERS

    assert f"fewer than {FEWEST_CLUSTERS} deals" in text_of(ROOT / "docs" / "evaluation.md")


def test_every_page_is_listed() -> None:
    index, readme = text_of(ROOT / "docs" / "index.md"), text_of(ROOT / "README.md")
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert not [page for page in pages if f"]({page})" not in index or f"](docs/{page})" not in readme]


# ----- the rest


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(text_of(page)):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)$", text_of(target), re.MULTILINE) if anchor else []
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, link


def test_errors_on_the_page_exist_and_are_value_errors() -> None:
    rows = re.findall(r"^\| `((?:tonk_env|agents)\.[\w.]+)` \|", text_of(ROOT / "docs" / "environment.md"), re.MULTILINE)
    assert len(rows) >= 6
    for name in rows:
        module, _, attribute = name.rpartition(".")
        assert issubclass(getattr(importlib.import_module(module), attribute), ValueError), name


# Examples of another library carry its name in front; they run where it is installed: `make test-frameworks`.
FRAMEWORKS = {path.stem for path in (ROOT / "requirements").glob("*.txt")}
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.stem.split("_")[0] not in FRAMEWORKS]


SHORTER = {"cleanrl_ppo": "--decisions 4096 --tables 64 --steps 16", "sb3_maskable_ppo": "1024"}  # these train


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(path), *SHORTER.get(path.stem, "").split()])
    assert ast.get_docstring(ast.parse(text_of(path)))
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
