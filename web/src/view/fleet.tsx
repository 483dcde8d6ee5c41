import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { CanvasFigure } from "../chart/canvas_figure";
import { Legend } from "../chart/canvas_view";
import { boxOf, drawChosen, drawFleet, hitTest, kCellFills, type Layout, layOut } from "../chart/heatmap";
import { type Line, Plot, type TimeRange } from "../chart/plot";
import { countCells, type Fleet, fleetAt, kCellStates, type NodeNow, seriesOf } from "../data/fleet";
import { partName, replicaName, serviceLetters } from "../data/history";
import { count, moment, wholeTick } from "../format";
import { memo } from "../memo";

const kPoints = 600;
/// Prefix of the number of a workload that Capstan does not scale.
const kOtherWorkload = "*";

interface FleetMapProps {
  fleet: Fleet;
  range: TimeRange;
  at: number;
  onAt: (at: number) => void;
  theme: string;
}

function gpuWords(counts: Record<string, number>): string {
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const parts = kCellStates.filter((state) => (counts[state] ?? 0) > 0).map((state) => `${count(counts[state] ?? 0)} ${state}`);
  return `${count(all)} ${all === 1 ? "GPU" : "GPUs"}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

function nodeWords(fleet: Fleet, node: NodeNow): string {
  const { row } = node;
  const places = [row.zone, row.rack, row.nvlink].filter((name, i, all) => name !== "" && name !== all[i - 1]).join(" › ");
  const replicas = [...new Set(node.cells.map((cell) => cell.gang))]
    .filter((gang) => gang >= 0)
    .map((gang) => {
      const known = fleet.gangs[gang];
      return known === undefined ? "" : replicaName(fleet.services, known.service, known.replica, known.name);
    });
  const pool = row.machine.pool === null ? "" : ` of pool ${row.machine.pool}`;
  const name = row.name === "" ? `node ${row.number}` : row.name;
  return `${name}${places === "" ? "" : ` in ${places}`}, ${row.machine.instance_type}${pool}, since ${moment(row.launched)}; ${gpuWords(countCells([node]))}${replicas.length > 0 ? `; ${replicas.join(", ")}` : ""}`;
}

/// Shows the GPUs by state over time. A click chooses the moment of the map.
export const GpusOverTime = memo(function GpusOverTime({ fleet, range, onRange, at, onAt, theme }: FleetMapProps & { onRange: (range: TimeRange | undefined) => void }) {
  const lines = useMemo(() => {
    const step = Math.max(1, (range[1] - range[0]) / kPoints);
    const times: number[] = [];
    // A recording that has just begun is shorter than the stretch.
    const last = Math.max(range[0], Math.min(range[1], fleet.end));
    for (let t = range[0]; t <= last; t += step) times.push(t);
    const values = seriesOf(fleet, times);
    const line = (name: string, key: keyof typeof values, colour: string, dashed = false): Line => ({ name, values: values[key], colour, dashed, text: count, stepped: true });
    const all = [
      line("serving", "serving", "--c1"),
      line("starting", "starting", "--starting", true),
      line("held by incomplete gangs", "held", "--c3", true),
      line("draining or asleep", "other", "--c4", true),
      line("empty or booting", "empty", "--wait"),
    ];
    return { times, lines: all.filter((one, i) => i === 0 || one.values.some((value) => value !== null && value > 0)) };
  }, [fleet, range[0], range[1]]);
  return (
    <Plot
      title="GPUs over time"
      note="A click, or Enter at the value that the arrow keys read, chooses the moment of the map below."
      at={lines.times}
      lines={lines.lines}
      range={range}
      onRange={onRange}
      theme={theme}
      leftLabel="GPUs"
      leftText={wholeTick}
      now={at}
      onNow={onAt}
    />
  );
});

/// Shows the state and the replica of each GPU at a moment.
export const FleetMap = memo(function FleetMap({ fleet, range, at, onAt, theme }: FleetMapProps) {
  const [pointed, setPointed] = useState<{ gang: number; node: number }>({ gang: -1, node: -1 });
  const nodes = useMemo(() => fleetAt(fleet, at), [fleet, at]);
  const laidOut = useRef<{ fleet: Fleet; width: number; layout: Layout } | undefined>(undefined);
  const layoutOf = (width: number): Layout => {
    const known = laidOut.current;
    if (known !== undefined && known.fleet === fleet && known.width === width) return known.layout;
    const layout = layOut(fleet, Math.max(200, width));
    laidOut.current = { fleet, width, layout };
    return layout;
  };
  const counts = useMemo(() => countCells(nodes), [nodes]);
  const isNamed = nodes.some((node) => node.row.name !== "");
  const chosen = nodes.find((node) => node.row.number === pointed.node);
  const letters = useMemo(() => serviceLetters(fleet.services), [fleet]);
  const labelOf = (gang: number) => {
    const known = fleet.gangs[gang];
    return known === undefined ? "" : `${known.service < 0 ? kOtherWorkload : (letters[known.service] ?? "")}${known.replica}`;
  };
  const nameOf = (gang: number) => {
    const known = fleet.gangs[gang];
    return known === undefined ? "" : replicaName(fleet.services, known.service, known.replica, known.name);
  };
  const present = useMemo(() => new Set(nodes.flatMap((node) => node.cells.flatMap(({ gang }) => (gang < 0 ? [] : [fleet.gangs[gang]?.service ?? -1])))), [nodes]);
  const keys = [
    ...fleet.services.flatMap((service, i) => (letters[i] !== "" && present.has(i) ? [`${letters[i]}: ${service.part === "job" ? `jobs of ${service.name}` : partName(fleet.services, i)}`] : [])),
    ...(present.has(-1) ? [`${kOtherWorkload}: other workloads`] : []),
  ];
  const draw = useCallback((context: CanvasRenderingContext2D, width: number) => drawFleet(context, layoutOf(width), nodes, labelOf), [nodes]);
  const drawAbove = useCallback(
    (context: CanvasRenderingContext2D, width: number) => drawChosen(context, layoutOf(width), nodes, pointed.gang, pointed.node),
    [nodes, pointed],
  );
  const point = (x: number, y: number) => {
    const layout = laidOut.current?.layout;
    const hit = layout === undefined ? undefined : hitTest(layout, nodes, x, y);
    const next = hit === undefined ? { gang: -1, node: -1 } : { gang: hit.node.cells[hit.gpu]?.gang ?? -1, node: hit.node.row.number };
    if (next.gang !== pointed.gang || next.node !== pointed.node) setPointed(next);
  };
  const key = (event: KeyboardEvent) => {
    const layout = laidOut.current?.layout;
    if (layout === undefined || !["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    const places = nodes
      .map((node) => ({ node, box: boxOf(layout, node.row) }))
      .filter((one): one is { node: NodeNow; box: { x: number; y: number } } => one.box !== undefined)
      .sort((a, b) => a.box.y - b.box.y || a.box.x - b.box.x);
    const here = places.findIndex((one) => one.node.row.number === pointed.node);
    const box = places[here]?.box;
    let next = here + (event.key === "ArrowLeft" ? -1 : 1);
    if (box !== undefined && event.key === "ArrowDown") next = places.findIndex((one) => one.box.y > box.y && one.box.x >= box.x);
    if (box !== undefined && event.key === "ArrowUp") next = places.reduce((last, one, i) => (one.box.y < box.y && one.box.x <= box.x ? i : last), -1);
    const node = places[here < 0 ? 0 : next]?.node;
    if (node !== undefined) setPointed({ gang: node.cells.find((cell) => cell.gang >= 0)?.gang ?? -1, node: node.row.number });
  };
  const table = useCallback(() => ({
    head: ["node", ...(isNamed ? ["name"] : []), "zone", "rack", "NVLink domain", "pool", "machine", "GPUs", ...kCellStates, "replicas"],
    rows: nodes.map((node) => {
      const own = countCells([node]);
      const replicas = [...new Set(node.cells.map((cell) => cell.gang))].filter((gang) => gang >= 0).map(nameOf);
      const { row } = node;
      return [row.number, ...(isNamed ? [row.name] : []), row.zone, row.rack, row.nvlink, row.machine.pool ?? "", row.machine.instance_type, row.machine.gpus, ...kCellStates.map((state) => own[state]), replicas.join(", ")];
    }),
  }), [nodes]);
  return (
    <CanvasFigure
      title="What is where? The fleet at a moment"
      note="Each square is a GPU, each frame a node; GPUs of one replica touch. Where there is room, they have a line around them, which is thick if the replica spans several nodes, and its number in the first. A line above nodes: one NVLink domain. A dashed frame: no node at this moment. Stranded: free, but no replica fits into the free GPUs of its domain."
      label={`The fleet at ${moment(at)}: ${count(nodes.length)} ${nodes.length === 1 ? "node" : "nodes"}, ${gpuWords(counts)}. Use the arrow keys to read single nodes.`}
      height={(width) => layoutOf(width).height}
      theme={theme}
      draw={draw}
      drawAbove={drawAbove}
      table={table}
      onKeyDown={key}
      onPoint={point}
      onLeave={() => setPointed({ gang: -1, node: -1 })}
      below={
        <p class="note" aria-live="polite">
          {chosen === undefined ? "Point at a node, or use the arrow keys, to read it." : nodeWords(fleet, chosen)}
        </p>
      }
      >
      <p class="moment">
        <label>
          Moment{" "}
          <input
            type="range"
            min={Math.floor(range[0])}
            max={Math.ceil(range[1])}
            step={1}
            value={Math.round(at)}
            aria-valuetext={moment(at)}
            onInput={(event) => onAt(Number(event.currentTarget.value))}
          />
        </label>
        <b>{moment(at)}</b> {count(nodes.length)} {nodes.length === 1 ? "node" : "nodes"}
      </p>
      <Legend theme={theme} keys={kCellStates.filter((state) => counts[state] > 0 || state === "stranded").map((state) => ({ name: state, fill: kCellFills[state], value: count(counts[state]) }))} />
      {keys.length > 0 && <p class="note">Labels: {keys.join(", ")}.</p>}
      {fleet.leftOut > 0 && <p class="note">{count(fleet.leftOut)} later nodes, replicas or starts are not kept in the result.</p>}
    </CanvasFigure>
  );
});
