// Nodes and replicas in a recording: rows that change, observed starts, costs, and the moments to which numbers lead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFleet, queuesAt } from "../src/data/fleet";
import { type FleetColumns, kStartPhases, replicaName } from "../src/data/history";
import { decisionBefore, figureMoment, firstBought, idleMoment, longestWait, peakOf, worstIn, worstMinute } from "../src/data/explaining_moments";
import { observedStarts, costIn, teamsIn } from "../src/data/observed";
import { holesIn, holesOf, withHoles } from "../src/data/holes";
import { inFlightOf, observedDemand } from "../src/data/observed_demand";
import { observedLatency } from "../src/data/observed_latency";
import { type HistoryAnswer, withChanges } from "../src/data/recorded";
import type { Policy } from "../src/data/result";
import { meanPhases } from "../src/data/request_times";
import { observedJobs } from "../src/data/observed_jobs";
import { observedOutcomes } from "../src/data/outcomes";
import { spentIn } from "../src/data/spent";
import { observedServices } from "../src/data/observed_services";
import { recordedRun } from "../src/data/recorded_run";
import { type Recording, readRecording, withStates } from "../src/data/recording";
import { kFleet, kServices } from "./small_fleet";

/// Returns the small fleet as a server sends it.
function whole(): HistoryAnswer {
  const fleet = structuredClone(kFleet);
  fleet.machines = [{ ...fleet.machines[0]!, capacity_type: "spot", usd_per_hour: 36 }];
  Object.assign(fleet.nodes, { row: [0, 1], name: ["node-a", "node-b"] });
  Object.assign(fleet.gangs, { row: [0, 1], queue: [null, 0] });
  return { place: "5.1", is_whole: true, services: kServices, queues: [], fleet };
}

/// Returns an answer with one changed row of each table. Its lists have a numbering of their own.
function changes(): HistoryAnswer {
  const fleet: FleetColumns = {
    left_out: 3,
    machines: [{ pool: "h100", instance_type: "p5", gpu: "H100", gpus: 8, capacity_type: null, usd_per_hour: null }],
    domains: ["zone-b", "rack-0"],
    nodes: {
      node: [12], machine: [0], zone: [0], rack: [1], nvlink: [1], requested_ms: [100_000], launched_ms: [101_000], ready_ms: [140_000], leaving_ms: [null],
      ended_ms: [null], row: [2], name: ["node-c"],
    },
    phases: kFleet.phases,
    gangs: {
      service: [0], replica: [1], gpus_milli: [4000], created_ms: [10_000], ended_ms: [95_000], steps: [[10_000, 0, 30_000, 1, 60_000, 2]],
      held: [[9, 2000, 20_000, 95_000]], waits: [[11_000, 0, 15_000, 1, 16_000, 0]], row: [1], queue: [0],
    },
    reasons: [
      { verdict: "nominated", reason: "on_the_way", sentence: "a node is on its way", supply: "" },
      { verdict: "held_by_queue", reason: "queue_limit", sentence: "the queue is full", supply: "" },
    ],
  };
  return { place: "5.2", is_whole: false, services: kServices, queues: [], fleet };
}

test("changed rows take their places, and a whole answer replaces everything", () => {
  const first = withChanges(undefined, whole());
  const merged = withChanges(first, changes());
  assert.equal(merged.place, "5.2");
  const fleet = readFleet(merged.fleet, kServices, 200);
  assert.deepEqual(fleet.nodes.map((node) => [node.name, node.machine.instance_type, node.zone, node.rack]), [
    ["node-a", "p4", "zone-a", "rack-0"],
    ["node-b", "p4", "zone-a", "rack-0"],
    ["node-c", "p5", "zone-b", "rack-0"],
  ]);
  assert.equal(fleet.gangs.length, 2);
  assert.equal(fleet.gangs[1]?.ended, 95);
  assert.deepEqual(fleet.gangs[1]?.waits.map((wait) => wait.reason), ["on_the_way", "queue_limit", "on_the_way"]);
  assert.deepEqual(fleet.gangs[0]?.waits, []);
  assert.equal(fleet.leftOut, 3);
  assert.equal(first.fleet.nodes.node.length, 2, "the earlier history is unchanged");
  assert.equal(withChanges(merged, whole()).fleet.nodes.node.length, 2);
});

