"""Triton kernels of a transformer layer: the steps for which PyTorch alone would need several kernels.

Needs a GPU. `TRITON_INTERPRET=1` runs the Triton kernels on a CPU, which is enough to check their results.
"""

import torch
import triton
import triton.language as tl

PAGE = 16  # tokens of a page of the KV cache, as in vLLM


@triton.jit
def _add_norm(x, residual, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    at = tl.arange(0, BLOCK)
    inside = at < width
    value = tl.load(x + row + at, inside, 0.0).to(tl.float32) + tl.load(residual + row + at, inside, 0.0).to(tl.float32)
    tl.store(residual + row + at, value.to(residual.dtype.element_ty), inside)
    scale = tl.rsqrt(tl.sum(value * value, 0) / width + 1e-5)
    tl.store(out + row + at, (value * scale).to(out.dtype.element_ty), inside)


def add_norm(x, residual, dtype):
    """Adds x to the residual in place, and returns the RMS norm of the sum as `dtype`."""
    out = torch.empty(x.shape, dtype=dtype, device=x.device)
    _add_norm[(x.shape[0],)](x, residual, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return out


@triton.jit
def _gated(gate_up, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = at < width
    gate = tl.load(gate_up + row * 2 * width + at, inside, 0.0).to(tl.float32)
    up = tl.load(gate_up + row * 2 * width + width + at, inside, 0.0).to(tl.float32)
    tl.store(out + row * width + at, (gate * tl.sigmoid(gate) * up).to(out.dtype.element_ty), inside)


def gated(gate_up, dtype):
    """Returns SiLU(gate) * up as `dtype`. A row of `gate_up` holds the gate, then up."""
    width = gate_up.shape[1] // 2
    out = torch.empty((gate_up.shape[0], width), dtype=dtype, device=gate_up.device)
    _gated[(gate_up.shape[0], triton.cdiv(width, 1024))](gate_up, out, width, BLOCK=1024)
    return out


@triton.jit
def _rotate(qkv, cos_sin, out, cache, q_heads, kv_heads, HALF: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    at = tl.arange(0, HALF)
    source = qkv + (row * (q_heads + 2 * kv_heads) + head) * 2 * HALF + at
    low = tl.load(source).to(tl.float32)
    high = tl.load(source + HALF).to(tl.float32)
    if head < q_heads + kv_heads:
        cos = tl.load(cos_sin + row * 2 * HALF + at)
        sin = tl.load(cos_sin + row * 2 * HALF + HALF + at)
        low, high = low * cos - high * sin, high * cos + low * sin
    if head < q_heads:
        query = out + (row * q_heads + head) * 2 * HALF + at
        tl.store(query, low.to(out.dtype.element_ty))
        tl.store(query + HALF, high.to(out.dtype.element_ty))
    else:
        stored = cache + (row * 2 * kv_heads + head - q_heads) * 2 * HALF + at
        tl.store(stored, low.to(cache.dtype.element_ty))
        tl.store(stored + HALF, high.to(cache.dtype.element_ty))


def rotate(qkv, cos_sin, q_heads, kv_heads, cache):
    """Rotates queries and keys by their positions, writes keys and values to `cache`, and returns the queries.

    A row of `cos_sin` holds the cosines of a position, then its sines. A row of `cache` holds the keys of all heads,
    then the values.
    """
    head_dim = qkv.shape[1] // (q_heads + 2 * kv_heads)
    out = torch.empty((qkv.shape[0], q_heads * head_dim), dtype=qkv.dtype, device=qkv.device)
    _rotate[(qkv.shape[0], q_heads + 2 * kv_heads)](qkv, cos_sin, out, cache, q_heads, kv_heads, HALF=head_dim // 2,
                                                    num_warps=1)
    return out


@triton.jit
def _decode_part(q, keys, values, pages, parts, log_sums, context, pages_each, split_tokens, scale, q_heads, kv_heads,
                 GROUP: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, PAGE: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    splits = tl.num_programs(2)
    row = tl.arange(0, ROWS)  # a matrix product needs 16 rows, so the rows after the group's heads are empty
    at = tl.arange(0, DIM)
    head = kv_head * GROUP + row
    real = row < GROUP
    query = tl.load(q + (request * q_heads + head)[:, None] * DIM + at[None, :], real[:, None], 0.0)
    if keys.dtype.element_ty == tl.float8e4nv:
        query = query.to(tl.float16)  # one instruction converts FP8 to float16; to bfloat16 it takes several
    top = tl.full([ROWS], -1e30, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, DIM], tl.float32)
    begin = split * split_tokens
    end = tl.minimum(begin + split_tokens, context)
    for first in range(begin, end, BLOCK):
        token = first + tl.arange(0, BLOCK)
        inside = token < end
        page = tl.load(pages + request * pages_each + token // PAGE, inside, 0).to(tl.int64)
        slot = ((page * PAGE + token % PAGE) * kv_heads + kv_head)[:, None] * DIM + at[None, :]
        key = tl.load(keys + slot, inside[:, None], 0.0).to(query.dtype)
        score = tl.where(inside[None, :], tl.dot(query, tl.trans(key)) * scale, -1e30)
        new_top = tl.maximum(top, tl.max(score, 1))
        weight = tl.exp(score - new_top[:, None])
        shrink = tl.exp(top - new_top)
        value = tl.load(values + slot, inside[:, None], 0.0).to(query.dtype)
        acc = acc * shrink[:, None] + tl.dot(weight.to(query.dtype), value)
        total = total * shrink + tl.sum(weight, 1)
        top = new_top
    part = (request * q_heads + head) * splits + split
    total = tl.maximum(total, 1e-30)
    tl.store(parts + part[:, None] * DIM + at[None, :], acc / total[:, None], real[:, None])
    tl.store(log_sums + part, top + tl.log(total), real)


@triton.jit
def _decode_sum(parts, log_sums, out, splits, SPLITS: tl.constexpr, DIM: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    split = tl.arange(0, SPLITS)
    at = tl.arange(0, DIM)
    log_sum = tl.load(log_sums + row * splits + split, split < splits, -1e30)
    weight = tl.exp(log_sum - tl.max(log_sum, 0))
    part = tl.load(parts + (row * splits + split)[:, None] * DIM + at[None, :], (split < splits)[:, None], 0.0)
    result = tl.sum(part * weight[:, None], 0) / tl.sum(weight, 0)
    tl.store(out + row * DIM + at, result.to(out.dtype.element_ty))


def decode_attention(q, keys, values, pages, context, splits, block=64, warps=4):
    """Returns the attention of one new token of each request over `context` tokens of paged KV.

    q is [requests, heads, head_dim]; keys and values are [pages, PAGE, kv_heads, head_dim] in bfloat16 or FP8; `pages`
    holds the pages of each request. The context is computed in `splits` parts, because a few long requests alone would
    not fill the GPU. Each part is read in blocks of `block` tokens by `warps` warps.
    """
    requests, q_heads, dim = q.shape
    kv_heads = keys.shape[2]
    split_tokens = triton.cdiv(triton.cdiv(context, splits), block) * block
    parts = torch.empty((requests, q_heads, splits, dim), dtype=torch.float32, device=q.device)
    log_sums = torch.empty((requests, q_heads, splits), dtype=torch.float32, device=q.device)
    out = torch.empty_like(q)
    group = q_heads // kv_heads
    _decode_part[(requests, kv_heads, splits)](
        q, keys, values, pages, parts, log_sums, context, pages.shape[1], split_tokens, dim**-0.5, q_heads, kv_heads,
        GROUP=group, ROWS=max(16, triton.next_power_of_2(group)), DIM=dim, BLOCK=block, PAGE=PAGE,
        num_warps=warps, num_stages=3)
    _decode_sum[(requests * q_heads,)](parts, log_sums, out, splits, SPLITS=triton.next_power_of_2(splits), DIM=dim)
    return out
