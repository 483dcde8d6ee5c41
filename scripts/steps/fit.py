"""Fits the coefficients of a step-time row (data/README.md, "Engines") to measured kernel times. Needs no GPU."""

import csv
import io
import itertools

GRID = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
FACTS = ("model", "gpu", "card", "memory_bytes", "versions", "shape", "weights", "kv")
COLUMNS = ("part", "kernel", "tokens", "requests", "kv_tokens", "ms")
LM_HEAD_ROWS = 256  # most rows of the LM head: it computes one per request, and larger steps are mostly prefill
KAPPA_MILLI = 1250
FORMATS = {"bf16": "bfloat16", "fp8": "fp8"}  # names in data/engines.csv


def shape_of(config):
    """Returns the shape of a dense model from its config.json."""
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size",
             "vocab_size")
    missing = [name for name in names if name not in config]
    if missing:
        raise ValueError(f"config.json lacks {missing[0]}")
    shape = {name: config[name] for name in names}
    shape["head_dim"] = config.get("head_dim") or shape["hidden_size"] // shape["num_attention_heads"]
    return shape


def write_raw(facts, rows):
    """Returns the text of a file of measurements: facts as comments, then one row per measured kernel."""
    out = io.StringIO()
    for key, value in facts.items():
        out.write(f"# {key}: {value}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([f"{row['ms']:.5f}" if name == "ms" else row[name] for name in COLUMNS])
    return out.getvalue()


def read_raw(text, file):
    """Returns the facts and the rows of a file of measurements."""
    lines = text.splitlines()
    facts = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    rows = list(reader)
    if tuple(reader.fieldnames or ()) != COLUMNS or any(fact not in facts for fact in FACTS):
        raise ValueError(f"{file}: expected the output of `scripts/measure-steps measure`")
    for row in rows:
        row.update({name: int(row[name]) for name in ("tokens", "requests", "kv_tokens")}, ms=float(row["ms"]))
    return facts, rows


def fastest(rows, part):
    """Returns {(tokens, requests, kv_tokens): ms} of the fastest kernel, because an engine chooses that one."""
    best = {}
    for row in rows:
        if row["part"] == part:
            key = (row["tokens"], row["requests"], row["kv_tokens"])
            best[key] = min(row["ms"], best.get(key, row["ms"]))
    return best


def solve(matrix, right):
    """Returns the solution of a small system of linear equations, or None if it has no single one."""
    size = len(right)
    rows = [list(line) + [value] for line, value in zip(matrix, right)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        if abs(rows[pivot][i]) < 1e-12:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [line[-1] for line in rows]


def fit(inputs, times):
    """Returns the coefficients >= 0 for which the sum over inputs[i] * coefficients is nearest to times[i].

    Minimises the squares of the relative errors, so that short times count as much as long ones. There are at most
    three coefficients, so the fit tries every set of coefficients that are not 0.
    """
    count = len(inputs[0])
    scale = [max(line[c] for line in inputs) or 1 for c in range(count)]
    lines = [[value / scale[c] / time for c, value in enumerate(line)] for line, time in zip(inputs, times)]
    best = None
    for used in itertools.chain.from_iterable(itertools.combinations(range(count), k) for k in range(1, count + 1)):
        matrix = [[sum(line[a] * line[b] for line in lines) for b in used] for a in used]
        solution = solve(matrix, [sum(line[a] for line in lines) for a in used])
        if solution is None or min(solution) < 0:
            continue
        error = sum((sum(line[c] * s for c, s in zip(used, solution)) - 1) ** 2 for line in lines)
        if best is None or error < best[0]:
            best = (error, dict(zip(used, solution)))
    if best is None:
        raise ValueError("the measurements fit no step-time row: measure more batch sizes and contexts")
    return [best[1].get(c, 0.0) / scale[c] for c in range(count)]


def relative_errors(inputs, times, coefficients):
    """Returns the sorted absolute relative errors of a fit."""
    return sorted(abs(sum(a * b for a, b in zip(line, coefficients)) / time - 1) for line, time in zip(inputs, times))


def linear_ms(rows):
    """Returns F[n] in ms for each n of the grid: the time of all layers without attention and of the LM head."""
    layers, head = fastest(rows, "layers"), fastest(rows, "lm_head")
    missing = [n for n in GRID if (n, 0, 0) not in layers] + [n for n in GRID if n <= LM_HEAD_ROWS and
                                                              (n, 0, 0) not in head]
    if missing:
        raise ValueError(f"the measurements lack layers or lm_head of {missing[0]} tokens")
    return [layers[n, 0, 0] + head[min(n, LM_HEAD_ROWS), 0, 0] for n in GRID]


def attention(rows):
    """Returns (decode, prefill), each as (inputs, times in ms): the points of the two linear fits."""
    decode, prefill = fastest(rows, "decode"), fastest(rows, "prefill")
    if len(decode) < 3 or len(prefill) < 2:
        raise ValueError("the measurements need 3 points of decode and 2 of prefill at least")
    return (([[1, requests, kv] for _, requests, kv in decode], list(decode.values())),
            ([[1, tokens * tokens / 2] for tokens, _, _ in prefill], list(prefill.values())))


def sizes(facts):
    """Returns the bytes of KV per token and of the weights. The embedding and the LM head are kept in bfloat16."""
    shape = {key: int(value) for key, value in (item.split("=") for item in facts["shape"].split())}
    hidden, layers, vocab = shape["hidden_size"], shape["num_hidden_layers"], shape["vocab_size"]
    q, kv = (shape[name] * shape["head_dim"] for name in ("num_attention_heads", "num_key_value_heads"))
    per_layer = hidden * (2 * q + 2 * kv) + 3 * hidden * shape["intermediate_size"]
    weight_bytes, kv_bytes = (1 if facts[name] == "fp8" else 2 for name in ("weights", "kv"))
    return 2 * kv * layers * kv_bytes, per_layer * layers * weight_bytes + 2 * vocab * hidden * 2


def step_row(facts, rows, t_req_us=40, t0_us=0):
    """Returns the step-time row of these measurements, by column of data/engines.csv."""
    (decode_in, decode_ms), (prefill_in, prefill_ms) = attention(rows)
    a0, a_request, a_kv = fit(decode_in, decode_ms)
    p0, p_pair = fit(prefill_in, prefill_ms)
    kv_bytes, weight_bytes = sizes(facts)
    row = {"model": facts["model"], "gpu": facts["gpu"], "tp": "1", "weight_dtype": FORMATS[facts["weights"]],
           "kv_dtype": FORMATS[facts["kv"]]}
    row.update({f"t_lin_ms_n{n}": f"{ms:.3f}" for n, ms in zip(GRID, linear_ms(rows))})
    row.update({"attn_dec_fixed_ms": f"{a0:.3f}", "attn_dec_per_req_us": f"{a_request * 1e3:.3f}",
                "attn_dec_per_kv_token_us": f"{a_kv * 1e3:.5f}", "attn_prefill_fixed_ms": f"{p0:.3f}",
                "attn_prefill_per_qk_pair_ns": f"{p_pair * 1e6:.4f}", "kv_bytes_per_token_per_gpu": str(kv_bytes),
                "weight_bytes_per_gpu": str(weight_bytes), "kappa_milli": str(KAPPA_MILLI), "t_req_us": f"{t_req_us:g}",
                "t0_us": f"{t0_us:g}", "gpu_memory_bytes": facts["memory_bytes"]})
    return row


def fit_errors(rows):
    """Returns one line of text for each of the two fits of attention."""
    lines = []
    for name, (inputs, times) in zip(("decode", "prefill"), attention(rows)):
        errors = relative_errors(inputs, times, fit(inputs, times))
        lines.append(f"{name} attention: {len(times)} points, error of the fit: median "
                     f"{100 * errors[len(errors) // 2]:.1f} %, largest {100 * errors[-1]:.1f} %")
    return lines


def part_times(rows):
    """Returns {name of a part of a step: (key, measured ms)} for the parts that `compare` shows."""
    decode, prefill = fastest(rows, "decode"), fastest(rows, "prefill")
    parts = {f"F[{n}]": (("linear", n), ms) for n, ms in zip(GRID, linear_ms(rows))}
    for requests, context in ((1, 2048), (16, 2048), (64, 256), (64, 2048), (64, 8192), (256, 2048)):
        key = (requests, requests, requests * context)
        if key in decode:
            parts[f"decode attention of {requests} x {context} tokens"] = (("decode", *key[1:]), decode[key])
    for tokens in (512, 2048, 8192):
        if (tokens, 1, 0) in prefill:
            parts[f"prefill attention of {tokens} tokens"] = (("prefill", tokens), prefill[tokens, 1, 0])
    return parts


def table_time(row, key):
    """Returns the time in ms that a step-time row states for a part of a step."""
    part, *numbers = key
    if part == "linear":
        return float(row[f"t_lin_ms_n{numbers[0]}"])
    if part == "decode":
        requests, kv_tokens = numbers
        return (float(row["attn_dec_fixed_ms"]) + requests * float(row["attn_dec_per_req_us"]) / 1e3
                + kv_tokens * float(row["attn_dec_per_kv_token_us"]) / 1e3)
    return float(row["attn_prefill_fixed_ms"]) + numbers[0]**2 / 2 * float(row["attn_prefill_per_qk_pair_ns"]) / 1e6


def compare(measurements, table):
    """Returns a Markdown table: for each part of a step, measured / listed milliseconds and their ratio.

    `measurements` holds (facts, rows) of each file, and `table` the rows of data/engines.csv.
    """
    columns = []
    for facts, rows in measurements:
        listed = [row for row in table if (row["model"], row["gpu"], row["tp"], row["weight_dtype"]) ==
                  (facts["model"], facts["gpu"], "1", FORMATS[facts["weights"]])]
        if not listed:
            raise ValueError(f"data/engines.csv has no row for {facts['model']} on one {facts['gpu']} in "
                             f"{facts['weights']}, expected one to compare with")
        columns.append((f"{facts['gpu']} {facts['weights']}",
                        {name: f"{ms:.2f} / {(want := table_time(listed[0], key)):.2f} = {ms / want:.2f}"
                         for name, (key, ms) in part_times(rows).items()}))
    lines = ["| part of a step, ms | " + " | ".join(name for name, _ in columns) + " |",
             "|---" * (len(columns) + 1) + "|"]
    for name in columns[0][1]:
        lines.append(f"| {name} | " + " | ".join(cells.get(name, "-") for _, cells in columns) + " |")
    return "\n".join(lines)
