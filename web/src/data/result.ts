// The result that `capstan sim` and `capstan compare` write; docs/reference/result.md describes every field. The page
// reads only the fields that are named here.

import type { FleetColumns, LatencyPhases, Queue, Service, StartColumns } from "./history";

export interface Percentiles {
  mean_us: number;
  p50_us: number;
  p90_us: number;
  p95_us: number;
  p99_us: number;
}

/// A bound of 0 means no bound.
export interface Slo {
  ttft_ns: number;
  tpot_ns: number;
  e2e_ns: number;
  attainment_ppm: number;
  /// Present if the bound on the time to first token grows with the prompt. The bound of a
  /// request is then at least this many times its prefill time. Unit: 1/1000.
  ttft_prefills_milli?: number;
}

export type ByState = Record<string, number>;

export interface Minutes {
  arrived: number[];
  met: number[];
  waiting: number[];
  desired: number[];
  ready: number[];
  /// Absent in the figures of one of several services.
  gpus_paid?: number[];
  ttft_p99_us: number[];
  /// Absent in results of earlier versions.
  tpot_p99_us?: number[];
}

export interface Moment {
  at_ns: number;
  weight: number;
  reason: string;
  sentence: string;
}

/// A change of the replicas that a policy asks for.
export interface ScaleStep {
  at_ns: number;
  part: string;
  desired: number;
  why: string;
  /// Absent for a policy of another autoscaler, or if the simulation kept no history.
  arithmetic?: string;
}

/// A decision about pods or nodes, or the reason why a replica waits.
export interface PodOrNodeAction {
  at_ns: number;
  layer: "place" | "provision";
  /// Position in the result's services; null: it is about none, or about several.
  service: number | null;
  /// Argument of `capstan explain`, such as "gang 7"; empty: none.
  object: string;
  action: string;
  /// Absent: there were no alternatives.
  arithmetic?: string;
}

/// The figures of one class of jobs.
export interface JobFigures {
  name: string;
  team: string | null;
  arrived: number;
  ended: number;
  computing: number;
  waiting: number;
  wait_p50_ns: number;
  wait_p99_ns: number;
  restarts: number;
  gpu_hours: number;
  cost_usd: number;
  goal?: { finish_within_ns: number; asked_ppm: number; due: number; late: number; is_held: boolean };
}

export interface TeamFigures {
  name: string | null;
  requests: number;
  met: number;
  jobs_arrived: number;
  jobs_ended: number;
  gpu_hours: number;
  cost_usd: number;
}

export interface Spending {
  pool: string | null;
  zone: string;
  instance_type: string;
  capacity_type: string;
  gpu_hours: number;
  cost_usd: number;
}

/// The ready replicas of a role or of a variant.
export interface PartFigures {
  role?: string;
  variant?: string;
  ready_peak: number;
  ready_mean_milli: number;
}

/// The figures of one service, of one policy.
export interface ServiceFigures {
  name: string;
  slo: Slo;
  holds_slo: boolean;
  requests: Record<string, number>;
  attainment_ppm: number;
  ttft: Percentiles;
  tpot: Percentiles;
  e2e: Percentiles;
  ready_peak: number;
  gpu_hours: number;
  cost_usd: number;
  by_minute?: Omit<Minutes, "gpus_paid">;
  latency_phases?: LatencyPhases;
}

export interface Policy {
  policy: string;
  seed: number;
  simulated_ns: number;
  requests: Record<string, number>;
  /// Tokens of answers by outcome; `delivered` counts the tokens of completed requests. `prompt` and `prompt_cached`
  /// are the tokens of their prompts.
  tokens?: Record<string, number>;
  attainment_ppm: number;
  ttft: Percentiles;
  tpot: Percentiles;
  e2e: Percentiles;
  gpu_hours_by_state: ByState;
  cost_by_state_micro_usd: ByState;
  paid_gpu_hours: number;
  cost_usd: number;
  cost_per_1000_met_usd: number | null;
  cost_per_million_tokens_usd: number | null;
  spending: Spending[];
  cold_starts: { count: number; p50_ns: number; max_ns: number };
  nodes: Record<string, number>;
  replicas_peak: number;
  scale_changes: number;
  warnings: string[];
  disruptions: Record<string, number>;
  invariants_broken: Record<string, number>;
  /// The SLOs that the policy misses and the invariants that it broke, in sentences. Absent for some policies in results
  /// of earlier versions.
  remarks?: string[];
  /// The following figures, up to `variants`, are absent in results of earlier versions.
  useful_gpu_hours?: number;
  gangs_deferred?: number;
  wakes?: number;
  conversions?: number;
  decisions?: number;
  reversals?: number;
  roles?: PartFigures[];
  variants?: PartFigures[];
  /// Present only with several services or with jobs.
  services?: ServiceFigures[];
  jobs?: JobFigures[];
  teams?: TeamFigures[];
  /// GPUs without a pod; only with several services or with jobs.
  no_pod?: { gpu_hours: number; cost_usd: number };
  moments: Moment[];
  by_minute?: Minutes;
  scale_steps?: ScaleStep[];
  latency_phases?: LatencyPhases;
  cold_start_phases?: StartColumns;
  fleet?: FleetColumns;
  signals?: { silent_replicas: number[]; oldest_ms: number[] };
  actions?: PodOrNodeAction[];
  /// Number of later decisions about pods and nodes that are not among `actions`.
  actions_left_out?: number;
  score_milli: number;
  /// Only in a plan's report: the command that simulates the policy, and its name in that scenario.
  command?: string;
  name_in_scenario?: string;
}