test("moments count from the first state of the recording", () => {
  const fleet = readFleet(whole().fleet, kServices, 110, 10);
  assert.equal(fleet.nodes[1]?.launched, 2);
  assert.deepEqual(fleet.gangs[1]?.steps.map((step) => step.at), [0, 20, 50]);
  assert.equal(fleet.gangs[0]?.created, -10);
});

test("a start is observed from the request of its node to the ready replica", () => {
  const [start, ...others] = observedStarts(readFleet(whole().fleet, kServices, 120));
  assert.deepEqual(others, [], "the first replica served from the start");
  const phases = Object.fromEntries(kStartPhases.flatMap(([key], i) => ((start?.phases[i] ?? 0) > 0 ? [[key, start?.phases[i]]] : [])));
  assert.deepEqual(phases, { decision_ms: 1, capacity_ms: 1, boot_ms: 8, placement_ms: 10, replica_ms: 30 });
  assert.equal(start?.decided, 10);
  assert.equal(start?.total, 50);
});

test("a start whose containers were seen shows the image pull", () => {
  const phasesAt = (containers_ms: (number | null)[]) => {
    const answer = whole();
    answer.fleet.gangs.containers_ms = containers_ms;
    const [start] = observedStarts(readFleet(answer.fleet, kServices, 120));
    return Object.fromEntries(kStartPhases.flatMap(([key], i) => ((start?.phases[i] ?? 0) > 20 || key === "image_ms" ? [[key, start?.phases[i]]] : [])));
  };
  assert.deepEqual(phasesAt([null, 38_000]), { image_ms: 8, engine_start_ms: 22 }, "bound at 30 s, ready at 60 s");
  assert.deepEqual(phasesAt([null, null]), { image_ms: 0, replica_ms: 30 });
  assert.deepEqual(phasesAt([null, 61_000]), { image_ms: 0, replica_ms: 30 }, "the clock of the node is ahead");
});

test("a start with init containers and a reported load of the weights has their phases", () => {
  const phasesAt = (initialized_ms: number | null, weights_ms: number | null) => {
    const answer = whole();
    Object.assign(answer.fleet.gangs, { containers_ms: [null, 38_000], initialized_ms: [null, initialized_ms], weights_ms: [null, weights_ms] });
    const [start] = observedStarts(readFleet(answer.fleet, kServices, 120));
    return Object.fromEntries(kStartPhases.flatMap(([key], i) => (i > 4 && (start?.phases[i] ?? 0) > 0 ? [[key, start?.phases[i]]] : [])));
  };
  assert.deepEqual(phasesAt(35_000, 15_000), { init_ms: 5, image_ms: 3, weights_ms: 15, engine_rest_ms: 7 }, "bound at 30 s, ready at 60 s");
  assert.deepEqual(phasesAt(null, 15_000), { image_ms: 8, weights_ms: 15, engine_rest_ms: 7 });
  assert.deepEqual(phasesAt(35_000, 23_000), { init_ms: 5, image_ms: 3, engine_start_ms: 22 }, "an engine that claims to have loaded for longer than the start took");
});

test("the phases of requests come from the sums that engines report", () => {
  const answer = whole();
  const role = (part: string) => ({ ...kServices[0]!, name: `chat ${part}`, part });
  // Ten requests. Each has 20 ms in the queue and 30 ms of prefill at the prefill replica. At the decode replica it has
  // a transfer of 5 ms, 1 ms in the queue and 400 ms of decode. Two ranks count the transfer, and vLLM counts it also
  // as time in the queue.
  answer.fleet.use = {
    row: [0, 1, 2],
    service: [0, 1, 1],
    at_ms: [60_000, 60_000, 120_000],
    tokens: [10, 990, 5],
    requests: [10, 10, 1],
    timed_requests: [10, 10, 0],
    queue_us: [200_000, 60_000, 0],
    prefill_us: [300_000, 7_000, 0],
    decode_us: [0, 4_000_000, 0],
    transfer_us: [0, 100_000, 0],
    transfers: [0, 20, 0],
    idle_gpu_s: [0, 0, 0],
    idle_usd: [0, 0, 0],
  };
  const seen = observedLatency(readFleet(answer.fleet, [role("prefill"), role("decode")], 200, 30));
  assert.equal(seen?.start, -30, "the recording begins at 30 s, within a minute");
  assert.deepEqual(seen?.rows.map((row) => row.name), ["chat"]);
  const phases = seen?.rows[0]?.phases;
  assert.deepEqual(phases?.first_tokens, [0, 10]);
  assert.deepEqual(phases?.completed, [0, 10]);
  assert.deepEqual([phases?.queue_us[1], phases?.prefill_us[1], phases?.transfer_us[1], phases?.decode_us[1]], [21_000, 30_000, 5_000, 400_000]);
  // In the first minute the engine reports the sum of queue and prefill, in the second minute that of prefill and
  // decode.
  Object.assign(answer.fleet.use, { service: [0, 0, 0], at_ms: [0, 60_000, 120_000], timed_requests: [10, 10, 0], queue_us: [0, 500, 0], prefill_us: [0, 0, 0], decode_us: [9_000, 0, 0], transfers: [0, 0, 0], queue_prefill_us: [700, 0, 0], prefill_decode_us: [0, 8_000, 0] });
  const merged = observedLatency(readFleet(answer.fleet, kServices, 200))?.rows[0]?.phases;
  assert.deepEqual([merged?.queue_prefill_us?.[0], merged?.decode_us[0], merged?.queue_us[1], merged?.prefill_decode_us?.[1], merged?.decode_us[1]], [70, 900, 50, 800, 0]);
  assert.deepEqual(meanPhases(merged!, [0, 120]), [0, 25, 35, 0, 0, 400, 450]);
  answer.fleet.use = { row: [0], service: [0], at_ms: [0], tokens: [10], requests: [10], idle_gpu_s: [0], idle_usd: [0] };
  assert.equal(observedLatency(readFleet(answer.fleet, kServices, 200)), undefined, "the server does not send the times");
});

