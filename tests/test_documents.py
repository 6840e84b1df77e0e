"""What the pages say is true: their Python blocks run, their files exist, the docstrings' examples print what they
show."""

import doctest
import importlib
import pkgutil
import re

import pytest
from documents import ROOT, python_blocks, run_blocks

import spformats
import spformats_plugins

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
#: Modules that need a library which may be absent, and its name.
OPTIONAL = {"cupy", "pylops", "pylops_mpi", "mpi4py", "torch", "matplotlib"}


def modules():
    for package in (spformats, spformats_plugins):
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=lambda name: None):
            if not found.name.endswith("__main__"):
                yield found.name


@pytest.mark.parametrize("name", sorted(modules()))
def test_docstring_examples(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in OPTIONAL:
            pytest.skip(f"needs {error.name}")
        raise
    result = doctest.testmod(module, verbose=False)
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples in {name} fail; see the output above"


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)])
def test_python_blocks_run(page, tmp_path):
    if page == "README.md":
        pytest.importorskip("pylops")
    run_blocks(page, tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:docs|examples|tests|benchmarks|plugins|spformats|\.ci)/[\w./-]*)[ `]", text)
    missing = [name for name in named if not (ROOT / name).exists() and name.rpartition("/")[2] != "triplet.py"]
    assert not missing, f"{page} names {missing}, which do not exist"


def test_readme_opens_with_two_commands():
    from_readme = re.findall(
        r"^    (pip install .*)$", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    main_job, tests = from_readme[:2]
    assert "python examples/poisson2d_cg.py" in main_job and "python examples/solve_matrix_market.py" in main_job
    assert "[test]" in tests and tests.rstrip().rpartition("&& ")[2].startswith("pytest")
    assert (ROOT / main_job.rpartition(" ")[2]).exists()


def public_functions():
    for module in (spformats, spformats.linalg, spformats.gallery, spformats.advisor, spformats.testing):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and not isinstance(thing, type) and not name.startswith("_"):
                yield f"{module.__name__}.{name}", thing


@pytest.mark.parametrize(("name", "function"), list(public_functions()))
def test_public_functions_have_parameters_and_an_example(name, function):
    sections = re.findall(r"^ *(\w+)\n *-{4,}$", function.__doc__, flags=re.MULTILINE)
    assert {"Parameters", "Examples"} <= set(sections), f"{name} documents {sections} only"
