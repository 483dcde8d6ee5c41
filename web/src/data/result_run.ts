// The run of a simulated policy, from a result.
import { readFleet } from "./fleet";
import { startsOf } from "./history";
import { worstMinute } from "./explaining_moments";
import { logOf } from "./log";
import { outcomesOf } from "./outcomes";
import type { Policy, Result } from "./result";
import { kOfWhole, once, type RequestTimes, type Run } from "./run";
import { seriesOfPolicy } from "./series";
import { policyOf, servicePositions, sloOf } from "./service";
import { serviceRowsOf } from "./service_rows";
import { spentOf } from "./spent";
import { count } from "../format";

const kMinute = 60;

/// Returns where the time of the requests of a policy went, and of each of its services unless one is chosen.
function timesOf(policy: Policy, isOfService: boolean): RequestTimes | undefined {
  const services = isOfService ? [] : (policy.services ?? []);
  const all = [{ name: policy.policy, phases: policy.latency_phases }, ...services.map((one) => ({ name: `${policy.policy}: ${one.name}`, phases: one.latency_phases }))];
  const rows = all.flatMap(({ name, phases }) => (phases === undefined ? [] : [{ name, phases }]));
  if (policy.latency_phases === undefined) return undefined;
  return { rows, start: 0, note: "Its time to first token is gateway, queue and prefill; transfer and decode follow." };
}

/// @param service  the service that the charts show alone; undefined: all
export function runOf(result: Result, policy: Policy, service: string | undefined): Run {
  const services = result.services ?? [];
  const shown = policyOf(policy, services, service);
  const { fleet: columns, signals } = policy;
  const fleet = columns === undefined ? undefined : once(() => readFleet(columns, services, policy.simulated_ns / 1e9));
  const left = policy.actions_left_out ?? 0;
  const log = once(() => logOf(result, shown));
  return {
    name: policy.policy,
    length: shown.simulated_ns / 1e9,
    isObserved: false,
    services,
    queues: result.queues ?? [],
    series: seriesOfPolicy(shown, servicePositions(result, service), sloOf(result, policy, service)),
    get log() {
      return log();
    },
    logNote: left > 0 ? `${count(left)} later decisions about pods and nodes are left out.` : "",
    signals:
      signals === undefined
        ? undefined
        : {
            at: signals.oldest_ms.map((_, i) => i * kMinute),
            ageMs: signals.oldest_ms,
            silent: signals.silent_replicas,
            note: "The numbers of waiting requests that the replicas of all services reported, at the first look of each minute.",
          },
    times: timesOf(shown, service !== undefined),
    starts: shown.cold_start_phases === undefined ? undefined : startsOf(shown.cold_start_phases),
    fleet,
    serviceRows: () => serviceRowsOf(policy, services),
    jobRows: () => policy.jobs ?? [],
    spent: () => spentOf(result, policy, shown, fleet),
    latencies: () => (["ttft", "tpot", "e2e"] as const).map((key) => ({ key, values: shown[key], ...(shown.by_minute === undefined ? {} : { moment: () => worstMinute(shown, key) }) })),
    outcomes: () => outcomesOf(policy),
    notes: (isPart) => ({ services: `${policy.policy}.`, jobs: policy.policy, latencies: isPart ? kOfWhole : "", outcomes: isPart ? kOfWhole : "" }),
    isOfWhole: true,
    moments: shown.moments.map((one) => one.at_ns / 1e9),
  };
}