test("the requests of a service that ended, by minute", () => {
  const answer = whole();
  answer.fleet.use = { row: [0, 1, 2], service: [0, 1, 0], at_ms: [60_000, 60_000, 180_000], tokens: [0, 0, 0], requests: [5, 9, 7], idle_gpu_s: [0, 0, 0], idle_usd: [0, 0, 0] };
  const fleet = (part: string, end = 240) => readFleet(answer.fleet, [...kServices, { ...kServices[0]!, name: "code", part }], end, 30);
  const none = inFlightOf([], []);
  assert.deepEqual(observedDemand(fleet(""), "chat", none), { at: [30, 90, 150], ended: [5, 0, 7] });
  assert.deepEqual(observedDemand(fleet(""), undefined, none)?.ended, [14, 0, 7]);
  assert.deepEqual(observedDemand(fleet("prefill"), undefined, none)?.ended, [5, 0, 7], "a request that prefill hands over ends once");
  assert.deepEqual(observedDemand(fleet("", 200), "chat", none)?.ended, [5], "the last minute is not over");
  assert.equal(observedDemand(fleet(""), "none", none), undefined);
  // 3 requests are in flight at 30 s, 8 at 90 s, 1 at 150 s and 0 later. A replica is silent at 150 s in the second case.
  const chat = { ...kChat, waiting: [1, 4, 0, 0], running: [2, 4, 1, 0], silent: [0, 0, 0, 0] };
  const at = [20, 80, 140, 200];
  assert.deepEqual(observedDemand(fleet(""), "chat", inFlightOf([chat], at))?.came, [10, 0, 6], "ended, plus what is in flight more");
  assert.deepEqual(observedDemand(fleet(""), "chat", inFlightOf([{ ...chat, silent: [0, 0, 1, 0] }], at))?.came, [10, null, null], "a silent replica may have any number");
  const often = [20, 80, 140, 165, 200];
  const quick = { ...chat, waiting: [1, 4, 0, 0, 0], running: [2, 4, 3, 2, 0], silent: [0, 0, 1, 0, 0] };
  assert.deepEqual(observedDemand(fleet(""), "chat", inFlightOf([quick], often))?.came, [10, 0, 5], "a replica that has just become ready is silent for one state");
});

