"""Checks what is installed and shipped: dependencies, locked versions, entry points, no private addresses."""

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

CORE = {"numpy", "numba", "gymnasium", "pettingzoo"}
INSTALL_FILES = ("requirements.lock", "pyproject.toml", "Makefile", ".ci/run")
ADDRESS = re.compile(r"https?://|file:|@ |--(?:extra-)?index-url|--find-links|--trusted-host|\s-f\s")
PRIVATE_PATH = re.compile(r"(?<![\w.\-/])/(?:home|root|work|workspace|opt|mnt|Users)/\w")


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def lock(root: Path) -> dict[str, str]:
    """Package name to its exact version in requirements.lock."""
    lines = (root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pin) == 2 for pin in pins), "every line of requirements.lock is name==version"
    return {canonicalize_name(name): version for name, version in pins}


@pytest.fixture(scope="module")
def requirements(project: dict[str, Any]) -> list[Requirement]:
    """Every requirement of the core and of the extras, without those that name the project itself."""
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    found = [Requirement(line) for line in project["dependencies"] + extras]
    return [requirement for requirement in found if requirement.name != project["name"]]


def test_core_dependencies_are_few_and_not_pinned(project: dict[str, Any]) -> None:
    core = [Requirement(line) for line in project["dependencies"]]
    assert {requirement.name for requirement in core} == CORE
    assert all(clause.operator == ">=" for requirement in core for clause in requirement.specifier)


def test_all_brings_every_user_extra(project: dict[str, Any]) -> None:
    assert {"play", "train", "render", "dev", "all"} <= set(project["optional-dependencies"])
    assert project["optional-dependencies"]["all"] == [f"{project['name']}[train,render]"]
    assert f"{project['name']}[play]" in project["optional-dependencies"]["train"]


def test_lock_satisfies_every_bound(requirements: list[Requirement], lock: dict[str, str]) -> None:
    faults = [
        f"{requirement} is locked at {lock.get(canonicalize_name(requirement.name))}"
        for requirement in requirements
        if lock.get(canonicalize_name(requirement.name)) not in requirement.specifier
    ]
    assert not faults


def test_lock_holds_plain_versions(lock: dict[str, str], project: dict[str, Any]) -> None:
    assert lock["torch"] == "2.13.0"
    assert project["name"] not in lock
    assert not [name for name, version in lock.items() if Version(version).local]


def test_sb3_contrib_bound_excludes_the_simplex_error(requirements: list[Requirement]) -> None:
    bound = next(requirement for requirement in requirements if requirement.name == "sb3-contrib").specifier
    assert "2.7.1" not in bound
    assert "2.8.0" in bound


def test_entry_points_lead_somewhere(project: dict[str, Any]) -> None:
    groups = [project["scripts"], *project["entry-points"].values()]
    for target in (target for group in groups for target in group.values()):
        module, _, attribute = target.partition(":")
        assert callable(getattr(importlib.import_module(module), attribute)), target


def test_version_is_the_same_everywhere(project: dict[str, Any], root: Path) -> None:
    version = project["version"]
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{version}]" in (root / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", ["tonk_env", "agents"])
def test_packages_are_marked_as_typed(package: str, root: Path) -> None:
    assert (root / package / "py.typed").is_file()


@pytest.mark.parametrize("name", INSTALL_FILES)
def test_installing_names_no_address(name: str, root: Path) -> None:
    assert not ADDRESS.search((root / name).read_text(encoding="utf-8"))


def test_no_file_names_a_private_path(project_files: list[Path]) -> None:
    text = [path for path in project_files if path.suffix not in (".onnx", ".png", ".gif", ".npz")]
    found = {path.name: PRIVATE_PATH.search(path.read_text(encoding="utf-8")) for path in text}
    assert not {name: match.group() for name, match in found.items() if match}


def test_hints_install_from_the_folder_and_not_from_an_index(project_files: list[Path]) -> None:
    """The project is on no index, so `pip install tonk-env[...]` would fetch nothing, or a stranger's package."""
    hint = re.compile(r"pip install[^\n]*tonk[-_]env")
    wrong = [path for path in project_files if path.suffix in (".py", ".md", ".yaml") and path.name != Path(__file__).name]
    assert not [path for path in wrong if hint.search(path.read_text(encoding="utf-8"))]
