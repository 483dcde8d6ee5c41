// The fleet at a moment: which GPU of which node did what, and for which replica.
import type { FleetColumns, Machine, Queue, Service } from "./history";

/// State of a GPU. "leaving": free on a node that takes no more pods. "stranded": free, but no replica of any service
/// fits into the domain in which all its pods have to be.
export const kCellStates = ["serving", "starting", "held", "draining", "sleeping", "free", "stranded", "launching", "leaving"] as const;
export type CellState = (typeof kCellStates)[number];

interface Pod {
  gang: number;
  milli: number;
  from: number;
  until: number;
  /// Position of the pod's first GPU on the node.
  slot: number;
}

/// One node of the whole run; moments are seconds.
export interface NodeRow {
  number: number;
  /// Name in the cluster; empty in a simulation.
  name: string;
  machine: Machine;
  zone: string;
  rack: string;
  nvlink: string;
  /// Time at which the node was requested; Infinity: unknown.
  requested: number;
  launched: number;
  ready: number;
  leaving: number;
  ended: number;
  pods: Pod[];
  /// Place among the nodes of its NVLink domain. A later node may take over the place.
  place: number;
}

export interface Wait {
  at: number;
  verdict: string;
  reason: string;
  sentence: string;
  supply: string;
}

export interface GangRow {
  service: number;
  replica: number;
  /// Name in the cluster, for a gang without a service; empty: not known.
  name: string;
  milli: number;
  /// The queue of its pods; null: they are in none; undefined: that of its service.
  queue: number | null | undefined;
  created: number;
  ended: number;
  steps: { at: number; phase: string }[];
  waits: Wait[];
  /// The moment from which all its pods are bound; Infinity: never.
  placed: number;
  /// The moment from which the containers of all its pods ran; Infinity: it is not known.
  containers: number;
  /// The moment at which the init containers of all its pods had ended; Infinity: it is not known, or it has none.
  initialized: number;
  /// Seconds in which its engine loaded the weights; 0: it is not known.
  weights: number;
}

/// The figures of a service in one minute. `timedRequests`: the requests whose times the engines report; the times are
/// sums over them.
export interface UsedMinute {
  at: number;
  service: number;
  tokens: number;
  requests: number;
  timedRequests: number;
  queueUs: number;
  prefillUs: number;
  decodeUs: number;
  /// Two phases together: queue and prefill of engines that do not report their queue, and prefill and decode of
  /// engines that do not report the first token.
  queuePrefillUs: number;
  prefillDecodeUs: number;
  transferUs: number;
  transfers: number;
  idleGpuHours: number;
  idleUsd: number;
}

export interface Fleet {
  nodes: NodeRow[];
  gangs: GangRow[];
  services: Service[];
  leftOut: number;
  end: number;
  /// Tokens, ended requests, idle GPU-hours and their cost of the replicas of a service, by minute; empty in a report.
  use: UsedMinute[];
}

export interface Cell {
  state: CellState;
  gang: number;
}

/// Gives every pod the first GPUs of its node that are free when it begins. Pods with shares of a GPU may get the same
/// GPU.
function assignSlots(node: NodeRow): void {
  node.pods.sort((a, b) => a.from - b.from || a.gang - b.gang);
  const freeFrom = Array.from({ length: node.machine.gpus }, () => ({ until: Number.NEGATIVE_INFINITY, milli: 0 }));
  for (const pod of node.pods) {
    const whole = Math.ceil(pod.milli / 1000);
    let slot = 0;
    for (; slot + whole < freeFrom.length; ++slot) {
      if (freeFrom.slice(slot, slot + whole).every((gpu) => gpu.until <= pod.from || (pod.milli < 1000 && gpu.milli + pod.milli <= 1000))) break;
    }
    pod.slot = slot;
    for (const gpu of freeFrom.slice(slot, slot + whole)) {
      gpu.milli = gpu.until <= pod.from ? pod.milli : gpu.milli + pod.milli;
      gpu.until = Math.max(gpu.until, pod.until);
    }
  }
}

