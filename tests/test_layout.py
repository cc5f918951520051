"""Checks the shape of the code: who may import whom, how long files and functions are, docstrings, file names."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

Walk = Callable[[ast.AST], Iterator[ast.AST]]

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
PACKAGES = ("tonk_env", "agents")
HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "agents")
FOREIGN = ("tonk_env.open_spiel_game", "tonk_env.rllib")  # doors into a library that brings its own: they import it

# From the ground up. A module imports from its own level or from those before; the kernels are one module here.
LEVELS = (
    # A rule set and the mask are also stored in the state's record: the cycle test keeps these apart.
    ("cards", "options", "presets", "rules", "rule_record", "seeding", "spreads", "actions", "state", "files"),
    ("kernels",),
    ("notation", "observation", "compiling", "result"),
    ("table", "batch"),
    ("aec", "wrappers", "records", "replay", "redeal", "chance", "single", "vector", "warmup", "rllib", "turns", "tree"),
    ("tonk_v0", "open_spiel_game"),
)
LEVEL_OF = {f"tonk_env.{name}": level for level, names in enumerate(LEVELS) for name in names}


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def absolute_target(node: ast.ImportFrom, path: Path, root: Path) -> str:
    """The module that `from X import …` names, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    package = path.relative_to(root).parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Like ast.walk, without what stands under `if TYPE_CHECKING`."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        yield node
        only_for_types = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        nodes.extend(node.orelse if only_for_types else ast.iter_child_nodes(node))


def imported_names(path: Path, root: Path, walk: Walk = running_nodes) -> Iterator[str]:
    """Every dotted name the file imports, inside functions too; `from a import b` gives both a and a.b."""
    for node in walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            target = absolute_target(node, path, root)
            yield target
            yield from (f"{target}.{alias.name}" for alias in node.names)


def layer_name(name: str) -> str:
    """The module as LEVELS names it: everything below tonk_env/kernels is one module."""
    return ".".join(name.split(".")[:2])


@pytest.fixture(scope="module")
def imports(python_files: list[Path], root: Path) -> dict[str, set[str]]:
    """Module name to the project's modules it imports. Package __init__ files are left out: they only re-export."""
    paths = {module_name(p, root): p for p in python_files if p.relative_to(root).parts[0] in PACKAGES}
    modules = {name: path for name, path in paths.items() if path.name != "__init__.py"}
    return {name: {n for n in imported_names(path, root) if n in modules} for name, path in modules.items()}


def run_python(code: str, root: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_tonk_env_never_imports_agents(python_files: list[Path], root: Path) -> None:
    game = [path for path in python_files if path.relative_to(root).parts[0] == "tonk_env"]
    imported = [(path.name, name) for path in game for name in imported_names(path, root, ast.walk)]
    assert not [(file, name) for file, name in imported if name.split(".")[0] == "agents"]


def test_imports_run_downward(imports: dict[str, set[str]]) -> None:
    faults = [
        f"{module} imports {target}"
        for module, targets in imports.items()
        for target in targets
        if LEVEL_OF.get(layer_name(target), 0) > LEVEL_OF.get(layer_name(module), len(LEVELS))
    ]
    assert not faults


def test_imports_have_no_cycle(imports: dict[str, set[str]]) -> None:
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_importing_all_of_tonk_env_imports_nothing_heavy(root: Path) -> None:
    code = (
        "import importlib, pkgutil, sys, tonk_env\n"
        "for module in pkgutil.walk_packages(tonk_env.__path__, 'tonk_env.'):\n"
        f"    if module.name not in {FOREIGN!r}: importlib.import_module(module.name)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert run_python(code, root) == "[]"


def test_importing_tonk_env_alone_imports_nothing_heavy(root: Path) -> None:
    code = f"import sys, tonk_env; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run_python(code, root) == "[]"


def test_importing_agents_does_not_import_torch(root: Path) -> None:
    assert run_python("import sys, agents; print('torch' in sys.modules)", root) == "False"


def test_no_file_is_too_long(python_files: list[Path]) -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files}
    assert not {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES}


def test_no_function_is_too_long(python_files: list[Path]) -> None:
    functions = [
        (path.name, node.name, (node.end_lineno or 0) - node.lineno + 1)
        for path in python_files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not [function for function in functions if function[2] > MAX_FUNCTION_LINES]


def test_every_file_begins_with_its_reason_to_exist(python_files: list[Path]) -> None:
    missing = [path for path in python_files if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert not missing


def test_no_file_is_called_utils(python_files: list[Path]) -> None:
    assert not [path for path in python_files if path.stem.strip("_") in ("util", "utils", "helpers", "misc")]
