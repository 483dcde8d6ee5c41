import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { moment, stamp, timeTick, timeTicks } from "../format";
import { themeColour } from "./canvas";
import { ceilingOf } from "./ceiling";
import { useWidth } from "./canvas_view";
import { type Table, savePng } from "./download";
import { Figure } from "./figure";
import { pointsIn, reduce, type Reduced } from "./reduce";

/// One line of a chart. `values` has one entry for each moment; null is a gap.
export interface Line {
  name: string;
  values: (number | null)[];
  /// Name of a colour of the style sheet, such as "--c1".
  colour: string;
  text: (value: number) => string;
  dashed?: boolean;
  stepped?: boolean;
  filled?: boolean;
  /// True: the line belongs to the axis on the right.
  right?: boolean;
}

/// A level that a line should not cross.
export interface Limit {
  value: number;
  label: string;
}

/// A stretch of time, in seconds.
export type TimeRange = readonly [from: number, to: number];

export interface PlotProps {
  title: string;
  note?: string;
  /// Moments in seconds, ascending.
  at: number[];
  lines: Line[];
  /// Length of the stretch that each value is about, seconds. Absent: the values are of moments.
  stretch?: number;
  limit?: Limit;
  shaded?: TimeRange[];
  marks?: number[];
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  /// Quantity of the axis on the left, such as "replicas".
  leftLabel: string;
  leftText: (value: number) => string;
  /// True: the values on the left are microseconds.
  isDuration?: boolean;
  /// Quantity of the axis on the right, if a line belongs to it.
  rightLabel?: string;
  rightText?: (value: number) => string;
  /// Name of the colour scheme; the chart is drawn again when it changes.
  theme: string;
  /// A moment that is marked by a line, and what a click or Enter does with a moment.
  now?: number;
  onNow?: (at: number) => void;
  /// Content below the chart.
  below?: ComponentChildren;
}

const kSync = "capstan-time";
const kHeight = 180;
const kHeadroom = 1.14;
/// Steps of the axis of time, in seconds.
const kTimeSteps = [1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].concat(
  [2, 5, 10, 20, 50, 100, 200, 400].map((days) => days * 86_400),
);
/// Steps of an axis of latencies, in microseconds: a person reads "2 min", not "1 min 40 s".
const kDurationSteps = [1, 10, 100, 1000, 10_000, 100_000].flatMap((us) => [us, 2 * us, 5 * us]).concat(kTimeSteps.map((s) => s * 1e6));
const kAxisWidth = 66;
const kLabelWidth = 18;
/// A chart with fewer pixels than this reserves no room for an unused axis on the right. It only has room there for
/// half of the last label of the time axis, because this half extends beyond the plot.
const kNarrowBelow = 480;
const kLabelOverhang = 26;
const kKeysStep = 1;
const kKeysLeap = 10;

function withAlpha(hex: string, alpha: number): string {
  return hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

function axes(latest: { current: PlotProps }): uPlot.Axis[] {
  const stroke = themeColour("--muted");
  const grid = { stroke: themeColour("--line"), width: 1 };
  const font = "12px system-ui, sans-serif";
  const { leftLabel, rightLabel, lines } = latest.current;
  const hasRight = lines.some((line) => line.right === true);
  const side = (scale: string, at: 1 | 3, label: string, text: (value: number) => string, hasGrid: boolean): uPlot.Axis => ({
    ...(latest.current.isDuration === true && scale === "y" ? { incrs: kDurationSteps } : {}),
    scale,
    side: at,
    stroke,
    font,
    label,
    labelFont: font,
    labelSize: kLabelWidth,
    labelGap: 0,
    size: (plot) => (scale === "right" && !hasRight && plot.width < kNarrowBelow ? kLabelOverhang : kAxisWidth),
    grid: hasGrid ? grid : { show: false },
    ticks: { show: false },
    values: (_, splits) => splits.map((value) => (value === null ? "" : text(value))),
  });
  return [
    {
      stroke,
      font,
      grid,
      size: 28,
      space: 96,
      incrs: kTimeSteps,
      ticks: { show: false },
      splits: (_plot, _axis, from, to, step) => timeTicks(from, to, step),
      values: (_, splits) => splits.map(timeTick),
    },
    side("y", 3, leftLabel, (value) => latest.current.leftText(value), true),
    // The axis on the right has its width even if it is empty, so that the time axes of all charts are aligned. A phone
    // has no room for that.
    side("right", 1, hasRight ? (rightLabel ?? "") : "", (value) => (latest.current.lines.some((line) => line.right === true) ? (latest.current.rightText?.(value) ?? "") : ""), false),
  ];
}

function series(line: Line): uPlot.Series {
  const stroke = themeColour(line.colour);
  const made: uPlot.Series = {
    label: line.name,
    scale: line.right === true ? "right" : "y",
    stroke,
    width: 1.75,
    points: { show: false },
    spanGaps: false,
  };
  if (line.dashed === true) made.dash = [5, 4];
  if (line.filled === true) made.fill = withAlpha(stroke, 0.16);
  // A value holds up to the next moment, even if no value is known from there on.
  const stepped = line.stepped === true ? uPlot.paths.stepped?.({ align: 1, alignGaps: 1 }) : undefined;
  if (stepped !== undefined) made.paths = stepped;
  return made;
}

/// Draws the shaded stretches of time, behind the lines.
function drawBehind(plot: uPlot, props: PlotProps): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = withAlpha(themeColour("--wait"), 0.18);
  for (const [from, to] of props.shaded ?? []) {
    const left = plot.valToPos(from, "x", true);
    ctx.fillRect(left, bbox.top, Math.max(1, plot.valToPos(to, "x", true) - left), bbox.height);
  }
  ctx.restore();
}

