// The views of nodes, replicas and the phases of requests in Chromium, with the result of a real simulation. It has
// gangs of four GPUs, whose pods one policy binds one by one, and two queues, one of which reaches its limit.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import type { Result } from "../src/data/result";
import { kCellStates, readFleet, waitingIn } from "../src/data/fleet";
import { resultOf } from "./report_data";
import { Chromium, eventually, kProgram, kRoot, settled } from "./chromium";

let chromium: Chromium;
let report = "";
let result: Result;

before(async () => {
  chromium = await Chromium.launch();
  report = chromium.simulate("history.html", [
    "compare", "scenarios/azure-hour.yaml", "--set", "service.replicas.initial=2", "--set", "cluster.existing.0.count=1", "--no-advice", "--policy", "queue · first-fit · karpenter", "--policy", "queue · gang · group",
    "--set", "queues=[{name: company, gpu_limit: 24}, {name: chat, parent: company, gpu_limit: 16}]", "--set", "service.queue=chat",
  ]);
  result = resultOf(report);
});

after(() => chromium?.close());

const open = (hash: string, use: (page: Page) => Promise<void>) => chromium.open(report, hash, use);
const figure = (page: Page, title: RegExp) => page.locator(".figure", { has: page.getByRole("heading", { name: title }) });

/// Returns the share of the pixels of the figure's canvas that are drawn.
async function drawn(page: Page, title: RegExp): Promise<number> {
  return figure(page, title).locator(".drawn canvas:not(.above)").evaluate((canvas) => {
    const { width, height } = canvas as HTMLCanvasElement;
    const pixels = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
    let filled = 0;
    for (let i = 3; i < pixels.length; i += 4) filled += (pixels[i] ?? 0) > 0 ? 1 : 0;
    return filled / (width * height);
  });
}

async function tableOf(page: Page, title: RegExp): Promise<string[][]> {
  const place = figure(page, title);
  await place.getByRole("button", { name: /^Table of/ }).click();
  await settled(page);
  return place.locator(".data-table tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
}

test("every view of the history is drawn", async () => {
  await open("", async (page) => {
    for (const title of [/^Where did the time of a request go/, /^Where do the minutes of a cold start go/, /^What is where/]) {
      assert.ok((await drawn(page, title)) > 0.02, String(title));
    }
  });
});

test("the mean request adds up to the percentiles' means", async () => {
  await open("", async (page) => {
    const [row = []] = await tableOf(page, /^Where did the time of a request go/);
    const [gateway = 0, queue = 0, prefill = 0, transfer = 0, decode = 0, all = 0] = row.slice(1).map(Number);
    const [policy] = result.policies;
    assert.ok(policy);
    assert.equal(row[0], policy.policy);
    assert.equal(transfer, 0);
    const ttft = policy.ttft.mean_us / 1e6;
    assert.ok(Math.abs(gateway + queue + prefill - ttft) < 0.1 * ttft, `${gateway} + ${queue} + ${prefill} against ${ttft}`);
    const e2e = policy.e2e.mean_us / 1e6;
    assert.ok(Math.abs(all - e2e) < 0.1 * e2e, `${all} against ${e2e}`);
    assert.ok(decode > prefill);
  });
});

test("each cold start is read with the keyboard, and Enter shows the time around it", async () => {
  await open("", async (page) => {
    const count = result.policies[0]?.cold_starts.count ?? 0;
    assert.ok(count > 2);
    assert.equal((await tableOf(page, /cold start go/)).length, count);
    const picture = figure(page, /cold start go/).locator(".drawn");
    assert.match((await picture.getAttribute("aria-label")) ?? "", /typical of \d+: .*weights .*half ≤ .*, 90 % ≤ /);
    await picture.focus();
    for (let i = 0; i < 2; ++i) await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => /\d\d:\d\d:\d\d replica \d+: .*weights/.test(document.body.innerText));
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=\d+&to=\d+/);
  });
});

test("the map counts each GPU that is paid for once, at any moment", async () => {
  const minutes = result.policies[0]?.by_minute;
  assert.ok(minutes);
  for (const minute of [5, 20, 40]) {
    await open(`#at=${minute * 60 + 59}`, async (page) => {
      const rows = await tableOf(page, /^What is where/);
      const gpus = rows.reduce((sum, row) => sum + Number(row[6]), 0);
      const states = rows.reduce((sum, row) => sum + kCellStates.reduce((own, _, i) => own + Number(row[7 + i]), 0), 0);
      assert.equal(states, gpus);
      const [before = 0, after = 0] = [minutes.gpus_paid?.[minute - 1], minutes.gpus_paid?.[minute]];
      assert.ok(gpus >= Math.min(before, after) && gpus <= Math.max(before, after), `${gpus} at minute ${minute}, ${before} and ${after} paid`);
    });
  }
});

