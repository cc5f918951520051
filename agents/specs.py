"""Turns short names such as ``drop:27``, ``champion``, ``runs/my_run``, ``file.onnx@greedy``, ``cfr:FILE.npz`` into agents."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from pathlib import Path

from agents.base import Agent, AgentSpecError
from tonk_env.opponents import check_game
from tonk_env.rules import RuleSet

OPPONENT_FILE, RUN_FILE = "opponent.onnx", "config.yaml"  # of a run folder
MAX_DROP = 200
MAX_SEARCH = 100_000  # deals or milliseconds a decision
MAX_DIGITS = 20  # zeros in front included
FORMS = (
    "random, greedy, expert, drop:N (say drop:27), search:N (say search:256 or search:50ms), champion, a run folder, "
    "a file that ends in .onnx, or cfr:FILE.npz"
)
BASELINES = ("random", "greedy", "expert", "champion", "drop", "search")  # by the word before a colon
MODES = ("sample", "greedy")
PARTS = ("act", "reset", "seed", "name", "compiled")  # of an agent, see agents.base.Agent


@dataclass(frozen=True)
class AgentSpec:
    """A spec taken apart: ``kind`` is ``random``, ``greedy``, ``expert``, ``champion``, ``drop``, ``search``, ``onnx`` or
    ``cfr``.

    ``param`` is the count of ``drop``, and the deals, or milliseconds if ``timed``, of ``search``. ``mode`` is what stands
    after @, empty if nothing does.
    """

    text: str
    kind: str
    param: int = 0
    path: Path | None = None
    mode: str = ""
    timed: bool = False

    @property
    def inside(self) -> bool:
        """Whether the compiled loop plays it."""
        return self.kind not in ("onnx", "search", "champion")


def make_agent(spec: str | Agent, rules: RuleSet, num_players: int, seed: int = 0) -> Agent:
    """Return the agent that ``spec`` names, for tables of these rules; an agent object is handed back as it is.

    Exported agents draw from their policy unless ``@greedy`` asks for the likeliest action; a champion plays as its card
    says unless ``@greedy`` or ``@sample`` asks for something else. Raises ``AgentSpecError`` for a text that names no agent,
    for a file, or an object with ``check_game``, that is made for another game, and for a game without a champion.
    """
    if not isinstance(spec, str):
        missing = [part for part in PARTS if not hasattr(spec, part)]
        if missing:
            raise AgentSpecError(f"{spec!r} cannot play: it is no name of an agent, and as an agent it lacks {missing[0]!r}")
        check_game(spec, rules, num_players)
        return spec
    parsed = parse_spec(spec)
    if parsed.kind == "cfr" and parsed.path is not None:
        from agents.table_agent import TableAgent

        return TableAgent(parsed.path, rules, num_players, seed, name=parsed.text)
    if parsed.path is not None:
        from agents.onnx_agent import OnnxAgent

        return OnnxAgent(parsed.path, rules, num_players, seed, greedy=parsed.mode == "greedy", name=parsed.text)
    if parsed.kind == "champion":
        from agents.champion import make_champion

        return make_champion(rules, num_players, seed, parsed.mode, parsed.text)
    if parsed.kind == "search":
        from agents.search import Search

        deals, seconds = (None, parsed.param / 1000) if parsed.timed else (parsed.param, 0.0)
        return Search(rules, num_players, deals, seconds, seed, parsed.text)
    from agents.heuristics import Heuristic

    return Heuristic(rules, num_players, parsed.kind, parsed.param, seed)


def parse_spec(spec: str) -> AgentSpec:
    """Take a spec apart and check its form; files are looked for, not read. Raises ``AgentSpecError``."""
    text, at, mode = spec.rpartition("@") if "@" in spec else (spec, "", "")
    if at and mode not in MODES:
        raise AgentSpecError(f"agent {spec!r}: after @ stands {mode!r}, but only @sample and @greedy are known")
    parsed = _parse_baseline(text) or _parse_path(text, spec)
    if at and parsed.kind not in ("onnx", "champion"):
        trained = "exported policies and champions"
        raise AgentSpecError(f"agent {spec!r}: @{mode} is for {trained}; {text!r} always plays the same way")
    return replace(parsed, text=spec, mode=mode) if at else parsed


def _parse_baseline(text: str) -> AgentSpec | None:
    kind, colon, number = text.partition(":")
    if kind in ("random", "greedy", "expert", "champion") and not colon:
        return AgentSpec(text, kind)
    if kind == "cfr" and colon:
        if not Path(number).is_file():
            raise AgentSpecError(f"agent {text!r}: there is no file {number or 'named'}; `tonk solve` writes such tables")
        return AgentSpec(text, kind, path=Path(number))
    if kind == "search":
        return _parse_search(text, number)
    if kind != "drop":
        return None
    if not 0 <= _whole(number) <= MAX_DROP:
        raise AgentSpecError(f"agent {text!r:.80}: drop needs the highest count to drop at, 0 to {MAX_DROP}, as in drop:27")
    return AgentSpec(f"drop:{int(number)}", kind, int(number))


def _whole(number: str) -> int:
    """The number in a text of digits, -1 for any other text and for one that is too long for any count."""
    return int(number) if number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS else -1


def _parse_search(text: str, number: str) -> AgentSpec:
    timed = number.endswith("ms")
    number = number.removesuffix("ms")
    if not 1 <= _whole(number) <= MAX_SEARCH:
        raise AgentSpecError(
            f"agent {text!r:.80}: search needs the deals it imagines for a move, 1 to {MAX_SEARCH}, as in search:256, or its "
            "time in milliseconds, as in search:50ms"
        )
    return AgentSpec(f"search:{int(number)}{'ms' * timed}", "search", int(number), timed=timed)


def _parse_path(text: str, spec: str) -> AgentSpec:
    path = Path(text)
    try:
        gone = path.is_symlink() and not path.exists()
    except OSError as error:  # a name that is too long, or a folder that may not be read
        raise AgentSpecError(f"agent {spec!r:.80} cannot be looked for: {error.strerror or error}") from None
    if gone:
        raise AgentSpecError(f"agent {spec!r}: the run or file that {path} leads to, {path.readlink()}, is gone; name another")
    if path.suffix == ".onnx":
        if not path.is_file():
            raise AgentSpecError(f"agent {spec!r}: there is no file {path}")
        return AgentSpec(spec, "onnx", path=path)
    if text and path.is_dir():
        if not (path / OPPONENT_FILE).is_file():
            raise AgentSpecError(f"agent {spec!r}: {_without_opponent(path)}")
        return AgentSpec(spec, "onnx", path=path / OPPONENT_FILE)
    if path.is_file():
        raise AgentSpecError(f"agent {spec!r}: {path} is no opponent: those are files that end in .onnx")
    if path.name != text:
        raise AgentSpecError(f"agent {spec!r}: there is no folder {path}{_nearest(text)}; an agent is {FORMS}")
    raise AgentSpecError(_by_its_file(text) or f"agent {spec!r} is not known{_nearest(text)}; an agent is {FORMS}")


def _by_its_file(text: str) -> str | None:
    """Say how a champion that is called by the name of its file is named; None where there is no such file."""
    from agents.champion import champion_file

    if champion_file(text) is None:
        return None
    preset, _, players = text.rpartition("-")
    return (
        f"agent {text!r} is a champion: its name is 'champion' at every table, and the game chooses it, as in "
        f"--rules {preset} --players {players}"
    )


def _without_opponent(folder: Path) -> str:
    """Say what a folder without an opponent is: a run that has none yet, a folder of runs, or neither."""
    if (folder / RUN_FILE).is_file():
        return f"the run {folder} holds no {OPPONENT_FILE} yet; finish it or write one with `tonk export`"
    inside = sorted(entry for entry in folder.iterdir() if (entry / RUN_FILE).is_file() and not entry.is_symlink())
    name = f"; name a run in it, as in {inside[0]}" if inside else ""
    return f"{folder} is not a run folder, it holds no {OPPONENT_FILE} and no {RUN_FILE}{name}"


def _nearest(text: str) -> str:
    """Return ``: did you mean …?`` for the nearest baseline or run folder, or nothing."""
    folder = Path(text).parent
    beside = [str(folder / entry.name) for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
    near = difflib.get_close_matches(text.partition(":")[0], BASELINES, 1, 0.6)
    near = near or difflib.get_close_matches(text, beside, 1, 0.8)
    return f": did you mean {near[0].replace('drop', 'drop:27').replace('search', 'search:256')!r}?" if near else ""
