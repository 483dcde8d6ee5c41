// The series of a run over time: by minute if a simulation measured them, by state if a controller saw them.
import type { Minutes, Policy, Slo } from "./result";
import { startingByMinute } from "./starting";

type Numbers = (number | null)[];

/// Requests by minute. `at`: starts of the minutes, seconds.
export interface Demand {
  at: number[];
  /// A simulation knows the requests that arrived and those of them that missed the SLO.
  arrived?: number[];
  missed?: number[];
  /// A controller knows the requests that ended, and the requests that came to the engines if all of them report how many
  /// requests they have.
  ended?: Numbers;
  came?: Numbers;
  /// Length of the last minute, seconds. Absent: it is whole.
  lastSeconds?: number;
}

/// Series over the moments `at`, in seconds. An absent series and null are not known. Latencies are microseconds, shares
/// ppm.
export interface Series {
  at: number[];
  desired: Numbers;
  ready: Numbers;
  waiting: Numbers;
  starting?: Numbers;
  running?: Numbers;
  gpusPaid?: Numbers;
  ttft?: Numbers;
  tpot?: Numbers;
  /// Share of late requests that the engines report, and the share that the SLO allows.
  late?: Numbers;
  lateAllowed?: Numbers;
  /// Bounds of the SLO; 0: none, or services have different ones.
  ttftSlo: number;
  tpotSlo: number;
  demand?: Demand;
  /// Stretches in which fewer replicas were ready than wanted.
  short: [number, number][];
  /// Moments at which the policy changed the wanted replicas.
  changes: number[];
  /// True: latencies are those of the engines' histograms.
  isFromHistograms: boolean;
}

const kMinute = 60;

/// Returns the stretches in which fewer replicas were ready than wanted: cold starts, or missing capacity.
/// @param last  length of the last stretch, seconds
export function shortStretches(at: readonly number[], desired: readonly (number | null)[], ready: readonly (number | null)[], last: number): [number, number][] {
  const stretches: [number, number][] = [];
  at.forEach((from, i) => {
    const to = at[i + 1] ?? from + last;
    if ((desired[i] ?? 0) <= (ready[i] ?? 0) || to <= from) return;
    const known = stretches.at(-1);
    if (known !== undefined && known[1] === from) known[1] = to;
    else stretches.push([from, to]);
  });
  return stretches;
}

/// Returns the requests by minute that a simulation measured.
/// @param start  time of the simulation that counts as 0, seconds
export function demandOf(minutes: Pick<Minutes, "arrived" | "met">, simulated: number, start: number): Demand {
  const { arrived, met } = minutes;
  const last = simulated - kMinute * (arrived.length - 1);
  return {
    at: arrived.map((_, i) => i * kMinute - start),
    arrived,
    missed: arrived.map((all, i) => all - (met[i] ?? 0)),
    ...(last > 0 && last < kMinute ? { lastSeconds: last } : {}),
  };
}

/// Returns the series of a simulated policy; undefined if the result has none.
/// @param services  positions of the services that the series are about
/// @param slo       undefined: the services have different ones
export function seriesOfPolicy(policy: Policy, services: ReadonlySet<number>, slo: Slo | undefined): Series | undefined {
  const minutes = policy.by_minute;
  if (minutes === undefined) return undefined;
  // In a minute without a first token there is no latency to show.
  const known = (values: number[]) => values.map((us) => (us > 0 ? us : null));
  const at = minutes.arrived.map((_, i) => i * kMinute);
  const starting = startingByMinute(policy, services, at.length);
  return {
    at,
    desired: minutes.desired,
    ready: minutes.ready,
    waiting: minutes.waiting,
    ...(starting === undefined ? {} : { starting }),
    ...(minutes.gpus_paid === undefined ? {} : { gpusPaid: minutes.gpus_paid }),
    ttft: known(minutes.ttft_p99_us),
    ...(minutes.tpot_p99_us === undefined ? {} : { tpot: known(minutes.tpot_p99_us) }),
    ttftSlo: (slo?.ttft_ns ?? 0) / 1000,
    tpotSlo: (slo?.tpot_ns ?? 0) / 1000,
    demand: demandOf(minutes, policy.simulated_ns / 1e9, 0),
    short: shortStretches(at, minutes.desired, minutes.ready, kMinute),
    changes: (policy.scale_steps ?? []).map((step) => step.at_ns / 1e9),
    isFromHistograms: false,
  };
}
