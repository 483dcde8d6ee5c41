// Cold starts and costs, computed from the history of a recording or a controller. A simulation measures them itself.
import { type CellState, type Fleet, type GangRow, kCellStates, type NodeRow } from "./fleet";
import { kStartPhases, type Start } from "./history";

const kPhase = Object.fromEntries(kStartPhases.map(([key], i) => [key, i])) as Record<(typeof kStartPhases)[number][0], number>;

/// A decision may request the node of a replica up to this many seconds before the pods of the replica exist. A node
/// that was requested earlier was bought for something else.
const kMaxRequestedAhead = 20;

/// Returns the node that was bought for a replica: of its nodes, the last one that became ready after the pods were
/// created and before they were bound.
function boughtNode(gang: GangRow, nodes: readonly NodeRow[], bound: number): NodeRow | undefined {
  let last: NodeRow | undefined;
  for (const node of nodes) {
    if (node.ready > bound || node.ready <= gang.created || !Number.isFinite(node.requested)) continue;
    if (node.requested < gang.created - kMaxRequestedAhead) continue;
    if (last === undefined || node.ready > last.ready) last = node;
  }
  return last;
}

/// Returns the starts of replicas that a history shows completely: from the creation of the pods to the first ready
/// moment. Replicas that existed when the history began are left out.
export function observedStarts(fleet: Fleet): Start[] {
  const nodesOf = new Map<number, NodeRow[]>();
  fleet.nodes.forEach((node) => {
    for (const { gang } of node.pods) {
      const known = nodesOf.get(gang);
      if (known === undefined) nodesOf.set(gang, [node]);
      else if (!known.includes(node)) known.push(node);
    }
  });
  return fleet.gangs.flatMap((gang, i) => {
    const starting = gang.steps.find((step) => step.phase === "starting")?.at;
    const ready = gang.steps.find((step) => step.phase === "ready")?.at;
    if (gang.service < 0 || starting === undefined || ready === undefined || ready < starting || gang.created < 0) return [];
    const node = boughtNode(gang, nodesOf.get(i) ?? [], starting);
    const phases = kStartPhases.map(() => 0);
    // The node may be requested before the pods exist.
    const decided = Math.min(gang.created, node?.requested ?? gang.created);
    let at = decided;
    const add = (key: keyof typeof kPhase, end: number) => {
      const next = Math.max(at, end);
      phases[kPhase[key]] = next - at;
      at = next;
    };
    if (node !== undefined) {
      add("decision_ms", node.requested);
      add("capacity_ms", node.launched);
      add("boot_ms", node.ready);
    }
    add("placement_ms", starting);
    if (gang.containers <= ready) {
      if (gang.initialized <= gang.containers) add("init_ms", gang.initialized);
      add("image_ms", gang.containers);
      if (gang.weights > 0 && at + gang.weights <= ready) {
        add("weights_ms", at + gang.weights);
        add("engine_rest_ms", ready);
      } else {
        add("engine_start_ms", ready);
      }
    } else {
      add("replica_ms", ready);
    }
    return [{ service: gang.service, replica: gang.replica, decided, total: ready - decided, phases }];
  });
}

export interface RangeCost {
  /// GPU-hours, and their cost where the price of the node is known.
  states: { state: CellState | "idle"; gpuHours: number; usd: number }[];
  /// One row for each pool, machine, capacity type, zone and price. `first`: moment of the first purchase; undefined:
  /// all nodes existed at the start.
  nodes: { name: string; capacity: string; zone: string; gpuHours: number; usd: number | undefined; first: number | undefined }[];
  gpuHours: number;
  usd: number;
  /// GPU-hours of nodes without a known price.
  unpricedHours: number;
  /// Output tokens and ended requests, as far as the engines report them.
  tokens: number;
  requests: number;
  /// Cost of the GPUs that were held by workloads that Capstan does not scale.
  othersUsd: number;
  /// The GPUs of each service, and of the workloads that Capstan does not scale; the most costly first.
  users: UserCost[];
  /// The GPUs of each kind of workload that Capstan does not scale.
  workloads: ReadonlyMap<string, { gpuHours: number; usd: number }>;
}

