"""pyproject.toml names everything that has to be installed, and nothing that is not there."""

import importlib.metadata
import tomllib

import pytest
from documents import ROOT

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = CONFIG["tool"]["setuptools"]
FOLDERS = {"spformats": ROOT / "spformats", "spformats_plugins": ROOT / "plugins"}


def test_every_package_is_listed_once():
    found = {
        ".".join((name, *path.parent.relative_to(folder).parts))
        for name, folder in FOLDERS.items()
        for path in folder.rglob("__init__.py")
    }
    assert sorted(SETUPTOOLS["packages"]) == sorted(found)


def test_every_data_file_is_listed():
    for package, folder in FOLDERS.items():
        listed = {path for pattern in SETUPTOOLS["package-data"][package] for path in folder.glob(pattern)}
        files = {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        assert {path for path in files if path.suffix != ".py"} == listed


def test_extras():
    extras = {"cuda12", "cuda13", "pylops", "mpi", "plot", "test", "dev"}
    assert extras == set(CONFIG["project"]["optional-dependencies"])


def test_version_is_the_module_s():
    import spformats

    assert spformats.__version__ == CONFIG["project"]["version"] == importlib.metadata.version("spformats")


@pytest.mark.parametrize("name", ["reference", "numba", "cuda"])
def test_plugins_are_found_by_entry_point(name):
    found = {entry.name: entry.value for entry in importlib.metadata.entry_points(group="spformats.plugins")}
    assert found[name] == f"spformats_plugins.{name}"
