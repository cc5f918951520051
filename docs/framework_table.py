"""Which libraries the environment was tested with: their versions, read from the files that pin them."""

from __future__ import annotations

import csv
import importlib.metadata
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = "requirements.lock"
BESIDE = ("gymnasium", "pettingzoo", "torch")  # shown for every framework whose own file pins them
PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[\w,-]+\])?==(?P<version>[\w.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Framework:
    """A row of the table: its section on the page, the packages that make it up, where it is tested, its example."""

    title: str
    packages: tuple[str, ...]
    tests: str
    example: str


# By the name of their file in requirements/, or for those that are in the lock, of their tests.
FRAMEWORKS = {
    "pettingzoo": Framework("PettingZoo", ("pettingzoo",), "tests/test_aec.py", "random_game.py"),
    "gymnasium": Framework("Gymnasium", ("gymnasium",), "tests/test_gym.py", "gymnasium_vector.py"),
    "sb3": Framework(
        "Stable-Baselines3", ("stable-baselines3", "sb3-contrib", "torch"), "tests/test_sb3.py", "sb3_maskable_ppo.py"
    ),
    "cleanrl": Framework("CleanRL style", ("torch",), "tests/test_cleanrl.py", "cleanrl_ppo.py"),
    "rllib": Framework("RLlib", ("ray",), "tests/frameworks/test_rllib.py", "rllib_selfplay.py"),
    "torchrl": Framework("TorchRL", ("torchrl",), "tests/frameworks/test_torchrl.py", "torchrl_ppo.py"),
    "tianshou": Framework("Tianshou", ("tianshou",), "tests/frameworks/test_tianshou.py", "tianshou_selfplay.py"),
    "openspiel": Framework("OpenSpiel", ("open-spiel",), "tests/frameworks/test_openspiel.py", "openspiel_cfr.py"),
    "agilerl": Framework("AgileRL", ("agilerl",), "tests/frameworks/test_agilerl.py", "agilerl_ppo.py"),
    "pufferlib": Framework("PufferLib", ("pufferlib",), "tests/frameworks/test_pufferlib.py", "pufferlib_ppo.py"),
    "jax": Framework("JAX", ("jax",), "tests/frameworks/test_jax.py", "jax_loop.py"),
}


def pins(path: Path) -> dict[str, str]:
    """Package, by its canonical name, to the exact version that a requirements file asks for."""
    found = PIN.finditer(path.read_text(encoding="utf-8"))
    return {re.sub(r"[-_.]+", "-", pin["name"]).lower(): pin["version"] for pin in found}


def installed(packages: Iterable[str]) -> dict[str, str]:
    """The version of each package in this environment, without what tells builds of one version apart (2.13.0+cpu)."""
    return {package: importlib.metadata.version(package).partition("+")[0] for package in packages}


def requirements() -> dict[str, Path]:
    """The file of every framework that has one of its own."""
    return {path.stem: path for path in sorted((ROOT / "requirements").glob("*.txt"))}


def framework_rows() -> list[tuple[str, ...]]:
    """Framework, versions, where they are pinned, example and tests; those whose files are not there are left out."""
    own, lock = requirements(), pins(ROOT / LOCK)
    rows = []
    for name, framework in FRAMEWORKS.items():
        if not (ROOT / framework.tests).is_file():
            continue
        file = own.get(name, ROOT / LOCK)
        pinned = pins(file) if name in own else {package: lock[package] for package in framework.packages}
        shown = [package for package in (*framework.packages, *BESIDE) if package in pinned]
        versions = ", ".join(f"{package} {pinned[package]}" for package in dict.fromkeys(shown))
        link = f"[{framework.title}](#{framework.title.lower().replace(' ', '-')})"
        rows.append((link, versions, f"`{file.relative_to(ROOT)}`", f"`{framework.example}`", f"`{framework.tests}`"))
    return rows


def matrix_rows() -> list[tuple[str, ...]]:
    """Python, Gymnasium and PettingZoo that are tried together, and which tests: requirements/matrix.csv."""
    with (ROOT / "requirements" / "matrix.csv").open(encoding="utf-8", newline="") as stream:
        return [tuple(row.values()) for row in csv.DictReader(stream)]
