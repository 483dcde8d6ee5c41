"""Tests deploy/monitoring with Prometheus and its promtool: the rules are valid, fire when they should, and load; every
query of the dashboard is accepted and returns series.

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


class Controller(http.server.BaseHTTPRequestHandler):
    """Answers as /metrics of a controller does."""
    reference = ""
    scrapes = 0

    def do_GET(self):
        Controller.scrapes += 1
        body = page_of(Controller.reference, Controller.scrapes).encode()
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


def check_with_server(root, prometheus, folder):
    controller = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Controller)
    threading.Thread(target=controller.serve_forever, daemon=True).start()
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"rule_files: ['{root}/deploy/monitoring/prometheus-rules.yaml']\n"
        "scrape_configs:\n"
        f"- {{job_name: capstan, static_configs: [{{targets: ['127.0.0.1:{controller.server_port}']}}]}}\n")
    port = free_port()
    log = open(folder / "log", "w")
    server = subprocess.Popen(
        [prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        wait_for("third scrape", lambda: Controller.scrapes >= 3 and get(port, "/api/v1/rules")["data"]["groups"], server)
        rules = get(port, "/api/v1/rules")["data"]["groups"][0]["rules"]
        if len(rules) < 5:
            sys.exit(f"found {len(rules)} rules, expected every alert")
        dashboard = json.loads((root / "deploy/monitoring/grafana-dashboard.json").read_text())
        if len(dashboard["panels"]) < 10:
            sys.exit(f"found {len(dashboard['panels'])} panels")
        for panel in dashboard["panels"]:
            query = panel["targets"][0]["expr"]
            wait_for(f"series for {panel['title']}: {query}",
                     lambda: get(port, "/api/v1/query", query=query)["data"]["result"], server)
        print(f"{len(rules)} rules and {len(dashboard['panels'])} panels work")
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
    Controller.reference = (root / "docs/reference/metrics.md").read_text()
    for rules in sorted((root / "deploy/monitoring").glob("*rules.yaml")):
        subprocess.run([promtool, "check", "rules", str(rules)], check=True)
    subprocess.run([promtool, "test", "rules", str(root / "deploy/monitoring/rules-test.yaml")], check=True)
    with tempfile.TemporaryDirectory() as folder:
        check_with_server(root, prometheus, pathlib.Path(folder))


main()
