import assert from "node:assert/strict";
import { test } from "node:test";
import { cellText, csv } from "../src/chart/download";
import { sorted } from "../src/chart/figure";
import { ceilingOf } from "../src/chart/ceiling";
import { roomForName } from "../src/chart/heatmap";
import type { Cell } from "../src/data/fleet";
import { partName, quantile, replicaName, type Service, serviceLetters } from "../src/data/history";
import { decideCommand, explainCommand, shellWord } from "../src/data/explain";
import { holdsSlo, type Policy, readJson, readResult, type Result, unitCosts, Unreadable } from "../src/data/result";
import { namedServices, policyOf, sloOf } from "../src/data/service";
import { countFrom, duration, latency, moment, percent, stamp, timeTick, timeTicks, sloWords, tokenTime, usd, wholeTick } from "../src/format";
import { shortened } from "../src/chart/waterfall";
import { choiceHash, parseChoice } from "../src/state";
import { markedPolicy, orderWords } from "../src/view/ranking";
import { ticks } from "../src/view/frontier";
import { shortStretches } from "../src/data/series";
import { readRecording, type RecordedAction, scales, type StateEvent, withoutRepeats, withStates } from "../src/data/recording";
import { chosenRows, inForce, logOf, rowOf, seenLogOf } from "../src/data/log";
import { startingByMinute } from "../src/data/starting";
import { changeWords, hashFor, pairs, readServer } from "../src/serve/server";

test("the command that explains a decision names the scenario, the policy and the moment", () => {
  const policy = { policy: "queue · gang" } as Policy;
  const command = (text: string | undefined, object = "chat h100", at_ns = 35e9) => explainCommand({ command: text } as Result, policy, at_ns, object);
  const expected = "capstan explain 'chat h100' --scenario a.yaml --set load.scale=2 --policy 'queue · gang' --at 35s --verbose";
  for (const end of ["", " --bound", ' --policy a --policy "queue · gang"', " --policy 'it'\\''s' --bound"]) {
    assert.equal(command(`capstan compare a.yaml --set load.scale=2${end}`), expected, end);
  }
  assert.match(command("capstan sim a.yaml", "reports", 1_500_000_000) ?? "", /^capstan explain reports --scenario a.yaml .* --at 1500ms /);
  assert.equal(command("capstan plan spec.yaml"), undefined);
  assert.equal(decideCommand({ command: "capstan sim a.yaml" } as Result, policy, 121e9, "provision"), "capstan snapshot --scenario a.yaml --policy 'queue · gang' --at 121s > at.json && capstan decide provision at.json");
  const planned = { policy: "Capstan, the plan", command: "capstan sim out/scenario-chat.yaml", name_in_scenario: "capstan" } as Policy;
  assert.equal(explainCommand({ command: "capstan plan spec.yaml" } as Result, planned, 35e9, "chat"), "capstan explain chat --scenario out/scenario-chat.yaml --policy capstan --at 35s --verbose");
  assert.equal(command(undefined), undefined);
  assert.equal(shellWord("it's"), "'it'\\''s'");
});

