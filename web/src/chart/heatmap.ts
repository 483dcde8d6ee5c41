// The map of the fleet: regions and zones, in them racks and NVLink domains, in them nodes, in them GPUs.
import type { Cell, CellState, Fleet, NodeNow, NodeRow } from "../data/fleet";
import { Fills, type Fill, themeColour } from "./canvas";

export const kCellFills: Record<CellState, Fill> = {
  serving: { colour: "--busy", pattern: "solid" },
  starting: { colour: "--starting", pattern: "vertical" },
  held: { colour: "--held", pattern: "fall" },
  draining: { colour: "--draining", pattern: "rise" },
  sleeping: { colour: "--sleeping", pattern: "solid" },
  free: { colour: "--unallocated", pattern: "solid" },
  stranded: { colour: "--idle", pattern: "cross" },
  launching: { colour: "--launching", pattern: "horizontal" },
  leaving: { colour: "--unallocated", pattern: "rise" },
};

interface Box {
  x: number;
  y: number;
}

export interface Layout {
  cell: number;
  gap: number;
  width: number;
  height: number;
  labels: { text: string; x: number; y: number; strong: boolean }[];
  /// Lines above the nodes of each NVLink domain with several nodes.
  domains: { x: number; y: number; width: number }[];
  /// Box of each place, by domain and number of the place.
  boxes: Map<string, Box>;
  /// Cache of `boxOf`.
  known: Map<NodeRow, Box | undefined>;
  /// GPUs in one row of a node.
  columns: number;
  nodeWidth: number;
  nodeHeight: number;
}

const kZoneLabel = 20;
const kRackLabel = 14;

/// Returns a key of the NVLink domain of a node.
export function domainKey(node: NodeRow): string {
  return `${node.zone}\n${node.rack}\n${node.nvlink}`;
}

/// Returns the region of a zone of AWS or Google Cloud: "us-east-1" of "us-east-1a". Empty for other names.
export function regionOf(zone: string): string {
  return /^([a-z]{2,}(?:-[a-z]+)*-[a-z]+-?\d+)-?[a-f]$/.exec(zone)?.[1] ?? "";
}

/// Returns a domain's name without the prefix that is the name of its parent domain.
function ownName(domain: string, around: string): string {
  return around !== "" && domain.startsWith(`${around}/`) ? domain.slice(around.length + 1) : domain;
}

/// Assumed width of a letter in the label of a rack or of an NVLink domain, pixels.
const kLetter = 6.5;

function cellSize(gpus: number): number {
  return gpus <= 320 ? 18 : gpus <= 1200 ? 12 : gpus <= 4000 ? 8 : 4;
}

/// Places every node that the run ever had. Nodes that did not exist at the same time may share a place.
export function layOut(fleet: Fleet, width: number): Layout {
  const places = new Map<string, number>();
  let most = 1;
  for (const node of fleet.nodes) {
    places.set(domainKey(node), Math.max(places.get(domainKey(node)) ?? 0, node.place + 1));
    most = Math.max(most, node.machine.gpus);
  }
  const gpus = [...places.values()].reduce((sum, count) => sum + count * most, 0);
  const cell = cellSize(gpus);
  const gap = cell >= 12 ? 5 : 2;
  const columns = most <= 2 ? most : most <= 8 ? Math.ceil(most / 2) : Math.ceil(Math.sqrt(most * 2));
  const nodeWidth = columns * cell + 4;
  const nodeHeight = Math.ceil(most / columns) * cell + 4;
  const layout: Layout = { cell, gap, width, height: 0, labels: [], domains: [], boxes: new Map(), known: new Map(), columns, nodeWidth, nodeHeight };
  const rackLabel = cell >= 12 ? kRackLabel : 0;
  let [x, y, zone, rack, labelEnd] = [0, 0, "", "", 0];
  let isFirst = true;
  for (const key of [...places.keys()].sort()) {
    const [inZone = "", inRack = "", inNvlink = ""] = key.split("\n");
    const size = places.get(key) ?? 0;
    const region = regionOf(inZone);
    if (isFirst || inZone !== zone) {
      if (!isFirst) y += nodeHeight + gap + 8;
      layout.labels.push({ text: inZone === "" ? "no zone" : region === "" ? inZone : `${region} › ${inZone}`, x: 0, y: y + 13, strong: true });
      y += kZoneLabel + rackLabel;
      [x, labelEnd] = [0, 0];
    } else if (inRack !== rack) {
      x += gap * 2;
    }
    const isNewRack = isFirst || inZone !== zone || inRack !== rack;
    [zone, rack, isFirst] = [inZone, inRack, false];
    for (let place = 0; place < size; ++place) {
      if (x > 0 && x + nodeWidth > width) {
        [x, labelEnd] = [0, 0];
        y += nodeHeight + gap + rackLabel;
      }
      if (isNewRack && place === 0 && rackLabel > 0 && inRack !== "" && x >= labelEnd) {
        const text = ownName(inRack, inZone);
        layout.labels.push({ text, x, y: y - 4, strong: false });
        labelEnd = x + text.length * kLetter + 8;
      }
      if (size > 1 && place === 0 && rackLabel > 0 && inNvlink !== "" && inNvlink !== inRack) {
        const text = ownName(inNvlink, inRack);
        const from = Math.max(x, labelEnd);
        if (from < x + size * (nodeWidth + gap)) {
          layout.labels.push({ text, x: from, y: y - 4, strong: false });
          labelEnd = from + text.length * kLetter + 8;
        }
      }
      if (size > 1 && inNvlink !== "") {
        const last = layout.domains.at(-1);
        if (place > 0 && x > 0 && last !== undefined) last.width = x + nodeWidth - last.x;
        else layout.domains.push({ x, y: y - 1.5, width: nodeWidth });
      }
      layout.boxes.set(`${key}\n${place}`, { x, y });
      x += nodeWidth + gap;
    }
  }
  layout.height = isFirst ? 0 : y + nodeHeight + 2;
  return layout;
}

