// Stacked bars, one for each policy.
import { Fills, type Fill, themeColour } from "./canvas";

export interface ShareRow {
  name: string;
  parts: number[];
  text: string;
}

const kRow = 30;
const kText = 80;

/// @param longest  the value that the whole width stands for
export function drawShares(context: CanvasRenderingContext2D, rows: ShareRow[], looks: readonly Fill[], width: number, longest: number): void {
  const fills = new Fills(context);
  const [text, muted] = ["--text", "--muted"].map(themeColour) as [string, string];
  const space = Math.max(40, width - kText);
  rows.forEach((row, i) => {
    const y = i * kRow;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.fillStyle = muted;
    context.fillText(row.name, 0, y + 10, space);
    let x = 0;
    row.parts.forEach((part, k) => {
      const fill = looks[k];
      if (part <= 0 || fill === undefined || longest <= 0) return;
      const length = (space * part) / longest;
      context.fillStyle = fills.styleOf(fill);
      context.fillRect(x, y + 14, Math.max(1, length - 1), 13);
      x += length;
    });
    context.fillStyle = text;
    context.fillText(row.text, x + 6, y + 25);
  });
}