test("numbers are written as people read them", () => {
  const rows: [string, string][] = [
    [percent(991_428), "99.1 %"],
    [percent(999_999), "99.9 %"],
    [percent(999_860), "99.9 %"],
    [wholeTick(2.5), ""],
    [wholeTick(5), "5"],
    [wholeTick(2500), "2,500"],
    [cellText(13.950000000000003), "13.95"],
    [cellText(36.06399999999999), "36.064"],
    [cellText(1_234_567_890_123), "1234567890123"],
    [cellText("1.50"), "1.50"],
    [percent(1_000_000), "100.0 %"],
    [percent(1), "0.1 %"],
    [percent(0), "0.0 %"],
    [usd(78.271), "$78.27"],
    [usd(-3), "−$3.00"],
    [usd(12_345.6), "$12,346"],
    [duration(0), "–"],
    [duration(40), "0.04 ms"],
    [duration(870), "0.9 ms"],
    [duration(37_000), "37 ms"],
    [duration(999_949), "999.9 ms"],
    [duration(999_951), "1 s"],
    [duration(1_241_088), "1.24 s"],
    [duration(25_231_360), "25.2 s"],
    [duration(3_514e6), "58 min 34 s"],
    [duration(59_990_000), "59.9 s"],
    [duration(129_900_000), "2 min 9 s"],
    [duration(600e6), "10 min"],
    [latency(0), "–"],
    [latency(9_994_999), "9.99 s"],
    [latency(14_870_000), "14.9 s"],
    [latency(99_950_000), "100 s"],
    [tokenTime(48_249), "48.2 ms"],
    [tokenTime(1_234_560), "1,234.6 ms"],
    [sloWords({ ttft_ns: 600e9, tpot_ns: 0, e2e_ns: 0, attainment_ppm: 950_000 }), "95.0 %: TTFT ≤ 10 min"],
    [duration(90_000e6), "1 d 1 h"],
    [moment(3_665), "01:01:05"],
    [moment(90_000), "day 2 01:00:00"],
    [timeTick(86_400), "day 2"],
    [timeTick(0), "00:00:00"],
    [timeTick(90_000), "day 2 01:00:00"],
  ];
  for (const [found, expected] of rows) assert.equal(found, expected);
});

test("the moments of a recording with a real clock are times of day in UTC", () => {
  countFrom(1_795_700_040_500_000_000);
  try {
    assert.deepEqual([stamp(0), moment(0), moment(86_400)], ["2026-11-26 13:34:00", "13:34:00", "11-27 13:34:00"]);
    const ticks = timeTicks(0, 86_400, 21_600);
    assert.deepEqual(ticks.map(timeTick), ["18:00:00", "11-27", "11-27 06:00:00", "11-27 12:00:00"], "ticks are whole hours of the day");
  } finally {
    countFrom(0);
  }
  assert.deepEqual([stamp(61), timeTicks(50, 190, 60)], ["00:01:01", [60, 120, 180]], "a simulation counts from its start");
});

test("a name without room loses its first characters", () => {
  const short = (name: string, head: number) => shortened(name, head, 20, (text) => text.length);
  assert.equal(short("00:02:45 replica 3", 9), "00:02:45 replica 3");
  assert.equal(short("00:02:45 team-a/chat replica 3", 9), "00:02:45 … replica 3");
  assert.equal(short("a-name-without-any-end", 0), "…ame-without-any-end");
});

test("requests and tokens pay for what serves them, not for jobs", () => {
  const policy = { cost_usd: 100, requests: { met: 2000 }, tokens: { delivered: 4_000_000 }, cost_per_1000_met_usd: 50, cost_per_million_tokens_usd: 25 } as unknown as Policy;
  assert.deepEqual(unitCosts(policy), { perRequest: 50, perTokens: 25, jobsUsd: 0 });
  const jobs = [{ cost_usd: 40 }, { cost_usd: 20 }] as unknown as NonNullable<Policy["jobs"]>;
  assert.deepEqual(unitCosts({ ...policy, jobs }), { perRequest: 20, perTokens: 10, jobsUsd: 60 });
  assert.equal(unitCosts({ ...policy, requests: {}, cost_per_1000_met_usd: null }).perRequest, null);
});

