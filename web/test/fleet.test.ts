import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut, regionOf } from "../src/chart/heatmap";
import { kMaxPoints, pointsIn, reduce } from "../src/chart/reduce";
import { countCells, fleetAt, queuesAt, readFleet, seriesOf, waitingIn } from "../src/data/fleet";
import { startsOf, typicalStart } from "../src/data/history";
import { meanPhases } from "../src/data/request_times";
import { waitsByVerdict } from "../src/view/waiting";
import { kFleet, kServices } from "./small_fleet";

const fleet = () => readFleet(structuredClone(kFleet), kServices, 120);

test("each GPU has one state at every moment", () => {
  const rows: [number, Record<string, number>][] = [
    [5, { serving: 4 }],
    [15, { serving: 4, launching: 4 }],
    [25, { serving: 4, held: 2, stranded: 2 }],
    [40, { serving: 4, starting: 4 }],
    [70, { serving: 8 }],
    [92, { serving: 4, free: 4 }],
    [97, { serving: 4, leaving: 4 }],
    [110, { serving: 4 }],
  ];
  for (const [at, expected] of rows) {
    const counts = Object.fromEntries(Object.entries(countCells(fleetAt(fleet(), at))).filter(([, n]) => n > 0));
    assert.deepEqual(counts, expected, `at ${at} s`);
  }
});

test("free GPUs are stranded unless a whole replica fits into its domain", () => {
  const oneFree = structuredClone(kFleet);
  oneFree.gangs.held[0] = [7, 2000, 0, null];
  const at = (together: string) => countCells(fleetAt(readFleet(structuredClone(oneFree), [{ ...kServices[0]!, together }], 120), 92));
  assert.equal(at("node").stranded, 2, "two of four GPUs of node 7 are free, and a replica needs four on one node");
  assert.equal(at("node").free, 4);
  assert.equal(at("rack").stranded, 0, "the rack has six free GPUs");
  assert.equal(countCells(fleetAt(readFleet(structuredClone(oneFree), [{ ...kServices[0]!, gpu: "H100" }], 120), 92)).stranded, 6);
});

test("pods of one moment have different GPUs, and a later pod may have those of an earlier one", () => {
  const [first, second] = fleet().nodes;
  assert.deepEqual(first?.pods.map((pod) => pod.slot), [0, 2]);
  assert.deepEqual(second?.pods.map((pod) => pod.slot), [0, 2]);
});

test("pods that existed before the page begins to count have different GPUs", () => {
  // Moments are rounded to milliseconds, so an object of the first state may begin a little before the state.
  const [first] = readFleet(structuredClone(kFleet), kServices, 120, 0.0004).nodes;
  assert.deepEqual(first?.pods.map((pod) => pod.slot), [0, 2]);
});

test("a place of the map is taken over only by a later node of the same domain", () => {
  const columns = structuredClone(kFleet);
  columns.nodes.nvlink = [2, 2];
  assert.deepEqual(readFleet(columns, kServices, 120).nodes.map((node) => node.place), [0, 1]);
  columns.nodes.ended_ms = [10_000, null];
  assert.deepEqual(readFleet(columns, kServices, 120).nodes.map((node) => node.place), [0, 0]);
  const layout = layOut(readFleet(columns, kServices, 120), 600);
  assert.equal(layout.boxes.size, 1);
  assert.deepEqual(layout.labels.map((label) => label.text), ["zone-a", "rack-0"]);
});

test("the map names the region and the NVLink domains of several nodes", () => {
  const columns = structuredClone(kFleet);
  columns.domains = ["us-east-1a", "us-east-1a/rack-0", "us-east-1a/rack-0/nvl-0", ""];
  Object.assign(columns.nodes, { nvlink: [2, 2] });
  const layout = layOut(readFleet(columns, kServices, 120), 600);
  assert.deepEqual(layout.labels.map((label) => label.text), ["us-east-1 › us-east-1a", "rack-0", "nvl-0"]);
  assert.deepEqual(layout.domains.map(({ x, width }) => [x, width]), [[0, 2 * layout.nodeWidth + layout.gap]]);
  // With room for one node in a row, each row has a line of its own.
  const narrow = layOut(readFleet(columns, kServices, 120), layout.nodeWidth);
  assert.deepEqual(narrow.domains.map(({ x, width }) => [x, width]), [[0, layout.nodeWidth], [0, layout.nodeWidth]]);
  // A node that is a domain of its own needs no line above it.
  assert.deepEqual(layOut(fleet(), 600).domains, []);
  for (const [zone, region] of [["us-east-1a", "us-east-1"], ["europe-west4-b", "europe-west4"], ["us-gov-west-1c", "us-gov-west-1"], ["zone-a", ""], ["", ""]]) assert.equal(regionOf(zone as string), region);
});

