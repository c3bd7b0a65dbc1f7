"""Times the kernels of grammask and xgrammar through their Python packages, and appends them to the newest table.

Usage: python_kernels.py FOLDER. Needs torch with a CUDA device, and one of the packages. They take turns, and each
result is compared with torch's own operations before it is timed. The shapes are those of benches/cuda.
"""

import csv
import glob
import importlib
import itertools
import os
import sys
import time

import torch

BATCHES = [1, 4, 16, 64, 256]
COLUMNS = [32_000, 128_256, 200_019, 256_000]
PERCENTS = [1, 50, 99]
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
KERNELS = [("grammask", "cuda"), ("xgrammar", "triton"), ("xgrammar", "cuda")]
# As in benches/cuda: enough memory to walk through that no cache holds it.
COLD_BYTES = 512 << 20
ROUNDS = 50


def random_words(rows, columns, percent, generator):
    """Random masks on the device, and what they allow."""
    count = (columns + 31) // 32 * 32
    allowed = torch.randint(0, 100, (rows, count), generator=generator, device="cuda", dtype=torch.int32) < percent
    bits = allowed.view(rows, -1, 32).to(torch.int64) << torch.arange(32, device="cuda")
    return bits.sum(-1).to(torch.int32), allowed[:, :columns]


def microseconds(call, buffers):
    """Of one call: how long the device takes, and how long the caller's thread does."""
    for index in range(3):
        call(buffers[index % len(buffers)])
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin = time.perf_counter()
    start.record()
    for index in range(ROUNDS):
        call(buffers[index % len(buffers)])
    end.record()
    thread = time.perf_counter() - begin
    end.synchronize()
    return start.elapsed_time(end) * 1000 / ROUNDS, thread * 1e6 / ROUNDS


def kernel(package, backend):
    apply = importlib.import_module(package).apply_token_bitmask_inplace
    return lambda logits, mask, columns: apply(logits, mask, vocab_size=columns, backend=backend)


def check(apply, dtype, mask, allowed):
    before = torch.randn(allowed.shape, device="cuda").to(dtype)
    found = before.clone()
    apply(found, mask, allowed.shape[1])
    if not torch.equal(found, before.masked_fill(~allowed, float("-inf"))):
        raise ValueError(f"{dtype}, shape {tuple(allowed.shape)}: a logit is wrong")


def measure(kernels, rows):
    generator = torch.Generator("cuda").manual_seed(1)
    for (name, dtype), columns, batch in itertools.product(TYPES.items(), COLUMNS, BATCHES):
        count = max(1, min(COLD_BYTES // (batch * columns * dtype.itemsize), ROUNDS))
        logits = [torch.zeros(batch, columns, dtype=dtype, device="cuda") for _ in range(count)]
        for percent in PERCENTS:
            mask, allowed = random_words(batch, columns, percent, generator)
            for what, apply in kernels.items():
                check(apply, dtype, mask, allowed)
                device, thread = microseconds(lambda one, apply=apply: apply(one, mask, columns), logits)
                for place, time in ((what, device), (f"{what}: thread", thread)):
                    rows.append([place, name, columns, batch, percent, f"{time:.3f}", ""])
                print(f"{what:30} {name:4} {columns:6} x {batch:3} {percent:3}% {device:10.2f} us, thread {thread:.2f}", flush=True)


def main():
    tables = sorted(glob.glob(os.path.join(sys.argv[1], "*-gpu-apply.csv")))
    if not tables:
        sys.exit("there is no table to append to; run `cargo xtask gpu` first")
    kernels = {}
    for package, backend in KERNELS:
        try:
            apply = kernel(package, backend)
            check(apply, torch.float32, *random_words(2, 100, 50, torch.Generator("cuda")))
            kernels[f"{package} {backend} in Python"] = apply
        except Exception as error:
            if package == "grammask" and not isinstance(error, ImportError):
                raise
            # That a package is missing, or a peer does not compile its kernel here, is a fact to report.
            print(f"skipped: {package} {backend}: {error}")
    rows = []
    measure(kernels, rows)
    with open(tables[-1], "a", newline="") as table:
        csv.writer(table, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
