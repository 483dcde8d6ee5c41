#!/usr/bin/env python3
"""Measures `capstan run` against a real API server; scripts/bench kube runs it.

    bench/kube.py PROGRAM [latency] [size] [client]

latency  time from requests that reach an emulated engine to the /scale patch that the API server has accepted, and
         the processor time of scraping
size     1,000 nodes, 5,000 pods, 500 scaled workloads: time until ready, memory, processor time without changes
client   time to read a cluster, by its number of nodes, up to 10,000
"""

import concurrent.futures
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import harness  # noqa: E402
import objects  # noqa: E402
import programs  # noqa: E402

MODEL = "Llama-3.1-8B"  # the model of the engines, the requests and the scalers
NAMESPACE = "bench"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")  # unit of times in /proc


def line(name, figure, bound=""):
    print(f"{name:<44} {figure:>16}   {bound}", flush=True)


def create(cluster, things, workers=2):
    """Creates many objects with several concurrent kubectl processes."""
    shares = [things[i::workers] for i in range(workers)]

    def run(share):
        for begin in range(0, len(share), 500):
            text = json.dumps({"apiVersion": "v1", "kind": "List", "items": share[begin:begin + 500]})
            cluster.kubectl("create", "--filename", "-", "--output", "name", given=text)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(run, filter(None, shares)))


def begin(folder, *without):
    cluster = harness.Cluster(folder, *[word for server in without for word in ("--without", server)]).up()
    for definition in sorted((ROOT / "deploy" / "crds").glob("*.yaml")):
        cluster.kubectl("apply", "--server-side", "--filename", definition)
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    harness.eventually("the kinds are served", lambda: cluster.kubectl("get", "isc", "--all-namespaces") or True)
    return cluster


def controller(cluster, folder, program):
    """Starts a controller. Returns its process and the time until it was ready, in seconds."""
    began = time.monotonic()
    process = programs.Process(folder / f"run-{began}", program, "run", "--kubeconfig", cluster.kubeconfig,
                               "--namespace", NAMESPACE, "--listen", "127.0.0.1:0")
    harness.eventually("it decides", lambda: "\"decides" in process.text(), seconds=120)
    return process, time.monotonic() - began


def used_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def peak_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(row.split()[1] for row in status.splitlines() if row.startswith("VmHWM"))) / 1024


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def ready_pods(cluster, count):
    ready = [p for p in cluster.list("pods", NAMESPACE) if harness.condition(p, "Ready") == "True"]
    return ready if len(ready) == count else None


def seconds_of(moment):
    """Returns the seconds since midnight of an RFC 3339 time in UTC."""
    hours, minutes, seconds = moment.partition("T")[2].rstrip("Z").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def occupy(address, requests):
    """Sends requests that last for minutes, each on its own connection. Returns the connections."""
    body = json.dumps({"model": MODEL, "prompt": "a " * 100, "max_tokens": 20_000, "stream": True})
    lines = ["POST /v1/completions HTTP/1.1", f"Host: {address}", "Content-Type: application/json",
             f"Content-Length: {len(body)}", "", body]
    connections = [socket.create_connection((address, 8000)) for _ in range(requests)]
    for connection in connections:
        connection.sendall("\r\n".join(lines).encode())
    return connections


