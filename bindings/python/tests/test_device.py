"""Bitmasks onto tensors on a CUDA device, by torch itself. Left out where torch or a device is missing."""

from __future__ import annotations

import os

import numpy as np
import pytest
from conftest import VOCAB_SIZE

import grammask
from grammask import testing
from grammask.contrib.hf import LogitsProcessor

torch = pytest.importorskip("torch")
if not torch.cuda.is_available() and not os.environ.get("GRAMMASK_REQUIRE_DEVICE"):
    pytest.skip("torch finds no CUDA device", allow_module_level=True)

BACKENDS = ("auto", "cuda", "triton", "torch_native", "torch_compile")
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def random_mask(rows, tokens, share=0.5):
    keep = torch.rand(rows, tokens) < share
    bits = torch.from_numpy(testing.bool_mask_to_bitmask(keep.numpy()))
    return keep.cuda(), bits.cuda()


def masked(logits, keep):
    return logits.masked_fill(~keep, float("-inf"))


def apply(logits, bits, **arguments):
    grammask.apply_token_bitmask_inplace(logits, bits, **arguments)
    return logits


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tokens", [1, 31, 70, 4099, 128_256])
def test_every_layout(dtype, tokens):
    torch.manual_seed(tokens)
    rows = 4
    keep, bits = random_mask(rows, tokens)
    logits = torch.randn(rows, tokens, device="cuda").to(dtype)
    want = masked(logits, keep)
    for backend in BACKENDS:
        assert torch.equal(apply(logits.clone(), bits, backend=backend), want), backend
    for indices in ([2, 0], torch.tensor([2, 0]), torch.tensor([0, 2], device="cuda"), np.array([2, 0])):
        found = apply(logits.clone(), bits, indices=indices)
        assert torch.equal(found[[0, 2]], want[[0, 2]]) and torch.equal(found[[1, 3]], logits[[1, 3]])
    assert torch.equal(apply(logits.clone(), bits, indices=[]), logits)
    narrow = apply(logits.clone(), bits, vocab_size=tokens // 2)
    assert torch.equal(narrow[:, : tokens // 2], want[:, : tokens // 2])
    assert torch.equal(narrow[:, tokens // 2 :], logits[:, tokens // 2 :])
    wide = torch.zeros(rows, 2 * tokens, dtype=dtype, device="cuda")
    wide[:, ::2] = logits
    assert torch.equal(apply(wide[:, ::2], bits), want) and not wide[:, 1::2].any(), "columns with a stride"
    turned = logits.t().contiguous().t()
    assert torch.equal(apply(turned, bits), want), "columns side by side"
    for before in range(1, 9):
        padded = torch.zeros(rows, before + tokens + 3, dtype=dtype, device="cuda")
        padded[:, before : before + tokens] = logits
        assert torch.equal(apply(padded[:, before : before + tokens], bits), want), "rows that are not aligned"
        assert not padded[:, :before].any() and not padded[:, before + tokens :].any()
    spread = torch.stack([bits, torch.zeros_like(bits)], dim=2).flatten(1)[:, ::2]
    assert torch.equal(apply(logits.clone(), spread), want), "a bitmask with a stride"
    assert torch.equal(apply(logits[1].clone(), bits[1]), want[1])


def test_special_values_keep_their_bits():
    special = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0, 1e-40, 3e38])
    for dtype, bits in ((torch.float32, torch.int32), (torch.float16, torch.int16), (torch.bfloat16, torch.int16)):
        logits = special.to(dtype).repeat(3, 1000).cuda()
        keep, mask = random_mask(*logits.shape)
        want = masked(logits, keep).view(bits)
        assert torch.equal(apply(logits.clone(), mask).view(bits), want)


def test_a_batch_of_gigabytes():
    rows, tokens = 256, 256_000
    keep, bits = random_mask(rows, tokens, 0.01)
    for dtype in (torch.float32, torch.bfloat16):
        logits = torch.randn(rows, tokens, device="cuda").to(dtype)
        want = masked(logits, keep)
        assert torch.equal(apply(logits, bits, backend="cuda"), want)
    # More logits than 32 bits count.
    rows = 18_000
    logits = torch.zeros(rows, tokens, dtype=torch.bfloat16, device="cuda")
    row = torch.zeros(tokens, dtype=torch.bfloat16, device="cuda")
    apply(logits, bits[:1].expand(rows, -1), backend="cuda")
    row.masked_fill_(~keep[0], float("-inf"))
    assert all(torch.equal(logits[index], row) for index in (0, 1, 8_388, 8_389, 16_777, 16_778, rows - 1))


def test_rows_on_the_device_that_are_none():
    keep, bits = random_mask(3, 500)
    logits = torch.randn(3, 500, device="cuda")
    rows = torch.tensor([-1, 1, 3, 2**31 - 1, -(2**31)], device="cuda")
    found = apply(logits.clone(), bits, indices=rows, backend="cuda")
    torch.cuda.synchronize()
    assert torch.equal(found[1], masked(logits, keep)[1]) and torch.equal(found[[0, 2]], logits[[0, 2]])


def test_mistakes():
    _, bits = random_mask(2, 70)
    logits = torch.zeros(2, 70, device="cuda")
    wrong = [
        (logits, bits.cpu(), {}),
        (logits.cpu(), bits, {}),
        (logits, bits, {"backend": "cpu"}),
        (logits, bits.long(), {}),
        (logits, bits[:1], {}),
    ]
    for tensor, mask, arguments in wrong:
        with pytest.raises(ValueError):
            apply(tensor, mask, **arguments)
    with pytest.raises(IndexError):
        apply(logits, bits, indices=[2])
    with pytest.raises(ValueError, match="on cuda"):
        grammask.choose_tokens(logits, bits)
    assert not logits.any()


def test_the_kernel_is_on_the_stream_of_the_caller():
    keep, bits = random_mask(8, 32_000)
    other = torch.cuda.Stream()
    busy = torch.randn(4096, 4096, device="cuda")
    for _ in range(20):
        logits = torch.zeros(8, 32_000, device="cuda")
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            for _ in range(8):
                busy = busy @ busy
                busy = busy / busy.norm()
            # Written late on this stream: a kernel on another one would come before it.
            logits.copy_(torch.full_like(logits, 3.0) + busy[0, 0] * 0)
            apply(logits, bits, backend="cuda")
        torch.cuda.current_stream().wait_stream(other)
        assert torch.equal(logits, masked(torch.full_like(logits, 3.0), keep))


def test_a_graph_records_the_kernel():
    keep, bits = random_mask(4, 128_256)
    logits = torch.randn(4, 128_256, device="cuda")
    apply(logits.clone(), bits, backend="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        apply(logits, bits, backend="cuda")
    for _ in range(3):
        fresh = torch.randn(4, 128_256, device="cuda")
        keep, again = random_mask(4, 128_256)
        logits.copy_(fresh)
        bits.copy_(again)
        graph.replay()
        assert torch.equal(logits, masked(fresh, keep))


def test_a_matcher_s_masks_reach_the_device(info, compiler):
    matcher = grammask.GrammarMatcher(compiler.compile_regex("ab*"))
    bits = grammask.allocate_token_bitmask(2, info.vocab_size, backend="torch")
    pinned = bits.pin_memory()
    for target in (bits, pinned):
        matcher.fill_next_token_bitmask(target, 1)
        logits = apply(torch.zeros(2, info.vocab_size, device="cuda"), target.to("cuda", non_blocking=True))
        assert torch.isfinite(logits[0]).all() and torch.isfinite(logits[1]).nonzero().tolist() == [[ord("a")]]


@pytest.mark.parametrize("beams", [1, 3])
def test_transformers_generate_on_the_device(compiler, beams):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(beams)
    shape = transformers.LlamaConfig(
        vocab_size=VOCAB_SIZE + 10,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        pad_token_id=0,
        eos_token_id=260,
        bos_token_id=1,
    )
    model = transformers.LlamaForCausalLM(shape).to("cuda", torch.bfloat16).eval()
    compiled = compiler.compile_json_schema({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 4})
    prompts = torch.randint(1, 250, (5, 7), device="cuda")
    out = model.generate(
        prompts,
        max_new_tokens=60,
        do_sample=True,
        num_beams=beams,
        logits_processor=[LogitsProcessor(compiled)],
        pad_token_id=0,
    )
    for row in out[:, 7:].tolist():
        matcher = grammask.GrammarMatcher(compiled)
        for token in row:
            if matcher.is_terminated():
                break
            assert matcher.accept_token(token), row
        assert matcher.is_terminated() or len(row) == 60
