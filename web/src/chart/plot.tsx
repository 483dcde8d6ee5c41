import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { moment } from "../format";
import { type Table, savePng } from "./download";
import { Figure } from "./figure";
import { reduce } from "./reduce";

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

/// A stretch of time that is shaded.
export type Stretch = readonly [from: number, to: number];

export interface PlotProps {
  title: string;
  note?: string;
  /// Moments in seconds, ascending.
  at: number[];
  lines: Line[];
  limit?: Limit;
  shaded?: Stretch[];
  marks?: number[];
  range: Stretch;
  onRange: (range: Stretch | undefined) => void;
  leftText: (value: number) => string;
  rightText?: (value: number) => string;
  /// Name of the colour scheme; the chart is drawn again when it changes.
  theme: string;
  /// A moment that is marked by a line, and what a click or Enter does with a moment.
  now?: number;
  onNow?: (at: number) => void;
}

const kSync = "capstan-time";
const kHeight = 180;
const kHeadroom = 1.14;
/// Steps of the axis of time, in seconds.
const kTimeSteps = [1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].concat(
  [2, 5, 10, 20, 50, 100, 200, 400].map((days) => days * 86_400),
);
const kAxisWidth = 74;
const kKeysStep = 1;
const kKeysLeap = 10;

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function withAlpha(hex: string, alpha: number): string {
  return hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

function axes(props: PlotProps): uPlot.Axis[] {
  const stroke = colour("--muted");
  const grid = { stroke: colour("--line"), width: 1 };
  const font = "12px system-ui, sans-serif";
  const side = (scale: string, at: 1 | 3, text: (value: number) => string, hasGrid: boolean): uPlot.Axis => ({
    scale,
    side: at,
    stroke,
    font,
    size: kAxisWidth,
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
      values: (_, splits) => splits.map(moment),
    },
    side("y", 3, props.leftText, true),
    // The axis on the right has its width even if it is empty, so that the time axes of all charts are aligned.
    side("right", 1, props.rightText ?? (() => ""), false),
  ];
}

function series(line: Line): uPlot.Series {
  const stroke = colour(line.colour);
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
  const stepped = line.stepped === true ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  if (stepped !== undefined) made.paths = stepped;
  return made;
}

/// Draws the background of the lines: shaded stretches of time, and the limit with its label.
function drawBehind(plot: uPlot, props: PlotProps): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = withAlpha(colour("--wait"), 0.18);
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
    ctx.strokeStyle = colour("--bad");
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillStyle = colour("--bad");
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.fillText(props.limit.label, bbox.left + 6 * ratio, y - 5 * ratio);
  }
  ctx.setLineDash([]);
  if (props.now !== undefined) {
    ctx.fillStyle = colour("--accent");
    ctx.fillRect(plot.valToPos(props.now, "x", true) - ratio, bbox.top, 2 * ratio, bbox.height);
  }
  ctx.fillStyle = colour("--mark");
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

function largest(lines: Line[], right: boolean, limit: number): number {
  let most = limit;
  for (const line of lines) {
    if ((line.right === true) !== right) continue;
    for (const value of line.values) if (value !== null && value > most) most = value;
  }
  return most;
}

function options(latest: { current: PlotProps }, width: number, onIndex: (index: number | null) => void): uPlot.Options {
  const props = latest.current;
  const left = largest(props.lines, false, props.limit?.value ?? 0);
  const right = largest(props.lines, true, 0);
  return {
    width,
    height: kHeight,
    legend: { show: false },
    cursor: { sync: { key: kSync, scales: ["x", null] }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => [props.range[0], props.range[1]] },
      y: { range: () => [0, left > 0 ? left * kHeadroom : 1] },
      right: { range: () => [0, right > 0 ? right * kHeadroom : 1] },
    },
    axes: axes(props),
    series: [{}, ...props.lines.map(series)],
    hooks: {
      drawClear: [(plot) => drawBehind(plot, props)],
      draw: [(plot) => drawInFront(plot, latest.current)],
      setCursor: [(plot) => onIndex(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left: from, width: across } = plot.select;
          if (across < 4) return;
          props.onRange([plot.posToVal(from, "x"), plot.posToVal(from + across, "x")]);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

function tableOf(props: PlotProps): Table {
  const rows: (string | number)[][] = [];
  props.at.forEach((at, i) => {
    if (at < props.range[0] || at > props.range[1]) return;
    rows.push([moment(at), ...props.lines.map((line) => line.values[i] ?? "")]);
  });
  return { head: ["time", ...props.lines.map((line) => line.name)], rows };
}

/// Describes the chart in words, for screen readers.
function spoken(props: PlotProps): string {
  const parts = props.lines.map((line) => {
    let most: number | undefined;
    let when = 0;
    props.at.forEach((at, i) => {
      const value = line.values[i];
      if (at < props.range[0] || at > props.range[1] || value === null || value === undefined) return;
      if (most === undefined || value > most) [most, when] = [value, at];
    });
    return most === undefined ? `${line.name} has no values` : `${line.name} is at most ${line.text(most)}, at ${moment(when)}`;
  });
  return `${props.title}. ${parts.join("; ")}. Use the arrow keys to read values.`;
}

/// A chart over time. All charts share their cursor. If the reader drags over a stretch of time in one chart, all
/// charts show that stretch.
export function Plot(props: PlotProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [index, setIndex] = useState<number | null>(null);
  const latest = useRef(props);
  latest.current = props;

  const points = useMemo(
    () => reduce(props.at, props.lines.map((line) => line.values), props.range[0], props.range[1]),
    [props.at, props.lines, props.range[0], props.range[1]],
  );
  const data = useMemo(() => [points.at, ...points.values] as uPlot.AlignedData, [points]);

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const made = new uPlot(options(latest, element.clientWidth, setIndex), data, element);
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: kHeight }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
    };
  }, [data, props.theme, props.range[0], props.range[1], props.limit?.value]);
  useEffect(() => plot.current?.redraw(false), [props.now]);

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
    if (canvas !== undefined) savePng(props.title.toLowerCase().replace(/[^a-z0-9]+/g, "-"), canvas, colour("--page"));
  };

  const pressed = useRef(0);
  const click = (event: MouseEvent) => {
    const made = plot.current;
    const { onNow } = props;
    if (made === undefined || onNow === undefined || Math.abs(event.clientX - pressed.current) > 3) return;
    const at = made.posToVal(event.clientX - made.over.getBoundingClientRect().left, "x");
    onNow(Math.min(props.range[1], Math.max(props.range[0], at)));
  };

  const label = useMemo(() => spoken(props), [props.title, props.at, props.lines, props.range[0], props.range[1]]);
  const here = index === null ? undefined : points.at[index];
  return (
    <Figure title={props.title} {...(props.note === undefined ? {} : { note: props.note })} table={() => tableOf(props)} onPng={png}>
      <p class="legend" aria-live="polite">
        <span class="when">{here === undefined ? "" : moment(here)}</span>
        {props.lines.map((line, i) => {
          const value = index === null ? undefined : points.values[i]?.[index];
          return (
            <span class="key" key={line.name}>
              <span class={line.dashed === true ? "swatch dashed" : "swatch"} style={{ borderColor: `var(${line.colour})` }} />
              {line.name}
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
    </Figure>
  );
}
