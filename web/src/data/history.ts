// The history of nodes, replicas and requests, as docs/reference/result.md describes it: `fleet`, `cold_start_phases`,
// `latency_phases`, `services` and `queues`. A result has them in a report and with `--details` only.

export interface Service {
  name: string;
  part: string;
  gpu: string;
  pods: number;
  gpus_per_pod_milli: number;
  together: string;
  queue: number | null;
}

export interface Queue {
  name: string;
  parent: number | null;
  limit_gpus_milli: number | null;
  /// Absent in results of earlier versions; 0: none.
  quota_gpus_milli?: number;
  weight_milli?: number;
}

export interface LatencyPhases {
  first_tokens: number[];
  gateway_us: number[];
  queue_us: number[];
  prefill_us: number[];
  completed: number[];
  transfer_us: number[];
  decode_us: number[];
  /// Two phases together: queue and prefill of engines that do not report their queue, and prefill and decode of
  /// engines that do not report the first token.
  queue_prefill_us?: number[];
  prefill_decode_us?: number[];
}

type NullableNumbers = (number | null)[];

export interface Machine {
  pool: string | null;
  instance_type: string;
  gpu: string;
  gpus: number;
  /// Only in the history of a recording or a controller; null: unknown.
  capacity_type?: string | null;
  usd_per_hour?: number | null;
}

/// Names of columns: the number of requests whose times the engines report, the sums of these times, and the number of
/// KV transfers.
export type UsedTime = "timed_requests" | "queue_us" | "prefill_us" | "decode_us" | "queue_prefill_us" | "prefill_decode_us" | "transfer_us" | "transfers";

export interface FleetColumns {
  left_out: number;
  machines: Machine[];
  domains: string[];
  nodes: {
    node: number[];
    machine: number[];
    zone: number[];
    rack: number[];
    nvlink: number[];
    requested_ms: NullableNumbers;
    launched_ms: NullableNumbers;
    ready_ms: NullableNumbers;
    leaving_ms: NullableNumbers;
    ended_ms: NullableNumbers;
    /// Only in the history of a recording or a controller: the positions of the rows, and the names of the nodes.
    row?: number[];
    name?: string[];
  };
  phases: string[];
  gangs: {
    service: number[];
    replica: number[];
    gpus_milli: number[];
    created_ms: number[];
    ended_ms: NullableNumbers;
    steps: number[][];
    held: NullableNumbers[];
    waits: number[][];
    /// Only in the history of a recording or a controller: the positions of the rows, and the queues of the pods.
    row?: number[];
    queue?: NullableNumbers;
    /// The further columns, too, are only in the history of a recording or a controller.
    /// `containers_ms`: moments since which the containers of all pods run. `name`: names of gangs without a service.
    containers_ms?: NullableNumbers;
    /// Moments at which the init containers of all pods had ended, and how long the engine loaded weights.
    initialized_ms?: NullableNumbers;
    weights_ms?: NullableNumbers;
    name?: string[];
  };
  reasons: { verdict: string; reason: string; sentence: string; supply: string }[];
  /// Only in the history of a recording or a controller: work and idle time of the replicas of a service, by minute.
  use?: { row: number[]; service: number[]; at_ms: number[]; tokens: number[]; requests?: number[]; idle_gpu_s: number[]; idle_usd: number[] } & Partial<Record<UsedTime, number[]>>;
}

/// The phases of a cold start in their order, with the keys of the result and words for people.
export const kStartPhases = [
  ["decision_ms", "decision"],
  ["capacity_ms", "capacity"],
  ["boot_ms", "boot"],
  ["node_setup_ms", "node set-up"],
  ["placement_ms", "placement"],
  ["init_ms", "init containers"],
  ["image_ms", "image pull"],
  ["weights_ms", "weights"],
  ["engine_ms", "engine start"],
  ["warm_up_ms", "warm-up"],
  // Only recordings and controllers have these phases. Each covers several steps that were not observed separately: the
  // engine reports at most how long it loads weights, and the start of the containers is not always known.
  ["engine_rest_ms", "engine start and warm-up"],
  ["engine_start_ms", "weights, engine start, warm-up"],
  ["replica_ms", "image, weights, engine start, warm-up"],
] as const;
/// The phases that only a recording or a controller has. The result of a simulation has columns for the others.
export const kObservedPhases: readonly string[] = ["init_ms", "engine_rest_ms", "engine_start_ms", "replica_ms"];

export type StartColumns = { service: number[]; replica: number[]; decided_ms: number[] } & Partial<Record<(typeof kStartPhases)[number][0], number[]>>;

/// One completed cold start. Times are seconds; `phases` follows kStartPhases.
export interface Start {
  service: number;
  replica: number;
  decided: number;
  total: number;
  phases: number[];
}

export function startsOf(columns: StartColumns): Start[] {
  return columns.decided_ms.map((decided, i) => {
    const phases = kStartPhases.map(([key]) => (columns[key]?.[i] ?? 0) / 1000);
    return {
      service: columns.service[i] ?? 0,
      replica: columns.replica[i] ?? 0,
      decided: decided / 1000,
      total: phases.reduce((sum, phase) => sum + phase, 0),
      phases,
    };
  });
}

/// Returns the smallest of the sorted values that at least this share of the values does not exceed; 0 without values.
export function quantile(sorted: number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/// Returns the quantile of each phase. They do not add up to the quantile of the totals.
export function typicalStart(starts: Start[], share: number): number[] {
  return kStartPhases.map((_, phase) => quantile(starts.map((start) => start.phases[phase] ?? 0).sort((a, b) => a - b), share));
}

/// Returns the position of the longest phase.
export function longestPhase(phases: number[]): number {
  let longest = 0;
  phases.forEach((phase, i) => {
    if (phase > (phases[longest] ?? 0)) longest = i;
  });
  return longest;
}

/// Returns the name that distinguishes the replicas of a service: the name of the service, or the role or variant if
/// there is only one service. Empty if there is only one kind of replica.
export function partName(services: Service[], service: number): string {
  const known = services[service];
  if (known === undefined || services.length < 2) return "";
  const isOne = new Set(services.map((one) => one.name.split(" ")[0])).size === 1;
  return isOne && known.part !== "" ? known.part : known.name;
}

/// Returns a letter for each service, if there are several: "a", "b", … A label of the map has no room for a name.
export function serviceLetters(services: Service[]): string[] {
  return services.map((_, i) => (services.length < 2 ? "" : i < 26 ? String.fromCharCode(97 + i) : `${String.fromCharCode(97 + (i % 26))}${Math.floor(i / 26)}.`));
}

/// Returns a name such as "prefill replica 3" or "nightly job 3". A workload that Capstan does not scale has the name
/// that it has in the cluster, or is "other workload 3".
export function replicaName(services: Service[], service: number, replica: number, name = ""): string {
  if (service < 0) return name !== "" ? name : `other workload ${replica}`;
  const known = services[service];
  if (known?.part === "job") return `${known.name} job ${replica}`;
  const part = partName(services, service);
  return `${part === "" ? "" : `${part} `}replica ${replica}`;
}