test("the lines over time are those of the map", () => {
  const times = [5, 15, 25, 40, 70, 97, 110];
  const series = seriesOf(fleet(), times);
  assert.deepEqual(series.serving, [4, 4, 4, 4, 8, 4, 4]);
  assert.deepEqual(series.starting, [0, 0, 0, 4, 0, 0, 0]);
  assert.deepEqual(series.held, [0, 0, 2, 0, 0, 0, 0]);
  assert.deepEqual(series.empty, [0, 4, 2, 0, 0, 4, 0]);
});

test("a waiting replica has its last verdict and the time of its wait in the stretch", () => {
  const [row, ...others] = waitingIn(fleet(), 0, 120);
  assert.deepEqual(others, []);
  assert.equal(row?.gang.replica, 1);
  assert.equal(row?.waited, 20);
  assert.equal(row?.last.verdict, "held_by_queue");
  assert.equal(waitingIn(fleet(), 0, 12)[0]?.last.verdict, "cannot_fit_now");
  assert.deepEqual(waitingIn(fleet(), 40, 120), []);
  assert.deepEqual(waitsByVerdict(waitingIn(fleet(), 0, 120)), [["held by its queue", 20]]);
});

test("a queue counts what those below it hold and what waits", () => {
  const queues = [
    { name: "all", parent: null, limit_gpus_milli: 8000 },
    { name: "chat", parent: 0, limit_gpus_milli: null },
    { name: "code", parent: 0, limit_gpus_milli: null },
  ];
  const at = (moment: number) => queuesAt(fleet(), queues, moment).map(({ queue, depth, held, waiting }) => [queue.name, depth, held, waiting]);
  assert.deepEqual(at(15), [["all", 0, 4, 4], ["chat", 1, 4, 4], ["code", 1, 0, 0]]);
  assert.deepEqual(at(25), [["all", 0, 6, 2], ["chat", 1, 6, 2], ["code", 1, 0, 0]]);
  assert.deepEqual(at(70)[0], ["all", 0, 8, 0]);
  const without = fleet();
  for (const gang of without.gangs) gang.queue = null;
  assert.deepEqual(queuesAt(without, queues, 70).map(({ held }) => held), [0, 0, 0], "pods without a queue do not count for that of their service");
});

test("a typical start has the median of each phase", () => {
  const none = [0, 0, 0];
  const starts = startsOf({
    service: none, replica: [0, 1, 2], decided_ms: [1000, 2000, 3000], decision_ms: none, capacity_ms: none, boot_ms: [40_000, 60_000, 50_000],
    node_setup_ms: none, placement_ms: [1000, 1000, 1000], image_ms: none, weights_ms: [10_000, 30_000, 20_000], engine_ms: none, warm_up_ms: none,
  });
  assert.deepEqual(starts.map((start) => start.total), [51, 91, 71]);
  assert.deepEqual(typicalStart(starts, 0.5), [0, 0, 50, 0, 1, 0, 0, 20, 0, 0, 0, 0, 0]);
});

test("the mean of a phase counts each request of the stretch once", () => {
  const phases = {
    first_tokens: [1, 3], gateway_us: [100, 200], queue_us: [0, 0], prefill_us: [10, 10],
    completed: [0, 2], transfer_us: [0, 0], decode_us: [0, 500],
  };
  assert.deepEqual(meanPhases(phases, [0, 120]), [175, 0, 0, 10, 0, 0, 500]);
  assert.deepEqual(meanPhases(phases, [0, 60]), [100, 0, 0, 10, 0, 0, 0]);
});

test("the points of a stretch of time include both of its ends", () => {
  const times = [0, 60, 120, 180];
  const rows: [[number, number], [number, number]][] = [
    [[0, 180], [0, 4]],
    [[60, 120], [1, 3]],
    [[61, 119], [2, 2]],
    [[-9, 30], [0, 1]],
    [[181, 900], [4, 4]],
  ];
  for (const [range, expected] of rows) assert.deepEqual(pointsIn(times, range), expected, String(range));
});

test("a long series keeps its peaks and its gaps, and a short one is unchanged", () => {
  const count = 100_001;
  const at = Array.from({ length: count }, (_, i) => i * 60);
  const flat: (number | null)[] = at.map(() => 5);
  [flat[77_777], flat[50]] = [9, 1];
  for (let i = 20_000; i < 30_000; ++i) flat[i] = null;
  const whole = reduce(at, [flat], 0, count * 60);
  assert.ok(whole.at.length <= kMaxPoints, `${whole.at.length} points`);
  assert.ok(whole.at.every((time, i) => i === 0 || time > (whole.at[i - 1] ?? 0)));
  const [line = []] = whole.values;
  assert.equal(line.length, whole.at.length);
  assert.equal(Math.max(...line.map((value) => value ?? 0)), 9);
  assert.equal(Math.min(...line.map((value) => value ?? 5)), 1);
  assert.ok(line.filter((value) => value === null).length > 200);
  const part = reduce(at, [flat], 3000, 9000);
  assert.deepEqual(part.at, at.slice(50, 151));
  assert.equal(part.values[0]?.[0], 1);
  const short = [1, 2, 3];
  assert.equal(reduce(short, [short], 0, 9).at, short);
});