test("no value is shown for a time in which no state was recorded", () => {
  const at = [0, 15, 30, 45, 60, 3660, 3675];
  assert.deepEqual(holesIn(at), [[75, 3660]], "the last state before is valid for the usual time");
  assert.deepEqual(holesIn([0, 15, 30, 100, 115]), [], "a late state is no hole");
  assert.deepEqual(holesIn([0, 300, 600, 900]), [], "states every five minutes");
  const [sparse, real] = [[0, 15, 30, 45, 60, 75, 1200, 4000].map((s) => s * 1e9), 1.7e18];
  assert.deepEqual(holesOf({ at_ns: sparse, states: 900 }), [], "the server left out the states of a quiet night");
  assert.deepEqual(holesOf({ at_ns: sparse.map((ns) => real + ns), states: 900 }).length, 1, "a controller's readings change all the time");
  assert.deepEqual([holesIn([]), holesIn([5])], [[], []]);
  assert.deepEqual(withHoles([0, 15, 3660, 3660], [[30, 3660]]).fitted([1, 2, 3, 4]), [1, 2, null, 3, 4]);
  const all = at.map(() => 3);
  const chat = { service: "chat", desired: all, ready: all, starting: all, waiting: all, silent: all, age_ms: all };
  const run = recordedRun({ recording: "a.rec", policy: "queue", states: 7, at_ns: at.map((s) => s * 1e9), services: [chat], actions: [], actions_left_out: 0, command: "" }, undefined, undefined);
  assert.deepEqual([run.series?.at, run.series?.ready], [[0, 15, 30, 45, 60, 75, 3660, 3675], [3, 3, 3, 3, 3, null, 3, 3]]);
  assert.deepEqual([run.signals?.at[5], run.signals?.silent[5], run.signals?.ageMs[5]], [75, null, null]);
  const answer = whole();
  answer.fleet.use = { row: [0, 1, 2], service: [0, 0, 0], at_ms: [0, 60_000, 240_000], tokens: [0, 0, 0], requests: [5, 9, 7], idle_gpu_s: [0, 0, 0], idle_usd: [0, 0, 0] };
  const fleet = readFleet(answer.fleet, kServices, 300, 0);
  assert.deepEqual(observedDemand(fleet, "chat", inFlightOf([], []), [[70, 185]])?.ended, [5, null, null, null, 7]);
});

const kChat = { service: "chat", desired: [1, 2, 2], ready: [1, 1, 2], starting: [0, 1, 0], waiting: [0, 7, 1], silent: [0, 1, 0], age_ms: [0, 9, 5], late_ppm: [0, 300_000, null], late_allowed_ppm: [10_000, 10_000, 10_000], ttft_p99_us: [null, 900_000, 200_000], ttft_slo_us: [500_000, 500_000, 500_000] };

test("what each service of a recording got", () => {
  const at = [0, 60, 120];
  const values = (range: [number, number]) => {
    const [row] = observedServices([kChat], at, undefined, range);
    return Object.fromEntries(Object.entries(row ?? {}).map(([key, one]) => [key, typeof one === "object" ? one.value : one]));
  };
  assert.deepEqual(values([0, 120]), { name: "chat", slo: "99.0 %: TTFT ≤ 500 ms", isHeld: false, late: 150_000, ttft: 900_000, wanted: 2, ready: 2, maxReady: 2, maxWaiting: 7 });
  const first = values([0, 59]);
  assert.deepEqual([first.wanted, first.ready, first.late, first.isHeld, first.ttft], [1, 1, 0, true, undefined]);
  assert.equal(observedServices([kChat], at, undefined, [0, 120])[0]?.maxWaiting?.moment?.(), 60);
});

test("a recording is a run like that of a simulated policy, with what it cannot know left out", () => {
  const code = { ...kChat, service: "code", waiting: [null, 1, 1], ready: [2, 2, 2], age_ms: [20, null, 1], ttft_p99_us: [null, 100, 999_000] };
  const action = (state: number, words: string, result: "applied" | "shadow") => ({ state, position: 0, at_ns: state * 60e9, layer: "scale" as const, action: words, result });
  const recording: Recording = {
    recording: "a.rec", policy: "queue", states: 3, at_ns: [0, 60e9, 120e9], services: [kChat, code], actions_left_out: 0, command: "capstan replay a.rec",
    actions: [action(1, "scale chat to 2 replicas: more", "applied"), action(2, "scale code to 3 replicas: more", "shadow")],
  };
  const all = recordedRun(recording, undefined, undefined);
  assert.deepEqual([all.series?.ready, all.series?.waiting, all.series?.ttft], [[3, 3, 4], [0, 8, 2], [null, 900_000, 999_000]]);
  assert.equal(all.series?.late, undefined, "shares of two services have no sum");
  assert.deepEqual([all.signals?.ageMs, all.signals?.silent], [[20, 9, 5], [0, 2, 0]]);
  assert.deepEqual(all.series?.changes, [60], "Shadow carried the other one not out");
  assert.deepEqual(all.series?.short, [[60, 120]]);
  assert.equal(all.series?.ttftSlo, 500_000);
  const chat = recordedRun(recording, undefined, "chat");
  assert.deepEqual([chat.series?.late, chat.series?.short], [[0, 300_000, null], [[60, 120]]]);
  assert.deepEqual([chat.serviceRows([0, 120]).length, chat.spent([0, 120]), chat.outcomes([0, 120])], [2, undefined, []]);
  assert.match(chat.notes(true).services, /Not measured, because engines count only the requests that they end/);
  assert.deepEqual(all.latencies([0, 60]).map(({ key, values }) => [key, values]), [["ttft", { p99_us: 900_000 }]]);
  const known = recordedRun(recording, whole(), undefined);
  assert.deepEqual(new Map(known.outcomes([0, 120])).get("nodes"), "1 launched · 1 ended");
  assert.match(new Map(known.outcomes([0, 120])).get("decisions") ?? "", /^2 decisions · 1 applied · 1 in the mode Shadow$/);
  assert.match(new Map(known.outcomes([0, 120])).get("replicas") ?? "", /^1 created · 1 ended · 1 gang waited for GPUs · 1 cold start, from the decision to ready: median 50 s/);
});