/// Gives every node the first place of its NVLink domain that is free for its whole time, so that a node does not move.
function assignPlaces(nodes: NodeRow[]): void {
  const byDomain = new Map<string, NodeRow[]>();
  for (const node of nodes) {
    const key = `${node.zone}\n${node.rack}\n${node.nvlink}`;
    const known = byDomain.get(key);
    if (known === undefined) byDomain.set(key, [node]);
    else known.push(node);
  }
  for (const domain of byDomain.values()) {
    domain.sort((a, b) => a.launched - b.launched || a.number - b.number);
    const until: number[] = [];
    for (const node of domain) {
      let place = until.length;
      for (let i = 0; i < until.length && place === until.length; ++i) if ((until[i] ?? 0) <= node.launched) place = i;
      node.place = place;
      until[place] = node.ended;
    }
  }
}

/// @param end     the end of the run, seconds
/// @param origin  the time in the columns at which the page's time is 0, seconds
export function readFleet(columns: FleetColumns, services: Service[], end: number, origin = 0): Fleet {
  const { nodes, gangs } = columns;
  const seconds = (ms: number | null | undefined, none: number): number => (ms === null || ms === undefined ? none : ms / 1000 - origin);
  const rows: NodeRow[] = nodes.node.map((number, i) => {
    const ready = seconds(nodes.ready_ms[i], end);
    return {
      number,
      name: nodes.name?.[i] ?? "",
      machine: columns.machines[nodes.machine[i] ?? 0] ?? { pool: null, instance_type: "", gpu: "", gpus: 0 },
      zone: columns.domains[nodes.zone[i] ?? 0] ?? "",
      rack: columns.domains[nodes.rack[i] ?? 0] ?? "",
      nvlink: columns.domains[nodes.nvlink[i] ?? 0] ?? "",
      requested: seconds(nodes.requested_ms[i], Number.POSITIVE_INFINITY),
      launched: seconds(nodes.launched_ms[i], Math.min(ready, 0)),
      ready,
      leaving: seconds(nodes.leaving_ms[i], Number.POSITIVE_INFINITY),
      ended: seconds(nodes.ended_ms[i], Number.POSITIVE_INFINITY),
      pods: [],
      place: 0,
    };
  });
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  const list: GangRow[] = gangs.service.map((service, i) => {
    const held = gangs.held[i] ?? [];
    for (let h = 0; h + 3 < held.length; h += 4) {
      byNumber.get(held[h] ?? -1)?.pods.push({
        gang: i,
        milli: held[h + 1] ?? 0,
        from: seconds(held[h + 2], 0),
        until: seconds(held[h + 3], Number.POSITIVE_INFINITY),
        slot: 0,
      });
    }
    const flat = gangs.steps[i] ?? [];
    const steps: GangRow["steps"] = [];
    for (let s = 0; s + 1 < flat.length; s += 2) steps.push({ at: seconds(flat[s], 0), phase: columns.phases[flat[s + 1] ?? 0] ?? "" });
    const numbers = gangs.waits[i] ?? [];
    const waits: Wait[] = [];
    for (let w = 0; w + 1 < numbers.length; w += 2) {
      const why = columns.reasons[numbers[w + 1] ?? 0];
      if (why !== undefined) waits.push({ at: seconds(numbers[w], 0), ...why });
    }
    return {
      service,
      replica: gangs.replica[i] ?? 0,
      name: gangs.name?.[i] ?? "",
      milli: gangs.gpus_milli[i] ?? 0,
      queue: gangs.queue?.[i],
      created: seconds(gangs.created_ms[i], 0),
      ended: seconds(gangs.ended_ms[i], Number.POSITIVE_INFINITY),
      steps,
      waits,
      placed: steps.find((step) => step.phase !== "pending")?.at ?? Number.POSITIVE_INFINITY,
      containers: seconds(gangs.containers_ms?.[i], Number.POSITIVE_INFINITY),
      initialized: seconds(gangs.initialized_ms?.[i], Number.POSITIVE_INFINITY),
      weights: (gangs.weights_ms?.[i] ?? 0) / 1000,
    };
  });
  for (const row of rows) assignSlots(row);
  assignPlaces(rows);
  const use = (columns.use?.at_ms ?? []).map((ms, i) => ({
    at: seconds(ms, 0),
    service: columns.use?.service[i] ?? 0,
    tokens: columns.use?.tokens[i] ?? 0,
    requests: columns.use?.requests?.[i] ?? 0,
    timedRequests: columns.use?.timed_requests?.[i] ?? 0,
    queueUs: columns.use?.queue_us?.[i] ?? 0,
    prefillUs: columns.use?.prefill_us?.[i] ?? 0,
    decodeUs: columns.use?.decode_us?.[i] ?? 0,
    queuePrefillUs: columns.use?.queue_prefill_us?.[i] ?? 0,
    prefillDecodeUs: columns.use?.prefill_decode_us?.[i] ?? 0,
    transferUs: columns.use?.transfer_us?.[i] ?? 0,
    transfers: columns.use?.transfers?.[i] ?? 0,
    idleGpuHours: (columns.use?.idle_gpu_s[i] ?? 0) / 3600,
    idleUsd: columns.use?.idle_usd[i] ?? 0,
  }));
  return { nodes: rows, gangs: list, services, leftOut: columns.left_out, end, use };
}

