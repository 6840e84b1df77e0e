"""The command line."""

import subprocess
import sys

import pytest

import spformats as sf
from spformats.__main__ import main


def test_info(tmp_path, capsys):
    path = tmp_path / "p.mtx.gz"
    sf.mmwrite(path, sf.gallery.poisson2d(12))
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert "144 x 144" in out and 'format="cds"' in out and "symmetric" in out


def test_info_of_a_bad_file_goes_on_with_the_next(tmp_path, capsys):
    bad, good = tmp_path / "bad.mtx", tmp_path / "good.mtx"
    bad.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n5 1 3\n")
    sf.mmwrite(good, sf.eye(3))
    assert main(["info", str(bad), str(tmp_path / "none.mtx"), str(good)]) == 1
    captured = capsys.readouterr()
    assert "line 3" in captured.err and "none.mtx" in captured.err and "3 x 3" in captured.out


def test_version_in_a_process():
    command = [sys.executable, "-m", "spformats", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("spformats ")


def test_help_and_errors(capsys):
    assert main([]) == 2
    assert "info" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["nonsense"])


def test_warmup_shows_progress(monkeypatch, capsys):
    import spformats_plugins.numba as plugin

    monkeypatch.setattr(plugin, "warmup", lambda progress: progress(1, 2, "spmv csr"), raising=False)
    assert main(["warmup"]) == 0
    assert "[  1/2]" in capsys.readouterr().out