const kPercentiles = { mean_us: 1, p50_us: 2, p90_us: 3, p95_us: 4, p99_us: 5 };

test("a recording of a simulation shows what the simulation measured, and a recording of a controller what is not", () => {
  const minutes = (arrived: number[], met: number[]) => ({ arrived, met, waiting: [0, 0], desired: [1, 1], ready: [1, 1], ttft_p99_us: [1, 9] });
  const figures = { requests: { arrived: 30, met: 24, rejected: 6 }, ttft: kPercentiles, tpot: kPercentiles, e2e: kPercentiles };
  const slo = { ttft_ns: 1e9, tpot_ns: 0, e2e_ns: 0, attainment_ppm: 900_000 };
  const policy = {
    ...figures, policy: "queue", by_state: { at_ns: [0, 60e9, 120e9], services: [{ name: "chat", ...kChat }, { name: "code", ...kChat }] }, actions: [], actions_left_out: 0,
    seed: 1, simulated_ns: 120e9, attainment_ppm: 800_000, paid_gpu_hours: 1, cost_usd: 1, score_milli: 1, gpu_hours_by_state: {}, cost_by_state_micro_usd: {}, moments: [{ at_ns: 60e9, weight: 1, reason: "r", sentence: "s" }],
    spending: [], warnings: [], disruptions: {}, nodes: {}, cold_starts: { count: 0, p50_ns: 0, max_ns: 0 }, teams: [{ name: "red", requests: 30, met: 24, jobs_arrived: 0, jobs_ended: 0, gpu_hours: 1, cost_usd: 1 }],
    by_minute: minutes([20, 10], [20, 4]),
    services: [{ ...figures, name: "chat", slo, holds_slo: false, attainment_ppm: 800_000, ready_peak: 1, gpu_hours: 1, cost_usd: 1, by_minute: minutes([12, 8], [12, 2]) }],
    jobs: [{ name: "nightly", arrived: 2, ended: 1, waiting: 1, wait_p50_ns: 1, wait_p99_ns: 2, gpu_hours: 1, cost_usd: 1, restarts: 3 }],
  };
  const json = { format_version: 1, recording: "a.rec", states: 3, slo, services: [], queues: [], history_place: "1.2", policies: [policy], command: "c" };
  const recording = readRecording(json) as Recording;
  const run = recordedRun(recording, undefined, undefined);
  assert.deepEqual([run.series?.demand?.arrived, run.series?.demand?.missed], [[20, 10], [0, 6]]);
  const [chat, code] = run.serviceRows([0, 120]);
  assert.deepEqual([chat?.arrived?.value, chat?.met?.value, chat?.isHeld, chat?.met?.moment?.()], [20, 700_000, false, 60]);
  assert.equal(code?.arrived, undefined, "the result has no figures of it");
  assert.deepEqual([run.serviceRows([0, 50])[0]?.met?.value, run.serviceRows([0, 50])[0]?.isHeld], [1_000_000, true], "of the stretch");
  assert.deepEqual(run.latencies([0, 120]).map((row) => row.values.p50_us), [2, 2, 2]);
  assert.deepEqual(run.latencies([0, 60]).map((row) => row.values.p50_us), [undefined], "percentiles of a stretch are not measured");
  assert.equal(run.jobRows([0, 120])[0]?.restarts, 3);
  assert.match(new Map(run.outcomes([0, 120])).get("requests") ?? "", /30 arrived .* 6 rejected/);
  assert.equal(recordedRun(recording, undefined, "code").series?.demand, undefined);
  assert.deepEqual(recordedRun(recording, undefined, "chat").series?.demand?.arrived, [12, 8]);
  // Later states are not measured, and neither are those of a controller.
  const later = withStates(recording, [{ state: 3, at_ns: 180e9, services: {}, actions: [] }]);
  assert.equal(later.measured, undefined);
  const { requests: _, by_minute: __, ...seen } = policy;
  const controller = readRecording({ ...json, policies: [{ ...seen, fleet: whole().fleet }], services: kServices }) as Recording;
  assert.equal(controller.history?.place, "1.2");
  const row = new Map(recordedRun(controller, controller.history, undefined).outcomes([0, 120])).get("not measured");
  for (const figure of ["rejected", "retried", "percentiles", "cost by team", "goals and restarts"]) assert.match(row ?? "", new RegExp(figure));
});