/// Returns the phase of a replica at a moment; "held" if it waits for the rest of its pods while some are bound.
function phaseAt(gang: GangRow, at: number): CellState {
  let phase = "pending";
  for (const step of gang.steps) if (step.at <= at) phase = step.phase;
  return phase === "ready" ? "serving" : phase === "pending" ? "held" : (phase as CellState);
}

export interface NodeNow {
  row: NodeRow;
  cells: Cell[];
  /// Free GPUs, thousandths; only nodes that take pods have any.
  free: number;
}

function domainOf(node: NodeRow, level: string): string {
  return level === "node" ? `node ${node.number}` : level === "nvlink" ? node.nvlink : level === "rack" ? node.rack : level === "zone" ? node.zone : "";
}

/// Marks free GPUs as stranded where no replica of any service has room in the domain in which it has to be.
function markStranded(nodes: NodeNow[], services: Service[]): void {
  const useful = new Set<NodeNow>();
  for (const service of services) {
    const each = Math.max(1, service.gpus_per_pod_milli);
    const pods = new Map<string, number>();
    const fits = nodes.filter((node) => node.free >= each && node.row.machine.gpu === service.gpu);
    for (const node of fits) {
      const domain = domainOf(node.row, service.together);
      pods.set(domain, (pods.get(domain) ?? 0) + Math.floor(node.free / each));
    }
    for (const node of fits) if ((pods.get(domainOf(node.row, service.together)) ?? 0) >= service.pods) useful.add(node);
  }
  for (const node of nodes) {
    if (useful.has(node)) continue;
    for (const cell of node.cells) if (cell.state === "free") cell.state = "stranded";
  }
}

/// Returns the nodes that are paid for at a moment, in the order of the run.
export function fleetAt(fleet: Fleet, at: number): NodeNow[] {
  const present: NodeNow[] = [];
  for (const row of fleet.nodes) {
    if (row.launched > at || row.ended <= at) continue;
    const empty: CellState = at < row.ready ? "launching" : at >= row.leaving ? "leaving" : "free";
    const cells: Cell[] = Array.from({ length: row.machine.gpus }, () => ({ state: empty, gang: -1 }));
    let held = 0;
    for (const pod of row.pods) {
      if (pod.from > at || pod.until <= at) continue;
      const gang = fleet.gangs[pod.gang];
      if (gang === undefined) continue;
      held += pod.milli;
      const state = phaseAt(gang, at);
      for (let slot = pod.slot; slot < pod.slot + Math.ceil(pod.milli / 1000); ++slot) cells[slot] = { state, gang: pod.gang };
    }
    present.push({ row, cells, free: empty === "free" ? 1000 * row.machine.gpus - held : 0 });
  }
  markStranded(present, fleet.services);
  return present;
}

/// Returns the number of GPUs in each state.
export function countCells(nodes: NodeNow[]): Record<CellState, number> {
  const counts = Object.fromEntries(kCellStates.map((state) => [state, 0])) as Record<CellState, number>;
  for (const node of nodes) for (const cell of node.cells) ++counts[cell.state];
  return counts;
}

