// Jobs and other workloads that Capstan does not scale, in a recording or of a controller.
import type { Fleet, GangRow } from "./fleet";
import { quantile } from "./history";
import { costIn, workloadKind } from "./observed";
import type { JobRow, Stretch } from "./run";

/// Returns a row for each kind of workload that was there in a stretch of time, the most GPU-hours first.
export function observedJobs(fleet: Fleet, range: Stretch): JobRow[] {
  const [from, to] = [range[0], Math.min(range[1], fleet.end)];
  const kinds = new Map<string, GangRow[]>();
  for (const gang of fleet.gangs) {
    if (gang.service >= 0 || gang.created > to || gang.ended < from) continue;
    const kind = workloadKind(gang.name);
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, [gang]);
    else known.push(gang);
  }
  if (kinds.size === 0) return [];
  const spent = costIn(fleet, range);
  const rows = [...kinds].map(([name, gangs]) => {
    // A job that was there when the recording began may have waited before.
    const waits = gangs.filter((gang) => gang.created > 0).map((gang) => Math.max(0, Math.min(gang.placed, gang.ended, to) - gang.created));
    waits.sort((a, b) => a - b);
    const own = spent.workloads.get(name);
    return {
      name,
      arrived: gangs.length,
      ended: gangs.filter((gang) => gang.ended <= to).length,
      waiting: gangs.filter((gang) => gang.placed > to && gang.ended > to).length,
      wait_p50_ns: 1e9 * quantile(waits, 0.5),
      wait_p99_ns: 1e9 * quantile(waits, 0.99),
      gpu_hours: own?.gpuHours ?? 0,
      cost_usd: spent.usd === 0 ? undefined : (own?.usd ?? 0),
    };
  });
  return rows.sort((a, b) => b.gpu_hours - a.gpu_hours);
}
