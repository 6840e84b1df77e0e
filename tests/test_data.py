"""The shipped matrices are those their README names, with the shapes and entries it gives."""

import re

import pytest
from documents import ROOT

import spformats as sf

FOLDER = ROOT / "tests" / "data"
ROWS = re.findall(
    r"^\| `(\S+)` \| (\d+)×(\d+) \| (\d+) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)


def test_every_matrix_has_source_and_licence():
    assert {name for name, *_ in ROWS} == {path.name for path in FOLDER.glob("*.mtx*")}


@pytest.mark.parametrize("name, rows, cols, entries", ROWS)
def test_matrix_reads_as_described(name, rows, cols, entries):
    A = sf.mmread(FOLDER / name)
    assert A.shape == (int(rows), int(cols)) and A.nnz == int(entries)
