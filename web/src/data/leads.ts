// Where a number leads: the moment that explains it best.
import { type Fleet, seriesOf } from "./fleet";
import type { LatencyPhases } from "./history";
import type { LogRow } from "./log";
import type { Policy } from "./result";

const kMinute = 60;
const kSteps = 600;

/// Returns the position of the largest value above 0.
function largest(values: readonly number[]): number | undefined {
  let found: number | undefined;
  values.forEach((value, i) => {
    if (value > (found === undefined ? 0 : (values[found] ?? 0))) found = i;
  });
  return found;
}

/// The lines of seriesOf in which the GPUs of a state count.
const kLines: Record<string, keyof ReturnType<typeof seriesOf>> = {
  busy: "serving",
  idle: "serving",
  serving: "serving",
  starting: "starting",
  held: "held",
  sleeping: "other",
  draining: "other",
};

/// Returns the moment at which the most GPUs were in a state, in seconds; undefined if none was.
export function peakOf(fleet: Fleet, state: string, range: readonly [number, number]): number | undefined {
  const step = Math.max(1, (range[1] - range[0]) / kSteps);
  const times: number[] = [];
  for (let at = range[0]; at <= range[1]; at += step) times.push(at);
  const found = largest(seriesOf(fleet, times)[kLines[state] ?? "empty"]);
  return found === undefined ? undefined : times[found];
}

/// Returns the minute in which the most ready replicas had no request, as far as the busiest minute tells what a replica
/// can do.
export function idleMoment(policy: Policy): number | undefined {
  const minutes = policy.by_minute;
  if (minutes === undefined) return undefined;
  const perReplica = Math.max(...minutes.arrived.map((arrived, i) => arrived / Math.max(1, minutes.ready[i] ?? 0)));
  if (perReplica <= 0) return undefined;
  const found = largest(minutes.arrived.map((arrived, i) => (minutes.ready[i] ?? 0) - arrived / perReplica));
  return found === undefined ? undefined : found * kMinute;
}

const kRequestPhases = ["gateway_us", "queue_us", "prefill_us", "transfer_us", "decode_us"] as const satisfies readonly (keyof LatencyPhases)[];

/// Returns the minute in which a latency was the worst: "ttft", "tpot" or "e2e".
export function worstMinute(policy: Policy, latency: string): number | undefined {
  const phases = policy.latency_phases;
  const perToken = policy.by_minute?.tpot_p99_us;
  if (latency === "tpot" && perToken !== undefined) {
    const worst = largest(perToken);
    return worst === undefined ? undefined : worst * kMinute;
  }
  const byPhase = phases === undefined ? [] : phases.first_tokens.map((_, i) => (latency === "tpot" ? ["decode_us" as const] : kRequestPhases).reduce((sum, key) => sum + (phases[key][i] ?? 0), 0));
  const found = largest(latency === "ttft" || phases === undefined ? (policy.by_minute?.ttft_p99_us ?? []) : byPhase);
  return found === undefined ? undefined : found * kMinute;
}

/// Returns the moment at which the first node of a kind was requested or launched; undefined if all were there at the start.
export function firstBought(fleet: Fleet, kind: { pool: string | null; instance_type: string; zone: string }): number | undefined {
  const moments = fleet.nodes
    .filter((node) => node.machine.pool === kind.pool && node.machine.instance_type === kind.instance_type && node.zone === kind.zone)
    .map((node) => (Number.isFinite(node.requested) ? node.requested : node.launched))
    .filter((at) => at > 0);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

/// Returns the position of the last decision at or before a moment, of a layer if there is one; undefined before the first.
export function decisionBefore(rows: readonly Pick<LogRow, "at" | "layer">[], at: number, layer?: string): number | undefined {
  const isBefore = (row: Pick<LogRow, "at" | "layer">) => row.at <= at + 0.5;
  const last = (matches: (row: Pick<LogRow, "at" | "layer">) => boolean) => rows.reduce((found, row, i) => (isBefore(row) && matches(row) ? i : found), -1);
  const own = layer === undefined ? -1 : last((row) => row.layer === layer);
  const found = own >= 0 ? own : last(() => true);
  return found < 0 ? undefined : found;
}