export function boxOf(layout: Layout, node: NodeRow): Box | undefined {
  if (!layout.known.has(node)) layout.known.set(node, layout.boxes.get(`${domainKey(node)}\n${node.place}`));
  return layout.known.get(node);
}

function sameGang(cells: Cell[], a: number, b: number): boolean {
  const [first, second] = [cells[a], cells[b]];
  return first !== undefined && second !== undefined && first.gang >= 0 && first.gang === second.gang;
}

/// Draws the GPUs of a node. GPUs of one replica touch each other; there is a gap between all others.
function drawNode(context: CanvasRenderingContext2D, fills: Fills, layout: Layout, node: NodeNow, box: Box): void {
  const { cell, columns } = layout;
  const inner = cell >= 8 ? 2 : 1;
  node.cells.forEach(({ state }, i) => {
    const column = i % columns;
    const x = box.x + 2 + column * cell;
    const y = box.y + 2 + Math.floor(i / columns) * cell;
    context.fillStyle = fills.styleOf(kCellFills[state]);
    const joinsRight = column + 1 < columns && sameGang(node.cells, i, i + 1);
    const joinsBelow = sameGang(node.cells, i, i + columns);
    context.fillRect(x, y, cell - (joinsRight ? 0 : inner), cell - (joinsBelow ? 0 : inner));
  });
}

/// Smallest square of a GPU that has an outline, pixels.
const kOutlinedCell = 12;

function gangsOfSeveralNodes(nodes: NodeNow[]): Set<number> {
  const nodeOf = new Map<number, NodeNow>();
  const found = new Set<number>();
  for (const node of nodes) {
    for (const { gang } of node.cells) {
      if (gang < 0) continue;
      if ((nodeOf.get(gang) ?? node) !== node) found.add(gang);
      nodeOf.set(gang, node);
    }
  }
  return found;
}

/// Draws a line around the GPUs of each gang on a node. The line of a gang over several nodes is thick.
function outlineGangs(context: CanvasRenderingContext2D, layout: Layout, node: NodeNow, box: Box, wide: ReadonlySet<number>, colour: string): void {
  const { cell, columns } = layout;
  context.fillStyle = colour;
  node.cells.forEach(({ gang }, i) => {
    if (gang < 0) return;
    const column = i % columns;
    const thick = wide.has(gang) ? 2 : 1;
    const [joinsLeft, joinsRight] = [column > 0 && sameGang(node.cells, i, i - 1), column + 1 < columns && sameGang(node.cells, i, i + 1)];
    const [joinsAbove, joinsBelow] = [sameGang(node.cells, i, i - columns), sameGang(node.cells, i, i + columns)];
    const x = box.x + 2 + column * cell;
    const y = box.y + 2 + Math.floor(i / columns) * cell;
    const [width, height] = [cell - (joinsRight ? 0 : 2), cell - (joinsBelow ? 0 : 2)];
    if (!joinsLeft) context.fillRect(x, y, thick, height);
    if (!joinsRight) context.fillRect(x + width - thick, y, thick, height);
    if (!joinsAbove) context.fillRect(x, y, width, thick);
    if (!joinsBelow) context.fillRect(x, y + height - thick, width, thick);
  });
}