test("the moment follows the slider and a click in the lines, and the address holds it", async () => {
  await open("#at=600", async (page) => {
    const slider = page.locator(".moment input");
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/at=601$/);
    await page.locator('.moment input[aria-valuetext="00:10:01"]').waitFor(); // it is drawn after the address has changed
    const over = figure(page, /^GPUs over time/).locator(".u-over");
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    assert.ok(box);
    await page.mouse.click(box.x + box.width / 2, box.y + 50);
    await page.waitForURL(/at=1[78]\d\d$/);
    await page.getByRole("img", { name: /^The fleet at 00:29|^The fleet at 00:30|^The fleet at 00:28/ }).waitFor();
  });
});

test("a click in a chart marks the decision that was in force", async () => {
  await open("", async (page) => {
    const over = figure(page, /^Capacity/).locator(".u-over");
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    assert.ok(box);
    await page.mouse.click(box.x + box.width / 2, box.y + 50);
    await page.waitForURL(/at=1[78]\d\d$/);
    await settled(page);
    const at = Number(new URL(page.url()).hash.match(/at=(\d+)/)?.[1]);
    const before = (result.policies[0]?.scale_steps ?? []).filter((step) => step.at_ns / 1e9 <= at).at(-1);
    assert.ok(before);
    const marked = page.locator(".log .entry[aria-current=true]");
    assert.equal(await marked.count(), 1);
    assert.equal(await marked.locator(".why").innerText(), before.why);
  });
});

