// Measures the page in headless Chromium with software rendering (scripts/bench web):
//   node bench.mjs PROGRAM, from web/
// Prints each figure with its limit and how many times better it is.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const { chromium } = createRequire(import.meta.url)("playwright-core");

const kRoot = resolve("..");
const kFrameMs = 200;
const kPaintMs = 500;
const kBundleBytes = 90 * 1024;
const kPoints = 100_000;
const kPatienceMs = 600_000;
const kData = 'id="data">';

const program = resolve(kRoot, process.argv[2] ?? "build/release/capstan");
const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));

function line(name, value, unit, limit) {
  const shown = unit === "ms" ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
  const ratio = limit === undefined ? "" : `   limit ${limit.toLocaleString("en-US")} ${unit}: ${(limit / value).toFixed(2)} x`;
  console.log(`${name.padEnd(58)} ${shown.padStart(10)} ${unit}${ratio}`);
}

function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

function run(...words) {
  execFileSync(program, words, { cwd: kRoot, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

/// Makes a report of 10,000 replicas, and repeats its minutes until every line has 100,000 points.
function large_report() {
  const file = join(folder, "large.html");
  run("sim", "scenarios/bench/web-10000-replicas.yaml", "--report", file);
  const html = readFileSync(file, "utf8");
  const from = html.indexOf(kData) + kData.length;
  const to = html.indexOf("</script>", from);
  const result = JSON.parse(html.slice(from, to));
  const [policy] = result.policies;
  for (const table of [policy.by_minute, policy.latency_phases]) {
    for (const [key, values] of Object.entries(table)) table[key] = Array.from({ length: kPoints }, (_, i) => values[i % values.length]);
  }
  policy.simulated_ns = kPoints * 60e9;
  // The page of the sources, which may be newer than that of the program.
  const page = readFileSync("dist/page.html", "utf8");
  const place = page.indexOf(kData) + kData.length;
  writeFileSync(file, page.slice(0, place) + JSON.stringify(result).replaceAll("<", "\\u003c") + page.slice(place + "null".length));
  const replicas = policy.fleet.gangs.service.length;
  console.log(`a run with ${replicas.toLocaleString("en-US")} replicas and ${kPoints.toLocaleString("en-US")} points in each line, ${statSync(file).size.toLocaleString("en-US")} bytes`);
  return file;
}

/// Returns the time from an input until the frame after the next has begun: the browser waits there for what it draws.
async function frames(page, count, act) {
  const times = [];
  for (let i = 0; i < count; ++i) {
    await page.evaluate(() => {
      window.seen = new Promise((done) => {
        const begin = (event) => {
          for (const kind of ["mousemove", "keydown", "input", "mouseup", "scroll"]) removeEventListener(kind, begin, true);
          const from = performance.now();
          requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));
          void event;
        };
        for (const kind of ["mousemove", "keydown", "input", "mouseup", "scroll"]) addEventListener(kind, begin, true);
      });
    });
    await act(i);
    times.push(await page.evaluate(() => window.seen));
  }
  return times;
}

async function bench_page(file) {
  const browser = await chromium.launch({
    executablePath: ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
    timeout: kPatienceMs,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const paints = [];
    for (let i = 0; i < 5; ++i) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      await page.goto(pathToFileURL(file).href, { timeout: kPatienceMs });
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0, undefined, { timeout: kPatienceMs });
      paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
      await page.close();
    }
    line("first paint", quantile(paints, 0.5), "ms", kPaintMs);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(kPatienceMs);
    await page.goto(pathToFileURL(file).href, { timeout: kPatienceMs });
    const all = [];
    const report = (name, times) => {
      all.push(...times);
      line(`  ${name}: median`, quantile(times, 0.5), "ms", kFrameMs);
      line(`  ${name}: 99th percentile`, quantile(times, 0.99), "ms", kFrameMs);
    };
    const over = async (selector) => {
      const element = page.locator(selector).first();
      await element.scrollIntoViewIfNeeded();
      return element.boundingBox();
    };
    const chart = await over(".plot .u-over");
    report("read values with the mouse", await frames(page, 60, (i) => page.mouse.move(chart.x + ((i * 37) % chart.width), chart.y + 30 + (i % 50))));
    await page.locator(".plot").first().focus();
    report("read values with the keyboard", await frames(page, 60, () => page.keyboard.press("ArrowRight")));
    report(
      "choose a stretch of time",
      await frames(page, 30, async (i) => {
        if (i % 2 === 1) return page.keyboard.press("Escape");
        await page.locator(".plot").first().focus();
        const box = await over(".plot .u-over");
        await page.evaluate(() => undefined);
        await page.mouse.move(box.x + 100 + 5 * i, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + 400 + 5 * i, box.y + 60);
        await page.mouse.up();
      }),
    );
    const slider = page.locator(".moment input");
    await slider.scrollIntoViewIfNeeded();
    await slider.focus();
    report("choose the moment of the map", await frames(page, 60, () => page.keyboard.press("ArrowRight")));
    const map = await over(".figure:has(.moment) .drawn");
    report("point at nodes of the map", await frames(page, 60, (i) => page.mouse.move(map.x + ((i * 53) % map.width), map.y + 20 + ((i * 7) % Math.max(1, map.height - 30)))));
    const starts = page.locator(".drawn").nth(1);
    await starts.scrollIntoViewIfNeeded();
    await starts.focus();
    report("read cold starts", await frames(page, 60, () => page.keyboard.press("ArrowDown")));
    line("frame of interaction, all: median", quantile(all, 0.5), "ms", kFrameMs);
    line("frame of interaction, all: 99th percentile", quantile(all, 0.99), "ms", kFrameMs);
  } finally {
    await browser.close();
  }
}

try {
  line("page with gzip", gzipSync(readFileSync("dist/page.html"), { level: 9 }).length, "bytes", kBundleBytes);
  await bench_page(large_report());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
