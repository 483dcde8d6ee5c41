// The services of a scenario that has several: the result of a policy for one of them.
import type { Service, StartColumns } from "./history";
import type { Policy, Result, Slo } from "./result";

/// Returns true if `part` is the service `name` or one of its roles or variants, such as "chat prefill" of "chat".
export function isServiceOrPart(name: string, part: string): boolean {
  return part === name || part.startsWith(`${name} `);
}

function startsOf(columns: StartColumns, services: Service[], name: string): StartColumns {
  const rows = columns.service.flatMap((service, i) => (isServiceOrPart(name, services[service]?.name ?? "") ? [i] : []));
  const picked = Object.entries(columns).map(([key, values]) => [key, rows.map((row) => (values as number[])[row] ?? 0)]);
  return Object.fromEntries(picked) as StartColumns;
}

/// Returns the names of the services for which the result has series over time; empty with one service.
export function namedServices(result: Result): string[] {
  return (result.policies[0]?.services ?? []).filter((service) => service.by_minute !== undefined).map((service) => service.name);
}

/// Returns a policy with the requests, decisions and starts of one service only. The cost and the fleet remain
/// those of all services. Without a service the policy is returned as it is.
export function policyOf(policy: Policy, services: Service[], name: string | undefined): Policy {
  const figures = policy.services?.find((service) => service.name === name);
  if (figures === undefined) return policy;
  const { by_minute, latency_phases, requests, attainment_ppm, ttft, tpot, e2e } = figures;
  const one: Policy = { ...policy, requests, attainment_ppm, ttft, tpot, e2e };
  if (by_minute !== undefined) one.by_minute = by_minute;
  if (latency_phases !== undefined) one.latency_phases = latency_phases;
  if (policy.scale_steps !== undefined) one.scale_steps = policy.scale_steps.filter((step) => isServiceOrPart(figures.name, step.part));
  if (policy.actions !== undefined) one.actions = policy.actions.filter(({ service }) => service !== null && isServiceOrPart(figures.name, services[service]?.name ?? ""));
  if (policy.cold_start_phases !== undefined) one.cold_start_phases = startsOf(policy.cold_start_phases, services, figures.name);
  return one;
}

/// Returns the SLO of the requests in the charts: of the service `name`, or of the only service. Returns undefined if
/// the charts show several services, or if there are only jobs.
export function sloOf(result: Result, policy: Policy, name: string | undefined): Slo | undefined {
  const services = policy.services ?? [];
  if (services.length === 0) return result.slo ?? undefined;
  return services.find((service) => service.name === name)?.slo;
}

/// Returns the positions in the result of all services, or of the roles and variants of one service; without jobs.
export function servicePositions(result: Result, name: string | undefined): ReadonlySet<number> {
  const all = (result.services ?? []).flatMap((one, i) => (one.part !== "job" && (name === undefined || isServiceOrPart(name, one.name)) ? [i] : []));
  return new Set(all);
}
