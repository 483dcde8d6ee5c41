// Rows of the services, from the result of a simulation.
import { sloWords } from "../format";
import { figureMoment, type RowFigure } from "./explaining_moments";
import type { Policy } from "./result";
import type { ServiceRow } from "./run";
import { policyOf } from "./service";
import type { Service } from "./history";

/// Returns a row for each service of a policy; none if the scenario has only one.
export function serviceRowsOf(policy: Policy, services: Service[]): ServiceRow[] {
  return (policy.services ?? []).map((one) => {
    const figure = (value: number, key: RowFigure) => ({ value, ...(one.by_minute === undefined ? {} : { moment: () => figureMoment(policyOf(policy, services, one.name), key) }) });
    return {
      name: one.name,
      slo: sloWords(one.slo),
      isHeld: one.holds_slo,
      arrived: { value: one.requests.arrived ?? 0 },
      met: figure(one.attainment_ppm, "unmet"),
      ttft: figure(one.ttft.p99_us, "ttft"),
      tpot: figure(one.tpot.p99_us, "tpot"),
      unmet: figure(one.requests.unmet ?? 0, "unmet"),
      maxReady: figure(one.ready_peak, "ready"),
      gpuHours: { value: one.gpu_hours },
      usd: { value: one.cost_usd },
    };
  });
}