test("workloads that Capstan does not scale have a row for each kind", () => {
  const answer = whole();
  answer.fleet.gangs.service = [-1, -1];
  answer.fleet.gangs.name = ["nightly 4", "nightly 5"];
  const [row, ...others] = observedJobs(readFleet(answer.fleet, kServices, 120), [0, 120]);
  assert.deepEqual(others, []);
  assert.deepEqual([row?.name, row?.arrived, row?.ended, row?.waiting], ["nightly", 2, 1, 0]);
  assert.equal(row?.wait_p99_ns, 20e9, "from 10 s to 30 s; the other one was there before");
  assert.ok(Math.abs((row?.cost_usd ?? 0) - 9 * (row?.gpu_hours ?? 0)) < 1e-9, "a GPU costs 9 USD/h");
  answer.fleet.gangs.name = ["ns/train-a", ""];
  assert.deepEqual(observedJobs(readFleet(answer.fleet, kServices, 120), [0, 120]).map((one) => one.name), ["ns/train-a", "other workloads"]);
});

test("the cost of each service is that of the GPUs which its pods held", () => {
  const answer = whole();
  const services = [...kServices, { ...kServices[0]!, name: "pre", part: "prefill" }];
  answer.fleet.gangs.service[1] = 1;
  answer.fleet.use = { row: [0, 1], service: [0, 1], at_ms: [0, 0], tokens: [6000, 0], requests: [200, 200], idle_gpu_s: [0, 0], idle_usd: [0, 0] };
  const spent = costIn(readFleet(answer.fleet, services, 120), [0, 120]);
  assert.deepEqual(spent.users.map((one) => [one.name, Math.round(one.gpuHours * 3600), one.tokens, one.requests]), [["chat", 480, 6000, 200], ["pre", 260, 0, 0]]);
  assert.equal(spent.requests, 200, "a request that prefill hands over ends once");
  answer.fleet.gangs.service[1] = -1;
  answer.fleet.gangs.name = ["", "nightly 5"];
  const named = readFleet(answer.fleet, services, 120);
  const [, others] = costIn(named, [0, 120]).users;
  assert.equal(others?.name, "other workloads");
  assert.ok(Math.abs(costIn(named, [0, 120]).othersUsd - (260 * 9) / 3600) < 1e-9, "a GPU costs 9 USD/h");
  assert.equal(replicaName(services, -1, 5, named.gangs[1]?.name), "nightly 5");
});

test("the cost of each team is that of the services and workloads of its namespace", () => {
  const answer = whole();
  const services = [{ ...kServices[0]!, name: "red/chat" }, { ...kServices[0]!, name: "red/pre", part: "prefill" }];
  answer.fleet.gangs.service = [0, -1];
  answer.fleet.gangs.name = ["", "blue/train 5"];
  answer.fleet.use = { row: [0], service: [0], at_ms: [0], tokens: [6000], requests: [200], idle_gpu_s: [0], idle_usd: [0] };
  const fleet = (of = services) => readFleet(answer.fleet, of, 120);
  const teams = teamsIn(costIn(fleet(), [0, 120]));
  assert.deepEqual(teams.map((one) => [one.name, Math.round(one.gpuHours * 3600), one.tokens, one.requests]), [["red", 480, 6000, 200], ["blue", 260, 0, 0]]);
  assert.ok(Math.abs((teams[0]?.usd ?? 0) - (480 * 9) / 3600) < 1e-9, "a GPU costs 9 USD/h");
  const run = spentIn(fleet(), [0, 120]);
  assert.deepEqual(run?.teams.map((one) => [one.name, Math.round(one.perRequests ?? 0)]), [["red", 6], ["blue", 0]]);
  const missing = (one: ReturnType<typeof fleet>) => new Map(observedOutcomes(one, [], [], [0, 120])).get("not measured") ?? "";
  assert.doesNotMatch(missing(fleet()), /cost by team/);
  answer.fleet.gangs.name = ["", "train 5"];
  assert.deepEqual(teamsIn(costIn(fleet(), [0, 120])).map((one) => one.name), ["red", "no team"], "a workload without a namespace");
  assert.deepEqual(teamsIn(costIn(fleet(kServices), [0, 120])), [], "the names of a simulation have no namespaces");
  assert.match(missing(fleet(kServices)), /cost by team/);
});

