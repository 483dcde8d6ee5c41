// The figures of a recorded simulation that a controller cannot measure: single requests, teams and goals.
import { sloWords } from "../format";
import { worstMinute } from "./explaining_moments";
import type { Minutes, Policy, Result } from "./result";
import type { Figure, LatencyRow, ServiceRow, Stretch } from "./run";
import { type Demand, demandOf } from "./series";
import { policyOf, sloOf } from "./service";

const kMinute = 60;

export interface Measured {
  result: Result;
  /// The policy, or its part of the service that the charts show.
  policy: Policy;
  /// Time of the simulation at which the recording begins, seconds.
  start: number;
}

/// Returns what was measured of a service, or of all; undefined if the result has no figures of the service, which may
/// be a role or a variant.
/// @param names  names of the services of the recording
export function measuredOf(result: Result | undefined, names: readonly string[], service: string | undefined, start: number): Measured | undefined {
  const policy = result?.policies[0];
  if (result === undefined || policy === undefined) return undefined;
  const isWhole = service === undefined || (names.length === 1 && policy.services === undefined);
  if (!isWhole && policy.services?.some((one) => one.name === service) !== true) return undefined;
  return { result, policy: isWhole ? policy : policyOf(policy, [], service), start };
}

/// Returns the requests by minute, on the clock of the recording.
export function measuredDemand({ policy, start }: Measured): Demand | undefined {
  return policy.by_minute === undefined ? undefined : demandOf(policy.by_minute, policy.simulated_ns / 1e9, start);
}

/// Returns the requests of the minutes that overlap a stretch, and the minute in which most of them missed the SLO.
function requestsIn(minutes: Minutes, start: number, [from, to]: Stretch): { arrived: number; met: number; worst: number | undefined } {
  const sum = { arrived: 0, met: 0, worst: undefined as number | undefined };
  let most = 0;
  minutes.arrived.forEach((arrived, i) => {
    const at = i * kMinute - start;
    if (at + kMinute <= from || at >= to) return;
    const met = minutes.met[i] ?? 0;
    sum.arrived += arrived;
    sum.met += met;
    if (arrived - met <= most) return;
    most = arrived - met;
    sum.worst = at;
  });
  return sum;
}

/// Returns the figures of the requests of a service in a stretch of time.
export function measuredRow(measured: Measured, name: string, range: Stretch): Pick<ServiceRow, "slo" | "isHeld" | "arrived" | "met"> {
  const { policy, result, start } = measured;
  if (policy.by_minute === undefined) return {};
  const slo = sloOf(result, policy, name);
  const { arrived, met, worst } = requestsIn(policy.by_minute, start, range);
  if (slo === undefined || arrived === 0) return { arrived: { value: arrived } };
  const share: Figure = { value: Math.floor((1e6 * met) / arrived), moment: () => worst };
  return { slo: sloWords(slo), isHeld: share.value >= slo.attainment_ppm, arrived: { value: arrived }, met: share };
}

/// Returns the latencies of all requests.
export function measuredLatencies({ policy, start }: Measured): LatencyRow[] {
  const moment = (key: LatencyRow["key"]) => {
    const at = worstMinute(policy, key);
    return at === undefined ? undefined : at - start;
  };
  return (["ttft", "tpot", "e2e"] as const).map((key) => ({ key, values: policy[key], moment: () => moment(key) }));
}

/// Returns the policy with its moments on the clock of the recording.
export function withMoments({ policy, start }: Measured): Policy {
  const moments = policy.moments.map((one) => ({ ...one, at_ns: one.at_ns - 1e9 * start }));
  return { ...policy, moments: moments.filter((one) => one.at_ns >= 0) };
}