test("a decision that each state repeats is listed once", () => {
  const action = (state: number, words: string, layer: RecordedAction["layer"] = "scale", position = 0): RecordedAction => ({ state, position, at_ns: state * 1e9, layer, action: words });
  const rows = withoutRepeats([
    action(1, "scale chat to 3 replicas, draining 5: 2.1 are needed"),
    action(1, "bind 1 pod of gang 4: it fits", "place", 1),
    action(2, "scale chat to 3 replicas, draining 5: 2.2 are needed", "scale", 1),
    action(3, "scale chat to 3 replicas, draining 5: 2.3 are needed"),
    action(4, "scale chat to 4 replicas: 3.4 are needed"),
    action(9, "scale chat to 4 replicas: 3.4 are needed"),
  ]);
  assert.deepEqual(rows.map((row) => [row.state, row.times, row.until_ns / 1e9]), [[1, 3, 3], [1, 1, 1], [4, 1, 4], [9, 1, 9]]);
  const log = seenLogOf(rows, 0);
  assert.equal(rowOf(log, 10_001), log[1], "its own row");
  assert.equal(rowOf(log, 20_001), log[0], "a later state repeats it");
  assert.equal(rowOf(log, 70_000), undefined);
  assert.deepEqual(chosenRows(log, [2, 3], "", "").map((row) => row.seen?.state), [1], "it was repeated in the stretch");
  assert.deepEqual(log.map((row) => row.subject), ["chat", "", "chat", "chat"]);
  assert.deepEqual([...inForce(log, 5)], [log[2]], "the later decision about a service is in force");
  assert.ok(scales(rows[2] as RecordedAction, "chat"));
  assert.ok(!scales(rows[2] as RecordedAction, "cha"), "another service");
  assert.ok(!scales(rows[1] as RecordedAction, "chat"));
  assert.ok(scales(action(5, "convert gang 3 from chat prefill to chat decode: it waits"), "chat decode"));
});

test("each of several services has a letter of its own", () => {
  const services = Array.from({ length: 30 }, (_, i) => ({ name: `s${i}` }) as Service);
  const letters = serviceLetters(services);
  assert.equal(new Set(letters).size, 30);
  assert.deepEqual([letters[0], letters[25], letters[26]], ["a", "z", "a1."]);
  assert.deepEqual(serviceLetters(services.slice(0, 1)), [""]);
});

test("a choice survives the address, and a foreign address gives the defaults", () => {
  const choice = { shownPolicy: 2, comparedPolicy: 0, service: "chat & code", from: 60, to: 120, at: 90, theme: "dark" } as const;
  assert.deepEqual(parseChoice(choiceHash(choice), 3), choice);
  const defaults = { shownPolicy: 0, comparedPolicy: -1, theme: "auto" };
  for (const hash of ["", "#", "#policy=9", "#policy=-1&against=x", "#from=9&to=3", "#theme=pink", "#at=soon", "#against=0", "#policy=1e400"]) {
    assert.deepEqual(parseChoice(hash, 3), defaults, hash);
  }
  assert.equal(choiceHash(parseChoice("", 3)), "");
});

test("a table becomes CSV that no spreadsheet runs", () => {
  const table = { head: ["policy", "why"], rows: [["=1+1", 'says "no", twice'], [-3, "line\nbreak"]] };
  assert.equal(csv(table), 'policy,why\r\n\'=1+1,"says ""no"", twice"\r\n-3,"line\nbreak"\r\n');
});

test("a table is sorted by numbers and by words, and empty cells come last", () => {
  const rows = [["replica 10", 3], ["replica 9", ""], ["", -1], ["replica 2", 20]];
  const names = (column: number, isDown: boolean) => sorted(rows, { column, isDown }).map((row) => row[0]);
  assert.deepEqual(names(0, false), ["replica 2", "replica 9", "replica 10", ""]);
  assert.deepEqual(names(0, true), ["replica 10", "replica 9", "replica 2", ""]);
  assert.deepEqual(names(1, false), ["", "replica 10", "replica 2", "replica 9"]);
  assert.deepEqual(names(1, true), ["replica 2", "replica 10", "", "replica 9"]);
  assert.equal(sorted(rows, undefined), rows);
});

test("the policy that the result names is marked", () => {
  const result = (marked?: string | null) => ({ policies: [{ policy: "p0" }, { policy: "p1" }], ...(marked === undefined ? {} : { marked }) }) as unknown as Result;
  assert.equal(markedPolicy(result("p1")), 1);
  assert.equal(markedPolicy(result(null)), -1, "no policy is known to hold the SLO with every seed");
  assert.equal(markedPolicy(result()), -1, "a result of an earlier version names none");
});

