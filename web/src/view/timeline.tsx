import { useMemo } from "preact/hooks";
import { type Line, Plot, type PlotProps, type TimeRange } from "../chart/plot";
import type { Demand, Series } from "../data/series";
import { count, duration, latency, percent, tokenTime, wholeTick } from "../format";
import { Deferred } from "../deferred";
import { memo } from "../memo";

interface TimelineProps {
  /// Undefined: the run has none.
  series: Series | undefined;
  against: Series | undefined;
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  /// The moment of the map and of the decision log.
  at: number;
  onAt: (at: number) => void;
  theme: string;
}

type Panel = Pick<PlotProps, "title" | "at" | "lines" | "leftLabel" | "leftText"> & Partial<Pick<PlotProps, "note" | "stretch" | "limit" | "shaded" | "marks" | "isDuration" | "rightLabel" | "rightText">>;
type Values = Line["values"];

const kMinute = 60;
/// The values of a simulated result are about minutes, those of a recording about the moments of its states.
const stretchOf = (series: Series) => (series.isFromHistograms ? {} : { stretch: kMinute });

const latencyText = (us: number) => (us === 0 ? "0" : duration(us));
const isKnown = (values: Values | undefined): values is Values => values?.some((value) => value !== null) === true;

/// Returns as many values as a chart has moments. Another policy may have run for longer.
const fitted = (values: Values, length: number): Values => Array.from({ length }, (_, i) => values[i] ?? null);

function demandPanel(demand: Demand, other: Demand | undefined): Panel {
  const { at, arrived, missed, ended, came, lastSeconds = kMinute } = demand;
  const line = (name: string, values: Values, colour: string, further: Partial<Line> = { filled: true }): Line => ({ name, values, colour, text: count, stepped: true, ...further });
  const lines: Line[] = [];
  if (arrived !== undefined) lines.push(line("arrived", arrived, "--c1"));
  if (came !== undefined) lines.push(line("came", came, "--c1"));
  if (ended !== undefined) lines.push(line("ended", ended, came === undefined ? "--c1" : "--c2", came === undefined ? { filled: true } : { dashed: true }));
  if (missed !== undefined) lines.push(line("missed the SLO", missed, "--bad"));
  if (other?.missed !== undefined) lines.push(line("missed, compared policy", fitted(other.missed, at.length), "--c3", { dashed: true }));
  const whatCame = came === undefined ? "" : " As many requests came as ended, plus the growth of the requests that wait or run.";
  const seen = `A request ends in the minute in which an engine reported its end.${whatCame} The controller does not see a request that no engine and no gateway took.`;
  const cut = lastSeconds < kMinute ? ` The last minute is cut: it has only ${duration(lastSeconds * 1e6)}.` : "";
  const what = arrived === undefined ? seen : `A request counts in the minute in which it arrived.${cut}`;
  return {
    title: "Demand: requests per minute",
    note: `${what} A click, or Enter at the value that the arrow keys read, shows the decision that was in force.`,
    at,
    lines,
    stretch: kMinute,
    leftLabel: "requests per minute",
    leftText: wholeTick,
  };
}

function capacityPanel(series: Series, other: Series | undefined): Panel {
  const line = (name: string, values: Values, colour: string, further: Partial<Line> = {}): Line => ({ name, values, colour, text: count, stepped: true, ...further });
  const lines = [line("wanted replicas", series.desired, "--c2", { dashed: true }), line("ready replicas", series.ready, "--c1", { filled: true })];
  if (series.starting !== undefined) lines.push(line("starting replicas", series.starting, "--wait"));
  if (series.gpusPaid !== undefined) lines.push(line("GPUs paid", series.gpusPaid, "--c4", { right: true }));
  if (other !== undefined) lines.push(line("ready, compared policy", fitted(other.ready, series.at.length), "--c3", { dashed: true }));
  return {
    title: "Capacity: replicas wanted and ready",
    note: "Shaded: fewer replicas are ready than wanted. Triangles: the policy changed the replicas that it wants.",
    at: series.at,
    lines,
    ...stretchOf(series),
    shaded: series.short,
    marks: series.changes,
    leftLabel: "replicas",
    rightLabel: "GPUs",
    leftText: wholeTick,
    rightText: wholeTick,
  };
}

