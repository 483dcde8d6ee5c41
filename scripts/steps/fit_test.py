"""Tests the fit of a step-time row on times that a known row gives. Needs no GPU and no PyTorch."""

import csv
import pathlib
import subprocess
import sys
import unittest

import fit

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACTS = {"model": "Tiny", "gpu": "h100_sxm", "card": "A GPU", "memory_bytes": "80", "versions": "none",
         "shape": "hidden_size=8 num_hidden_layers=2 num_attention_heads=4 num_key_value_heads=1 intermediate_size=16 "
                  "vocab_size=10 head_dim=2", "weights": "fp8", "kv": "bf16"}


def point(part, ms, tokens, requests=0, kv_tokens=0, kernel="a"):
    return {"part": part, "kernel": kernel, "tokens": tokens, "requests": requests, "kv_tokens": kv_tokens, "ms": ms}


def made_up():
    """Returns measurements of an engine whose coefficients are known."""
    rows = [point("layers", n / 10 + 1, n) for n in fit.GRID] + [point("lm_head", n / 100, n) for n in fit.GRID]
    rows += [point("decode", 0.5 + 0.02 * b + 0.0001 * b * c, b, b, b * c) for b in (1, 8, 64) for c in (128, 1024)]
    rows += [point("prefill", 0.25 + 2e-6 * n * n / 2, n, 1) for n in (128, 1024, 8192)]
    return rows


class Fit(unittest.TestCase):
    def test_a_row_that_made_the_times_is_found_again(self):
        row = fit.step_row(FACTS, made_up())
        self.assertEqual([row[name] for name in ("attn_dec_fixed_ms", "attn_dec_per_req_us", "attn_dec_per_kv_token_us",
                                                 "attn_prefill_fixed_ms", "attn_prefill_per_qk_pair_ns")],
                         ["0.500", "20.000", "0.10000", "0.250", "2.0000"])

    def test_the_lm_head_computes_at_most_256_rows(self):
        row = fit.step_row(FACTS, made_up())
        self.assertEqual(row["t_lin_ms_n8"], "1.880")     # 1.8 of the layers, 0.08 of the LM head
        self.assertEqual(row["t_lin_ms_n256"], "29.160")  # 26.6 and 2.56
        self.assertEqual(row["t_lin_ms_n8192"], "822.760")  # 820.2 and 2.56

    def test_the_sizes_follow_from_the_shape(self):
        row = fit.step_row(FACTS, made_up())
        # One layer: q and o 8 x 8 each, k and v 8 x 2 each, three matrices of 8 x 16, 1 byte per weight. The embedding
        # and the LM head have 10 x 8 weights of 2 bytes each.
        self.assertEqual(row["weight_bytes_per_gpu"], str(2 * (64 + 64 + 16 + 16 + 3 * 128) + 2 * 10 * 8 * 2))
        self.assertEqual(row["kv_bytes_per_token_per_gpu"], str(2 * 2 * 2 * 2))  # K and V, head_dim, layers, bytes

    def test_the_fastest_kernel_counts(self):
        rows = made_up() + [point("decode", 100.0, 1, 1, 128, "slow"), point("layers", 0.5, 1, kernel="fast")]
        row = fit.step_row(FACTS, rows)
        self.assertEqual(row["attn_dec_fixed_ms"], "0.500")
        self.assertEqual(row["t_lin_ms_n1"], "0.510")

    def test_no_coefficient_is_negative(self):
        inputs = [[1, n] for n in (1, 2, 3)]
        self.assertEqual(fit.fit(inputs, [3.0, 2.0, 1.0])[1], 0.0)
        self.assertGreaterEqual(min(fit.fit(inputs, [1.0, 3.0, 6.0])), 0.0)

    def test_long_times_count_no_more_than_short_ones(self):
        found = fit.fit([[1], [1]], [1.0, 100.0])[0]  # the squares of the relative errors: (x - 1)² + (x / 100 - 1)²
        self.assertAlmostEqual(found, 1.01 / 1.0001)

    def test_too_few_measurements_are_an_error(self):
        rows = [row for row in made_up() if (row["part"], row["tokens"]) != ("layers", 64)]
        with self.assertRaisesRegex(ValueError, "lack layers or lm_head of 64 tokens"):
            fit.step_row(FACTS, rows)
        with self.assertRaisesRegex(ValueError, "3 points of decode"):
            fit.step_row(FACTS, [row for row in made_up() if row["part"] != "decode"])

    def test_a_file_of_measurements_is_read_as_it_was_written(self):
        facts, rows = fit.read_raw(fit.write_raw(FACTS, made_up()), "raw.csv")
        self.assertEqual(facts, FACTS)
        self.assertEqual(len(rows), len(made_up()))
        self.assertEqual(fit.step_row(facts, rows), fit.step_row(FACTS, made_up()))
        for text in ("", "a,b\n1,2\n", fit.write_raw({"model": "m"}, made_up())):
            with self.assertRaisesRegex(ValueError, "raw.csv: expected the output of"):
                fit.read_raw(text, "raw.csv")

    def test_a_config_without_head_dim_has_the_usual_one(self):
        config = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2,
                  "intermediate_size": 8, "vocab_size": 10, "torch_dtype": "bfloat16"}
        self.assertEqual(fit.shape_of(config)["head_dim"], 16)
        self.assertEqual(fit.shape_of(config | {"head_dim": 32})["head_dim"], 32)
        with self.assertRaisesRegex(ValueError, "config.json lacks vocab_size"):
            fit.shape_of({name: value for name, value in config.items() if name != "vocab_size"})


class Program(unittest.TestCase):
    def run_program(self, *words):
        return subprocess.run([sys.executable, "-B", ROOT / "scripts/measure-steps", *words], cwd=ROOT, text=True,
                              capture_output=True)

    def test_a_row_has_the_columns_of_the_table(self):
        run = self.run_program("fit", "data/step_measurements/h200-llama-3.1-8b-fp8.csv", "--t-req-us", "20")
        self.assertEqual(run.returncode, 0, run.stderr)
        row, = csv.DictReader(run.stdout.splitlines())
        with open(ROOT / "data/engines.csv", newline="") as file:
            listed = next(line for line in csv.DictReader(file) if (line["model"], line["gpu"], line["tp"],
                          line["weight_dtype"]) == ("Llama-3.1-8B", "h200_sxm", "1", "fp8"))
        self.assertEqual(set(row) - set(listed), {"gpu_memory_bytes"})
        self.assertEqual(set(listed) - set(row), set())
        same = [name for name in listed if not name.startswith(("t_lin", "attn"))]
        self.assertEqual({name: row[name] for name in same}, {name: listed[name] for name in same})

    def test_the_table_in_validity_is_the_output_of_compare(self):
        files = sorted(str(path) for path in (ROOT / "data/step_measurements").glob("*.csv"))
        run = self.run_program("compare", *files)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(run.stdout in (ROOT / "docs/validity.md").read_text(),
                        f"expected this table in docs/validity.md:\n{run.stdout}")

    def test_an_unknown_model_cannot_be_compared(self):
        with self.assertRaisesRegex(ValueError, "no row for Tiny on one h100_sxm in fp8"):
            fit.compare([(FACTS, made_up())], [])

    def test_a_missing_file_is_an_error(self):
        run = self.run_program("fit", "nowhere.csv")
        self.assertEqual(run.returncode, 1)
        self.assertIn("measure-steps: [Errno 2] No such file or directory: 'nowhere.csv'", run.stderr)