test("a replica on a node that was bought for another one has no phases of the node", () => {
  const answer = whole();
  // The node was requested and still booting when the pods were created.
  Object.assign(answer.fleet.nodes, { requested_ms: [null, 2000], launched_ms: [null, 4000], ready_ms: [0, 42_000] });
  Object.assign(answer.fleet.gangs, { created_ms: [0, 40_000], steps: [[0, 2], [40_000, 0, 50_000, 1, 170_000, 2]], ended_ms: [null, null] });
  const [start] = observedStarts(readFleet(answer.fleet, kServices, 200));
  assert.equal(start?.decided, 40, "the pods were created then");
  assert.equal(start?.total, 130);
  const phases = kStartPhases.flatMap(([key], i) => ((start?.phases[i] ?? 0) > 0 ? [[key, start?.phases[i]]] : []));
  assert.deepEqual(phases, [["placement_ms", 10], ["replica_ms", 120]]);
  // A decision requests a node first, and the pods exist in the next state.
  answer.fleet.nodes.requested_ms = [null, 26_000];
  const [own] = observedStarts(readFleet(answer.fleet, kServices, 200));
  assert.equal(own?.decided, 26);
});

test("what the GPUs did adds up to what was paid for", () => {
  const fleet = readFleet(whole().fleet, kServices, 120);
  const spent = costIn(fleet, [0, 500]);
  const seconds = Object.fromEntries(spent.states.map(({ state, gpuHours }) => [state, Math.round(gpuHours * 3600)]));
  assert.deepEqual(seconds, { serving: 600, starting: 120, held: 20, free: 40, launching: 32, leaving: 20 });
  assert.equal(Math.round(spent.gpuHours * 3600), 4 * (120 + 88));
  assert.ok(Math.abs(spent.usd - (4 * (120 + 88) * 9) / 3600) < 1e-9, `${spent.usd}`);
  assert.deepEqual(spent.nodes.map((row) => [row.name, row.capacity, row.zone, Math.round(row.gpuHours * 3600)]), [["a100: p4", "spot", "zone-a", 832]]);
  assert.equal(spent.unpricedHours, 0);
  const part = costIn(fleet, [20, 30]);
  assert.deepEqual(part.states.map(({ state, gpuHours }) => [state, Math.round(gpuHours * 3600)]), [["serving", 40], ["held", 20], ["free", 20]]);
});

test("nodes without a known price are named", () => {
  const answer = whole();
  answer.fleet.machines[0]!.usd_per_hour = null;
  const spent = costIn(readFleet(answer.fleet, kServices, 120), [0, 120]);
  assert.equal(spent.usd, 0);
  assert.equal(Math.round(spent.unpricedHours * 3600), 832);
  assert.equal(spent.nodes[0]?.usd, undefined);
});

test("the worst reading of a stretch is its first largest one above 0", () => {
  const at = [0, 15, 30, 45, 60];
  const values = [9000, 15, null, 4000, 4000];
  assert.deepEqual(worstIn(at, values, [10, 60]), { at: 45, value: 4000 });
  assert.deepEqual(worstIn(at, values, [0, 20]), { at: 0, value: 9000 });
  assert.equal(worstIn(at, values, [25, 40]), undefined, "no value is known");
  assert.equal(worstIn(at, [0, 0, 0, 0, 0], [0, 60]), undefined);
});

