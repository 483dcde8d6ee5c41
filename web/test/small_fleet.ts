// A small fleet for the tests of its views.
import type { FleetColumns, Service } from "../src/data/history";

export const kServices: Service[] = [{ name: "chat", part: "", gpu: "A100", pods: 2, gpus_per_pod_milli: 2000, together: "node", queue: 1 }];

/// Two machines of four GPUs in one rack. Replica 0 holds all of the first from the start. Replica 1 waits from 10 s, has
/// half of its GPUs from 20 s, all from 30 s, serves from 60 s and ends at 90 s.
export const kFleet: FleetColumns = {
  left_out: 0,
  machines: [{ pool: "a100", instance_type: "p4", gpu: "A100", gpus: 4 }],
  domains: ["zone-a", "rack-0", "nvlink-0", "nvlink-1"],
  nodes: {
    node: [7, 9],
    machine: [0, 0],
    zone: [0, 0],
    rack: [1, 1],
    nvlink: [2, 3],
    requested_ms: [null, 11_000],
    launched_ms: [null, 12_000],
    ready_ms: [0, 20_000],
    leaving_ms: [null, 95_000],
    ended_ms: [null, 100_000],
  },
  phases: ["pending", "starting", "ready", "draining", "sleeping"],
  gangs: {
    service: [0, 0],
    replica: [0, 1],
    gpus_milli: [4000, 4000],
    created_ms: [0, 10_000],
    ended_ms: [null, 90_000],
    steps: [
      [0, 2],
      [10_000, 0, 30_000, 1, 60_000, 2],
    ],
    held: [
      [7, 2000, 0, null, 7, 2000, 0, null],
      [9, 2000, 20_000, 90_000, 9, 2000, 30_000, 90_000],
    ],
    waits: [[], [11_000, 0, 15_000, 1]],
  },
  reasons: [
    { verdict: "cannot_fit_now", reason: "shortfall", sentence: "the gang is short of 4 GPUs", supply: "" },
    { verdict: "held_by_queue", reason: "queue_limit", sentence: "the queue is full", supply: "" },
  ],
};
