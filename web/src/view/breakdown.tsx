import { useMemo } from "preact/hooks";
import type { Fill } from "../chart/canvas";
import { Legend } from "../chart/canvas_view";
import { type Line, Plot, type TimeRange } from "../chart/plot";
import { drawShares } from "../chart/shares";
import { CanvasFigure } from "../chart/canvas_figure";
import type { LatencyPhases } from "../data/history";
import { meanPhases } from "../data/request_times";
import { duration } from "../format";
import { memo } from "../memo";

const kMinute = 60;

/// The phases in their order: key of the mean, key of its number of requests, words, fill, line.
const kPhases = [
  ["gateway_us", "first_tokens", "gateway", { colour: "--c3", pattern: "fall" }, { colour: "--c3", dashed: true }],
  ["queue_us", "first_tokens", "queue of the engine", { colour: "--wait", pattern: "rise" }, { colour: "--wait" }],
  ["queue_prefill_us", "first_tokens", "queue and prefill", { colour: "--held", pattern: "rise" }, { colour: "--held" }],
  ["prefill_us", "first_tokens", "prefill", { colour: "--c1", pattern: "solid" }, { colour: "--c1" }],
  ["transfer_us", "completed", "KV transfer", { colour: "--sleeping", pattern: "cross" }, { colour: "--sleeping", dashed: true }],
  ["prefill_decode_us", "completed", "prefill and decode", { colour: "--launching", pattern: "horizontal" }, { colour: "--launching" }],
  ["decode_us", "completed", "decode", { colour: "--c4", pattern: "horizontal" }, { colour: "--c4" }],
] as const satisfies readonly (readonly [keyof LatencyPhases, "first_tokens" | "completed", string, Fill, { colour: string; dashed?: boolean }])[];

/// Two phases together, of engines that do not report the first of them.
const kMerged: readonly string[] = ["queue_prefill_us", "prefill_decode_us"];

interface BreakdownProps {
  /// Groups of requests with their phases. The chart by minute shows the first group.
  rows: { name: string; phases: LatencyPhases }[];
  /// Begin of the first minute, seconds.
  start?: number;
  note: string;
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  theme: string;
}

/// Shows where the time of the requests went: as shares of the mean request, and minute by minute.
export const Breakdown = memo(function Breakdown({ rows: all, start = 0, note, range, onRange, theme }: BreakdownProps) {
  const phases = all[0]?.phases;
  const chart = useMemo(() => {
    if (phases === undefined) return undefined;
    const lines: Line[] = kPhases.flatMap(([key, weight, name, , fill]) => {
      const values = (phases[key] ?? []).map((mean, i) => ((phases[weight][i] ?? 0) > 0 ? mean : null));
      if (!values.some((value) => value !== null && value > 0)) return [];
      return [{ name, values, text: duration, stepped: true, right: key === "decode_us" || key === "prefill_decode_us", ...fill }];
    });
    return { at: phases.first_tokens.map((_, i) => start + i * kMinute), lines };
  }, [phases, start]);
  if (phases === undefined || chart === undefined) return null;
  const rows = all.map(({ name, phases: own }) => {
    const means = meanPhases(own, [range[0] - start, range[1] - start]);
    return { name, means, total: means.reduce((sum, mean) => sum + mean, 0) };
  });
  const used = kPhases.map((phase, i) => ({ phase, i })).filter(({ i }) => rows.some((row) => (row.means[i] ?? 0) > 0));
  // Most engines report all phases, so merged ones are listed only if there are any.
  const listed = kPhases.map((phase, i) => ({ phase, i })).filter(({ phase, i }) => !kMerged.includes(phase[0]) || used.some((one) => one.i === i));
  const longest = Math.max(...rows.map((row) => row.total));
  const words = rows.map((row) => `${row.name}: ${used.map(({ phase, i }) => `${phase[2]} ${duration(row.means[i] ?? 0)}`).join(", ")}`).join(". ");
  return (
    <>
      <CanvasFigure
        title="Where did the time of a request go?"
        note={`The mean request of the stretch that the charts show. ${note}`}
        label={`Mean request by phase. ${words}`}
        height={rows.length * 30}
        theme={theme}
        draw={(context, width) => drawShares(context, rows.map((row) => ({ name: row.name, parts: row.means, text: duration(row.total) })), kPhases.map((phase) => phase[3]), width, longest)}
        table={() => ({
          head: ["requests of", ...listed.map(({ phase }) => `${phase[2]} s`), "all s"],
          rows: rows.map((row) => [row.name, ...listed.map(({ i }) => (row.means[i] ?? 0) / 1e6), row.total / 1e6]),
        })}
      >
        <Legend theme={theme} keys={used.map(({ phase, i }) => ({ name: phase[2], fill: phase[3], value: duration(rows[0]?.means[i] ?? 0) }))} />
      </CanvasFigure>
      <Plot
        title="Latency by phase: mean of each minute"
        at={chart.at}
        lines={chart.lines}
        stretch={kMinute}
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