function drawInFront(plot: uPlot, props: PlotProps): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  if (props.limit !== undefined) {
    const y = plot.valToPos(props.limit.value, "y", true);
    ctx.strokeStyle = themeColour("--bad");
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.setLineDash([]);
    ctx.lineWidth = 4 * ratio;
    ctx.strokeStyle = themeColour("--panel");
    ctx.strokeText(props.limit.label, bbox.left + 6 * ratio, y - 5 * ratio);
    ctx.fillStyle = themeColour("--bad");
    ctx.fillText(props.limit.label, bbox.left + 6 * ratio, y - 5 * ratio);
  }
  ctx.setLineDash([]);
  if (props.now !== undefined) {
    ctx.fillStyle = themeColour("--accent");
    ctx.fillRect(plot.valToPos(props.now, "x", true) - ratio, bbox.top, 2 * ratio, bbox.height);
  }
  ctx.fillStyle = themeColour("--mark");
  const size = 5 * ratio;
  const bottom = bbox.top + bbox.height;
  for (const at of props.marks ?? []) {
    const x = plot.valToPos(at, "x", true);
    ctx.beginPath();
    ctx.moveTo(x - size, bottom);
    ctx.lineTo(x + size, bottom);
    ctx.lineTo(x, bottom - 1.6 * size);
    ctx.fill();
  }
  ctx.restore();
}

/// Returns the value at which the axis of these values ends: `ceiling`, or a bit above the largest value and `limit`.
/// @param ceiling  undefined: all values are shown
function topOf(values: readonly (readonly (number | null | undefined)[])[], limit: number, ceiling: number | undefined): number {
  if (ceiling !== undefined) return ceiling;
  let most = limit;
  for (const line of values) for (const value of line) if (value !== null && value !== undefined && value > most) most = value;
  return most > 0 ? most * kHeadroom : 1;
}

