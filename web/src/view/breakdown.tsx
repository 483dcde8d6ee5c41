import { useMemo } from "preact/hooks";
import type { Fill } from "../chart/canvas";
import { Legend } from "../chart/canvas_view";
import { type Line, Plot, type TimeRange } from "../chart/plot";
import { drawShares } from "../chart/shares";
import { CanvasFigure } from "../chart/canvas_figure";
import type { LatencyPhases } from "../data/history";
import type { Policy } from "../data/result";
import { duration } from "../format";
import { memo } from "../memo";

const kMinute = 60;

/// The phases in their order: key of the mean, key of its number of requests, words, fill, line.
const kPhases = [
  ["gateway_us", "first_tokens", "gateway", { colour: "--c3", pattern: "fall" }, { colour: "--c3", dashed: true }],
  ["queue_us", "first_tokens", "queue of the engine", { colour: "--wait", pattern: "rise" }, { colour: "--wait" }],
  ["prefill_us", "first_tokens", "prefill", { colour: "--c1", pattern: "solid" }, { colour: "--c1" }],
  ["transfer_us", "completed", "KV transfer", { colour: "--sleeping", pattern: "cross" }, { colour: "--sleeping", dashed: true }],
  ["decode_us", "completed", "decode", { colour: "--c4", pattern: "across" }, { colour: "--c4" }],
] as const satisfies readonly (readonly [keyof LatencyPhases, "first_tokens" | "completed", string, Fill, { colour: string; dashed?: boolean }])[];

/// Returns the mean of each phase in microseconds, over the requests of a stretch of time.
export function meanPhases(phases: LatencyPhases, range: TimeRange): number[] {
  const first = Math.max(0, Math.floor(range[0] / kMinute));
  const last = Math.min(phases.first_tokens.length, Math.ceil(range[1] / kMinute));
  return kPhases.map(([key, weight]) => {
    const [means, weights] = [phases[key], phases[weight]];
    let [sum, count] = [0, 0];
    for (let minute = first; minute < last; ++minute) {
      const requests = weights[minute] ?? 0;
      sum += (means[minute] ?? 0) * requests;
      count += requests;
    }
    return count > 0 ? sum / count : 0;
  });
}

interface BreakdownProps {
  shown: Policy;
  against: Policy | undefined;
  /// True: the policies are those of one service of several, so there is no row for each service.
  isOfService: boolean;
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  theme: string;
}

/// Returns the phases of the requests of a policy, and of each of its services.
function phasesOf(policy: Policy, isOfService: boolean): { name: string; phases: LatencyPhases }[] {
  const services = isOfService ? [] : (policy.services ?? []);
  return [{ name: policy.policy, phases: policy.latency_phases }, ...services.map((one) => ({ name: `${policy.policy}: ${one.name}`, phases: one.latency_phases }))]
    .flatMap(({ name, phases }) => (phases === undefined ? [] : [{ name, phases }]));
}

/// Shows where the time of the requests went: as shares of the mean request, and minute by minute.
export const Breakdown = memo(function Breakdown({ shown, against, isOfService, range, onRange, theme }: BreakdownProps) {
  const phases = shown.latency_phases;
  const chart = useMemo(() => {
    if (phases === undefined) return undefined;
    const lines: Line[] = kPhases.flatMap(([key, weight, name, , fill]) => {
      const values = phases[key].map((mean, i) => ((phases[weight][i] ?? 0) > 0 ? mean : null));
      if (!values.some((value) => value !== null && value > 0)) return [];
      return [{ name, values, text: duration, stepped: true, right: key === "decode_us", ...fill }];
    });
    return { at: phases.first_tokens.map((_, i) => i * kMinute), lines };
  }, [phases]);
  if (phases === undefined || chart === undefined) return null;
  const rows = [shown, ...(against === undefined ? [] : [against])].flatMap((policy) => phasesOf(policy, isOfService)).map(({ name, phases: own }) => {
    const means = meanPhases(own, range);
    return { name, means, total: means.reduce((sum, mean) => sum + mean, 0) };
  });
  const used = kPhases.map((phase, i) => ({ phase, i })).filter(({ i }) => rows.some((row) => (row.means[i] ?? 0) > 0));
  const longest = Math.max(...rows.map((row) => row.total));
  const words = rows.map((row) => `${row.name}: ${used.map(({ phase, i }) => `${phase[2]} ${duration(row.means[i] ?? 0)}`).join(", ")}`).join(". ");
  return (
    <>
      <CanvasFigure
        title="Where did the time of a request go?"
        note="The mean request of the stretch that the charts show. Its time to first token is gateway, queue and prefill; transfer and decode follow."
        label={`Mean request by phase. ${words}`}
        height={rows.length * 30}
        theme={theme}
        draw={(context, width) => drawShares(context, rows.map((row) => ({ name: row.name, parts: row.means, text: duration(row.total) })), kPhases.map((phase) => phase[3]), width, longest)}
        table={() => ({
          head: ["requests of", ...kPhases.map((phase) => `${phase[2]} s`), "all s"],
          rows: rows.map((row) => [row.name, ...row.means.map((us) => us / 1e6), row.total / 1e6]),
        })}
      >
        <Legend theme={theme} keys={used.map(({ phase, i }) => ({ name: phase[2], fill: phase[3], value: duration(rows[0]?.means[i] ?? 0) }))} />
      </CanvasFigure>
      <Plot
        title="Latency by phase: mean of each minute"
        at={chart.at}
        lines={chart.lines}
        range={range}
        onRange={onRange}
        theme={theme}
        isDuration
        leftLabel="time to first token"
        rightLabel="decode"
        leftText={(us) => (us === 0 ? "0" : duration(us))}
        rightText={(us) => (us === 0 ? "0" : duration(us))}
      />
    </>
  );
});
