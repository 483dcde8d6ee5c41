"""Tests the Triton kernels on a CPU. Skipped without PyTorch and Triton, which only `measure-steps measure` needs."""

import os
import unittest
import warnings

os.environ["TRITON_INTERPRET"] = "1"
try:
    import torch
    import kernels
except ImportError:
    torch = None


# Triton's interpreter multiplies no matrices of bfloat16, so the tests use float16.
@unittest.skipIf(torch is None, "there is no PyTorch with Triton")
class Kernels(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        warnings.simplefilter("ignore", DeprecationWarning)  # from Triton's interpreter

    def assert_near(self, got, want):
        self.assertLess(((got.float() - want).norm() / want.norm()).item(), 0.005)

    def test_add_norm(self):
        x, residual = torch.randn(5, 96).half(), torch.randn(5, 96).half()
        total = x.float() + residual.float()
        self.assert_near(kernels.add_norm(x, residual, torch.float16), total * torch.rsqrt((total**2).mean(1, True)))
        self.assert_near(residual, total)

    def test_gated(self):
        gate_up = torch.randn(2, 2 * 1300).half()
        gate, up = gate_up.float().split(1300, 1)
        self.assert_near(kernels.gated(gate_up, torch.float16), gate * torch.sigmoid(gate) * up)

    def test_rotate(self):
        q_heads, kv_heads, half = 2, 1, 16
        qkv, angle = torch.randn(2, (q_heads + 2 * kv_heads) * 2 * half).half(), torch.rand(2, half) * 6
        cache = torch.empty(2, 2 * kv_heads * 2 * half).half()
        queries = kernels.rotate(qkv, torch.cat([angle.cos(), angle.sin()], 1), q_heads, kv_heads, cache)
        heads = qkv.float().view(2, -1, 2, half)
        turned = torch.view_as_real(torch.complex(heads[:, :, 0], heads[:, :, 1]) * torch.polar(
            torch.ones(2, 1, half), angle[:, None])).permute(0, 1, 3, 2)
        self.assert_near(queries.view(2, q_heads, 2, half), turned[:, :q_heads])
        stored = cache.view(2, 2 * kv_heads, 2, half)
        self.assert_near(stored[:, :kv_heads], turned[:, q_heads:q_heads + kv_heads])
        self.assert_near(stored[:, kv_heads:], heads[:, q_heads + kv_heads:])

    def test_decode_attention(self):
        for kv_format in (torch.float16, torch.float8_e4m3fn):
            for context, splits in ((150, 3), (50, 1)):
                keys, values = (torch.randn(32, kernels.PAGE, 1, 16).to(kv_format) for _ in range(2))
                pages = torch.randperm(32)[:20].int().view(2, 10)
                q = torch.randn(2, 4, 16).half()
                got = kernels.decode_attention(q, keys, values, pages, context, splits)
                key, value = (part[pages.long()].flatten(1, 2)[:, :context].float().transpose(1, 2)
                              .repeat_interleave(4, 1) for part in (keys, values))
                weight = torch.softmax((q.float()[:, :, None] * key).sum(3) * 16**-0.5, 2)
                self.assert_near(got, (weight[..., None] * value).sum(2))