test("a decision shows its arithmetic, and the command that prints it again", async () => {
  await open("", async (page) => {
    const words = (text: string) => text.replaceAll(/\s+/g, " ").trim();
    await page.getByLabel("Layer").selectOption("scale");
    await page.getByRole("list", { name: "Decisions" }).getByTitle("Show the arithmetic of this decision").nth(1).click();
    const decision = page.getByRole("region", { name: /^The decision at/ });
    const arithmetic = words(await decision.locator("pre").innerText());
    assert.match(arithmetic, /replicas requested/);
    const command = await decision.locator("code").innerText();
    assert.match(command, /^capstan explain service --scenario .* --policy 'queue · /);
    const printed = execFileSync("bash", ["-c", command.replace(/^capstan /, `'${kProgram}' `)], { cwd: kRoot, encoding: "utf8" });
    assert.ok(words(printed).includes(arithmetic), `${command}\n${printed}\n${arithmetic}`);
  });
});

test("decisions about pods and nodes name the places and purchases that were rejected", async () => {
  await open("", async (page) => {
    const words = (text: string) => text.replaceAll(/\s+/g, " ").trim();
    const decision = page.getByRole("region", { name: /^The decision at/ });
    const choose = async (layer: string, filter: string) => {
      await page.getByLabel("Layer").selectOption(layer);
      await page.getByLabel("Filter").fill(filter);
      await page.getByRole("list", { name: "Decisions" }).getByTitle("Show the arithmetic of this decision").first().click();
      return words(await decision.locator("pre").innerText());
    };
    const place = await choose("place", "waits:");
    assert.match(place, /^Room is needed for \d pods? \(\d \w+ per pod\) inside one \w+; .*: \d+ GPUs free, room for .*: rejected/);
    await page.waitForURL(/decision=\d+/); // the address leads to the decision
    const command = await decision.locator("code").innerText();
    assert.match(command, /^capstan explain 'gang \d+' --scenario /);
    const printed = execFileSync("bash", ["-c", command.replace(/^capstan /, `'${kProgram}' `)], { cwd: kRoot, encoding: "utf8" });
    assert.ok(words(printed).includes(place), `${command}\n${printed}\n${place}`);
    await choose("provision", "launch");
    await eventually(async () => assert.match(words(await decision.locator("pre").innerText()), /^Nodes for \d+ \w+ GPUs without room: .*: chosen/));
  });
});

test("starting replicas and the age of the signals are shown", async () => {
  await open("", async (page) => {
    assert.equal(await figure(page, /^Capacity/).getByText("starting replicas").count(), 1);
    const signals = figure(page, /^Can the inputs be trusted/);
    assert.match((await signals.locator(".plot").getAttribute("aria-label")) ?? "", /age of the oldest reading is at most [1-9]/);
  });
});

test("the moment of the map changes only the charts that show it", async () => {
  await open("#at=600", async (page) => {
    const wipe = (title: RegExp) => figure(page, title).locator("canvas").first().evaluate((canvas) => (canvas as HTMLCanvasElement).getContext("2d")?.reset());
    const titles = [/^Where did the time/, /^Latency by phase/, /^GPUs over time/];
    for (const title of titles) await wipe(title);
    await page.locator(".moment input").focus();
    await page.keyboard.press("ArrowRight");
    await settled(page);
    const isEmpty = (title: RegExp) =>
      figure(page, title).locator("canvas").first().evaluate((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        return (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data.every((value) => value === 0);
      });
    assert.deepEqual(await Promise.all(titles.map(isEmpty)), [true, true, false]);
  });
});

test("a table is sorted by a click on the head of a column", async () => {
  await open("", async (page) => {
    const rows = async () => (await figure(page, /cold start go/).locator(".data-table tbody tr td:last-child").allInnerTexts()).map(Number);
    await tableOf(page, /cold start go/);
    const before = await rows();
    const head = figure(page, /cold start go/).getByRole("columnheader", { name: "all s" });
    for (const [order, expected] of [
      ["ascending", [...before].sort((a, b) => a - b)],
      ["descending", [...before].sort((a, b) => b - a)],
      ["none", before],
    ] as const) {
      await head.getByRole("button").click();
      await settled(page);
      assert.equal(await head.getAttribute("aria-sort"), order);
      assert.deepEqual(await rows(), expected);
    }
  });
});

test("nodes of the map are read with the mouse and with the keyboard", async () => {
  await open("#at=1500", async (page) => {
    const map = figure(page, /^What is where/).locator(".drawn");
    await map.focus();
    await page.keyboard.press("ArrowRight");
    const words = figure(page, /^What is where/).locator("[aria-live]");
    await page.waitForFunction(() => /node \d+ in us-east-1a/.test(document.body.innerText));
    assert.match(await words.innerText(), /p4de\.24xlarge of pool a100, since .*; 8 GPUs: .*(serving|starting|free)/);
    const first = await words.innerText();
    await map.hover({ position: { x: 30, y: 50 } });
    assert.match(await words.innerText(), /^(node \d+|Point at)/);
    await map.focus();
    await page.keyboard.press("ArrowRight");
    assert.ok(first.length > 20);
  });
});

test("replicas that waited have a verdict, and the queue that holds them is at its limit", async () => {
  const position = result.policies.findIndex((policy) => policy.fleet?.reasons.some((reason) => reason.verdict === "held_by_queue"));
  assert.ok(position >= 0, "no replica was held by the queue");
  const fleet = result.policies[position]?.fleet;
  assert.ok(fleet);
  // In the middle of the longest wait for the queue, it holds so many GPUs that no gang of four fits below its limit.
  const waiting = waitingIn(readFleet(fleet, result.services ?? [], 4000), 0, 4000).find((row) => row.last.verdict === "held_by_queue");
  assert.ok(waiting);
  const middle = Math.round(waiting.from + waiting.waited / 2);
  await open(`#policy=${position}&at=${middle}`, async (page) => {
    const rows = await figure(page, /^Why did replicas wait/).locator("table.waiting tbody tr").allInnerTexts();
    assert.ok(rows.some((row) => /held by its queue: .*queue "(chat|company)" holds \d+ of its limit of \d+ GPUs/.test(row)), rows.join("\n"));
    const queues = await tableOf(page, /Queues/);
    assert.deepEqual(queues.map((row) => row[0]), ["company", "chat"]);
    const [, parent, held, waiting, limit] = queues[1] ?? [];
    assert.equal(parent, "company");
    assert.equal(limit, "16");
    assert.ok(Number(held) >= 13 && Number(held) <= 16, `${held} held`);
    assert.ok(Number(waiting) >= 4, `${waiting} wait`);
  });
});

test("the tables of the history can be saved", async () => {
  await open("", async (page) => {
    for (const [title, head] of [
      [/^What is where/, /^node,zone,rack,NVLink domain,pool,machine,GPUs,serving/],
      [/cold start go/, /^decided,replica,decision s,capacity s,boot s/],
      [/^Why did replicas wait/, /^replica,since,waited s,GPUs,verdict,reason,why,nodes/],
    ] as const) {
      const [file] = await Promise.all([page.waitForEvent("download"), figure(page, title).getByRole("button", { name: /as CSV/ }).click()]);
      assert.match(readFileSync(await file.path(), "utf8"), head);
    }
  });
});

test("in a narrow window the name of a policy wraps beside its mark", async () => {
  await open("", async (page) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(page);
    const box = async (part: string) => page.locator(".ranking tbody tr", { hasText: "first-fit" }).locator(`th ${part}`).boundingBox();
    const [mark, name] = [await box(".mark"), await box("button")];
    assert.ok(name !== null && name.height > 30, `the name has two lines: ${JSON.stringify(name)}`);
    assert.ok(mark !== null && mark.y >= name.y - 4, JSON.stringify([mark, name]));
  });
});

test("a result without a history has the other views", async () => {
  const file = chromium.withData(report, "bare.html", (json) => {
    const bare = JSON.parse(json);
    for (const policy of bare.policies) for (const key of ["fleet", "cold_start_phases", "latency_phases"]) delete policy[key];
    delete bare.services;
    delete bare.queues;
    delete bare.frontier;
    return JSON.stringify(bare).replaceAll("<", "\\u003c");
  });
  await chromium.open(file, "", async (page) => {
    assert.equal(await page.locator(".drawn").count(), 0);
    assert.equal(await page.locator(".plot canvas").count(), 5);
  });
});
