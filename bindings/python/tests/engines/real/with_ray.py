"""The example of batch inference on a Ray cluster: two nodes, which are processes of this machine.

Three runs over the same lines: in peace, with a worker killed in mid-run, and with a node killed. Their outputs have to
be the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import BAD_SCHEMAS, ORDER, PERSON, WEATHER, Report, arguments, fits, offline_settings

EXAMPLE = Path(__file__).parents[5] / "examples/ray/batch_inference.py"
NAMES = ["Ann", "Bob", "Cem", "Dora", "Emil", "Fatma", "Gus", "Hana"]


def lines() -> list[dict[str, Any]]:
    found = []
    for at, name in enumerate(NAMES):
        found.append({"prompt": f"Describe {name}, who is {20 + at}, as JSON.", "schema": PERSON})
        found.append({"prompt": f"Write an order of {name}'s as JSON.", "schema": ORDER})
        found.append({"prompt": f"{name} asks for the weather in Paris. Call it with JSON.", "schema": WEATHER})
    found[5]["schema"] = BAD_SCHEMAS[0]
    return [{"id": f"line-{number}"} | line for number, line in enumerate(found)]


@contextlib.contextmanager
def two_nodes() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        cluster.other = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        cluster.shutdown()


def run(model: Path, folder: Path, name: str, disturb: Any = None) -> tuple[list[dict[str, Any]], str]:
    """Runs the example on two nodes. `disturb(cluster, processes)` is called once, after the third batch."""
    source, target = folder / "input.jsonl", folder / f"{name}.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines()))
    with two_nodes() as cluster:
        command = [sys.executable, str(EXAMPLE), "--model", str(model), "--address", cluster.address]
        command += ["--batch", "3", "--max-tokens", "96", str(source), str(target)]
        example = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said, processes = [], []
        for line in example.stdout:
            print(f"  {line.rstrip()}", flush=True)
            said.append(line)
            if line.startswith("a worker has started"):
                processes.append(int(line.split()[-1]))
            if disturb is not None and line.startswith("3 of "):
                assert not target.exists(), "the output is there before it is complete"
                disturb(cluster, processes)
        assert example.wait() == 0, "".join(said)[-2000:]
    assert not target.with_name(target.name + ".part").exists()
    return [json.loads(line) for line in target.read_text().splitlines()], said[-1].strip()


def check_output(answers: list[dict[str, Any]]) -> str:
    asked = lines()
    assert [answer["id"] for answer in answers] == [line["id"] for line in asked], "the order is another"
    ended = 0
    for line, answer in zip(asked, answers, strict=True):
        if line["schema"] in BAD_SCHEMAS:
            assert "missing" in answer["error"], answer
        elif "text" in answer:
            assert fits(line["schema"], answer["text"]), answer
            ended += 1
        else:
            assert "did not end" in answer["error"], answer
    assert ended >= 2 * len(asked) // 3, f"{ended} of {len(asked)} texts ended"
    return f"{len(answers)} lines in order, {ended} texts obey their schemas, 1 schema refused"


def main() -> None:
    chosen = arguments().parse_args()
    offline_settings()
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "OMP_NUM_THREADS": "1", "RAY_DEDUP_LOGS": "0"}
    report = Report("ray", ["ray", "torch", "transformers"])
    outputs: dict[str, list[dict[str, Any]]] = {}

    def kill_worker(_cluster: Any, processes: list[int]) -> None:
        os.kill(processes[0], signal.SIGKILL)

    def kill_node(cluster: Any, _processes: list[int]) -> None:
        cluster.remove_node(cluster.other, allow_graceful=False)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def check(name: str, disturb: Any, lost: int) -> str:
            start = time.perf_counter()
            outputs[name], last = run(chosen.model, folder, name, disturb)
            took = time.perf_counter() - start
            said = check_output(outputs[name])
            assert last.startswith(f"{len(lines())} lines, ") and last.endswith(" workers lost"), last
            # On a machine without time to spare Ray takes others for lost, too.
            assert int(last.split()[2]) >= lost, last
            assert outputs[name] == outputs["in peace"], "the output is another than in peace"
            return f"{said}; {last.split(', ')[1]}; {took:.0f} s"

        report.check("two nodes of one machine", "in peace", lambda: check("in peace", None, 0))
        report.check("two nodes of one machine", "a worker killed in mid-run",
                     lambda: check("a worker killed", kill_worker, 1))
        report.check("two nodes of one machine", "a node killed in mid-run",
                     lambda: check("a node killed", kill_node, 1))
    report.finish(chosen.record)


if __name__ == "__main__":
    main()
