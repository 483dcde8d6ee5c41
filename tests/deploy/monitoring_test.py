"""Tests deploy/monitoring with Prometheus and its promtool: all rules are valid, fire when they should, load, and are
evaluated without an error; every query of the dashboards is accepted and returns series.

  monitoring_test.py SOURCE_FOLDER

Without Prometheus (scripts/setup unpacks one) it prints "there is no prometheus" and ends with 0.
"""
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

DEADLINE_S = 120


def find(root, program):
    unpacked = root / "build/prometheus/usr/bin" / program
    return str(unpacked) if unpacked.exists() else shutil.which(program)


def page_of(reference, scrape):
    """Returns a page with every metric of the reference page. Counters grow from scrape to scrape."""
    rows = re.findall(r"^\| `(capstan_\w+)` \| (gauge|counter) \| ([^|]*)\|", reference, re.MULTILINE)
    states = {"capstan_target_replicas": ("asked", "starting", "ready", "draining", "recommended", "desired"),
              "capstan_signals": ("fresh", "missing")}
    lines = []
    for name, kind, labels in rows:
        value = 10 * scrape if kind == "counter" else 1
        pairs = {label: "started" if label == "result" else "x" for label in re.findall(r"`(\w+)`", labels)}
        for state in states.get(name, (None,)):
            if state is not None:
                pairs["state"] = state
            text = ",".join(f'{key}="{word}"' for key, word in pairs.items())
            lines.append(f"{name}{{{text}}} {value}" if text else f"{name} {value}")
    return "\n".join(lines) + "\n"


def queries_of(path):
    """Returns the title and the query of each line of a dashboard's panels."""
    panels = json.loads(path.read_text())["panels"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel["targets"]]


def series_of(queries, scrape):
    """Returns a page with a series for each selector of the queries. All values grow from scrape to scrape."""
    lines = set()
    for name, matchers in re.findall(r'(\w[\w:]*)?\{((?:[^{}"]|"[^"]*")*)\}', "\n".join(queries)):
        pairs = {}
        for label, kind, text in re.findall(r'(\w+)(=~?)"([^"]*)"', matchers):
            # A pattern of pod names ends with patterns of the random suffixes that Kubernetes adds. Each of these
            # becomes a suffix that matches it.
            word = re.sub(r"\[b[^]]*\](\+|\{5\})", "bcdfg", text) if kind == "=~" else text
            pairs[label] = word.replace("[:_]", ":")
        name = name or pairs.pop("__name__")
        for bound in ("1", "+Inf") if name.endswith("_bucket") else (None,):
            if bound is not None:
                pairs["le"] = bound
            text = ",".join(f'{key}="{word}"' for key, word in sorted(pairs.items()))
            lines.add(f"{name}{{{text}}} {10 * scrape}")
    return "\n".join(sorted(lines)) + "\n"


class Controller(http.server.BaseHTTPRequestHandler):
    """Answers as /metrics of a controller and of all engines do."""
    reference = ""
    engine_queries = []
    scrapes = 0

    def do_GET(self):
        Controller.scrapes += 1
        page = page_of(Controller.reference, Controller.scrapes)
        body = (page + series_of(Controller.engine_queries, Controller.scrapes)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def get(port, path, **query):
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def wait_for(what, check, server):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        if server.poll() is not None:
            sys.exit(f"prometheus ended before {what}")
        try:
            if check():
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(f"no {what} after {DEADLINE_S} s")


def free_port():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Controller) as server:
        return server.server_port


def dashboards(root):
    return sorted((root / "deploy/monitoring").glob("*-dashboard.json"))


def check_names(root, queries):
    """Checks that docs/reference/signals.md lists every metric of the engines' dashboards."""
    known = (root / "docs/reference/signals.md").read_text()
    for line in series_of(queries, 1).splitlines():
        name = re.sub("_bucket$", "", line.split("{")[0])
        if not name.startswith(("kube_", "DCGM_")) and f"`{name}" not in known:
            sys.exit(f"{name} of a dashboard is no metric of docs/reference/signals.md")


def check_with_server(root, prometheus, folder):
    controller = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Controller)
    threading.Thread(target=controller.serve_forever, daemon=True).start()
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"rule_files: ['{root}/deploy/monitoring/*-rules.yaml']\n"
        "scrape_configs:\n"
        f"- {{job_name: capstan, static_configs: [{{targets: ['127.0.0.1:{controller.server_port}']}}]}}\n")
    port = free_port()
    log = open(folder / "log", "w")
    server = subprocess.Popen(
        [prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        wait_for("third scrape", lambda: Controller.scrapes >= 3 and get(port, "/api/v1/rules")["data"]["groups"], server)
        groups = lambda: get(port, "/api/v1/rules")["data"]["groups"]
        rules = lambda: [rule for group in groups() for rule in group["rules"]]
        wait_for("evaluation of every rule", lambda: all(rule["health"] != "unknown" for rule in rules()), server)
        files = {pathlib.Path(group["file"]).name for group in groups()}
        if files != {path.name for path in (root / "deploy/monitoring").glob("*-rules.yaml")} or len(rules()) < 40:
            sys.exit(f"found {len(rules())} rules of {sorted(files)}, expected every alert of every file")
        for rule in rules():
            if rule["health"] != "ok":
                sys.exit(f"{rule['name']} has the error {rule.get('lastError')}")
        queries = [one for path in dashboards(root) for one in queries_of(path)]
        if len(queries) < 50:
            sys.exit(f"found {len(queries)} queries")
        for title, query in queries:
            wait_for(f"series for {title}: {query}",
                     lambda: get(port, "/api/v1/query", query=query)["data"]["result"], server)
        print(f"{len(rules())} rules and {len(queries)} queries of {len(dashboards(root))} dashboards work")
    finally:
        server.terminate()
        server.wait()
        controller.shutdown()


def main():
    root = pathlib.Path(sys.argv[1])
    prometheus, promtool = find(root, "prometheus"), find(root, "promtool")
    if prometheus is None or promtool is None:
        print("there is no prometheus")
        return
    engines = [path for path in dashboards(root) if path.name != "grafana-dashboard.json"]
    Controller.engine_queries = [query for path in engines for _, query in queries_of(path)]
    check_names(root, Controller.engine_queries)
    Controller.reference = (root / "docs/reference/metrics.md").read_text()
    for rules in sorted((root / "deploy/monitoring").glob("*rules.yaml")):
        subprocess.run([promtool, "check", "rules", str(rules)], check=True)
    subprocess.run([promtool, "test", "rules", str(root / "deploy/monitoring/rules-test.yaml")], check=True)
    with tempfile.TemporaryDirectory() as folder:
        check_with_server(root, prometheus, pathlib.Path(folder))


main()
