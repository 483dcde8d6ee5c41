// Code that the canvas modules share: the colours of the style sheet, and patterns that show the same distinctions
// without colour.

export type Pattern = "solid" | "rise" | "fall" | "horizontal" | "vertical" | "cross";

/// The fill of an area: a colour of the style sheet, such as "--c1", and a pattern.
export interface Fill {
  colour: string;
  pattern: Pattern;
}

const colours = new Map<string, string>();
let coloursOf: string | undefined;

/// Returns a colour of the style sheet. Caches it, because asking the browser makes it calculate all styles again.
export function themeColour(name: string): string {
  const root = document.documentElement;
  if (coloursOf !== root.dataset.theme) colours.clear();
  coloursOf = root.dataset.theme;
  const known = colours.get(name);
  if (known !== undefined) return known;
  const colour = getComputedStyle(root).getPropertyValue(name).trim();
  colours.set(name, colour);
  return colour;
}

const kTile = 6;
const kLines: Record<Pattern, readonly [number, number, number, number][]> = {
  solid: [],
  rise: [[-1, 7, 7, -1]],
  fall: [[-1, -1, 7, 7]],
  horizontal: [[0, 3, 6, 3]],
  vertical: [[3, 0, 3, 6]],
  cross: [
    [-1, 7, 7, -1],
    [-1, -1, 7, 7],
  ],
};

/// Fills for one drawing, each made once. Make a new object when the colours change.
export class Fills {
  private readonly made = new Map<string, string | CanvasPattern>();
  private readonly ground = themeColour("--panel");

  constructor(private readonly context: CanvasRenderingContext2D) {}

  styleOf(fill: Fill): string | CanvasPattern {
    const key = fill.colour + fill.pattern;
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const style = this.make(fill);
    this.made.set(key, style);
    return style;
  }

  private make(fill: Fill): string | CanvasPattern {
    const colour = themeColour(fill.colour);
    const tile = document.createElement("canvas");
    tile.width = tile.height = kTile;
    const pen = tile.getContext("2d");
    if (fill.pattern === "solid" || pen === null) return colour;
    pen.fillStyle = colour;
    pen.fillRect(0, 0, kTile, kTile);
    pen.strokeStyle = this.ground;
    pen.lineWidth = 1.5;
    for (const [x, y, toX, toY] of kLines[fill.pattern]) {
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(toX, toY);
      pen.stroke();
    }
    return this.context.createPattern(tile, "repeat") ?? colour;
  }
}

/// Makes the canvas as large as asked, in pixels of the style sheet, and returns its cleared context.
export function clearedContext(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio;
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  if (context === null) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
