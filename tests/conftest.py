"""What several test files share: where the project lies and which files belong to it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (".ci", "agents", "benchmarks", "configs", "docs", "examples", "requirements", "tests", "tonk_env")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def project_files() -> list[Path]:
    """Every file of the project: those at the top and those in its folders, without caches and runs."""
    top = [path for path in ROOT.iterdir() if path.is_file()]
    deep = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return sorted(path for path in top + deep if "__pycache__" not in path.parts)


@pytest.fixture(scope="session")
def python_files(project_files: list[Path]) -> list[Path]:
    """Every Python file of the project."""
    return [path for path in project_files if path.suffix == ".py"]