/// Returns the GPUs by state at each time. Stranded GPUs count as empty, because finding them at every time costs too
/// much.
export function seriesOf(fleet: Fleet, times: number[]): Record<"serving" | "starting" | "held" | "other" | "empty", number[]> {
  const last = times.length;
  const names = ["serving", "starting", "held", "other", "paid"] as const;
  const steps = Object.fromEntries(names.map((name) => [name, new Float64Array(last + 1)])) as Record<(typeof names)[number], Float64Array>;
  const first = (at: number) => {
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const add = (name: (typeof names)[number], gpus: number, from: number, until: number) => {
    const line = steps[name];
    const [a, b] = [first(from), first(until)];
    line[a] = (line[a] ?? 0) + gpus;
    line[b] = (line[b] ?? 0) - gpus;
  };
  for (const node of fleet.nodes) {
    add("paid", node.machine.gpus, node.launched, node.ended);
    for (const pod of node.pods) {
      const gang = fleet.gangs[pod.gang];
      if (gang === undefined) continue;
      gang.steps.forEach((step, i) => {
        const from = Math.max(step.at, pod.from);
        const until = Math.min(gang.steps[i + 1]?.at ?? Number.POSITIVE_INFINITY, pod.until, node.ended);
        if (from >= until) return;
        const name = step.phase === "ready" ? "serving" : step.phase === "starting" ? "starting" : step.phase === "pending" ? "held" : "other";
        add(name, pod.milli / 1000, from, until);
      });
    }
  }
  const sums = Object.fromEntries(
    names.map((name) => {
      let sum = 0;
      return [name, Array.from({ length: last }, (_, i) => (sum += steps[name][i] ?? 0))];
    }),
  ) as Record<(typeof names)[number], number[]>;
  const empty = sums.paid.map((paid, i) => paid - (sums.serving[i] ?? 0) - (sums.starting[i] ?? 0) - (sums.held[i] ?? 0) - (sums.other[i] ?? 0));
  return { serving: sums.serving, starting: sums.starting, held: sums.held, other: sums.other, empty };
}

export interface Waiting {
  gang: GangRow;
  from: number;
  /// Seconds of waiting within the stretch.
  waited: number;
  last: Wait;
}

/// Returns the replicas that waited for GPUs in a stretch of time and have a reason, the longest wait first.
export function waitingIn(fleet: Fleet, from: number, to: number): Waiting[] {
  const found: Waiting[] = [];
  for (const gang of fleet.gangs) {
    const until = Math.min(gang.placed, gang.ended, fleet.end, to);
    const begin = Math.max(gang.created, from);
    const last = gang.waits.filter((wait) => wait.at <= until).at(-1);
    if (last === undefined || until <= begin) continue;
    found.push({ gang, from: gang.created, waited: until - begin, last });
  }
  return found.sort((a, b) => b.waited - a.waited || a.from - b.from);
}

export interface QueueNow {
  queue: Queue;
  depth: number;
  held: number;
  waiting: number;
}

/// Returns the queues at a moment in the order of the tree. The GPUs of a queue include those of the queues below it.
export function queuesAt(fleet: Fleet, queues: Queue[], at: number): QueueNow[] {
  const held = queues.map(() => 0);
  const waiting = queues.map(() => 0);
  const add = (sums: number[], queue: number | null, milli: number) => {
    for (let q = queue; q !== null && queues[q] !== undefined; q = queues[q]?.parent ?? null) sums[q] = (sums[q] ?? 0) + milli;
  };
  const queueOf = (gang: GangRow | undefined) => (gang?.queue !== undefined ? gang.queue : (fleet.services[gang?.service ?? -1]?.queue ?? null));
  for (const gang of fleet.gangs) {
    if (gang.created > at || gang.ended <= at) continue;
    if (at < gang.placed) add(waiting, queueOf(gang), gang.milli);
  }
  for (const node of fleet.nodes) {
    for (const pod of node.pods) {
      if (pod.from > at || pod.until <= at || node.ended <= at) continue;
      const gang = fleet.gangs[pod.gang];
      const queue = queueOf(gang);
      add(held, queue, pod.milli);
      if (gang !== undefined && at < gang.placed) add(waiting, queue, -pod.milli);
    }
  }
  const list: QueueNow[] = [];
  const visit = (parent: number | null, depth: number) => {
    queues.forEach((queue, i) => {
      if (queue.parent !== parent) return;
      list.push({ queue, depth, held: (held[i] ?? 0) / 1000, waiting: (waiting[i] ?? 0) / 1000 });
      visit(i, depth + 1);
    });
  };
  visit(null, 0);
  return list;
}