test("a queue counts the pods of other workloads", () => {
  const answer = whole();
  answer.fleet.gangs.service[1] = -1;
  const fleet = readFleet(answer.fleet, [{ ...kServices[0]!, queue: null }], 120);
  const [all] = queuesAt(fleet, [{ name: "all", parent: null, limit_gpus_milli: null }], 40);
  assert.equal(all?.held, 4);
  assert.equal(replicaName(kServices, -1, 3), "other workload 3");
});

test("numbers lead to the moment that explains them", () => {
  const fleet = readFleet(whole().fleet, kServices, 120);
  assert.equal(peakOf(fleet, "starting", [0, 120]), 30);
  assert.equal(peakOf(fleet, "busy", [0, 120]), 60);
  assert.equal(peakOf(fleet, "held", [0, 120]), 20);
  assert.equal(peakOf(fleet, "sleeping", [0, 120]), undefined);
  assert.equal(firstBought(fleet, { pool: "a100", instance_type: "p4", zone: "zone-a" }), 11);
  assert.equal(firstBought(fleet, { pool: "a100", instance_type: "p4", zone: "zone-b" }), undefined);
  const minutes = { arrived: [10, 100, 10, 0], ready: [1, 5, 5, 2], met: [], waiting: [], desired: [], ttft_p99_us: [5, 9, 7, 0] };
  const policy = { by_minute: minutes } as unknown as Policy;
  assert.equal(idleMoment(policy), 120, "five replicas have the work of half a one");
  assert.equal(idleMoment({} as Policy), undefined);
  assert.equal(worstMinute(policy, "ttft"), 60);
  assert.equal(worstMinute(policy, "tpot"), 60, "without phases the time to first token has to do");
  const none = [0, 0, 0];
  const phases = { first_tokens: [1, 1, 1], completed: [1, 1, 1], gateway_us: [9, 0, 0], queue_us: none, prefill_us: none, transfer_us: none, decode_us: [1, 2, 7] };
  assert.equal(worstMinute({ ...policy, latency_phases: phases }, "tpot"), 120);
  assert.equal(worstMinute({ ...policy, latency_phases: phases }, "e2e"), 0);
  const rows = [{ at: 5, layer: "scale" }, { at: 8, layer: "provision" }, { at: 20, layer: "scale" }] as const;
  assert.equal(decisionBefore(rows, 19), 1);
  assert.equal(decisionBefore(rows, 30, "provision"), 1);
  assert.equal(decisionBefore(rows, 6, "provision"), 0, "before the first purchase, whatever was decided");
  assert.equal(decisionBefore(rows, 1), undefined);
});

test("idle GPUs and tokens count in the stretch of time", () => {
  const answer = whole();
  answer.fleet.use = { row: [0, 1], service: [0, 0], at_ms: [60_000, 120_000], tokens: [6000, 500], idle_gpu_s: [36, 3600], idle_usd: [0.09, 9] };
  const without = costIn(readFleet(whole().fleet, kServices, 120), [0, 120]);
  const spent = costIn(readFleet(answer.fleet, kServices, 120), [0, 120]);
  const hoursOf = (one: typeof spent, state: string) => one.states.find((row) => row.state === state)?.gpuHours ?? 0;
  assert.equal(spent.tokens, 6000, "the second minute is not in the stretch");
  assert.ok(Math.abs(hoursOf(spent, "idle") - 0.01) < 1e-9);
  assert.ok(Math.abs(hoursOf(spent, "idle") + hoursOf(spent, "serving") - hoursOf(without, "serving")) < 1e-9);
  assert.ok(Math.abs(spent.usd - without.usd) < 1e-9, "the sum stays");
  assert.equal(costIn(readFleet(answer.fleet, kServices, 120), [0, 90]).tokens, 3000, "half a minute counts half");
});

test("a number of a row leads to the minute that explains it", () => {
  const by_minute = { arrived: [10, 50, 20], met: [10, 40, 19], waiting: [], desired: [], ready: [1, 2, 5], gpus_paid: [8, 24, 16], ttft_p99_us: [5, 1, 9], tpot_p99_us: [7, 1, 2] };
  const policy = { by_minute } as unknown as Policy;
  assert.deepEqual((["unmet", "paid", "ready", "ttft", "tpot"] as const).map((figure) => figureMoment(policy, figure)), [60, 60, 120, 120, 0]);
  assert.equal(figureMoment({} as Policy, "unmet"), undefined);
  const fleet = readFleet(whole().fleet, kServices, 120);
  assert.equal(longestWait(fleet, "nothing"), undefined);
  assert.notEqual(longestWait(fleet, kServices[0]?.name ?? ""), undefined);
});
