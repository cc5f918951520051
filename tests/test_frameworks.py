"""Keeps the page on frameworks, the files that pin their versions, their examples and their tests together."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import framework_table  # noqa: E402 (it lies beside the page that it is for)

PAGE = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
PRESENT = {name: row for name, row in framework_table.FRAMEWORKS.items() if (ROOT / row.tests).is_file()}
LONGEST_EXAMPLE = 90  # lines; cleanrl_ppo.py is a whole algorithm
CORE = {"gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch"}


def test_every_requirements_file_has_a_row_and_tests() -> None:
    own = set(framework_table.requirements())
    tested = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "frameworks").glob("test_*.py")}
    assert own <= set(framework_table.FRAMEWORKS)
    assert tested <= own
    assert {name for name, row in PRESENT.items() if "tests/frameworks/" in row.tests} <= tested


def test_every_framework_pins_its_packages_exactly() -> None:
    for name, file in framework_table.requirements().items():
        assert set(framework_table.FRAMEWORKS[name].packages) <= set(framework_table.pins(file)), file


@pytest.mark.parametrize("name", PRESENT)
def test_every_framework_has_a_section_and_a_short_example(name: str) -> None:
    row = PRESENT[name]
    example = ROOT / "examples" / row.example
    text = example.read_text(encoding="utf-8")
    assert f"\n## {row.title}\n" in PAGE
    assert f"examples/{row.example}" in PAGE.split(f"\n## {row.title}\n")[1].split("\n## ")[0]
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= LONGEST_EXAMPLE or name == "cleanrl"


def test_versions_in_the_table_are_those_that_are_pinned() -> None:
    # That the pinned ones are those installed, each framework's own environment checks before its tests.
    rows = {cells[1]: cells for cells in (line.split("|") for line in PAGE.splitlines()) if len(cells) == 7}
    lock = framework_table.pins(ROOT / framework_table.LOCK)
    for name, row in PRESENT.items():
        shown = next(cells[2] for head, cells in rows.items() if f"[{row.title}]" in head)
        own = framework_table.requirements().get(name)
        pinned = framework_table.pins(own) if own else lock
        assert all(f"{package} {pinned[package]}" in shown for package in row.packages), name


def test_the_core_is_installed_as_locked() -> None:
    lock = framework_table.pins(ROOT / framework_table.LOCK)
    assert framework_table.installed(CORE) == {name: lock[name] for name in CORE}


def test_the_matrix_reaches_from_the_oldest_to_the_newest() -> None:
    rows = framework_table.matrix_rows()
    lock = framework_table.pins(ROOT / framework_table.LOCK)
    for python, oldest in (("3.11", "1.25"), ("3.12", "1.25"), ("3.13", "1.26")):  # PettingZoo 1.25 ends with Python 3.12
        minors = [tuple(version.rpartition(".")[0] for version in row[1:3]) for row in rows if row[0] == python]
        assert {("1.1", oldest), ("1.4", "1.27")} <= set(minors)
    assert {row[1].rpartition(".")[0] for row in rows} == {"1.1", "1.2", "1.3", "1.4"}
    assert {row[2].rpartition(".")[0] for row in rows} == {"1.25", "1.26", "1.27"}
    assert (lock["gymnasium"], lock["pettingzoo"]) in {row[1:3] for row in rows}