test("the ranking says what is marked and in which order the policies stand", () => {
  const policies = (...met: number[]) => met.map((attainment_ppm, i) => ({ attainment_ppm, policy: `p${i}` }));
  const slo = { attainment_ppm: 990_000 };
  const words = (result: object) => orderWords(result as unknown as Result);
  const order = "policies that hold the SLO, the cheapest first; then the others, the most met requests first. ";
  assert.equal(words({ slo, marked: "p0", policies: policies(995_000, 5) }), `▶ marks the cheapest policy that holds the SLO. Order: ${order}`);
  assert.equal(words({ slo, marked: null, policies: policies(5, 4) }), `No policy holds the SLO. Order: ${order}`);
  const seed_checks = [{ policy: "p0", holds_with_all: true }];
  assert.equal(words({ slo, marked: "p0", policies: policies(995_000, 996_000), seed_checks }), `▶ marks the cheapest policy that holds the SLO with every tried seed. Below it: ${order}`, "it stands first, whatever it costs");
  const none = [{ policy: "p0", holds_with_all: false }];
  assert.equal(words({ slo, marked: null, policies: policies(995_000, 996_000), seed_checks: none }), `No policy holds the SLO with every tried seed. Order: ${order}`);
  assert.equal(words({ slo, marked: "p1", policies: policies(995_000, 996_000), chosen: "p1" }), `▶ marks the choice of the plan. Order: ${order}`);
  assert.equal(words({ slo, policies: policies(995_000, 5) }), `Order: ${order}`, "a result of an earlier version does not say which one it marks");
  assert.equal(words({ slo, policies: policies(1) }), "", "a single policy has no order");
});

test("a policy of several services is seen as one of them", () => {
  const slo = { ttft_ns: 1e9, tpot_ns: 0, e2e_ns: 0, attainment_ppm: 990_000 };
  const minutes = { arrived: [3], met: [3], waiting: [0], desired: [2], ready: [2], ttft_p99_us: [9] };
  const figures = (name: string, holds_slo: boolean) => ({ name, slo, holds_slo, requests: { arrived: 3 }, by_minute: { ...minutes, arrived: [name.length] } });
  const steps = ["chat", "code prefill", "code decode", "code-review"].map((part, i) => ({ at_ns: i, part, desired: i, why: "" }));
  const policy = {
    policy: "p",
    services: [figures("chat", true), figures("code", false)],
    scale_steps: steps,
    by_minute: { ...minutes, gpus_paid: [8] },
    cold_start_phases: { service: [0, 2, 1], replica: [5, 6, 7] },
  } as unknown as Policy;
  const names = ["chat", "code prefill", "code decode"].map((name) => ({ name, part: "" })) as unknown as Service[];
  const result = { slo, policies: [policy] } as unknown as Result;
  assert.deepEqual(namedServices(result), ["chat", "code"]);
  const code = policyOf(policy, names, "code");
  assert.deepEqual(code.scale_steps?.map((step) => step.part), ["code prefill", "code decode"]);
  assert.deepEqual(code.cold_start_phases?.replica, [6, 7]);
  assert.deepEqual(code.by_minute?.arrived, [4]);
  assert.equal(policyOf(policy, names, undefined), policy);
  assert.equal(sloOf(result, policy, "code"), slo);
  assert.equal(sloOf(result, policy, undefined), undefined, "the services may have different ones");
  assert.equal(holdsSlo(result, policy), false, "one of two services misses its SLO");
});

test("a scenario with only jobs has goals and no SLO", () => {
  const jobs = (is_held: boolean) => [{ name: "eval" }, { name: "train", goal: { is_held } }];
  const result = { slo: null } as unknown as Result;
  const policy = (is_held: boolean) => ({ policy: "p", services: [], attainment_ppm: 0, jobs: jobs(is_held) }) as unknown as Policy;
  assert.equal(holdsSlo(result, policy(true)), true, "a class without a goal misses nothing");
  assert.equal(holdsSlo(result, policy(false)), false);
  assert.equal(sloOf(result, policy(true), undefined), undefined);
});