export interface Result {
  format_version: number;
  scenario: string;
  title: string;
  load: string;
  service: string;
  seed: number;
  /// Null for a scenario with only jobs.
  slo: Slo | null;
  policies: Policy[];
  /// Names of the policies for which no other policy meets as many requests at a lower cost; the cheapest first.
  frontier?: { usd: string[] };
  services?: Service[];
  queues?: Queue[];
  verdict?: string;
  /// Only in a report: how the first policy differs from others, and notes on the scenario.
  why?: string[];
  notes?: string[];
  /// The policy with the mark; null: none has it. Absent in results of earlier versions.
  marked?: string | null;
  /// Only in a plan's report: the policy that the plan chooses.
  chosen?: string;
  command?: string;
  /// The cheapest policies that hold the SLO, simulated with other seeds, too.
  seed_checks?: { policy: string; holds_with_all: boolean }[];
  constant_fleet?: { fleet: string; holds_slo: boolean; result: Policy };
  clairvoyant?: {
    lower_bound: { attainment_ppm?: number; paid_gpu_time_ns?: number; cost_micro_usd: number; solved: boolean };
    /// Absent in results of earlier versions.
    achievable?: { result: Policy };
    /// Only in a report: what the bound means, in three lines. Each begins with the name of its topic, such as "bound".
    words?: string;
  };
}

/// The error of a result that cannot be shown, in one sentence.
export class Unreadable extends Error {}

const kFormatVersion = 1;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/// Checks the fields on which every view depends.
function checkPolicy(policy: unknown, at: string): void {
  if (!isObject(policy)) throw new Unreadable(`${at} is no object`);
  if (typeof policy.policy !== "string") throw new Unreadable(`${at}.policy is no text`);
  for (const key of ["simulated_ns", "attainment_ppm", "paid_gpu_hours", "cost_usd", "score_milli"]) {
    if (typeof policy[key] !== "number") throw new Unreadable(`${at}.${key} is no number`);
  }
  for (const key of ["requests", "ttft", "tpot", "e2e", "gpu_hours_by_state", "cost_by_state_micro_usd"]) {
    if (!isObject(policy[key])) throw new Unreadable(`${at}.${key} is no object`);
  }
  for (const key of ["moments", "spending", "warnings"]) {
    if (!Array.isArray(policy[key])) throw new Unreadable(`${at}.${key} is no list`);
  }
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreadable("the data is not JSON; the file may be cut off");
  }
}

/// Reads a result from JSON. Throws Unreadable, whose message names the field that is wrong.
export function readResult(value: unknown): Result {
  if (!isObject(value)) throw new Unreadable("the page holds no result");
  if (value.format_version !== kFormatVersion) {
    throw new Unreadable(
      `the data has format version ${String(value.format_version)}, and this page reads version ${kFormatVersion}`,
    );
  }
  if (!Array.isArray(value.policies) || value.policies.length === 0) throw new Unreadable("policies is empty or no list");
  value.policies.forEach((policy, i) => checkPolicy(policy, `policies[${i}]`));
  if (value.slo !== null && !isObject(value.slo)) throw new Unreadable("slo is no object");
  return value as unknown as Result;
}

/// Returns true if the policy met the share of requests that the SLO asks for. If the result lists services, each of
/// them must hold its own SLO, and each class of jobs its goal.
export function holdsSlo(result: Result, policy: Policy): boolean {
  const holdsGoals = (policy.jobs ?? []).every((one) => one.goal === undefined || one.goal.is_held);
  if (policy.services !== undefined) return holdsGoals && policy.services.every((service) => service.holds_slo);
  return holdsGoals && (result.slo === null || policy.attainment_ppm >= result.slo.attainment_ppm);
}

/// Returns the cost in USD of 1,000 requests that met the SLO, and of a million answer tokens. The cost of jobs is left
/// out, because jobs answer no requests.
export function unitCosts(policy: Policy): { perRequest: number | null; perTokens: number | null; jobsUsd: number } {
  const jobsUsd = (policy.jobs ?? []).reduce((sum, one) => sum + one.cost_usd, 0);
  const serving = policy.cost_usd - jobsUsd;
  const [met, tokens] = [policy.requests.met ?? 0, policy.tokens?.delivered ?? 0];
  return {
    perRequest: met > 0 ? (1000 * serving) / met : policy.cost_per_1000_met_usd,
    perTokens: tokens > 0 ? (1e6 * serving) / tokens : policy.cost_per_million_tokens_usd,
    jobsUsd,
  };
}

/// The states of a paid GPU; the serving states come first. Keys are those of `gpu_hours_by_state`.
export const kGpuStates = [
  "busy",
  "idle",
  "starting",
  "launching",
  "unallocated",
  "held",
  "sleeping",
  "draining",
] as const;