def latency(folder, program, services=100):
    """Measures the time from the last request to the API server's answer to the /scale patch, by its audit log. Each
    service has two pods with an engine that runs one request at a time. Four concurrent requests to one of the engines
    leave three waiting, which is more than one per replica, so the service is scaled up."""
    cluster = begin(folder, "karpenter", "kube-scheduler")
    try:
        names = [f"s{i}" for i in range(services)]
        cluster.apply(objects.gpu_node("node", gpus=1000), objects.fleet_policy(layers={"replicas": "Active"}))
        create(cluster, [objects.deployment(name, NAMESPACE, 2, pod={"nodeName": "node"}) for name in names])
        engines = programs.Engines(cluster, NAMESPACE, folder / "engines", "--model", MODEL, "--gpu", "H100",
                                   "--max-num-seqs", "1")
        pods = harness.eventually("all engines serve", lambda: ready_pods(cluster, 2 * services), seconds=300)
        create(cluster, [objects.scaler(name, NAMESPACE, target=name, mode="Active", queue={"waitingPerReplica": 1},
                                        signals={"interval": "500ms"}) for name in names])
        process, _ = controller(cluster, folder, program)
        time.sleep(10)  # until every target has been scraped and all statuses are written
        used, began = used_s(process.pid), time.monotonic()
        time.sleep(10)
        idle = (used_s(process.pid) - used) / (time.monotonic() - began)
        sent, connections = {}, []
        for name in names:
            address = next(p["status"]["podIP"] for p in pods if p["metadata"]["labels"]["app"] == name)
            connections += occupy(address, 4)
            sent[name] = time.time() % 86_400
            time.sleep(0.3 + 0.007 * (len(sent) % 31))  # vary the time between request and scrape
        time.sleep(5)
        seen = {}
        for entry in cluster.audit.writes(resource="deployments", subresource="scale", namespace=NAMESPACE):
            if entry.code == 200:
                seen.setdefault(entry.name, seconds_of(entry.answered))
        for connection in connections:
            connection.close()
        for program_process in [process, engines]:
            program_process.stop()
        took = [seen[name] - sent[name] for name in names if name in seen]
        line(f"{2 * services} targets scraped twice a second", f"{100 * idle:.0f} % of a core")
        line("services scaled", f"{len(took)} of {services}")
        line("metric to /scale, 50th percentile", f"{percentile(took, 0.5):.3f} s", "bound 0.5 s")
        line("metric to /scale, 99th percentile", f"{percentile(took, 0.99):.3f} s", "bound 1.0 s")
    finally:
        cluster.down()


def size(folder, program, nodes=1_000, workloads=500, pods_each=10, idle_s=60):
    cluster = begin(folder, "kwok", "karpenter", "kube-scheduler", "kube-controller-manager")
    try:
        names = [f"s{i}" for i in range(workloads)]
        create(cluster, [objects.gpu_node(f"node-{i}") for i in range(nodes)])
        create(cluster, [objects.deployment(name, NAMESPACE, pods_each) for name in names])
        cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount",
                       "metadata": {"name": "default", "namespace": NAMESPACE}})
        pods = []
        for w, name in enumerate(names):
            template = objects.deployment(name, NAMESPACE, 1)["spec"]["template"]
            for i in range(pods_each):
                node = f"node-{(w * pods_each + i) % nodes}"
                pods.append({"apiVersion": "v1", "kind": "Pod",
                             "metadata": {**template["metadata"], "name": f"{name}-{i}", "namespace": NAMESPACE},
                             "spec": {**template["spec"], "nodeName": node}})
        create(cluster, pods)
        create(cluster, [objects.scaler(name, NAMESPACE, target=name) for name in names])
        process, ready_s = controller(cluster, folder, program)
        line(f"{nodes} nodes, {len(pods)} pods, {workloads} workloads: ready", f"{ready_s:.2f} s", "bound 3 s")
        time.sleep(20)  # until the first statuses are written
        began, used = time.monotonic(), used_s(process.pid)
        time.sleep(idle_s)
        share = (used_s(process.pid) - used) / (time.monotonic() - began)
        line("nothing changes, no target is scraped", f"{100 * share:.1f} % of a core", "bound 5 %")
        line("peak memory", f"{peak_mib(process.pid):.0f} MiB", "bound 150 MB (143 MiB)")
        process.stop()
    finally:
        cluster.down()


def client(folder, program):
    """Measures `capstan snapshot`, which connects, reads all objects and writes them."""
    cluster = begin(folder, "kwok", "karpenter", "kube-scheduler", "kube-controller-manager")
    try:
        made = 0
        for nodes in (1_000, 2_000, 5_000, 10_000):
            create(cluster, [objects.gpu_node(f"node-{i}") for i in range(made, nodes)])
            made = nodes
            began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([program, "snapshot", "--kubeconfig", cluster.kubeconfig], stdout=subprocess.DEVNULL,
                           check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            line(f"{nodes} nodes read and written", f"{time.monotonic() - began:.2f} s", f"{cpu:.2f} s CPU")
    finally:
        cluster.down()


def main(program, *wanted):
    programs.CAPSTAN = program
    parts = {"latency": latency, "size": size, "client": client}
    for name in wanted or parts:
        with tempfile.TemporaryDirectory(prefix="capstan-bench-") as folder:
            parts[name](pathlib.Path(folder), program)


if __name__ == "__main__":
    main(*sys.argv[1:])
