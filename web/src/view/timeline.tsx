import { useMemo } from "preact/hooks";
import { type Line, Plot, type TimeRange } from "../chart/plot";
import type { Minutes, Policy, Slo } from "../data/result";
import { startingByMinute } from "../data/starting";
import { count, duration, wholeTick } from "../format";
import { Deferred } from "../deferred";
import { memo } from "../memo";

const kMinute = 60;

interface TimelineProps {
  /// Undefined: the services have different SLOs.
  slo: Slo | undefined;
  shown: Policy;
  /// Positions in the result of the services that the charts show, without jobs.
  services: ReadonlySet<number>;
  against: Policy | undefined;
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  /// The moment of the map and of the decision log.
  at: number;
  onAt: (at: number) => void;
  theme: string;
}

/// Returns the stretches of time in which fewer replicas were ready than wanted: cold starts, or missing capacity.
export function shortStretches(minutes: Minutes): TimeRange[] {
  const stretches: [number, number][] = [];
  minutes.desired.forEach((desired, i) => {
    if (desired <= (minutes.ready[i] ?? 0)) return;
    const last = stretches.at(-1);
    if (last !== undefined && last[1] === i * kMinute) last[1] = (i + 1) * kMinute;
    else stretches.push([i * kMinute, (i + 1) * kMinute]);
  });
  return stretches;
}

function missed(minutes: Minutes): number[] {
  return minutes.arrived.map((arrived, i) => arrived - (minutes.met[i] ?? 0));
}

const kPoints = (n: number) => count(n);

function demand(minutes: Minutes, other: Minutes | undefined): Line[] {
  const lines: Line[] = [
    { name: "arrived", values: minutes.arrived, colour: "--c1", text: kPoints, stepped: true, filled: true },
    { name: "missed the SLO", values: missed(minutes), colour: "--bad", text: kPoints, stepped: true, filled: true },
  ];
  if (other !== undefined) {
    lines.push({ name: "missed, compared policy", values: missed(other), colour: "--c3", text: kPoints, stepped: true, dashed: true });
  }
  return lines;
}

function capacity(minutes: Minutes, starting: number[] | undefined, other: Minutes | undefined): Line[] {
  const lines: Line[] = [
    { name: "wanted replicas", values: minutes.desired, colour: "--c2", text: kPoints, stepped: true, dashed: true },
    { name: "ready replicas", values: minutes.ready, colour: "--c1", text: kPoints, stepped: true, filled: true },
  ];
  if (starting !== undefined) lines.push({ name: "starting replicas", values: starting, colour: "--wait", text: kPoints, stepped: true });
  if (minutes.gpus_paid !== undefined) lines.push({ name: "GPUs paid", values: minutes.gpus_paid, colour: "--c4", text: kPoints, stepped: true, right: true });
  if (other !== undefined) {
    lines.push({ name: "ready, compared policy", values: other.ready, colour: "--c3", text: kPoints, stepped: true, dashed: true });
  }
  return lines;
}

function latency(minutes: Minutes, other: Minutes | undefined): Line[] {
  // In a minute without a first token there is no latency to show.
  const known = (values: number[]) => values.map((us) => (us > 0 ? us : null));
  const lines: Line[] = [
    { name: "TTFT p99", values: known(minutes.ttft_p99_us), colour: "--c1", text: duration },
    { name: "waiting requests", values: minutes.waiting, colour: "--c4", text: kPoints, stepped: true, right: true },
  ];
  if (other !== undefined) {
    lines.push({ name: "TTFT p99, compared policy", values: known(other.ttft_p99_us), colour: "--c3", text: duration, dashed: true });
  }
  return lines;
}

/// Returns the lines of the time per output token; undefined if the result has none.
function perToken(minutes: Minutes, other: Minutes | undefined): Line[] | undefined {
  const known = (values: number[]) => values.map((us) => (us > 0 ? us : null));
  if (minutes.tpot_p99_us === undefined) return undefined;
  const lines: Line[] = [{ name: "TPOT p99", values: known(minutes.tpot_p99_us), colour: "--c1", text: duration }];
  if (other?.tpot_p99_us !== undefined) lines.push({ name: "TPOT p99, compared policy", values: known(other.tpot_p99_us), colour: "--c3", text: duration, dashed: true });
  return lines;
}

function sameLength(values: Minutes, length: number): Minutes {
  const cut = (list: number[]) => Array.from({ length }, (_, i) => list[i] ?? 0);
  return Object.fromEntries(Object.entries(values).map(([key, list]) => [key, cut(list as number[])])) as unknown as Minutes;
}

export const Timeline = memo(function Timeline({ slo, shown, services, against, range, onRange, at, onAt, theme }: TimelineProps) {
  const minutes = shown.by_minute;
  const views = useMemo(() => {
    if (minutes === undefined) return undefined;
    const other = against?.by_minute === undefined ? undefined : sameLength(against.by_minute, minutes.arrived.length);
    return {
      at: minutes.arrived.map((_, i) => i * kMinute),
      demand: demand(minutes, other),
      capacity: capacity(minutes, startingByMinute(shown, services, minutes.arrived.length), other),
      latency: latency(minutes, other),
      perToken: perToken(minutes, other),
      shaded: shortStretches(minutes),
      marks: (shown.scale_steps ?? []).map((step) => step.at_ns / 1e9),
    };
  }, [shown, services, against]);
  if (views === undefined) return <p class="note">This result has no series by minute.</p>;
  const common = { at: views.at, range, onRange, now: at, onNow: onAt, theme };
  const limit = (slo?.ttft_ns ?? 0) / 1000;
  const tokenLimit = (slo?.tpot_ns ?? 0) / 1000;
  return (
    <>
      <Deferred>
        <Plot
          {...common}
          title="Demand: requests per minute"
          note="A request counts in the minute in which it arrived. A click, or Enter at the value that the arrow keys read, shows the decision that was in force."
          lines={views.demand}
          leftLabel="requests per minute"
          leftText={wholeTick}
        />
      </Deferred>
      <Deferred>
        <Plot
          {...common}
          title="Capacity: replicas wanted and ready"
          note="Shaded: fewer replicas are ready than wanted. Triangles: the policy changed the replicas that it wants."
          lines={views.capacity}
          shaded={views.shaded}
          marks={views.marks}
          leftLabel="replicas"
          rightLabel="GPUs"
          leftText={wholeTick}
          rightText={wholeTick}
        />
      </Deferred>
      <Deferred>
        <Plot
          {...common}
          title="Latency: time to first token"
          lines={views.latency}
          leftLabel="TTFT p99"
          rightLabel="waiting requests"
          {...(limit > 0 ? { limit: { value: limit, label: `SLO ${duration(limit)}` } } : {})}
          isDuration
          leftText={(us) => (us === 0 ? "0" : duration(us))}
          rightText={wholeTick}
        />
      </Deferred>
      {views.perToken !== undefined && (
        <Deferred>
          <Plot
            {...common}
            title="Latency: time per output token"
            lines={views.perToken}
            leftLabel="TPOT p99"
            {...(tokenLimit > 0 ? { limit: { value: tokenLimit, label: `SLO ${duration(tokenLimit)}` } } : {})}
            isDuration
            leftText={(us) => (us === 0 ? "0" : duration(us))}
          />
        </Deferred>
      )}
    </>
  );
});
