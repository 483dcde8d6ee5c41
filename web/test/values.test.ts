import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../src/chart/download";
import { readResult, Unreadable } from "../src/data/result";
import { duration, moment, percent, usd } from "../src/format";
import { choiceHash, parseChoice } from "../src/state";
import { frontierOf, ticks } from "../src/view/frontier";
import { shortStretches } from "../src/view/timeline";

test("numbers are written as people read them", () => {
  const rows: [string, string][] = [
    [percent(991_428), "99.1 %"],
    [percent(999_999), "99.9 %"],
    [percent(1_000_000), "100.0 %"],
    [percent(1), "0.1 %"],
    [percent(0), "0.0 %"],
    [usd(78.271), "$78.27"],
    [usd(-3), "−$3.00"],
    [usd(12_345.6), "$12,346"],
    [duration(0), "–"],
    [duration(850), "0.8 ms"],
    [duration(37_000), "37 ms"],
    [duration(1_241_088), "1.24 s"],
    [duration(25_231_360), "25.2 s"],
    [duration(3_514e6), "58 min 34 s"],
    [duration(90_000e6), "25 h 0 min"],
    [moment(3_665), "01:01:05"],
    [moment(90_000), "day 2 01:00:00"],
  ];
  for (const [found, expected] of rows) assert.equal(found, expected);
});

test("a choice survives the address, and a foreign address gives the defaults", () => {
  const choice = { shown: 2, against: 0, from: 60, to: 120, theme: "dark" } as const;
  assert.deepEqual(parseChoice(choiceHash(choice), 3), choice);
  const defaults = { shown: 0, against: -1, theme: "auto" };
  for (const hash of ["", "#", "#policy=9", "#policy=-1&against=x", "#from=9&to=3", "#theme=pink", "#against=0", "#policy=1e400"]) {
    assert.deepEqual(parseChoice(hash, 3), defaults, hash);
  }
  assert.equal(choiceHash(parseChoice("", 3)), "");
});

test("a table becomes CSV that no spreadsheet runs", () => {
  const table = { head: ["policy", "why"], rows: [["=1+1", 'says "no", twice'], [-3, "line\nbreak"]] };
  assert.equal(csv(table), 'policy,why\r\n\'=1+1,"says ""no"", twice"\r\n-3,"line\nbreak"\r\n');
});

test("the frontier holds what meets more than everything cheaper", () => {
  const point = (name: string, cost: number, met: number) => ({ name, cost, met, position: 0, holds: false });
  const points = [point("dear", 9, 50), point("cheap", 1, 40), point("worse", 2, 40), point("best", 3, 90)];
  assert.deepEqual(frontierOf(points).map((p) => p.name), ["cheap", "best"]);
  assert.deepEqual(ticks(0, 95, 5), [0, 20, 40, 60, 80]);
  assert.deepEqual(ticks(3, 3, 5), [3]);
});

test("stretches with fewer ready than wanted replicas are joined", () => {
  const zeros = [0, 0, 0, 0, 0];
  const minutes = { arrived: zeros, met: zeros, waiting: zeros, gpus_paid: zeros, ttft_p99_us: zeros };
  assert.deepEqual(shortStretches({ ...minutes, desired: [2, 3, 3, 3, 4], ready: [2, 2, 2, 3, 3] }), [
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
    assert.throws(() => readResult(text), (error) => error instanceof Unreadable && message.test(error.message), text);
  }
});
