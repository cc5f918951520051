"""Which extra of the project brings a package that is missing, said in one sentence."""

from __future__ import annotations

import importlib.util

OWN_PACKAGES = ("tonk_env", "agents")
PLAY = ("click", "onnxruntime", "rich", "shellingham", "typer")
RENDER = ("pygame",)
CORE = ("gymnasium", "numba", "numpy", "pettingzoo")


def missing_package(error: ImportError) -> str | None:
    """Return the sentence for a package that is not installed, None if it is one of our own modules that is missing."""
    package = (error.name or "").partition(".")[0]
    if not package or package in OWN_PACKAGES:
        return None
    return f'this needs the package {package}: run  pip install "{install_words(package)}"  in the project\'s folder'


def install_words(package: str) -> str:
    """Return what to give to `pip install`, in the project's folder, for a package of the core or of an extra."""
    if package in CORE:
        return "."
    return ".[play]" if package in PLAY else ".[render]" if package in RENDER else ".[train]"


def require(package: str) -> None:
    """Raise ModuleNotFoundError now, before long work, if a package that it will need is not installed."""
    if importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
