"""A league: every agent meets every other one on the same deals; what was played is kept, so only new pairs are played.

The folder holds ``league.json`` (rules, deals, seed, agents) and one file of plain numbers for each pair under ``pairs/``.
Each file appears whole or not at all: after an interruption the league goes on with the pairs that are missing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from agents.claim import sole_use
from agents.evaluate import BATCH_TABLES, Evaluation, evaluate, overall_of
from agents.outcomes import Outcomes
from agents.ratings import rate
from agents.seatings import line_ups
from agents.specs import make_agent, parse_spec
from agents.statistics import estimate
from tonk_env.files import atomic_writer
from tonk_env.rules import RuleSet, RuleSetError

LEAGUE_FORMAT = 1
STATE, PAIRS = "league.json", "pairs"
Progress = Callable[[int, int], None]


class LeagueError(ValueError):
    """A league that cannot be begun or gone on with; the message is one sentence."""


@dataclass(frozen=True)
class Setting:
    """What all pairs of a league have in common."""

    rules: RuleSet
    num_players: int
    deals: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "rules": self.rules.to_dict(),
            "rules_fingerprint": self.rules.fingerprint(),
            "players": self.num_players,
            "deals": self.deals,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Pair:
    """What one pair played: cluster means by (player, opponent) among 0 and 1, how hands ended, and seconds."""

    samples: dict[tuple[int, int], NDArray[np.float64]]
    outcomes: Outcomes
    seconds: float
    modes: tuple[str, str]


def read_league(folder: Path) -> tuple[Setting, list[str]] | None:
    """Return setting and agents of the league in a folder, None if there is none. Raises ``LeagueError``."""
    path = folder / STATE
    if not path.is_file():
        return None
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        if state["league"] != LEAGUE_FORMAT:
            raise LeagueError(f"{path} is of format {state['league']}; this version reads format {LEAGUE_FORMAT}")
        rules = RuleSet.from_dict(state["rules"])
        return Setting(rules, int(state["players"]), int(state["deals"]), int(state["seed"])), list(map(str, state["agents"]))
    except (ValueError, KeyError, TypeError, RuleSetError) as error:
        if isinstance(error, LeagueError):
            raise
        raise LeagueError(f"{path} is damaged: it does not say what the league plays") from None


def play_league(folder: Path, specs: Sequence[str], setting: Setting, progress: Progress | None = None) -> Evaluation:
    """Play the pairs that are missing and return the whole league as one evaluation.

    ``specs`` join the agents that are in the folder already. ``progress`` is called with the pairs played and in all.
    Raises ``LeagueError`` for a folder with another league, ``InUseError`` for one in which somebody else plays, and
    ``AgentSpecError``, before anything is played.
    """
    before = read_league(folder)
    if before is not None and before[0] != setting:
        raise LeagueError(f"{folder} holds a league of another kind: {_difference(before[0], setting)}; name another folder")
    agents = list(dict.fromkeys([*(before[1] if before else ()), *specs]))
    if len(agents) < 2:
        raise LeagueError("a league needs at least two agents, as in `tonk league greedy drop:24`")
    prints = _prints(agents, before[1] if before else (), setting, folder)
    (folder / PAIRS).mkdir(parents=True, exist_ok=True)
    with sole_use(folder):
        if read_league(folder) != before:
            raise LeagueError(f"{folder} was changed by somebody else just now; try again")
        return _play(folder, agents, prints, setting, progress)


def _prints(agents: Sequence[str], kept: Sequence[str], setting: Setting, folder: Path) -> dict[str, str]:
    """Return every agent's fingerprint, once it is known that it can play: who cannot must not be written down."""
    prints = {}
    for spec in agents:
        try:
            make_agent(spec, setting.rules, setting.num_players)
            prints[spec] = fingerprint(spec, setting)
        except ValueError as error:
            if spec not in kept:
                raise
            raise LeagueError(f"{error}; it is in the league: bring it back, or delete it in {folder / STATE}") from None
    return prints


def _play(
    folder: Path, agents: Sequence[str], prints: dict[str, str], setting: Setting, progress: Progress | None
) -> Evaluation:
    """Write down who is in the league and play what is missing."""
    with atomic_writer(folder / STATE) as stream:
        json.dump({"league": LEAGUE_FORMAT, **setting.to_dict(), "agents": agents}, stream, indent=1)
    pairs: dict[tuple[int, int], Pair] = {}
    meetings = list(combinations(range(len(agents)), 2))
    for done, (one, other) in enumerate(meetings):
        if progress is not None:
            progress(done, len(meetings))
        pairs[one, other] = _pair(folder / PAIRS, agents[one], agents[other], prints, setting)
    if progress is not None:
        progress(len(meetings), len(meetings))
    return _whole(agents, pairs, setting)


