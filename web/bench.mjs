// Measures the page in headless Chromium with software rendering (scripts/bench web):
//   node bench.mjs PROGRAM [REPORT], from web/
// REPORT is a report of 10,000 replicas that was made earlier; without it, PROGRAM simulates one. Each line names a
// figure, its limit and how many times better the figure is.
//
// "wall" is what a reader waits for, and grows while other programs use the machine. "CPU" is the time that the main
// thread of the page computed: scripts, layout and painting. It is the wall time on an idle machine, within a few
// milliseconds. Times of raster threads, which run beside it, are in "process".
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

const { chromium } = createRequire(import.meta.url)("playwright-core");

const kRoot = resolve("..");
const kFrameMs = 200;
const kPaintMs = 500;
const kBundleBytes = 90 * 1024;
const kPoints = 100_000;
const kLoads = 9;
const kFrames = 60;
/// The longest wait for the browser, and for the frame after an input.
const kPatienceMs = 600_000;
const kInputMs = 60_000;
const kFirst = 'id="first">';
const kData = 'id="data">';
const kView = { width: 1280, height: 900 };

const program = resolve(kRoot, process.argv[2] ?? "build/release/capstan");
const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));

function line(name, value, unit, limit) {
  const shown = unit === "ms" ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
  const ratio = limit === undefined ? "" : `   limit ${limit.toLocaleString("en-US")} ${unit}: ${(limit / value).toFixed(2)} x`;
  console.log(`${name.padEnd(52)} ${shown.padStart(10)} ${unit}${ratio}`);
}

function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

function run(...words) {
  execFileSync(program, words, { cwd: kRoot, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

/// Returns the part of a report that its page shows at once.
function first_of(html) {
  const from = html.indexOf(kFirst) + kFirst.length;
  return html.slice(from, html.indexOf("</script>", from));
}

/// Makes a report of 10,000 replicas, and repeats its minutes until every line has 100,000 points.
function large_report(earlier) {
  const file = join(folder, "large.html");
  if (earlier === undefined) run("sim", "scenarios/bench/web-10000-replicas.yaml", "--report", file);
  const html = readFileSync(earlier ?? file, "utf8");
  const from = html.indexOf(kData) + kData.length;
  const to = html.indexOf("</script>", from);
  const data = JSON.parse(html.slice(from, to));
  const result = typeof data === "string" ? JSON.parse(gunzipSync(Buffer.from(data, "base64")).toString()) : data;
  const [policy] = result.policies;
  for (const table of [policy.by_minute, policy.latency_phases]) {
    for (const [key, values] of Object.entries(table)) table[key] = Array.from({ length: kPoints }, (_, i) => values[i % values.length]);
  }
  policy.simulated_ns = kPoints * 60e9;
  // The page of the sources, which may be newer than that of the program.
  let page = readFileSync("dist/page.html", "utf8");
  const fill = (mark, json) => {
    const place = page.indexOf(mark) + mark.length;
    page = page.slice(0, place) + json.replaceAll("<", "\\u003c") + page.slice(place + "null".length);
  };
  fill(kFirst, first_of(html));
  fill(kData, JSON.stringify(result));
  writeFileSync(file, page);
  const replicas = policy.fleet.gangs.service.length;
  console.log(`a run with ${replicas.toLocaleString("en-US")} replicas and ${kPoints.toLocaleString("en-US")} points in each line, ${statSync(file).size.toLocaleString("en-US")} bytes`);
  return file;
}

/// Returns the time from the start of the navigation until an event of the trace, and the time that the main thread of
/// the page computed until then, both in ms.
function time_of(events, name) {
  const seen = events.find((event) => event.name === name);
  const started = events.find((event) => event.name === "navigationStart" && event.args.data.documentLoaderURL.startsWith("file:"));
  if (seen === undefined || started === undefined) throw new Error(`the trace has no ${name}`);
  const tasks = events.filter((event) => event.name === "RunTask" && event.pid === started.pid && event.tid === started.tid);
  const before = tasks.filter((task) => task.ts >= started.ts && task.ts + task.dur <= seen.ts);
  return { wall: (seen.ts - started.ts) / 1000, cpu: before.reduce((sum, task) => sum + task.tdur, 0) / 1000 };
}

/// Marks the frame after that in which the ranking is on the page.
function mark_result() {
  new MutationObserver((_, observer) => {
    if (document.querySelector(".ranking") === null) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("result-painted")));
  }).observe(document, { childList: true, subtree: true });
}

const kPaints = [
  ["first paint", "firstContentfulPaint"],
  ["first paint of the result", "result-painted"],
];

async function bench_paint(browser, file) {
  const paints = kPaints.map(() => []);
  for (let i = 0; i < kLoads; ++i) {
    const page = await browser.newPage({ viewport: kView });
    await page.addInitScript(mark_result);
    await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "loading", "blink.user_timing"] });
    await page.goto(pathToFileURL(file).href, { timeout: kPatienceMs });
    await page.waitForFunction(() => performance.getEntriesByName("result-painted").length > 0, undefined, { timeout: kPatienceMs });
    const events = JSON.parse(String(await browser.stopTracing())).traceEvents;
    kPaints.forEach(([, event], k) => paints[k].push(time_of(events, event)));
    await page.close();
  }
  kPaints.forEach(([name], k) => {
    for (const [what, key] of [["wall", "wall"], ["CPU", "cpu"]]) {
      line(`${name}: ${what}, median`, quantile(paints[k].map((paint) => paint[key]), 0.5), "ms", kPaintMs);
      line(`${name}: ${what}, 99th percentile`, quantile(paints[k].map((paint) => paint[key]), 0.99), "ms", kPaintMs);
    }
  });
}

