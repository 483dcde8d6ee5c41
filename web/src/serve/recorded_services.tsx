import { useMemo } from "preact/hooks";
import { Figure } from "../chart/figure";
import type { TimeRange } from "../chart/plot";
import type { Fleet } from "../data/fleet";
import { costIn } from "../data/observed";
import { count, duration, hours, percent, usd } from "../format";
import { memo } from "../memo";
import { Lead } from "../view/lead";
import type { RecordedService } from "./recording";

type Series = readonly (number | null)[] | undefined;

/// A service in a stretch of time. A missing value: no engine reported it.
interface ServiceInStretch {
  name: string;
  wanted?: number;
  ready?: number;
  readyMost?: Peak;
  waitingMost?: Peak;
  late?: number;
  lateAllowed?: number;
  ttft?: Peak;
  tpot?: Peak;
  requests: number;
  gpuHours?: number;
  usd?: number;
}

interface Peak {
  value: number;
  at: number;
}

/// Returns the largest value of a stretch and its first moment.
function peakOf(at: readonly number[], values: Series, [from, to]: TimeRange): Peak | undefined {
  let peak: Peak | undefined;
  at.forEach((moment, i) => {
    const value = values?.[i];
    if (value === null || value === undefined || moment < from || moment > to) return;
    if (peak === undefined || value > peak.value) peak = { value, at: moment };
  });
  return peak;
}

function lastOf(at: readonly number[], values: Series, to: number): number | undefined {
  for (let i = at.length - 1; i >= 0; --i) {
    const value = values?.[i];
    if ((at[i] ?? 0) <= to && value !== null && value !== undefined) return value;
  }
  return undefined;
}

/// Returns the mean over the time in which the value was known.
function meanOf(at: readonly number[], values: Series, [from, to]: TimeRange): number | undefined {
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

/// Returns what each service got in a stretch of time.
/// @param at     moments of the states, seconds
/// @param fleet  the nodes and replicas; undefined: they have not been read yet
export function servicesIn(services: readonly RecordedService[], at: readonly number[], fleet: Fleet | undefined, range: TimeRange): ServiceInStretch[] {
  const spent = fleet === undefined ? undefined : costIn(fleet, range);
  const known = <Key extends string, Value>(key: Key, value: Value | undefined) => (value === undefined ? {} : ({ [key]: value } as { [key in Key]: Value }));
  return services.map((one) => {
    const user = spent?.users.find(({ name }) => name === one.service);
    const { service: name, late_ppm: late } = one;
    return {
      name,
      ...known("wanted", lastOf(at, one.desired, range[1])),
      ...known("ready", lastOf(at, one.ready, range[1])),
      ...known("readyMost", peakOf(at, one.ready, range)),
      ...known("waitingMost", peakOf(at, one.waiting, range)),
      ...known("late", meanOf(at, late, range)),
      ...known("lateAllowed", lastOf(at, one.late_allowed_ppm, range[1])),
      ...known("ttft", peakOf(at, one.ttft_p99_us, range)),
      ...known("tpot", peakOf(at, one.tpot_p99_us, range)),
      requests: user?.requests ?? 0,
      ...known("gpuHours", spent === undefined ? undefined : (user?.gpuHours ?? 0)),
      ...known("usd", spent === undefined || spent.usd === 0 ? undefined : (user?.usd ?? 0)),
    };
  });
}

interface RecordedServicesProps {
  services: readonly RecordedService[];
  at: readonly number[];
  fleet: Fleet | undefined;
  range: TimeRange;
  chosen: string | undefined;
  onService: (name: string) => void;
  onLead: (at: number | undefined, layer?: string) => void;
}

/// Shows what each service of a recording got in the stretch that the charts show.
export const RecordedServices = memo(function RecordedServices({ services, at, fleet, range, chosen, onService, onLead }: RecordedServicesProps) {
  const rows = useMemo(() => servicesIn(services, at, fleet, range), [services, at, fleet, range[0], range[1]]);
  const number = (value: number | undefined, text: (value: number) => string) => (value === undefined ? "–" : text(value));
  const peak = (one: Peak | undefined, text: (value: number) => string, title: string) => <Lead text={number(one?.value, text)} title={title} onClick={one === undefined || one.value === 0 ? undefined : () => onLead(one.at)} />;
  return (
    <Figure
      title="Does each service get what it needs?"
      note={`In the stretch that the charts show. Late: the mean share over time that the engines report, and the share that the SLO allows. Latencies are the highest of a replica. Both come from histograms with few bounds, so they may read too high.${services.length > 1 ? " Choose a service to see it in the charts." : ""}`}
      table={() => ({
        head: ["service", "wanted", "ready", "ready at most", "waiting at most", "late %", "TTFT p99 at most s", "TPOT p99 at most ms", "requests ended", "GPU-hours", "USD"],
        rows: rows.map((one) => [one.name, one.wanted ?? "", one.ready ?? "", one.readyMost?.value ?? "", one.waitingMost?.value ?? "", one.late === undefined ? "" : one.late / 10_000, one.ttft === undefined ? "" : one.ttft.value / 1e6, one.tpot === undefined ? "" : one.tpot.value / 1e3, one.requests, one.gpuHours ?? "", one.usd ?? ""]),
      })}
    >
      <div class="scroll">
        <table class="services" aria-label="Services of the recording">
          <thead>
            <tr>
              <th scope="col">service</th>
              {["ready of wanted", "ready at most", "waiting at most", "late (allowed)", "TTFT p99 ≤", "TPOT p99 ≤", "requests ended", "GPU-h", "cost"].map((name) => (
                <th scope="col" class="number" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.name} class={services.length > 1 && one.name === chosen ? "shown" : ""}>
                <th scope="row">
                  {services.length > 1 ? (
                    <button type="button" class="link" aria-pressed={one.name === chosen} onClick={() => onService(one.name)}>
                      {one.name}
                    </button>
                  ) : (
                    one.name
                  )}
                </th>
                <td class="number">
                  {number(one.ready, count)} of {number(one.wanted, count)}
                </td>
                <td class="number">{peak(one.readyMost, count, "the first moment with the most ready replicas")}</td>
                <td class="number">{peak(one.waitingMost, count, "the first moment with the most waiting requests")}</td>
                <td class="number">
                  {number(one.late, percent)}
                  {one.lateAllowed !== undefined && ` (${percent(one.lateAllowed)})`}
                </td>
                <td class="number">{peak(one.ttft, duration, "the longest time to first token of a replica")}</td>
                <td class="number">{peak(one.tpot, duration, "the longest time per output token of a replica")}</td>
                <td class="number">{one.requests > 0 ? count(one.requests) : "–"}</td>
                <td class="number">{number(one.gpuHours, hours)}</td>
                <td class="number">{number(one.usd, usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});