/// GPU-hours that the pods of a service held, their cost, and the tokens and requests of its replicas.
export interface UserCost {
  name: string;
  gpuHours: number;
  usd: number;
  tokens: number;
  requests: number;
}

/// Returns the state of the GPUs of a pod in a phase of its replica.
function stateOf(phase: string): CellState {
  return phase === "ready" ? "serving" : phase === "pending" ? "held" : (phase as CellState);
}

const kMinute = 60;
const kPrefill = "prefill";

/// Returns the tokens, ended requests, idle GPU-hours and their cost in a stretch of time. A minute at its edge counts in
/// part. A request ends twice where prefill and decode are separate, so requests at prefill replicas do not count.
/// @param service  position of a service; undefined: all
export function usageIn(fleet: Fleet, from: number, to: number, service?: number): { tokens: number; requests: number; gpuHours: number; usd: number } {
  const sum = { tokens: 0, requests: 0, gpuHours: 0, usd: 0 };
  for (const one of fleet.use) {
    if (service !== undefined && one.service !== service) continue;
    const part = Math.max(0, Math.min(one.at + kMinute, to) - Math.max(one.at, from)) / kMinute;
    sum.tokens += part * one.tokens;
    if (fleet.services[one.service]?.part !== kPrefill) sum.requests += part * one.requests;
    sum.gpuHours += part * one.idleGpuHours;
    sum.usd += part * one.idleUsd;
  }
  return sum;
}

function addTo<Key>(sums: Map<Key, { gpuHours: number; usd: number }>, key: Key, gpuHours: number, usd: number): void {
  const own = sums.get(key) ?? { gpuHours: 0, usd: 0 };
  sums.set(key, { gpuHours: own.gpuHours + gpuHours, usd: own.usd + usd });
}

/// Name of the workloads that Capstan does not scale, together.
const kOthers = "other workloads";

/// Returns the name that the workloads of one kind share: "nightly" of "nightly 5" and of "nightly-5".
export function workloadKind(name: string): string {
  return name === "" ? kOthers : name.replace(/[ -]\d+$/, "");
}