/// Repeats an interaction. A frame time lasts from the input until the second frame after it begins. The browser begins
/// this second frame only when it has drawn the first one.
class Meter {
  constructor(page, session) {
    this.page = page;
    this.session = session;
    this.all = { wall: [], cpu: [] };
  }

  async cpu() {
    const { metrics } = await this.session.send("Performance.getMetrics");
    const of = (name) => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? Number.NaN);
    return { thread: of("ThreadTime"), process: of("ProcessTime") };
  }

  /// @param kind  the event whose frame is measured
  async frame(kind, act) {
    await this.page.evaluate(
      ([name, patience]) => {
        window.seen = new Promise((done, fail) => {
          const late = setTimeout(() => fail(new Error(`no ${name} arrived`)), patience);
          const begin = () => {
            clearTimeout(late);
            const from = performance.now();
            requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));
          };
          addEventListener(name, begin, { capture: true, once: true });
        });
        window.seen.catch(() => undefined);
      },
      [kind, kInputMs],
    );
    const before = await this.cpu();
    await act();
    const wall = await this.page.evaluate(() => window.seen);
    return { wall, cpu: (await this.cpu()).thread - before.thread };
  }

  async series(name, kind, act, prepare = async () => undefined) {
    await prepare();
    const frames = [];
    const before = await this.cpu();
    for (let i = 0; i < kFrames; ++i) frames.push(await this.frame(kind, () => act(i)));
    const process = (await this.cpu()).process - before.process;
    const report = (what, key) => {
      const values = frames.map((frame) => frame[key]);
      this.all[key].push(...values);
      line(`  ${name}: ${what}, median`, quantile(values, 0.5), "ms", kFrameMs);
      line(`  ${name}: ${what}, 99th percentile`, quantile(values, 0.99), "ms", kFrameMs);
    };
    report("wall", "wall");
    report("CPU", "cpu");
    line(`  ${name}: process, mean`, process / kFrames, "ms");
  }

  summary() {
    for (const [what, key] of [["wall", "wall"], ["CPU", "cpu"]]) {
      line(`frame of interaction, all: ${what}, median`, quantile(this.all[key], 0.5), "ms", kFrameMs);
      line(`frame of interaction, all: ${what}, 99th percentile`, quantile(this.all[key], 0.99), "ms", kFrameMs);
    }
  }
}

/// Returns the box of an element after scrolling to it.
async function box_of(page, selector) {
  const element = page.locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  if (box === null) throw new Error(`${selector} is not on the page`);
  return box;
}

function interactions(page) {
  const plot = () => page.locator(".plot").first();
  let box;
  const find = (selector) => async () => {
    box = await box_of(page, selector);
  };
  const focus = (selector) => async () => {
    await box_of(page, selector);
    await page.locator(selector).first().focus();
  };
  return [
    ["read values with the mouse", "mousemove", (i) => page.mouse.move(box.x + ((i * 37) % box.width), box.y + 30 + (i % 50)), find(".plot .u-over")],
    ["read values with the keyboard", "keydown", () => page.keyboard.press("ArrowRight"), focus(".plot")],
    [
      "choose a stretch of time",
      "mouseup",
      async (i) => {
        await page.mouse.move(box.x + 100 + 5 * i, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + 700 + 5 * i, box.y + 60);
        await page.mouse.up();
      },
      find(".plot .u-over"),
    ],
    [
      "show the whole run again",
      "dblclick",
      async () => {
        await page.mouse.dblclick(box.x + 300, box.y + 60);
      },
      find(".plot .u-over"),
    ],
    ["choose the moment of the map", "input", () => page.keyboard.press("ArrowRight"), focus(".moment input")],
    [
      "point at nodes of the map",
      "mousemove",
      (i) => page.mouse.move(box.x + ((i * 53) % box.width), box.y + 20 + ((i * 7) % Math.max(1, box.height - 30))),
      find(".figure:has(.moment) .drawn"),
    ],
    ["read cold starts", "keydown", () => page.keyboard.press("ArrowDown"), focus(".drawn[aria-label*='old start']")],
    [
      "sort a table of 100,000 rows",
      "click",
      (i) => page.locator(".data-table th button").nth(i % 2).click(),
      async () => {
        await page.keyboard.press("Escape");
        await plot().focus();
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: /^Table of Demand/ }).click();
        await box_of(page, ".data-table th button");
      },
    ],
  ];
}

/// Returns true if every interaction was measured.
async function bench_frames(browser, file) {
  const page = await browser.newPage({ viewport: kView });
  page.setDefaultTimeout(kInputMs);
  await page.goto(pathToFileURL(file).href, { timeout: kPatienceMs });
  await page.waitForFunction(() => document.querySelector(".ranking") !== null && document.querySelector("[data-late]") === null);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const meter = new Meter(page, session);
  let complete = true;
  for (const [name, kind, act, prepare] of interactions(page)) {
    try {
      await meter.series(name, kind, act, prepare);
    } catch (error) {
      complete = false;
      console.log(`  ${name}: not measured: ${String(error).split("\n")[0]}`);
    }
  }
  meter.summary();
  await page.close();
  return complete;
}

async function bench_page(file) {
  const browser = await chromium.launch({
    executablePath: ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
    timeout: kPatienceMs,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    await bench_paint(browser, file);
    return await bench_frames(browser, file);
  } finally {
    await browser.close();
  }
}

try {
  console.log(`load of the machine before: ${loadavg()[0].toFixed(1)}, ${cpus().length} cores`);
  line("page with gzip", gzipSync(readFileSync("dist/page.html"), { level: 9 }).length, "bytes", kBundleBytes);
  if (!(await bench_page(large_report(process.argv[3])))) process.exitCode = 1;
  console.log(`load of the machine after: ${loadavg()[0].toFixed(1)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
