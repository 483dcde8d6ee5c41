// Rows of the services, from a stretch of a recording or of a controller.
import { sloWords } from "../format";
import type { Fleet } from "./fleet";
import { costIn } from "./observed";
import type { RecordedService } from "./recording";
import type { Figure, ServiceRow, Stretch } from "./run";

type Values = readonly (number | null)[] | undefined;

/// Returns the largest value of a stretch, which leads to its first moment; undefined if no value is known.
export function peakIn(at: readonly number[], values: Values, [from, to]: Stretch): Figure | undefined {
  let peak: { value: number; at: number } | undefined;
  at.forEach((moment, i) => {
    const value = values?.[i];
    if (value === null || value === undefined || moment < from || moment > to) return;
    if (peak === undefined || value > peak.value) peak = { value, at: moment };
  });
  return peak === undefined ? undefined : { value: peak.value, ...(peak.value > 0 ? { moment: () => peak?.at } : {}) };
}

/// Returns the last known value up to a moment.
export function lastBefore(at: readonly number[], values: Values, to: number): number | undefined {
  for (let i = at.length - 1; i >= 0; --i) {
    const value = values?.[i];
    if ((at[i] ?? 0) <= to && value !== null && value !== undefined) return value;
  }
  return undefined;
}

/// Returns the mean over the time in which the value was known.
function meanIn(at: readonly number[], values: Values, [from, to]: Stretch): number | undefined {
  let [sum, seconds] = [0, 0];
  at.forEach((moment, i) => {
    const value = values?.[i];
    const length = Math.min(at[i + 1] ?? moment, to) - Math.max(moment, from);
    if (value === null || value === undefined || length <= 0) return;
    sum += value * length;
    seconds += length;
  });
  return seconds > 0 ? sum / seconds : undefined;
}

/// Returns the SLO of a service in words; undefined if it has none. A controller does not record a bound on whole
/// requests.
function sloOf(one: RecordedService, at: readonly number[], to: number): string | undefined {
  const allowed = lastBefore(at, one.late_allowed_ppm, to);
  const [ttft, tpot] = [lastBefore(at, one.ttft_slo_us, to) ?? 0, lastBefore(at, one.tpot_slo_us, to) ?? 0];
  if (allowed === undefined || (ttft === 0 && tpot === 0)) return undefined;
  return sloWords({ ttft_ns: 1000 * ttft, tpot_ns: 1000 * tpot, e2e_ns: 0, attainment_ppm: 1_000_000 - allowed });
}

/// Returns what each service got in a stretch of time.
/// @param at     moments of the states, seconds
/// @param fleet  the nodes and replicas; undefined: they have not been read yet
export function observedServices(services: readonly RecordedService[], at: readonly number[], fleet: Fleet | undefined, range: Stretch): ServiceRow[] {
  const spent = fleet === undefined ? undefined : costIn(fleet, range);
  const known = <Key extends keyof ServiceRow>(key: Key, value: ServiceRow[Key]) => (value === undefined ? {} : { [key]: value });
  const plain = (value: number | undefined): Figure | undefined => (value === undefined ? undefined : { value });
  return services.map((one) => {
    const user = spent?.users.find(({ name }) => name === one.service);
    const late = meanIn(at, one.late_ppm, range);
    const allowed = lastBefore(at, one.late_allowed_ppm, range[1]);
    return {
      name: one.service,
      ...known("slo", sloOf(one, at, range[1])),
      ...known("isHeld", late === undefined || allowed === undefined ? undefined : late <= allowed),
      ...known("late", plain(late)),
      ...known("ttft", peakIn(at, one.ttft_p99_us, range)),
      ...known("tpot", peakIn(at, one.tpot_p99_us, range)),
      ...known("wanted", plain(lastBefore(at, one.desired, range[1]))),
      ...known("ready", plain(lastBefore(at, one.ready, range[1]))),
      ...known("maxReady", peakIn(at, one.ready, range)),
      ...known("maxWaiting", peakIn(at, one.waiting, range)),
      ...known("ended", plain(user === undefined || user.requests === 0 ? undefined : user.requests)),
      ...known("gpuHours", plain(spent === undefined ? undefined : (user?.gpuHours ?? 0))),
      ...known("usd", plain(spent === undefined || spent.usd === 0 ? undefined : (user?.usd ?? 0))),
    };
  });
}
