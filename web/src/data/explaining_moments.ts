// Finds the moment that explains a number best. The page shows it when the reader clicks the number.
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

/// Returns the largest value above 0 of a stretch of time, with its moment; undefined if there is none.
export function worstIn(at: readonly number[], values: readonly (number | null)[], range: readonly [number, number]): { at: number; value: number } | undefined {
  const found = largest(values.map((value, i) => ((at[i] ?? 0) >= range[0] && (at[i] ?? 0) <= range[1] ? (value ?? 0) : 0)));
  return found === undefined ? undefined : { at: at[found] ?? 0, value: values[found] ?? 0 };
}

/// For each state of a GPU, the line of seriesOf that contains the GPUs in this state.
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

/// Estimates the minute with the most idle replicas, and returns its start in seconds. As the capacity of a replica it
/// takes the largest number of requests per ready replica in any minute.
export function idleMoment(policy: Policy): number | undefined {
  const minutes = policy.by_minute;
  if (minutes === undefined) return undefined;
  const perReplica = Math.max(...minutes.arrived.map((arrived, i) => arrived / Math.max(1, minutes.ready[i] ?? 0)));
  if (perReplica <= 0) return undefined;
  const found = largest(minutes.arrived.map((arrived, i) => (minutes.ready[i] ?? 0) - arrived / perReplica));
  return found === undefined ? undefined : found * kMinute;
}

const kRequestPhases = ["gateway_us", "queue_us", "prefill_us", "transfer_us", "decode_us"] as const satisfies readonly (keyof LatencyPhases)[];

/// Returns the start, in seconds, of the minute in which a latency was the worst: "ttft", "tpot" or "e2e".
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

/// A number in a row of a policy or a service.
export type RowFigure = "unmet" | "ttft" | "tpot" | "paid" | "ready";

/// Returns the start, in seconds, of the minute that explains a number of a policy or of a service best: the one with
/// the most missed requests, the longest latency, or the most paid GPUs or ready replicas.
export function figureMoment(policy: Policy, figure: RowFigure): number | undefined {
  const minutes = policy.by_minute;
  if (minutes === undefined) return undefined;
  if (figure === "ttft" || figure === "tpot") return worstMinute(policy, figure);
  const values = figure === "unmet" ? minutes.arrived.map((arrived, i) => arrived - (minutes.met[i] ?? 0)) : figure === "paid" ? (minutes.gpus_paid ?? minutes.ready) : minutes.ready;
  const found = largest(values);
  return found === undefined ? undefined : found * kMinute;
}

/// Returns the moment at which the longest wait for GPUs of a service or class of jobs began; undefined if none waited.
export function longestWait(fleet: Fleet, name: string): number | undefined {
  const gangs = fleet.gangs.filter((gang) => fleet.services[gang.service]?.name === name);
  const found = largest(gangs.map((gang) => Math.min(gang.placed, gang.ended, fleet.end) - gang.created));
  return found === undefined ? undefined : Math.max(0, gangs[found]?.created ?? 0);
}

/// Returns the moment at which the first node of a kind was requested or launched; undefined if all were there at the start.
export function firstBought(fleet: Fleet, kind: { pool: string | null; instance_type: string; zone: string }): number | undefined {
  const moments = fleet.nodes
    .filter((node) => node.machine.pool === kind.pool && node.machine.instance_type === kind.instance_type && node.zone === kind.zone)
    .map((node) => (Number.isFinite(node.requested) ? node.requested : node.launched))
    .filter((at) => at > 0);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

/// Returns the position of the last decision at or before a moment: of the layer, or of any layer if none is named or
/// the layer has decided nothing by then. Returns undefined before the first decision.
export function decisionBefore(rows: readonly Pick<LogRow, "at" | "layer">[], at: number, layer?: string): number | undefined {
  const isBefore = (row: Pick<LogRow, "at" | "layer">) => row.at <= at + 0.5;
  const last = (matches: (row: Pick<LogRow, "at" | "layer">) => boolean) => rows.reduce((found, row, i) => (isBefore(row) && matches(row) ? i : found), -1);
  const own = layer === undefined ? -1 : last((row) => row.layer === layer);
  const found = own >= 0 ? own : last(() => true);
  return found < 0 ? undefined : found;
}