/// Returns the GPU-hours in a stretch of time by state and by kind of node, with the cost at the prices of the nodes.
export function costIn(fleet: Fleet, range: readonly [number, number]): RangeCost {
  const [from, to] = [range[0], Math.min(range[1], fleet.end)];
  const hoursOf = new Map<CellState, { gpuHours: number; usd: number }>(kCellStates.map((state) => [state, { gpuHours: 0, usd: 0 }]));
  const nodes = new Map<string, RangeCost["nodes"][number]>();
  const byService = new Map<number, { gpuHours: number; usd: number }>();
  const workloads = new Map<string, { gpuHours: number; usd: number }>();
  let unpricedHours = 0;
  const overlap = (start: number, end: number) => Math.max(0, Math.min(end, to) - Math.max(start, from)) / 3600;
  for (const node of fleet.nodes) {
    const { gpus, usd_per_hour, pool, instance_type } = node.machine;
    const perGpu = (usd_per_hour ?? 0) / Math.max(1, gpus);
    const add = (state: CellState, gpuHours: number) => {
      const sum = hoursOf.get(state);
      if (sum === undefined) return;
      sum.gpuHours += gpuHours;
      sum.usd += gpuHours * perGpu;
    };
    const paid = gpus * overlap(node.launched, node.ended);
    if (paid <= 0) continue;
    let [held, heldLeaving] = [0, 0];
    for (const pod of node.pods) {
      const gang = fleet.gangs[pod.gang];
      gang?.steps.forEach((step, i) => {
        const start = Math.max(step.at, pod.from, node.launched);
        const end = Math.min(gang.steps[i + 1]?.at ?? Number.POSITIVE_INFINITY, pod.until, node.ended);
        const gpuHours = (pod.milli / 1000) * overlap(start, end);
        held += gpuHours;
        heldLeaving += (pod.milli / 1000) * overlap(Math.max(start, node.leaving), end);
        add(stateOf(step.phase), gpuHours);
        const cost = gpuHours * perGpu;
        addTo(byService, gang.service, gpuHours, cost);
        if (gang.service < 0) addTo(workloads, workloadKind(gang.name), gpuHours, cost);
      });
    }
    const launching = gpus * overlap(node.launched, Math.min(node.ready, node.ended));
    const leaving = Math.max(0, gpus * overlap(Math.max(node.leaving, node.launched), node.ended) - heldLeaving);
    add("launching", launching);
    add("leaving", leaving);
    add("free", Math.max(0, paid - held - launching - leaving));
    if (usd_per_hour === null || usd_per_hour === undefined) unpricedHours += paid;
    const key = JSON.stringify([pool, instance_type, node.machine.capacity_type, node.zone, usd_per_hour]);
    const name = `${pool === null ? "" : `${pool}: `}${instance_type === "" ? "unknown machine" : instance_type}`;
    const known = nodes.get(key) ?? { name, capacity: node.machine.capacity_type ?? "", zone: node.zone, gpuHours: 0, usd: usd_per_hour === null || usd_per_hour === undefined ? undefined : 0, first: undefined };
    known.gpuHours += paid;
    if (known.usd !== undefined) known.usd += paid * perGpu;
    const bought = Number.isFinite(node.requested) ? node.requested : node.launched;
    if (bought > 0) known.first = Math.min(known.first ?? bought, bought);
    nodes.set(key, known);
  }
  const use = usageIn(fleet, from, to);
  const serving = hoursOf.get("serving");
  // The idle time is known only to within a decision period, so it may be a little longer than the serving time.
  const idle = { gpuHours: Math.min(use.gpuHours, serving?.gpuHours ?? 0), usd: Math.min(use.usd, serving?.usd ?? 0) };
  if (serving !== undefined) [serving.gpuHours, serving.usd] = [serving.gpuHours - idle.gpuHours, serving.usd - idle.usd];
  const states: RangeCost["states"] = kCellStates.flatMap((state) => {
    const own = { state, ...(hoursOf.get(state) ?? { gpuHours: 0, usd: 0 }) };
    return state === "serving" ? [own, { state: "idle" as const, ...idle }] : [own];
  }).filter((one) => one.gpuHours > 0);
  const users = [...byService].map(([service, spent]) => {
    const { tokens, requests } = usageIn(fleet, from, to, service);
    return { name: service < 0 ? kOthers : (fleet.services[service]?.name ?? ""), ...spent, tokens, requests };
  });
  users.sort((a, b) => b.usd - a.usd || b.gpuHours - a.gpuHours);
  const sum = (value: (one: (typeof states)[number]) => number) => states.reduce((all, one) => all + value(one), 0);
  return { states, nodes: [...nodes.values()].sort((a, b) => b.gpuHours - a.gpuHours), gpuHours: sum((one) => one.gpuHours), usd: sum((one) => one.usd), unpricedHours, tokens: use.tokens, requests: use.requests, othersUsd: byService.get(-1)?.usd ?? 0, users, workloads };
}

const teamOf = (name: string) => (name.includes("/") ? name.slice(0, name.indexOf("/")) : undefined);

/// Returns what each team used: the services and the other workloads of its namespace, the most costly first. Empty:
/// the names have no namespaces, as in the recording of a simulation. The last row is of
/// workloads whose name has no namespace.
export function teamsIn(spent: RangeCost): UserCost[] {
  const teams = new Map<string, UserCost>();
  const others = [...spent.workloads].map(([name, one]) => ({ name, ...one, tokens: 0, requests: 0 }));
  const all = [...spent.users.filter((one) => one.name !== kOthers), ...others];
  if (!all.some((one) => teamOf(one.name) !== undefined)) return [];
  for (const one of all) {
    const name = teamOf(one.name) ?? "";
    const own = teams.get(name) ?? { name: name === "" ? "no team" : name, gpuHours: 0, usd: 0, tokens: 0, requests: 0 };
    for (const key of ["gpuHours", "usd", "tokens", "requests"] as const) own[key] += one[key];
    teams.set(name, own);
  }
  const isUnnamed = (one: UserCost) => (one === teams.get("") ? 1 : 0);
  return [...teams.values()].sort((a, b) => isUnnamed(a) - isUnnamed(b) || b.usd - a.usd || b.gpuHours - a.gpuHours);
}
