"""Serving engines find the package by its metadata and use it in xgrammar's place: their calls, in their order."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import tomllib
import venv
from pathlib import Path

import numpy as np
import pytest

import grammask

try:
    import pydantic
except ImportError:
    pydantic = None

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the package as an installer leaves it, beside another package named xgrammar."""
    folder = tmp_path_factory.mktemp("environment")
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    description = site / f"grammask-{grammask.__version__}.dist-info"
    description.mkdir()
    (description / "METADATA").write_text(f"Metadata-Version: 2.1\nName: grammask\nVersion: {grammask.__version__}\n")
    points = configparser.ConfigParser()
    points.read_dict(PROJECT["entry-points"])
    with (description / "entry_points.txt").open("w") as file:
        points.write(file)
    for path in (HERE.parent / "grammask.data" / "platlib").iterdir():
        shutil.copy(path, site)
    others = [Path(module.__file__).parent.parent for module in (grammask, np, pydantic) if module]
    (site / "others.pth").write_text("".join(f"{path}\n" for path in [*others, HERE / "engines" / "packages"]))
    return folder / "bin" / "python"


def run(script, python, *arguments, **settings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GRAMMASK_")}
    environment = {key: value for key, value in environment.items() if key != "PYTHONPATH"} | settings
    program = [python, HERE / "engines" / script, *arguments]
    done = subprocess.run(program, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


def test_in_the_place_of_xgrammar_from_the_start(installed):
    run("run_from_the_start.py", installed, "xgrammar")
    run("run_from_the_start.py", installed, "xgrammar", GRAMMASK_AS_XGRAMMAR="0")
    run("run_from_the_start.py", installed, "grammask", GRAMMASK_AS_XGRAMMAR="1")


def test_vllm(installed):
    run("run_vllm.py", installed, GRAMMASK_AS_XGRAMMAR="1")


def test_vllm_with_exact_schemas(installed):
    run("run_vllm.py", installed, GRAMMASK_AS_XGRAMMAR="1", GRAMMASK_COMPAT="0")


def test_sglang(installed):
    run("run_sglang.py", installed, "grammask")


def test_sglang_in_the_place_of_xgrammar(installed):
    run("run_sglang.py", installed, "xgrammar", GRAMMASK_AS_XGRAMMAR="1")