test("replicas are distinguished by their service, or by their role within one", () => {
  const services = (...rows: [string, string][]) => rows.map(([name, part]) => ({ name, part })) as unknown as Service[];
  const rows: [Service[], string][] = [
    [services(["service", ""]), "replica 3"],
    [services(["service prefill", "prefill"], ["service decode", "decode"]), "prefill replica 3"],
    [services(["chat", "8B on H100"], ["reports", "8B on H100"]), "chat replica 3"],
  ];
  for (const [all, expected] of rows) assert.equal(replicaName(all, 0, 3), expected);
  assert.equal(partName(services(["chat", "8B on H100"], ["reports", "8B on H100"]), 1), "reports");
});

test("the steps of an axis are round numbers", () => {
  assert.deepEqual(ticks(0, 95, 5), [0, 20, 40, 60, 80]);
  assert.deepEqual(ticks(3, 3, 5), [3]);
});

test("stretches with fewer ready than wanted replicas are joined", () => {
  const zeros = [0, 0, 0, 0, 0];
  assert.deepEqual(shortStretches(zeros.map((_, i) => 60 * i), [2, 3, 3, 3, 4], [2, 2, 2, 3, 3], 60), [
    [60, 180],
    [240, 300],
  ]);
});

test("what is no result is named", () => {
  const rows: [string, RegExp][] = [
    ["", /not JSON/],
    ['{"format_version": 1, "poli', /cut off/],
    ["null", /holds no result/],
    ["[]", /holds no result/],
    ['{"format_version": 2}', /format version 2/],
    ['{"format_version": 1, "policies": []}', /policies is empty/],
    ['{"format_version": 1, "policies": [null]}', /policies\[0\] is no object/],
    ['{"format_version": 1, "policies": [{"policy": "a"}]}', /policies\[0\]\.simulated_ns is no number/],
  ];
  for (const [text, message] of rows) {
    assert.throws(() => readResult(readJson(text)), (error) => error instanceof Unreadable && message.test(error.message), text);
  }
});

test("a change is said in words", () => {
  assert.equal(changeWords({}), "nothing changed");
  assert.equal(changeWords({ load_factor: 2, price_factor: 0.5 }), "load × 2, prices × 0.5");
  assert.equal(changeWords({ spot_interruptions_percent_per_hour: 0 }), "no spot interruptions");
  assert.equal(
    changeWords({ spot_interruptions_percent_per_hour: 10, min_replicas: 3 }),
    "spot interruptions 10 % an hour, at least 3 replicas",
  );
});

test("the chosen policies stay when another result has another order", () => {
  const result = (...names: string[]) => ({ policies: names.map((policy) => ({ policy })) }) as unknown as Result;
  assert.equal(hashFor("#policy=1&against=2", result("a", "b", "c"), result("c", "a", "b")), "#policy=2&against=0");
  assert.equal(hashFor("#policy=1&from=60&to=120", result("a", "b"), result("b", "a")), "#from=60&to=120");
  assert.equal(hashFor("#policy=1", result("a", "b"), result("a")), "");
  assert.deepEqual(pairs(result("a", "b", "c"), result("c", "a")).map(([a, b]) => `${a.policy}${b.policy}`), ["aa", "cc"]);
});

