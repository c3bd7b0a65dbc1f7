"""Times xgrammar's kernels on the shapes of benches/cuda.rs, and appends them to its newest table.

Usage: xgrammar_kernels.py FOLDER. Needs torch with a CUDA device, and xgrammar.
"""

import csv
import glob
import os
import sys

import torch
import xgrammar

BATCHES = [1, 4, 16, 64, 256]
COLUMNS = [32_000, 128_256, 200_019, 256_000]
PERCENTS = [1, 50, 99]
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
# As in benches/cuda.rs: enough memory to walk through that no cache holds it.
COLD_BYTES = 512 << 20
ROUNDS = 50


def words(rows, columns, percent, generator):
    count = (columns + 31) // 32 * 32
    allowed = torch.randint(0, 100, (rows, count), generator=generator) < percent
    bits = allowed.view(rows, -1, 32).to(torch.int64) << torch.arange(32)
    return bits.sum(-1).to(torch.int32).cuda()


def microseconds(call, buffers):
    for index in range(3):
        call(buffers[index % len(buffers)])
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    for index in range(ROUNDS):
        call(buffers[index % len(buffers)])
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / ROUNDS


def measure(backend, rows):
    generator = torch.Generator().manual_seed(1)
    for name, dtype in TYPES.items():
        for columns in COLUMNS:
            for batch in BATCHES:
                size = batch * columns * dtype.itemsize
                count = max(1, min(COLD_BYTES // size, ROUNDS))
                logits = [torch.zeros(batch, columns, dtype=dtype, device="cuda") for _ in range(count)]
                for percent in PERCENTS:
                    mask = words(batch, columns, percent, generator)

                    def call(one, mask=mask):
                        xgrammar.apply_token_bitmask_inplace(one, mask, vocab_size=columns, backend=backend)

                    time = microseconds(call, logits)
                    rows.append([f"xgrammar {backend}", name, columns, batch, percent, f"{time:.3f}", ""])
                    print(*rows[-1], flush=True)


def main():
    tables = sorted(glob.glob(os.path.join(sys.argv[1], "*-gpu-apply.csv")))
    if not tables:
        sys.exit("there is no table to append to; run `cargo xtask gpu` first")
    rows = []
    for backend in ["triton", "cuda"]:
        try:
            measure(backend, rows)
        except Exception as error:  # A backend that does not compile here is a fact to report, not to stop at.
            print(f"skipped: xgrammar {backend}: {error}")
    with open(tables[-1], "a", newline="") as table:
        csv.writer(table, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
