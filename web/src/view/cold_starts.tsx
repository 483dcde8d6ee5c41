import { useMemo, useState } from "preact/hooks";
import { Figure } from "../chart/figure";
import { CanvasFigure } from "../chart/canvas_figure";
import { Legend } from "../chart/canvas_view";
import type { TimeRange } from "../chart/plot";
import { type Bar, drawBars, kBarHeight, kPhaseFills } from "../chart/waterfall";
import { kObservedPhases, kStartPhases, longestPhase, partName, quantile, replicaName, type Service, type Start, typicalStart } from "../data/history";
import { duration, moment, stamp } from "../format";
import { memo } from "../memo";

const kRowsInView = 14;
const kTitle = "Where do the minutes of a cold start go?";

const words = (seconds: number) => duration(seconds * 1e6);

interface ColdStartsProps {
  /// All starts of the run.
  starts: Start[];
  services: Service[];
  range: TimeRange;
  onRange: (range: TimeRange) => void;
  theme: string;
  /// True: the starts are known only from the states that the controller saw.
  isObserved?: boolean;
  /// Shows the decision behind a start.
  onExplain: (at: number | undefined, layer?: string) => void;
}

/// Returns one bar for each service: the median of each phase, and an outline within which nine of ten starts end.
function typicalBars(starts: Start[], services: Service[]): Bar[] {
  const present = [...new Set(starts.map((start) => start.service))].sort((a, b) => a - b);
  return present.map((service) => {
    const own = starts.filter((start) => start.service === service);
    const totals = own.map((start) => start.total).sort((a, b) => a - b);
    const part = present.length > 1 ? ` ${partName(services, service)}` : "";
    const median = quantile(totals, 0.5);
    return {
      name: `typical of ${own.length}${part}`,
      head: `typical of ${own.length} `.length,
      phases: typicalStart(own, 0.5),
      text: `half ≤ ${words(median)}, 90 % ≤ ${words(quantile(totals, 0.9))}`,
      ghost: quantile(totals, 0.9),
      strong: true,
    };
  });
}

function barOf(start: Start, services: Service[]): Bar {
  const longest = longestPhase(start.phases);
  const share = start.total > 0 ? Math.round((100 * (start.phases[longest] ?? 0)) / start.total) : 0;
  return {
    name: `${moment(start.decided)} ${replicaName(services, start.service, start.replica)}`,
    head: moment(start.decided).length + 1,
    phases: start.phases,
    text: `${words(start.total)} · ${kStartPhases[longest]?.[1] ?? ""} ${share} %`,
  };
}

/// Returns the starts of a stretch of time, and bars for the typical ones and for each of them.
function barsIn(all: Start[], services: Service[], range: TimeRange): { starts: Start[]; bars: Bar[]; longest: number } {
  const starts = all.filter((start) => start.decided + start.total >= range[0] && start.decided <= range[1]).sort((a, b) => a.decided - b.decided);
  const bars = [...typicalBars(starts, services), ...starts.map((start) => barOf(start, services))];
  const longest = bars.reduce((most, bar) => Math.max(most, bar.ghost ?? 0, bar.phases.reduce((sum, phase) => sum + phase, 0)), 0);
  return { starts, bars, longest };
}

/// Shows each cold start from the decision until the replica serves, and a typical cold start of each service.
export const ColdStarts = memo(function ColdStarts({ starts: all, services, range, onRange, theme, isObserved = false, onExplain }: ColdStartsProps) {
  const [top, setTop] = useState(0);
  const [chosen, setChosen] = useState(-1);
  const { starts, bars, longest } = useMemo(() => barsIn(all, services, range), [all, services, range]);
  const typical = bars.length - starts.length;
  const here = Math.min(chosen, bars.length - 1);
  const rows = Math.min(kRowsInView, bars.length);
  const most = Math.max(0, bars.length - rows);
  const scroll = Math.min(top, most);
  const choose = (row: number) => {
    const next = Math.min(bars.length - 1, Math.max(0, row));
    setChosen(next);
    setTop(Math.min(most, Math.max(next - rows + 1, Math.min(scroll, next))));
  };
  const show = (row: number) => {
    const start = starts[row - typical];
    if (start === undefined) return;
    onExplain(start.decided);
    onRange([Math.max(0, start.decided - 120), start.decided + start.total + 120]);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -kRowsInView, PageDown: kRowsInView }[event.key];
    if (event.key === "Enter") return show(here);
    if (step === undefined) return;
    event.preventDefault();
    choose(here + step);
  };
  const spoken = (bar: Bar) => `${bar.name}: ${kStartPhases.map(([, name], i) => [name, bar.phases[i] ?? 0] as const).filter(([, s]) => s > 0).map(([name, s]) => `${name} ${words(s)}`).join(", ")}; ${bar.text}`;
  const table = () => ({
    head: ["decided", "replica", ...kStartPhases.filter((_, i) => isListed(i)).map(([, name]) => `${name} s`), "all s"],
    rows: starts.map((start) => [
      stamp(start.decided),
      replicaName(services, start.service, start.replica),
      // The time between two observed moments belongs to one phase, so a phase of 0 is one that was not seen.
      ...start.phases.filter((_, i) => isListed(i)).map((phase) => (isObserved && phase === 0 ? "" : phase)),
      Number(start.total.toFixed(3)),
    ]),
  });
  const isListed = (phase: number) => !kObservedPhases.includes(kStartPhases[phase]?.[0] ?? "") || starts.some((start) => (start.phases[phase] ?? 0) > 0);
  const used = kStartPhases.map(([, name], i) => ({ name, i })).filter(({ i }) => bars.some((bar) => (bar.phases[i] ?? 0) > 0));
  if (bars.length === 0) {
    return (
      <Figure title={kTitle} table={table}>
        <p class="note">{all.length === 0 ? "No replica started." : `None of ${all.length} starts is in the stretch that the charts show.`}</p>
      </Figure>
    );
  }
  return (
    <CanvasFigure
      title={kTitle}
      note={`From the decision until the replica serves: ${starts.length} of ${all.length} starts are in the stretch that the charts show. A click, or Enter, shows the time around one and the decision behind it.${isObserved ? " A moment is that of the first state that shows it, so a phase may be off by the time between two states." : ""}`}
      label={`Cold starts by phase. ${bars.slice(0, typical).map(spoken).join(". ")}. Use the arrow keys to read single starts.`}
      height={rows * kBarHeight}
      theme={theme}
      draw={(context, width, height) => drawBars(context, bars, width, height, scroll * kBarHeight, longest, here)}
      table={table}
      onKeyDown={key}
      onPoint={(_, y) => setChosen(scroll + Math.floor(y / kBarHeight))}
      onClick={(_, y) => show(scroll + Math.floor(y / kBarHeight))}
      below={
        <>
          {most > 0 && (
            <p class="pages">
              <label>
                First row{" "}
                <input type="range" min={0} max={most} value={scroll} onInput={(event) => setTop(Number(event.currentTarget.value))} /> {scroll + 1} of {bars.length}
              </label>
            </p>
          )}
          <p class="note" aria-live="polite">
            {here >= 0 && bars[here] !== undefined ? spoken(bars[here]) : "\u00a0"}
          </p>
        </>
      }
    >
      <Legend theme={theme} keys={used.map(({ name, i }) => ({ name, fill: kPhaseFills[i] ?? { colour: "--line", pattern: "solid" } }))} />
    </CanvasFigure>
  );
});
