"""Python blocks of our Markdown pages, for the tests that run them."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def python_blocks(page):
    """The fenced ``python`` blocks of a page, in order."""
    return re.findall(
        r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )


def run_blocks(page, folder):
    """Run all blocks of a page as one program, in an empty folder and a process of its own; return what it prints."""
    blocks = python_blocks(page)
    assert blocks, f"{page} has no python block"
    program = folder / "blocks.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    return run([program], cwd=folder)


def run(arguments, cwd=ROOT):
    """Run Python with these arguments; the test fails, with the output, unless it exits with 0."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, encoding="utf-8", timeout=600
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