def fingerprint(spec: str, setting: Setting) -> str:
    """Return what tells an agent from others: its spec, and what is in its files. Raises ``AgentSpecError``."""
    parsed = parse_spec(spec)
    digest = hashlib.sha256(parsed.text.encode())
    files = [parsed.path] if parsed.path is not None else []
    if parsed.kind == "champion":
        from agents.champion import champion_files

        files = champion_files(setting.rules, setting.num_players)
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _pair(folder: Path, one: str, other: str, prints: dict[str, str], setting: Setting) -> Pair:
    """Return what a pair played: from its file, or by playing it now."""
    file = folder / f"{prints[one]}-{prints[other]}.npz"
    kept = _read_pair(file)
    if kept is not None:
        return kept
    both = [(0, 1)] if setting.num_players == 2 else [(0, 1), (1, 0)]
    result = evaluate([one, other], setting.rules, setting.num_players, setting.deals, setting.seed, pairs=both)
    pair = Pair(result.samples, result.outcomes, result.seconds, (result.modes[0], result.modes[1]))
    _write_pair(file, pair)
    return pair


def _write_pair(file: Path, pair: Pair) -> None:
    """Write a pair's file."""
    arrays: dict[str, Any] = {f"{player}_{opponent}": values for (player, opponent), values in pair.samples.items()}
    outcomes = pair.outcomes
    arrays |= {"hands": outcomes.hands, "call_counts": outcomes.call_counts, "calls_at": outcomes.calls_at}
    notes = json.dumps({"uncounted": outcomes.uncounted, "seconds": pair.seconds, "modes": pair.modes})
    with atomic_writer(file, "wb") as stream:
        np.savez_compressed(stream, notes=np.frombuffer(notes.encode(), np.uint8), **arrays)


def _read_pair(file: Path) -> Pair | None:
    """Return what is in a pair's file, None if there is none, or none that is whole."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            outcomes = Outcomes(2)
            for name in ("hands", "call_counts", "calls_at"):
                getattr(outcomes, name)[...] = arrays[name]
            notes = json.loads(arrays["notes"].tobytes())
            outcomes.uncounted = int(notes["uncounted"])
            samples = {pair: arrays[f"{pair[0]}_{pair[1]}"] for pair in ((0, 1), (1, 0))}
            return Pair(samples, outcomes, float(notes["seconds"]), tuple(notes["modes"]))
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, EOFError):
        return None


def _whole(agents: Sequence[str], pairs: dict[tuple[int, int], Pair], setting: Setting) -> Evaluation:
    """Put the pairs together. All of them played the same deals, so that an agent's mean over its opponents has clusters."""
    samples: dict[tuple[int, int], NDArray[np.float64]] = {}
    outcomes = Outcomes(len(agents))
    modes = ["act"] * len(agents)
    for (one, other), pair in pairs.items():
        samples[one, other], samples[other, one] = pair.samples[0, 1], pair.samples[1, 0]
        for place, player in enumerate((one, other)):
            for name in ("hands", "call_counts", "calls_at"):
                getattr(outcomes, name)[player] += getattr(pair.outcomes, name)[place]
            modes[player] = pair.modes[place]
        outcomes.uncounted += pair.outcomes.uncounted
    return Evaluation(
        names=tuple(agents),
        specs=tuple(agents),
        rules=setting.rules,
        num_players=setting.num_players,
        deals=setting.deals,
        seed=setting.seed,
        mode="pairs",
        batch_tables=BATCH_TABLES,
        line_ups=tuple(line_ups(len(agents), setting.num_players)),
        samples=samples,
        estimates={pair: estimate(values) for pair, values in samples.items()},
        overall={player: estimate(values) for player, values in overall_of(samples).items()},
        outcomes=outcomes,
        ratings=rate(samples, len(agents), setting.seed),
        seconds=sum(pair.seconds for pair in pairs.values()),
        modes=tuple(modes),
    )


def _difference(theirs: Setting, ours: Setting) -> str:
    """Say in what two settings differ."""
    for name in ("num_players", "deals", "seed"):
        if getattr(theirs, name) != getattr(ours, name):
            verb = "is" if name == "seed" else "are"
            return f"its {name.replace('num_', '')} {verb} {getattr(theirs, name)}, not {getattr(ours, name)}"
    return f"its rules are {json.dumps(theirs.rules.to_dict())}, not {json.dumps(ours.rules.to_dict())}"


def folder_of(path: str | os.PathLike[str]) -> Path:
    """Return the folder of a league. Raises ``LeagueError`` if it is a file, or a folder that holds something else."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise LeagueError(f"{folder} is a file; a league needs a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / STATE).is_file():
        raise LeagueError(f"{folder} holds other things and no league; name another folder")
    return folder