/// @param latest  the current properties of the chart; they change while the uPlot object stays the same
/// @param tops    the current tops of the axes on the left and on the right
function options(latest: { current: PlotProps }, tops: { current: readonly [number, number] }, width: number, onIndex: (index: number | null) => void): uPlot.Options {
  return {
    width,
    height: kHeight,
    legend: { show: false },
    cursor: { sync: { key: kSync, scales: ["x", null] }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => [latest.current.range[0], latest.current.range[1]] },
      y: { range: () => [0, tops.current[0]] },
      right: { range: () => [0, tops.current[1]] },
    },
    axes: axes(latest),
    series: [{}, ...latest.current.lines.map(series)],
    hooks: {
      drawClear: [(plot) => drawBehind(plot, latest.current)],
      draw: [(plot) => drawInFront(plot, latest.current)],
      setCursor: [(plot) => onIndex(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left: from, width } = plot.select;
          if (width < 4) return;
          latest.current.onRange([plot.posToVal(from, "x"), plot.posToVal(from + width, "x")]);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

function tableOf(props: PlotProps): Table {
  const rows: (string | number)[][] = [];
  const [first, last] = pointsIn(props.at, props.range);
  for (let i = first; i < last; ++i) rows.push([stamp(props.at[i] ?? 0), ...props.lines.map((line) => line.values[i] ?? "")]);
  return { head: ["time", ...props.lines.map((line) => line.name)], rows };
}

/// Describes the chart in words, for screen readers.
function spoken(props: PlotProps): string {
  const [first, last] = pointsIn(props.at, props.range);
  const parts = props.lines.map(({ name, values, text }) => {
    let most = Number.NEGATIVE_INFINITY;
    let when = -1;
    for (let i = first; i < last; ++i) {
      const value = values[i];
      if (value === null || value === undefined || value <= most) continue;
      most = value;
      when = i;
    }
    return when < 0 ? `${name} has no values` : `${name} is at most ${text(most)}, at ${moment(props.at[when] ?? 0)}`;
  });
  return `${props.title}. ${parts.join("; ")}. Use the arrow keys to read values.`;
}

/// Returns the points that are drawn. The last value of a stepped line is drawn as long as its stretch, not as a line
/// straight up or down.
function drawnPoints({ at, lines, stretch = 0 }: PlotProps, points: Reduced): uPlot.AlignedData {
  const last = points.at.at(-1);
  if (stretch === 0 || last === undefined || last !== at.at(-1)) return [points.at, ...points.values] as uPlot.AlignedData;
  const values = points.values.map((own, i) => [...own, lines[i]?.stepped === true ? (own.at(-1) ?? null) : null]);
  return [[...points.at, last + stretch], ...values] as uPlot.AlignedData;
}

/// A chart over time. All charts share their cursor. If the reader drags over a stretch of time in one chart, all
/// charts show that stretch.
export function Plot(props: PlotProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [pointed, setPointed] = useState<number | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const width = useWidth(holder);

  const points = useMemo(
    () => reduce(props.at, props.lines.map((line) => line.values), props.range[0], props.range[1]),
    [props.at, props.lines, props.range[0], props.range[1]],
  );
  const index = pointed === null ? null : Math.min(pointed, points.at.length - 1);
  const data = useMemo(() => drawnPoints(props, points), [points]);
  const limit = props.limit?.value ?? 0;
  const ends = useMemo(() => {
    const of = (right: boolean) => points.values.filter((_, i) => (props.lines[i]?.right === true) === right);
    const ceiling = props.isDuration === true ? ceilingOf(of(false), limit) : undefined;
    return { ceiling, tops: [topOf(of(false), limit, ceiling), topOf(of(true), 0, undefined)] as const };
  }, [points, limit]);
  const tops = useRef(ends.tops);
  tops.current = ends.tops;

  const looks = props.lines.map(({ name, colour, dashed, stepped, filled, right }) => [name, colour, dashed, stepped, filled, right].join()).join(";");
  const hasWidth = width > 0;
  useEffect(() => {
    const element = holder.current;
    if (element === null || !hasWidth) return;
    const made = new uPlot(options(latest, tops, width, setPointed), data, element);
    plot.current = made;
    return () => {
      plot.current = undefined;
      made.destroy();
    };
  }, [hasWidth, looks, props.theme]);
  useEffect(() => {
    if (hasWidth) plot.current?.setSize({ width, height: kHeight });
  }, [width]);
  useEffect(() => plot.current?.setData(data), [data, props.limit?.value]);
  useEffect(() => plot.current?.redraw(false), [props.now, props.shaded, props.marks]);

  const move = (event: KeyboardEvent) => {
    const made = plot.current;
    const step = { ArrowLeft: -kKeysStep, ArrowRight: kKeysStep, PageUp: -kKeysLeap, PageDown: kKeysLeap }[event.key];
    if (event.key === "Escape") return latest.current.onRange(undefined);
    const read = index === null ? undefined : points.at[index];
    if (event.key === "Enter" && read !== undefined) return props.onNow?.(read);
    if (made === undefined || step === undefined) return;
    event.preventDefault();
    const next = Math.min(points.at.length - 1, Math.max(0, (index ?? 0) + step));
    made.setCursor({ left: made.valToPos(points.at[next] ?? 0, "x"), top: 10 });
  };

  const png = () => {
    const canvas = plot.current?.ctx.canvas;
    if (canvas !== undefined) savePng(props.title.toLowerCase().replace(/[^a-z0-9]+/g, "-"), [canvas], themeColour("--page"));
  };

  const pressed = useRef(0);
  const click = (event: MouseEvent) => {
    const made = plot.current;
    const { onNow } = props;
    if (made === undefined || onNow === undefined || Math.abs(event.clientX - pressed.current) > 3) return;
    const at = made.posToVal(event.clientX - made.over.getBoundingClientRect().left, "x");
    onNow(Math.min(props.range[1], Math.max(props.range[0], at)));
  };

  const shownValues = [props.title, props.at, props.lines, props.range[0], props.range[1]];
  const label = useMemo(() => spoken(props), shownValues);
  const table = useCallback(() => tableOf(latest.current), shownValues);
  const here = index === null ? undefined : points.at[index];
  const cut = ends.ceiling === undefined ? "" : `The axis ends at ${props.leftText(ends.ceiling)}, because a few values are much larger; the table has them.`;
  const note = [props.note ?? "", cut].filter((part) => part !== "").join(" ");
  return (
    <Figure title={props.title} {...(note === "" ? {} : { note })} table={table} onPng={png}>
      <p class="legend" aria-live="polite">
        <span class="when">{here === undefined ? "" : moment(here)}</span>
        {props.lines.map((line, i) => {
          const value = index === null ? undefined : points.values[i]?.[index];
          return (
            <span class="key" key={line.name}>
              <span class={line.dashed === true ? "swatch dashed" : "swatch"} style={{ borderColor: `var(${line.colour})` }} />
              {line.name}
              {line.right === true && <small> (axis on the right)</small>}
              {value !== undefined && value !== null && <b> {line.text(value)}</b>}
            </span>
          );
        })}
      </p>
      <div
        class="plot"
        ref={holder}
        role="img"
        tabIndex={0}
        aria-label={label}
        onKeyDown={move}
        onMouseDown={(event) => {
          pressed.current = event.clientX;
        }}
        onClick={click}
        onDblClick={() => props.onRange(undefined)}
      />
      {props.below}
    </Figure>
  );
}
