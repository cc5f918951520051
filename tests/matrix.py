"""Runs the tests of the core with several versions of Python, Gymnasium and PettingZoo: `make test-matrix`.

The combinations are the rows of requirements/matrix.csv. Each Python that is present gets an environment of its own, in
which the versions are exchanged; a Python that is not there is left out and said so. `python tests/matrix.py 3.12` runs
the rows of one Python.
"""

from __future__ import annotations

import argparse
import ast
import csv
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOORS = ("aec", "gym", "vector", "render", "seeding")  # tests of what Gymnasium and PettingZoo see
TOOLS = ("numpy", "numba", "pytest", "hypothesis", "pygame-ce", "setuptools")
MODULES = {"numpy", "numba", "pytest", "hypothesis", "pygame", "gymnasium", "pettingzoo", "tonk_env", "tests"}

Row = dict[str, str]


def main() -> int:
    """Run the rows, print what came out, and fail if one of them did."""
    parser = argparse.ArgumentParser(description="Test the core with several versions of what it stands on.")
    parser.add_argument("python", nargs="*", help="only rows of these versions of Python, such as 3.12")
    wanted = parser.parse_args().python
    with (ROOT / "requirements" / "matrix.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if not wanted or row["python"] in wanted]
    outcomes = {title(row): run(row) for row in rows}
    sys.stdout.writelines(f"{row}: {outcome}\n" for row, outcome in outcomes.items())
    return int("FAILED" in outcomes.values() or "passed" not in outcomes.values())


def title(row: Row) -> str:
    """A row in words."""
    return f"Python {row['python']}, gymnasium {row['gymnasium']}, pettingzoo {row['pettingzoo']}, {row['tests']}"


def run(row: Row) -> str:
    """Run the tests of one row: "passed", "FAILED", or "not here" when there is no such Python."""
    interpreter = find_python(row["python"])
    if interpreter is None:
        return "not here"
    try:
        python = environment(interpreter, row["python"])
        pip(python, f"gymnasium=={row['gymnasium']}", f"pettingzoo=={row['pettingzoo']}")
    except subprocess.CalledProcessError:
        return "FAILED"  # pip has said why
    names = [f"tests/test_{name}.py" for name in DOORS] if row["tests"] == "doors" else game_tests()
    sys.stdout.write(f"{title(row)}\n")
    sys.stdout.flush()
    done = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names], cwd=ROOT, check=False)
    return "FAILED" if done.returncode else "passed"


def find_python(version: str) -> str | None:
    """An interpreter of a version such as 3.12: this one, one on the path that runs, or one of pyenv's."""
    managed = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for candidate in (sys.executable, shutil.which(f"python{version}"), *map(str, managed)):
        if candidate and _version(candidate) == version:
            return candidate
    return None


def _version(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def environment(interpreter: str, version: str) -> str:
    """The Python of an environment with the locked tools and this project, made when it is not there."""
    folder = ROOT / f".venv-matrix-{version}"
    python, marker = str(folder / "bin" / "python"), folder / ".installed"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = "\n".join(line for line in lock if line.lower().split("==")[0] not in ("gymnasium", "pettingzoo"))
    if not marker.is_file() or marker.read_text(encoding="utf-8") != pins:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
        (folder / "constraints.txt").write_text(pins + "\n", encoding="utf-8")
        pip(python, "-c", str(folder / "constraints.txt"), *TOOLS)
        pip(python, "--no-deps", "--no-build-isolation", "-e", str(ROOT))
        marker.write_text(pins, encoding="utf-8")
    return python


def pip(python: str, *words: str) -> None:
    """Install something; its own complaint and CalledProcessError when that fails."""
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "install", "-qq", *words], check=True)


def game_tests() -> list[str]:
    """Every test file that needs nothing but the core: no agents, no training, no command line."""
    folder = ROOT / "tests"
    own = {path.stem for path in folder.glob("*.py")}
    allowed = MODULES | own | sys.stdlib_module_names
    return [str(path.relative_to(ROOT)) for path in sorted(folder.glob("test_*.py")) if imported(path) <= allowed]


def imported(path: Path) -> set[str]:
    """Top-level names of the modules that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


if __name__ == "__main__":
    sys.exit(main())
