"""Writes the tables of the documentation from the code that they describe: `python docs/build_tables.py [--check]`.

A table stands between the lines ``<!-- table: NAME -->`` and ``<!-- end -->``; whatever is there is replaced.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from framework_table import framework_rows, matrix_rows
from worked import STORY, STORY_TURNS, WORKED, Worked

from agents.champion import champions as shipped
from agents.config import TrainConfig, describe_config, load_config
from agents.metrics import METRICS
from agents.wording import rules_title
from tonk_env.actions import FAMILIES, NUM_PLAIN_ACTIONS, num_actions
from tonk_env.cards import card_name
from tonk_env.observation import ObservationLayout
from tonk_env.rules import OPTIONS, PRESET_INFO, PRESETS, make_rules
from tonk_env.state import Ending, Phase, ending_name
from tonk_env.table import HandResult, Table

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARKED = re.compile(r"(<!-- table: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)

MAIN = [name for name, info in PRESET_INFO.items() if info.full_sheet and info.base == "points"]
FURTHER = [name for name in PRESETS if name not in MAIN]

ENDINGS = {
    Ending.OPENING: ("R8", "a dealt hand was an opening tonk"),
    Ending.OPENING_CLASH: ("R9", "two or more dealt hands were; nobody wins"),
    Ending.DROP: ("R21", "a player dropped and won"),
    Ending.CAUGHT: ("R21, R33", "a player dropped and was caught"),
    Ending.TONK_OUT: ("R18", "spreads and hits emptied a hand"),
    Ending.RUN_OUT: ("R17", "a discard emptied a hand"),
    Ending.STOCK: ("R24, R25", "the stock ran out"),
    Ending.TURN_LIMIT: ("R19", "the hand was cut short"),
    Ending.TUNK: ("R28", "a tunk, and nobody had less"),
    Ending.TUNK_CAUGHT: ("R28", "a tunk, and somebody had less"),
    Ending.VOID: ("R29", "the stock ran out without a tunk; not a played hand"),
}
PHASES = {
    Phase.START: "start of a turn: drop, draw or take (R11)",
    Phase.PLAY: "after drawing: spread, hit, tunk, discard (R13 to R18, R26)",
    Phase.TUNK: "tunk was said, the discard is due (R26)",
    Phase.LAST_START: "start of a last turn: draw, take or pass (R27)",
    Phase.LAST_PLAY: "a last turn after drawing: hit or discard (R27)",
    Phase.PASSED: "a last turn after passing: hit, or pass again (R27)",
}
PLAIN_BLOCKS = {"match": "hands"}  # a single hand of `points` has the blocks that every rule set has
EXTRA_BLOCKS: dict[str, dict[str, Any]] = {  # a setting that brings each of the others
    "taken": {"taken_discard": "no_return"},
    "must_use": {"taken_discard": "must_use"},
    "wild_places": {"wild": "deuces"},
    "wilds_laid": {"wild": "deuces"},
    "waiting": {"wait_after_spread": 3},
    "frozen": {"freeze_on_hit": 1},
    "hits": {"max_hits": 2},
    "tunker": {"drop": "after_draw", "drop_tie": "safe"},
    "live": {"match": "elimination"},
    "totals": {"match": "elimination"},
    "hands_left": {"hands": 10},
}


def grid(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; a cell's bars are escaped."""
    lines = [head, ["---"] * len(head), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def words(value: object) -> str:
    """An option's value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == ():
        return "off"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def kind_of(default: object, allowed: str) -> str:
    """The type of an option in one word."""
    if "null" in allowed:
        return "number or null" if "positive" in allowed else "whole number or null"
    names = {bool: "truth value", int: "whole number", float: "number", str: "word", tuple: "list"}
    return "number" if allowed.startswith(("a number", "a positive")) else names[type(default)]


def options() -> str:
    """Every option: clause, type, what is allowed, default, meaning."""
    rows = []
    for name, spec in OPTIONS.items():
        clause, allowed, meaning = (spec.metadata[key] for key in ("clause", "allowed", "doc"))
        default = "null" if spec.default is None and "for off" not in allowed else words(spec.default)
        rows.append((f"`{name}`", clause, kind_of(spec.default, allowed), allowed, default, meaning))
    return grid(("option", "clause", "type", "allowed", "default", "meaning"), rows)


def main_presets() -> str:
    """The presets that come from a full page: every option in which they differ."""
    differ = [n for n in OPTIONS if len({getattr(PRESETS[p], n) for p in MAIN}) > 1]
    rows = [(f"`{name}`", *(words(getattr(PRESETS[preset], name)) for preset in MAIN)) for name in differ]
    return grid(("option", *(f"`{name}`" for name in MAIN)), rows)


def further_presets() -> str:
    """The presets that are small changes of another one."""
    rows = []
    for name in FURTHER:
        info, rules = PRESET_INFO[name], PRESETS[name]
        changed = "; ".join(f"`{option}` {words(value)}" for option, value in info.set.items())
        players = "2" if rules.max_players == 2 else f"{rules.min_players}–{rules.max_players}"
        rows.append((f"`{name}`", f"`{info.base}`", changed, players, rules.deck_size))
    return grid(("preset", "is", "with", "players", "cards"), rows)


def preset_sources() -> str:
    """What each preset is and which page it comes from."""
    rows = ((f"`{name}`", info.title, info.description, info.note) for name, info in PRESET_INFO.items())
    return grid(("preset", "title", "what it is", "where it comes from"), rows)


def endings() -> str:
    """The ways in which a hand ends."""
    known = [ending for ending in Ending if ending is not Ending.NONE]
    rows = ((int(ending), f"`{ending_name(ending)}`", *ENDINGS[ending]) for ending in known)
    return grid(("number", "ending", "clause", "meaning"), rows)


def phases() -> str:
    """Where a turn can stand."""
    rows = ((f"`{phase.name.lower()}`", meaning) for phase, meaning in PHASES.items())
    return grid(("phase", "what may be done"), rows)


def actions() -> str:
    """The families of action numbers."""
    rows = []
    for family in FAMILIES.values():
        numbers = f"{family.base}–{family.end - 1}" if family.count > 1 else family.base
        where = "with wild cards" if family.base >= NUM_PLAIN_ACTIONS else "all"
        rows.append((f"`{family.name}`", numbers, family.count, family.doc, where))
    return grid(("family", "numbers", "count", "move", "rule sets"), rows)


def _layout(settings: dict[str, Any], players: int = 3) -> ObservationLayout:
    return ObservationLayout(make_rules("points", **(PLAIN_BLOCKS | settings)), players)


def blocks() -> str:
    """Blocks that every rule set has, as a single hand of `points` with three players lays them out."""
    return grid(
        ("block", "offset", "shape", "meaning"),
        ((f"`{block.name}`", block.offset, block.shape, block.doc) for block in _layout({}).blocks),
    )


def extra_blocks() -> str:
    """Blocks that some rule sets have, each with a setting that brings it."""
    rows = []
    for name, settings in EXTRA_BLOCKS.items():
        block = _layout(settings).block(name)
        setting = ", ".join(f"`{key}` {words(value)}" for key, value in settings.items() if key != "drop_tie")
        rows.append((f"`{name}`", setting, block.shape, block.doc))
    return grid(("block", "comes with, for instance", "shape there", "meaning"), rows)


def sizes() -> str:
    """Size of observation and action space of every preset, for each number of players."""
    rows = []
    for name, rules in PRESETS.items():
        allowed = range(rules.min_players, rules.max_players + 1)
        lengths = [str(ObservationLayout(rules, n).size) if n in allowed else "" for n in range(2, 7)]
        rows.append((f"`{name}`", num_actions(rules), *lengths))
    return grid(("preset", "actions", *(f"{n} players" for n in range(2, 7))), rows)


def picture(table: Table) -> str:
    """All hands, the spreads, the pile and the stock: what somebody sees who walks round the table."""
    lines = []
    for seat in range(table.num_players):
        count = table.layout.decode(table.observation(seat)).as_dict()["count"]
        lines.append(f"player_{seat}  {' '.join(card_name(card) for card in table.hand(seat)):<18} count {count}")
    lines += [f"on the table: {spread.words} (player_{spread.owner})" for spread in table.spreads()]
    top = "the pile is empty" if table.top is None else f"on the pile: {card_name(table.top)}"
    return "\n".join([*lines, f"{top}; in the stock: {table.stock_size}"])


def result(hand: HandResult) -> str:
    """How a hand ended, in one line."""
    record = hand.to_record()
    name = "scores" if "scores" in record else "payoffs"
    winners = " and ".join(f"player_{seat}" for seat in record["winners"]) or "nobody"
    counts, paid = (" ".join(map(str, record[key])) for key in ("counts", name))
    return f"{record['ending'].replace('_', ' ')}: won by {winners}; counts {counts}; {name} {paid}"


def story(at: int) -> str:
    """The story's table after some moves, with the moves that led there from the picture before."""
    before = max((turn for turn in STORY_TURNS if turn < at), default=0)
    table, hand = STORY.play(at)
    seat = STORY.play(before)[0].seat
    moves = [f"player_{seat}: {' · '.join(STORY.moves[before:at])}", ""] if at else []
    return fenced([*moves, result(hand) if hand else picture(table)])


def worked(name: str) -> str:
    """A worked hand: the deal, the moves by seat, and the result or where it stands."""
    example = WORKED[name]
    changed = "".join(f", {key} {words(value)}" for key, value in example.options.items())
    upcard = f"; upcard {example.upcard}" if example.upcard else ""
    lines = [f"{example.preset}{changed}{upcard}"]
    lines += [f"player_{seat}  {hand}" for seat, hand in enumerate(example.hands)]
    table, hand = example.play()
    lines += _moves_by_seat(example)
    if hand is None:
        lines += ["", picture(table), f"player_{table.seat} may: {' · '.join(table.legal_words())}"]
    return fenced([*lines, *([result(hand)] if hand else [])])


def branch(name: str) -> str:
    """Another end of the story: only the moves that differ, and the result."""
    example = WORKED[name]
    hand = example.play()[1]
    assert hand is not None
    return fenced([*_moves_by_seat(example, len(STORY.moves) - 1), result(hand)])


def _moves_by_seat(example: Worked, first: int = 0) -> list[str]:
    """One line a turn: the seat and its moves."""
    turns: list[tuple[int, list[str]]] = []
    for at in range(first, len(example.moves)):
        seat = example.play(at)[0].seat
        if not turns or turns[-1][0] != seat:
            turns.append((seat, []))
        turns[-1][1].append(example.moves[at])
    return [f"player_{seat}: {' · '.join(moves)}" for seat, moves in turns]


def training_keys() -> str:
    """Every setting of a training run: key, default, meaning."""
    rows = ((f"`{key}`", f"`{as_yaml(value)}`", meaning) for key, value, meaning in describe_config())
    return grid(("key", "default", "meaning"), rows)


def configurations() -> str:
    """The settings in which a shipped configuration differs from the defaults; blank where it does not."""
    configs = {path.name: load_config(path) for path in sorted((ROOT / "configs").glob("*.yaml"))}
    rows = []
    for key, default, _ in describe_config():
        values = [setting(config, key) for config in configs.values()]
        if any(value != default for value in values):
            rows.append((f"`{key}`", *("" if value == default else f"`{as_yaml(value)}`" for value in values)))
    return grid(("key", *(f"`{name}`" for name in configs)), rows)


def setting(config: TrainConfig, key: str) -> Any:
    """The value under a dotted key."""
    value: Any = config
    for part in key.split("."):
        value = getattr(value, part)
    return value


def as_yaml(value: object) -> str:
    """A setting as it is typed in a configuration or on the command line."""
    return value if isinstance(value, str) else json.dumps(value)


def champions() -> str:
    """The champions that are shipped, from their cards."""
    rows = []
    for one in shipped():
        source = one.card.get("provenance", {})
        payoffs = [f"`{name}` {payoff}" for name, _, payoff in (text.partition(" ") for text in one.payoffs)]
        rows.append(
            (f"`{one.name}`", f"`{rules_title(one.rules)}`", one.num_players, f"{one.size / 1000:,.0f} kB", one.decisions,
             source.get("seed", "–"), source.get("commit") or "–", "<br>".join(payoffs))
        )  # fmt: skip
    head = ("champion", "game", "players", "size", "decisions", "seed", "commit", "payoff against")
    return grid(head, rows) if rows else "None is shipped yet."


def metrics() -> str:
    """Every curve of a run."""
    return grid(("curve", "meaning"), ((f"`{name}`", meaning) for name, meaning in METRICS.items()))


def frameworks() -> str:
    """Every framework with the versions that its tests ran with."""
    return grid(("framework", "tested with", "pinned in", "example", "tests"), framework_rows())


def matrix() -> str:
    """Versions of Python, Gymnasium and PettingZoo that the core is tested with."""
    return grid(("Python", "Gymnasium", "PettingZoo", "tests"), matrix_rows())


def fenced(lines: Sequence[str]) -> str:
    """Lines as a block of plain text."""
    return "\n".join(["```text", *lines, "```"])


TABLES: dict[str, Callable[[], str]] = {
    "options": options, "main presets": main_presets, "further presets": further_presets,
    "preset sources": preset_sources, "endings": endings, "phases": phases, "actions": actions, "blocks": blocks,
    "extra blocks": extra_blocks, "sizes": sizes,
    "training keys": training_keys, "configurations": configurations, "metrics": metrics, "champions": champions,
    "frameworks": frameworks, "matrix": matrix,
}  # fmt: skip


def table(name: str) -> str:
    """The text of a table by its name. Raises KeyError for a name that is none."""
    kind, _, rest = name.partition(": ")
    makers: dict[str, Callable[[str], str]] = {"worked": worked, "branch": branch, "story": lambda at: story(int(at))}
    return makers[kind](rest) if kind in makers else TABLES[name]()


def rebuilt(text: str) -> str:
    """A page with all its tables written anew."""
    return MARKED.sub(lambda found: f"{found.group(1)}{table(found['name'])}\n{found.group(3)}", text)


def main() -> int:
    """Write the pages, or with --check only say which of them would change (exit status 1)."""
    parser = argparse.ArgumentParser(description="Write the tables of the documentation from the code.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is not up to date")
    check = parser.parse_args().check
    stale = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = rebuilt(text)
        if new != text:
            stale += 1
            sys.stdout.write(f"{page.relative_to(ROOT)} {'is out of date' if check else 'written'}\n")
            if not check:
                page.write_text(new, encoding="utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
