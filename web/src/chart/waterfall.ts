// Cold starts as bars: one row for each start, one part for each phase.
import { Fills, type Fill, themeColour } from "./canvas";

export interface Bar {
  name: string;
  /// Number of characters at the start of the name that stay when the name is shortened. A narrow canvas leaves them
  /// out first.
  head?: number;
  /// Lengths of the phases in seconds.
  phases: number[];
  /// Text at the end of the bar.
  text: string;
  strong?: boolean;
  /// Length of a dashed outline around the bar, seconds.
  ghost?: number;
}

export const kBarHeight = 22;
/// Room for the names of the bars. On a wide canvas it is what the longest name needs, at most the share
/// `kMaxNameShare` of the width, but never less than `kWideName` pixels. On a narrow canvas it is `kNarrowName` pixels.
const kWideName = 190;
const kMaxNameShare = 0.28;
const kNarrowName = 130;
/// The texts after the bars get at most this share of the width.
const kMaxTextShare = 0.4;
const kNameFont = "600 13px system-ui, sans-serif";
const kTextFont = "12px system-ui, sans-serif";
/// On a canvas narrower than this, only the first part of a text is drawn.
const kNarrowBelow = 640;

/// Colour and pattern of each phase of a cold start, in the order of kStartPhases.
export const kPhaseFills: readonly Fill[] = [
  { colour: "--unallocated", pattern: "solid" },
  { colour: "--held", pattern: "fall" },
  { colour: "--launching", pattern: "horizontal" },
  { colour: "--starting", pattern: "vertical" },
  { colour: "--unallocated", pattern: "rise" },
  { colour: "--sleeping", pattern: "cross" },
  { colour: "--c4", pattern: "cross" },
  { colour: "--busy", pattern: "solid" },
  { colour: "--idle", pattern: "rise" },
  { colour: "--draining", pattern: "solid" },
  { colour: "--idle", pattern: "rise" },
  { colour: "--busy", pattern: "horizontal" },
  { colour: "--busy", pattern: "solid" },
];

/// Returns a name that fits into `room`. Characters after the first `head` are left out, because the end of a name such
/// as "namespace/name replica 2" says most.
export function shortened(name: string, head: number, room: number, widthOf: (text: string) => number): string {
  if (widthOf(name) <= room) return name;
  const cut = (from: number) => `${name.slice(0, head)}…${name.slice(from)}`;
  let from = head + 1;
  while (from < name.length && widthOf(cut(from)) > room) ++from;
  return cut(from);
}

/// Returns a text that fits into `room`; its end may be left out.
export function shortenedEnd(text: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= room) return text;
  let length = text.length - 1;
  while (length > 0 && widthOf(`${text.slice(0, length)}…`) > room) --length;
  return `${text.slice(0, length).trimEnd()}…`;
}

/// @param top     height of the rows that are scrolled away above the canvas, pixels
/// @param longest  seconds that the whole width stands for
export function drawBars(context: CanvasRenderingContext2D, bars: Bar[], width: number, height: number, top: number, longest: number, chosen: number): void {
  const fills = new Fills(context);
  const [text, muted, accent] = ["--text", "--muted", "--accent"].map(themeColour) as [string, string, string];
  const isNarrow = width < kNarrowBelow;
  const wordsOf = (bar: Bar) => (isNarrow ? (bar.text.split(/ · |, /)[0] ?? "") : bar.text);
  context.font = kTextFont;
  const longestText = bars.reduce((most, bar) => Math.max(most, context.measureText(wordsOf(bar)).width), 0);
  context.font = kNameFont;
  const longestName = bars.reduce((most, bar) => Math.max(most, context.measureText(bar.name).width), 0);
  const room = { name: isNarrow ? kNarrowName : Math.max(kWideName, Math.min(kMaxNameShare * width, longestName + 12)), text: Math.min(kMaxTextShare * width, longestText + 12) };
  const space = Math.max(40, width - room.name - room.text);
  const x = (seconds: number) => room.name + (longest > 0 ? (space * seconds) / longest : 0);
  context.textBaseline = "middle";
  const first = Math.max(0, Math.floor(top / kBarHeight));
  const last = Math.min(bars.length, Math.ceil((top + height) / kBarHeight));
  for (let i = first; i < last; ++i) {
    const bar = bars[i] as Bar;
    const y = i * kBarHeight - top;
    context.font = `${bar.strong === true ? "600 " : ""}13px system-ui, sans-serif`;
    context.fillStyle = text;
    const widthOf = (part: string) => context.measureText(part).width;
    // If a name is too long for a narrow canvas, its head, such as the moment of a start, is left out. The order of the
    // bars still shows the order of the moments.
    const isHeadless = isNarrow && widthOf(bar.name) > room.name - 10;
    const name = shortened(isHeadless ? bar.name.slice(bar.head ?? 0) : bar.name, isHeadless ? 0 : (bar.head ?? 0), room.name - 10, widthOf);
    context.fillText(name, 0, y + kBarHeight / 2);
    let at = 0;
    bar.phases.forEach((length, phase) => {
      const fill = kPhaseFills[phase];
      if (length <= 0 || fill === undefined) return;
      context.fillStyle = fills.styleOf(fill);
      context.fillRect(x(at), y + 4, Math.max(0.5, x(at + length) - x(at) - 1), kBarHeight - 8);
      at += length;
    });
    if (bar.ghost !== undefined) {
      context.strokeStyle = muted;
      context.lineWidth = 1;
      context.setLineDash([3, 3]);
      context.strokeRect(room.name + 0.5, y + 2.5, x(bar.ghost) - room.name, kBarHeight - 5);
      context.setLineDash([]);
    }
    context.fillStyle = muted;
    context.font = kTextFont;
    const start = x(Math.max(at, bar.ghost ?? 0)) + 8;
    context.fillText(shortenedEnd(wordsOf(bar), width - start, (part) => context.measureText(part).width), start, y + kBarHeight / 2);
    if (i === chosen) {
      context.strokeStyle = accent;
      context.lineWidth = 2;
      context.strokeRect(1, y + 1, width - 2, kBarHeight - 2);
    }
  }
}