test("the log has decisions about replicas, pods and nodes in the order of time", () => {
  const result = { command: "capstan sim a.yaml", services: [{ name: "chat", part: "" }, { name: "nightly", part: "job" }] } as unknown as Result;
  const policy = {
    policy: "gang",
    scale_steps: [
      { at_ns: 0, part: "", desired: 1, why: "start" },
      { at_ns: 60e9, part: "", desired: 3, why: "demand", arithmetic: "chat: ..." },
    ],
    actions: [
      { at_ns: 60e9, layer: "provision", service: 0, object: "gang 4", action: "launch 1 x p5", arithmetic: "Nodes for 8" },
      { at_ns: 60e9, layer: "place", service: 1, object: "gang 4", action: "gang 4 waits", arithmetic: "Room for 1" },
      { at_ns: 90e9, layer: "provision", service: null, object: "", action: "release all nodes of group 1" },
    ],
  } as unknown as Policy;
  const rows = logOf(result, policy);
  assert.deepEqual(
    rows.map((row) => [row.at, row.layer, row.part, row.change]),
    [
      [0, "scale", "", "starts at 1"],
      [60, "scale", "", "1 → 3"],
      [60, "place", "nightly", "pods"],
      [60, "provision", "chat", "nodes"],
      [90, "provision", "", "nodes"],
    ],
  );
  assert.equal(rows[1]?.command, "capstan explain chat --scenario a.yaml --policy gang --at 60s --verbose");
  assert.equal(rows[2]?.command, "capstan explain 'gang 4' --scenario a.yaml --policy gang --at 60s --verbose");
  assert.match(rows[4]?.command ?? "", /^capstan snapshot --scenario a.yaml --policy gang --at 90s > at.json && capstan decide provision at.json$/);
  const states = (range: [number, number], layer: string, words: string) => chosenRows(rows, range, layer, words).map((row) => rows.indexOf(row));
  assert.deepEqual(states([0, 90], "", ""), [0, 1, 2, 3, 4]);
  assert.deepEqual(states([30, 70], "provision", ""), [3]);
  assert.deepEqual(states([0, 90], "", "NIGHTLY"), [2]);
  assert.deepEqual([...inForce(rows, 70)], [rows[1]]);
});

test("starting replicas are counted at the ends of minutes, without jobs", () => {
  const policy = {
    fleet: {
      phases: ["pending", "starting", "ready"],
      gangs: {
        service: [0, 0, 1],
        steps: [[0, 0, 30_000, 1, 150_000, 2], [0, 0, 70_000, 1], [0, 1]],
        ended_ms: [null, 200_000, null],
      },
    },
  } as unknown as Policy;
  assert.deepEqual(startingByMinute(policy, new Set([0]), 5), [1, 2, 1, 0, 0]);
  assert.equal(startingByMinute({} as Policy, new Set([0]), 5), undefined);
});

test("a page from disk has no server", () => {
  assert.equal(readServer("null"), undefined);
  assert.equal(readServer(""), undefined);
  assert.equal(readServer('{"source": "s.yaml", "what_if": null, "live_speed": null}')?.what_if, null);
});

test("a recording is told from other data, and its actions are filtered", () => {
  assert.equal(readRecording(readJson('{"format_version": 1, "policies": []}')), undefined);
  assert.equal(readRecording(null), undefined);
  assert.throws(() => readRecording(readJson('{"recording": "r", "policies": [{"by_state": {"at_ns": [], "services": []}, "actions": []}]}')), /is empty/);
  assert.throws(() => readRecording(readJson('{"recording": "r", "policies": [{"by_state": {"at_ns": [1], "services": {}}, "actions": []}]}')), /states of the recording/);
  const actions: RecordedAction[] = [
    { state: 0, position: 0, at_ns: 5e9, layer: "scale", action: "scale chat to 3" },
    { state: 1, position: 0, at_ns: 15e9, layer: "place", action: "bind chat-0" },
  ];
  const states = (range: [number, number], layer: string, words: string) => chosenRows(seenLogOf(withoutRepeats(actions), 5e9), range, layer, words).map((row) => row.seen?.state);
  assert.deepEqual(states([0, 10], "", ""), [0, 1]);
  assert.deepEqual(states([1, 10], "", ""), [1]);
  assert.deepEqual(states([0, 10], "scale", ""), [0]);
  assert.deepEqual(states([0, 10], "", " BIND "), [1]);
});