/// @param names  returns the label of a gang, which is drawn in its first GPU on each node
export function drawFleet(context: CanvasRenderingContext2D, layout: Layout, nodes: NodeNow[], names: (gang: number) => string): void {
  const fills = new Fills(context);
  const [text, muted, line, ground] = ["--text", "--muted", "--line", "--page"].map(themeColour) as [string, string, string, string];
  context.textBaseline = "alphabetic";
  for (const label of layout.labels) {
    context.fillStyle = label.strong ? text : muted;
    context.font = label.strong ? "600 12px system-ui, sans-serif" : "11px system-ui, sans-serif";
    context.fillText(label.text, label.x, label.y);
  }
  context.fillStyle = muted;
  for (const { x, y, width } of layout.domains) context.fillRect(x, y, width, 1);
  context.lineWidth = 1;
  if (layout.cell >= 8) drawEmptyPlaces(context, layout, nodes, line);
  const wide = layout.cell >= kOutlinedCell ? gangsOfSeveralNodes(nodes) : new Set<number>();
  for (const node of nodes) {
    const box = boxOf(layout, node.row);
    if (box === undefined) continue;
    context.strokeStyle = line;
    context.lineWidth = 1;
    if (layout.cell >= 8) context.strokeRect(box.x + 0.5, box.y + 0.5, layout.nodeWidth - 1, layout.nodeHeight - 1);
    drawNode(context, fills, layout, node, box);
    if (layout.cell >= kOutlinedCell) outlineGangs(context, layout, node, box, wide, text);
    if (layout.cell >= 16) drawNames(context, layout, node, box, names, text, ground);
  }
}

/// Draws a dashed frame at each place that has no node at this moment.
function drawEmptyPlaces(context: CanvasRenderingContext2D, layout: Layout, nodes: NodeNow[], line: string): void {
  const taken = new Set(nodes.map(({ row }) => boxOf(layout, row)));
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  for (const box of layout.boxes.values()) {
    if (!taken.has(box)) context.strokeRect(box.x + 0.5, box.y + 0.5, layout.nodeWidth - 1, layout.nodeHeight - 1);
  }
  context.setLineDash([]);
}

/// Returns how many cells a name has room for: from a cell to the right, up to the next gang or the end of the row.
export function roomForName(cells: readonly Cell[], at: number, columns: number): number {
  const gang = cells[at]?.gang;
  let room = 1;
  while ((at + room) % columns !== 0 && at + room < cells.length && (cells[at + room]?.gang === gang || (cells[at + room]?.gang ?? -1) < 0)) ++room;
  return room;
}

function drawNames(context: CanvasRenderingContext2D, layout: Layout, node: NodeNow, box: Box, names: (gang: number) => string, text: string, ground: string): void {
  const seen = new Set<number>();
  context.font = "600 10px system-ui, sans-serif";
  [context.lineWidth, context.lineJoin] = [3, "round"];
  node.cells.forEach(({ gang }, i) => {
    if (gang < 0 || seen.has(gang)) return;
    seen.add(gang);
    const name = names(gang);
    // A name that would cover the name of the next gang is left out; the line below the picture has it.
    if (context.measureText(name).width > roomForName(node.cells, i, layout.columns) * layout.cell) return;
    const x = box.x + 3 + (i % layout.columns) * layout.cell;
    const y = box.y + 3 + Math.floor(i / layout.columns) * layout.cell;
    // An edge around the letters, because a box would hide the colour of a single GPU.
    context.strokeStyle = ground;
    context.strokeText(name, x + 1.5, y + 9);
    context.fillStyle = text;
    context.fillText(name, x + 1.5, y + 9);
  });
}

/// Outlines a node, and the GPUs of a gang.
export function drawChosen(context: CanvasRenderingContext2D, layout: Layout, nodes: NodeNow[], gang: number, chosenNode: number): void {
  const { cell, columns } = layout;
  context.strokeStyle = themeColour("--text");
  context.lineWidth = 2;
  for (const node of nodes) {
    const isChosen = node.row.number === chosenNode;
    if (!isChosen && (gang < 0 || !node.cells.some((cell) => cell.gang === gang))) continue;
    const box = boxOf(layout, node.row);
    if (box === undefined) continue;
    if (isChosen) context.strokeRect(box.x, box.y, layout.nodeWidth, layout.nodeHeight);
    if (gang < 0) continue;
    node.cells.forEach((each, i) => {
      if (each.gang !== gang) return;
      const x = box.x + 2 + (i % columns) * cell;
      const y = box.y + 2 + Math.floor(i / columns) * cell;
      context.strokeRect(x + 1, y + 1, cell - 2, cell - 2);
    });
  }
}

/// Returns the node under a point, and the position of the GPU there, or -1.
export function hitTest(layout: Layout, nodes: NodeNow[], x: number, y: number): { node: NodeNow; gpu: number } | undefined {
  for (const node of nodes) {
    const box = boxOf(layout, node.row);
    if (box === undefined || x < box.x || y < box.y || x >= box.x + layout.nodeWidth || y >= box.y + layout.nodeHeight) continue;
    const column = Math.floor((x - box.x - 2) / layout.cell);
    const gpu = Math.floor((y - box.y - 2) / layout.cell) * layout.columns + column;
    return { node, gpu: column >= 0 && column < layout.columns && gpu >= 0 && gpu < node.cells.length ? gpu : -1 };
  }
  return undefined;
}
