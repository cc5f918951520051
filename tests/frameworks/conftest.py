"""Sees to it that a framework is tested in the versions that its requirements file pins, and the documentation names."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import framework_table  # noqa: E402 (it lies beside the page that shows the versions)


@pytest.fixture(scope="module", autouse=True)
def _pinned_versions(request: pytest.FixtureRequest) -> None:
    """Fail when another version is installed than the one pinned for the framework whose test file this is."""
    name = Path(request.path).stem.removeprefix("test_")
    pinned = framework_table.pins(framework_table.requirements()[name])
    assert framework_table.installed(pinned) == pinned, f"make test-{name} installs what requirements/{name}.txt pins"