test("a clock that goes back loses no decision", () => {
  const action = (state: number, at_ns: number) => ({ state, position: 0, at_ns, layer: "scale", action: "scale" });
  const text = JSON.stringify({ recording: "r", states: 4, policies: [{ by_state: { at_ns: [50e9, 60e9, 20e9, 70e9], services: [] }, actions: [action(1, 60e9), action(2, 20e9), action(3, 70e9)], actions_left_out: 0 }] });
  const recording = readRecording(readJson(text));
  assert.ok(recording);
  assert.deepEqual(recording.at_ns, [50e9, 60e9, 60e9, 70e9]);
  assert.deepEqual(recording.actions.map((one) => [one.state, one.at_ns / 1e9]), [[1, 60], [2, 60], [3, 70]]);
  assert.equal(recording.jumps, 1);
  const later = withStates(recording, [{ state: 4, at_ns: 10e9, services: {}, actions: [{ ...action(4, 10e9), layer: "scale" }] }]);
  assert.equal(later.at_ns.at(-1), 70e9);
  assert.equal(later.jumps, 2);
});

test("decisions of a live run are added once", () => {
  const start = readRecording(readJson('{"recording": "s.yaml", "states": 0, "policies": [{"by_state": {"at_ns": [], "services": []}, "actions": [], "actions_left_out": 0}]}'), true);
  assert.ok(start);
  const event = (state: number, service: string, ready: number): StateEvent => ({
    state,
    at_ns: state * 15e9,
    services: { [service]: { desired: 2, ready, starting: 0, waiting: null, silent: 0, age_ms: 5000 } },
    actions: state === 1 ? [{ state, position: 0, at_ns: state * 15e9, layer: "scale", action: "scale" }] : [],
  });
  const once = withStates(start, [event(0, "a", 1), event(1, "a", 2)]);
  const twice = withStates(once, [event(1, "a", 2), event(2, "b", 3)]);
  assert.equal(withStates(twice, [event(2, "b", 3)]), twice);
  assert.equal(twice.states, 3);
  assert.deepEqual(twice.at_ns, [0, 15e9, 30e9]);
  assert.deepEqual(twice.services.map((one) => [one.service, one.ready]), [["a", [1, 2, null]], ["b", [null, null, 3]]]);
  assert.equal(twice.actions.length, 1);
});

test("a few very large values do not press an axis of latencies flat", () => {
  const steady = Array.from({ length: 200 }, () => 500);
  const rows: [string, (number | null)[][], number, number | undefined][] = [
    ["steady values", [steady], 0, undefined],
    ["a spike of a few times the others", [[...steady, 2900]], 0, undefined],
    ["a spike", [[...steady, 90_000]], 0, 1250],
    ["the bound of the SLO stays visible", [[...steady, null, 90_000]], 1000, 2500],
    ["a tenth of the values is no spike", [[...steady, ...steady.slice(0, 22).map(() => 90_000)]], 0, undefined],
    ["no values", [[null]], 0, undefined],
  ];
  for (const [name, values, limit, expected] of rows) assert.equal(ceilingOf(values, limit), expected, name);
});

test("a quantile is the smallest value that its share does not exceed", () => {
  const rows: [number[], number, number][] = [
    [[71, 72, 135, 136], 0.5, 72],
    [[71, 72, 135, 136], 0.9, 136],
    [[1, 2, 3], 0.5, 2],
    [[4], 0.5, 4],
    [[], 0.5, 0],
  ];
  for (const [sorted, share, expected] of rows) assert.equal(quantile(sorted, share), expected, `${sorted} ${share}`);
});

test("a name on the map has the cells up to the next gang", () => {
  const cells = [3, 4, -1, -1, 5, 5, 5, 6].map((gang) => ({ state: "serving", gang }) as Cell);
  const rooms = [0, 1, 4, 7].map((at) => roomForName(cells, at, 4));
  assert.deepEqual(rooms, [1, 3, 3, 1]);
});
