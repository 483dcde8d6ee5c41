// Replicas that start, minute by minute, from the history of the replicas.
import type { Policy } from "./result";

const kMinuteMs = 60_000;

/// Returns the replicas that were starting at the end of each minute; undefined if the result has no history of them.
/// @param services  positions of the services that count
export function startingByMinute(policy: Policy, services: ReadonlySet<number>, minutes: number): number[] | undefined {
  const fleet = policy.fleet;
  if (fleet === undefined) return undefined;
  const changes = new Array<number>(minutes + 1).fill(0);
  // Returns the first minute that ends at or after a moment.
  const minuteOf = (ms: number) => Math.min(minutes, Math.max(0, Math.ceil(ms / kMinuteMs) - 1));
  fleet.gangs.service.forEach((service, i) => {
    if (!services.has(service)) return;
    const steps = fleet.gangs.steps[i] ?? [];
    for (let k = 0; k < steps.length; k += 2) {
      if (fleet.phases[steps[k + 1] ?? -1] !== "starting") continue;
      const until = steps[k + 2] ?? fleet.gangs.ended_ms[i] ?? Number.POSITIVE_INFINITY;
      const [from, to] = [minuteOf(steps[k] ?? 0), minuteOf(until)];
      if (to <= from) continue;
      changes[from] = (changes[from] ?? 0) + 1;
      changes[to] = (changes[to] ?? 0) - 1;
    }
  });
  let now = 0;
  return changes.slice(0, minutes).map((change) => (now += change));
}
