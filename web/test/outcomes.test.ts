// The outcomes of actions in a recording, and the data of a report that are packed.
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { Unreadable } from "../src/data/result";
import { unpacked } from "../src/data/unpack";
import { outcomeWord, isCarriedOut, type RecordedAction, readRecording, type StateEvent, withoutRepeats, withStates } from "../src/data/recording";

const action = (state: number, further: Partial<RecordedAction> = {}): RecordedAction => ({ state, position: 0, at_ns: state * 15e9, layer: "scale", action: `scale chat to 3 replicas: reason ${state}`, ...further });

test("an outcome belongs to an action of an earlier state", () => {
  const start = readRecording({ recording: "r", states: 0, policies: [{ by_state: { at_ns: [], services: [] }, actions: [], actions_left_out: 0 }] }, true);
  assert.ok(start !== undefined);
  const event = (state: number, further: Partial<StateEvent> = {}): StateEvent => ({ state, at_ns: state * 15e9, services: {}, actions: [action(state)], ...further });
  const first = withStates(start, [event(0)]);
  assert.equal(first.actions[0]?.result, undefined);
  const later = withStates(first, [event(1, { outcomes: [{ state: 0, position: 0, result: "shadow", result_why: "the mode is Shadow" }] })]);
  assert.deepEqual(later.actions.map((one) => [outcomeWord(one), isCarriedOut(one)]), [["Shadow", false], ["", true]]);
  assert.equal(later.actions[0]?.result_why, "the mode is Shadow");
});

test("decisions that ended differently are not shown as one", () => {
  const rows = withoutRepeats([action(0, { result: "refused" }), action(1, { result: "refused" }), action(2, { result: "applied" }), action(3)]);
  assert.deepEqual(rows.map((row) => [row.result, row.times]), [["refused", 2], ["applied", 2]]);
  // The controller sends an action once, and decides it again until it is done.
  const [sent] = withoutRepeats([action(0), action(1, { result: "refused", result_why: "no" })]);
  assert.deepEqual([sent?.result, sent?.result_why, sent?.times], ["refused", "no", 2]);
});

test("packed data are unpacked, and damaged ones give a notice", async () => {
  const data = { title: "Ä".repeat(1000) };
  const text = gzipSync(JSON.stringify(data)).toString("base64");
  assert.deepEqual(await unpacked(text), data);
  assert.equal(await unpacked(data), data, "plain data stay");
  await assert.rejects(unpacked(text.slice(0, 40)), Unreadable);
  await assert.rejects(unpacked("not base64!"), Unreadable);
  const { DecompressionStream } = globalThis;
  try {
    Object.assign(globalThis, { DecompressionStream: undefined });
    await assert.rejects(unpacked(text), /cannot unpack the data of this page/);
  } finally {
    Object.assign(globalThis, { DecompressionStream });
  }
});
