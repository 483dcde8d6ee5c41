"""Measures the kernels of one step of a dense transformer on one NVIDIA GPU. Needs PyTorch with CUDA, and Triton."""

import itertools
import math
import statistics
import sys

import torch
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import fit
import kernels

COLD_BYTES = 512 * 2**20   # the layers of a graph use this much memory at least, so that no cache holds their data
POOL_TOKENS = 2**20        # largest KV cache of a layer that is measured
BATCHES = (1, 8, 16, 32, 64, 128, 256)
CONTEXTS = (256, 1024, 2048, 4096, 8192)
PROMPTS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
SPLITS = (1, 2, 4, 8, 16, 32)
BLOCKS = ((64, 4), (128, 4), (128, 8))  # tokens and warps
SECONDS = 0.03             # time of one of three repetitions
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def milliseconds(run):
    """Returns the median time of run() as a CUDA graph, which leaves out the time to launch the kernels."""
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def replay(times):
        begin.record()
        for _ in range(times):
            graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / times

    replay(1)
    times = max(1, min(1000, int(SECONDS * 1000 / replay(2))))
    return statistics.median(replay(times) for _ in range(3))


def milliseconds_if_it_fits(run):
    """Returns milliseconds(run), or infinity if a Triton kernel needs more shared memory than the GPU has."""
    try:
        return milliseconds(run)
    except triton.OutOfResources:
        return math.inf


def normal(*size, dtype=torch.bfloat16):
    """Returns random values: with zeros, a GPU needs less power and runs faster."""
    return torch.randn(*size, device="cuda", dtype=torch.bfloat16).to(dtype)


class Layer:
    """The matrix products and the element-wise kernels of one layer."""

    def __init__(self, shape, dtype):
        hidden, inner, dim = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
        self.q_heads, self.kv_heads = shape["num_attention_heads"], shape["num_key_value_heads"]
        self.dtype = dtype
        self.scale = torch.ones((), device="cuda")
        rows_columns = {"qkv": ((self.q_heads + 2 * self.kv_heads) * dim, hidden), "o": (hidden, self.q_heads * dim),
                        "gate_up": (2 * inner, hidden), "down": (hidden, inner)}
        # FP8 has few values near 0, so FP8 weights have a magnitude of about 1, and a scale makes them small.
        self.scales = {name: torch.full((), size[1]**-0.5, device="cuda") for name, size in rows_columns.items()}
        self.weights = {name: normal(*size).to(dtype) if self.is_fp8() else normal(*size) * size[1]**-0.5
                        for name, size in rows_columns.items()}

    def is_fp8(self):
        return self.dtype != torch.bfloat16

    def bytes(self):
        return sum(weight.numel() * weight.element_size() for weight in self.weights.values())

    def product(self, x, name):
        if not self.is_fp8():
            return torch.mm(x, self.weights[name].t())
        return torch._scaled_mm(x, self.weights[name].t(), scale_a=self.scale, scale_b=self.scales[name],
                                out_dtype=torch.bfloat16, use_fast_accum=True)

    def run(self, x, residual, cos_sin, cache):
        """Runs the layer without attention: the queries stand in for the result of attention."""
        qkv = self.product(kernels.add_norm(x, residual, self.dtype), "qkv")
        attended = kernels.rotate(qkv, cos_sin, self.q_heads, self.kv_heads, cache)
        out = self.product(attended.to(self.dtype), "o")
        gate_up = self.product(kernels.add_norm(out, residual, self.dtype), "gate_up")
        return self.product(kernels.gated(gate_up, self.dtype), "down")


