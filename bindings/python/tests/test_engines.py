"""Serving engines find the package by its metadata and use it in xgrammar's place: their calls, in their order."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import grammask

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]


@pytest.fixture
def installed(tmp_path):
    """A folder with what an installer writes about the package."""
    folder = tmp_path / f"grammask-{grammask.__version__}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: grammask\nVersion: {grammask.__version__}\n")
    points = configparser.ConfigParser()
    points.read_dict(PROJECT["entry-points"])
    with (folder / "entry_points.txt").open("w") as file:
        points.write(file)
    return tmp_path


def run(script, installed, *arguments, **settings):
    package = Path(grammask.__file__).parent.parent
    path = [installed, package, HERE / "engines" / "packages"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GRAMMASK_")}
    environment |= {"PYTHONPATH": os.pathsep.join(map(str, path)), **settings}
    program = [sys.executable, str(HERE / "engines" / script), *arguments]
    done = subprocess.run(program, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


def test_vllm(installed):
    run("run_vllm.py", installed, GRAMMASK_AS_XGRAMMAR="1")


def test_vllm_with_exact_schemas(installed):
    run("run_vllm.py", installed, GRAMMASK_AS_XGRAMMAR="1", GRAMMASK_COMPAT="0")


def test_sglang(installed):
    run("run_sglang.py", installed, "grammask")


def test_sglang_in_the_place_of_xgrammar(installed):
    run("run_sglang.py", installed, "xgrammar", GRAMMASK_AS_XGRAMMAR="1")