/// Returns the charts of running and waiting requests and of late ones. Only a recording or a controller has these
/// values at each state.
function observedPanels(series: Series): Panel[] {
  const { at, running, waiting, late, lateAllowed } = series;
  const panels: Panel[] = [];
  if (isKnown(running) || !isKnown(series.ttft)) {
    const lines: Line[] = [{ name: "waiting requests", values: waiting, colour: "--c4", text: count, stepped: true, filled: true }];
    if (isKnown(running)) lines.unshift({ name: "running requests", values: running, colour: "--c1", text: count, stepped: true });
    panels.push({ title: isKnown(running) ? "Running and waiting requests" : "Waiting requests", note: "A gap: no engine and no gateway reported a value.", at, lines, leftLabel: "requests", leftText: wholeTick });
  }
  if (isKnown(late)) {
    const lines: Line[] = [{ name: "late requests", values: late, colour: "--c4", text: percent, stepped: true, filled: true }];
    if (isKnown(lateAllowed)) lines.push({ name: "allowed by the SLO", values: lateAllowed, colour: "--c2", text: percent, stepped: true, dashed: true });
    panels.push({
      title: "Is the SLO met? Late requests",
      note: "The mean share of late requests that the ready replicas reported, for the time to the first token, the queue or the time per token, whichever is worst.",
      at,
      lines,
      leftLabel: "late",
      leftText: percent,
    });
  }
  return panels;
}

const kHistograms = "From the engines' histograms: a value lies somewhere between two of their bounds, such as 1 s and 2.5 s, so it may read too high.";
const kMoreExact = " The share of late requests above is more exact.";

/// @param withWaiting  true: the chart also has the waiting requests
function latencyPanel(series: Series, other: Series | undefined, key: "ttft" | "tpot", withWaiting: boolean): Panel | undefined {
  const values = series[key];
  const slo = key === "ttft" ? series.ttftSlo : series.tpotSlo;
  const name = key === "ttft" ? "TTFT p99" : "TPOT p99";
  // A simulated result has the chart even if no request was answered. A recording or a controller whose engines do
  // not report the latency has no chart.
  if (values === undefined || (series.isFromHistograms && !isKnown(values))) return undefined;
  const text = key === "ttft" ? latency : tokenTime;
  const lines: Line[] = [{ name: series.isFromHistograms ? `${name} of the slowest replica` : name, values, colour: "--c1", text, stepped: series.isFromHistograms }];
  if (withWaiting) lines.push({ name: "waiting requests", values: series.waiting, colour: "--c4", text: count, stepped: true, right: true });
  const compared = other?.[key];
  if (compared !== undefined) lines.push({ name: `${name}, compared policy`, values: fitted(compared, series.at.length), colour: "--c3", text, dashed: true });
  return {
    title: key === "ttft" ? "Latency: time to first token" : "Latency: time per output token",
    ...(series.isFromHistograms ? { note: kHistograms + (isKnown(series.late) ? kMoreExact : "") } : {}),
    at: series.at,
    lines,
    ...stretchOf(series),
    leftLabel: name,
    leftText: latencyText,
    isDuration: true,
    ...(withWaiting ? { rightLabel: "waiting requests", rightText: wholeTick } : {}),
    ...(slo > 0 ? { limit: { value: slo, label: `SLO ${duration(slo)}` } } : {}),
  };
}

function panelsOf(series: Series, other: Series | undefined): Panel[] {
  const observed = series.isFromHistograms ? observedPanels(series) : [];
  return [
    ...(series.demand === undefined ? [] : [demandPanel(series.demand, other?.demand)]),
    capacityPanel(series, other),
    ...observed,
    latencyPanel(series, other, "ttft", observed.length === 0 || !observed.some((panel) => panel.leftLabel === "requests")),
    latencyPanel(series, other, "tpot", false),
  ].filter((panel) => panel !== undefined);
}

/// Shows demand, capacity and latency on one axis of time.
export const Timeline = memo(function Timeline({ series, against, range, onRange, at, onAt, theme }: TimelineProps) {
  const panels = useMemo(() => (series === undefined ? [] : panelsOf(series, against)), [series, against]);
  if (series === undefined) return <p class="note">This result has no series by minute.</p>;
  return (
    <>
      {panels.map((panel) => (
        <Deferred key={panel.title}>
          <Plot {...panel} range={range} onRange={onRange} now={at} onNow={onAt} theme={theme} />
        </Deferred>
      ))}
    </>
  );
});