def layers(shape, dtype, kv_dtype):
    """Yields the time of all layers without attention for each number of tokens."""
    stack = [Layer(shape, dtype)]
    while len(stack) < shape["num_hidden_layers"] and len(stack) * stack[0].bytes() < COLD_BYTES:
        stack.append(Layer(shape, dtype))
    for n in fit.GRID:
        x, residual = normal(n, shape["hidden_size"]), normal(n, shape["hidden_size"])
        angle = torch.rand(n, shape["head_dim"] // 2, device="cuda") * 2 * math.pi
        cos_sin = torch.cat([angle.cos(), angle.sin()], 1)
        cache = torch.empty(n, 2 * stack[0].kv_heads * shape["head_dim"], device="cuda", dtype=kv_dtype)

        def run():
            y = x
            for layer in stack:
                y = layer.run(y, residual, cos_sin, cache)

        ms = milliseconds(run) * shape["num_hidden_layers"] / len(stack)
        yield {"part": "layers", "kernel": "cublas", "tokens": n, "requests": 0, "kv_tokens": 0, "ms": ms}


def lm_head(shape):
    """Yields the time of the last norm and the LM head, which stay in bfloat16 in a model with FP8 weights."""
    weight = normal(shape["vocab_size"], shape["hidden_size"]) * shape["hidden_size"]**-0.5
    for n in fit.GRID:
        x, residual = normal(n, shape["hidden_size"]), normal(n, shape["hidden_size"])
        ms = milliseconds(lambda: torch.mm(kernels.add_norm(x, residual, weight.dtype), weight.t()))
        yield {"part": "lm_head", "kernel": "cublas", "tokens": n, "requests": 0, "kv_tokens": 0, "ms": ms}


def paged(requests, context, layer_count, pool_pages):
    """Returns the pages of each request in each layer, in random order."""
    each = context // kernels.PAGE
    order = torch.randperm(pool_pages, device="cuda", dtype=torch.int32)[:layer_count * requests * each]
    return order.view(layer_count, requests, each)


def decode(shape, kv_dtype):
    """Yields the time of the attention of decode in all layers for each batch size and context."""
    q_heads, kv_heads, dim = (shape[name] for name in ("num_attention_heads", "num_key_value_heads", "head_dim"))
    pool_pages = 2 * POOL_TOKENS // kernels.PAGE
    keys, values = (normal(pool_pages, kernels.PAGE, kv_heads, dim, dtype=kv_dtype) for _ in range(2))
    check_decode(keys, values, q_heads)
    for requests, context in itertools.product(BATCHES, CONTEXTS):
        if requests * context > POOL_TOKENS:
            continue
        count = min(shape["num_hidden_layers"], 2 * POOL_TOKENS // (requests * context))
        pages = paged(requests, context, count, pool_pages)
        q = normal(requests, q_heads, dim)
        row = {"part": "decode", "tokens": requests, "requests": requests, "kv_tokens": requests * context}
        all_layers = shape["num_hidden_layers"] / count
        splits = [s for s in SPLITS if s == 1 or (s * 128 <= context and s * requests * kv_heads <= 2048)][-4:]
        yield row | {"kernel": "triton", "ms": all_layers * min(milliseconds_if_it_fits(lambda: [
            kernels.decode_attention(q, keys, values, pages[i], context, parts, *block) for i in range(count)])
            for parts, block in itertools.product(splits, BLOCKS))}
        if kv_dtype == torch.bfloat16:
            length = requests * context * count // kernels.PAGE
            key, value = (pool[:length].view(count, requests, context, kv_heads, dim).transpose(2, 3)
                          for pool in (keys, values))
            for name, ms in library_attention(lambda: [
                    scaled_dot_product_attention(q[:, :, None], key[i], value[i], enable_gqa=True)
                    for i in range(count)]):
                yield row | {"kernel": name, "ms": all_layers * ms}


def check_decode(keys, values, q_heads):
    """Stops the program if the result of the decode kernel differs from attention by 2 % or more."""
    context, splits = 208, 4
    pages = paged(3, context, 1, keys.shape[0])[0]
    q = normal(3, q_heads, keys.shape[3])
    got = kernels.decode_attention(q, keys, values, pages, context, splits).float()
    key, value = (part[pages.long()].flatten(1, 2).float().transpose(1, 2).repeat_interleave(
        q_heads // keys.shape[2], 1) for part in (keys, values))
    score = torch.softmax((q.float()[:, :, None] * key).sum(3) * keys.shape[3]**-0.5, 2)
    want = (score[..., None] * value).sum(2)
    error = ((got - want).norm() / want.norm()).item()
    if not error < 0.02:
        sys.exit(f"measure-steps: the decode kernel is wrong on this GPU: its error is {error:.3f}, expected less than "
                 "0.02")


def library_attention(run):
    """Yields the name and the time of each of PyTorch's kernels that can compute run()."""
    for name, backend in BACKENDS.items():
        try:
            with sdpa_kernel(backend):
                ms = milliseconds(run)
        except RuntimeError:  # PyTorch has no such kernel for this GPU, format or shape
            continue
        yield name, ms


def prefill(shape):
    """Yields the time of causal attention over one whole prompt in all layers."""
    for n in PROMPTS:
        q, key, value = (normal(1, shape["num_attention_heads"], n, shape["head_dim"]) for _ in range(3))
        for name, ms in library_attention(lambda: scaled_dot_product_attention(q, key, value, is_causal=True)):
            yield {"part": "prefill", "kernel": name, "tokens": n, "requests": 1, "kv_tokens": 0,
                   "ms": ms * shape["num_hidden_layers"]}


def measure(shape, weights, kv, names):
    """Returns the facts and the rows of a file of measurements, and prints its progress to stderr.

    `names` are the facts that the user states: the names of the model and of the GPU.
    """
    if not torch.cuda.is_available():
        sys.exit("measure-steps: PyTorch finds no GPU, expected one NVIDIA GPU (torch.cuda.is_available() is false)")
    dtype, kv_dtype = (torch.float8_e4m3fn if name == "fp8" else torch.bfloat16 for name in (weights, kv))
    properties = torch.cuda.get_device_properties(0)
    facts = names | {
        "card": properties.name, "memory_bytes": properties.total_memory,
        "versions": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, "
                    f"Triton {triton.__version__}",
        "shape": " ".join(f"{name}={value}" for name, value in shape.items()), "weights": weights, "kv": kv}
    rows = []
    for part in (layers(shape, dtype, kv_dtype), lm_head(shape), decode(shape, kv_dtype), prefill(shape)):
        with torch.inference_mode():
            for row in part:
                rows.append(row)
                print(" ".join(f"{value:.3f}" if name == "ms" else str(value) for name, value in row.items()),
                      file=sys.stderr)
        torch.cuda.empty_cache()
    return facts, rows
