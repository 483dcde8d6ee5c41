// The page in Chromium, with the result of a real simulation.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibleNames, Chromium, difference, eventually, kDifferenceMost, kRoot, settled } from "./chromium";
import { duration } from "../src/format";
import { resultOf } from "./report_data";

const kPicture = join(kRoot, "docs/guides/report.png");

let chromium: Chromium;
let report = "";

before(async () => {
  chromium = await Chromium.launch();
  report = chromium.simulate("report.html", ["compare", "scenarios/azure-hour.yaml", "--bound"]);
});

after(() => chromium?.close());

const open = (file: string, hash: string, use: (page: Page) => Promise<void>) => chromium.open(file, hash, use);
const withData = (name: string, change: (json: string) => string) => chromium.withData(report, name, change);

test("every view shows the run", async () => {
  await open(report, "", async (page) => {
    assert.match(await page.title(), /^Azure LLM 2023, conversation · Capstan$/);
    assert.match(await page.locator(".verdict").innerText(), /is the cheapest policy that holds the SLO/);
    assert.equal(await page.locator(".ranking tbody tr:not(.remarks)").count(), 11, "eight policies, the constant fleet and two of the bound");
    assert.equal(await page.locator(".ranking tr:has(.mark:text('▶'))").count(), 1);
    assert.equal(await page.locator(".plot canvas").count(), 7);
    assert.equal(await page.locator(".frontier .point").count(), 8);
    assert.equal(await page.locator(".frontier .bound").count(), 1);
    assert.ok((await page.locator(".log .entry").count()) > 3);
    for (const title of ["Which policy?", "What is paid for?", "How fast were the answers?"]) {
      assert.ok(await page.getByRole("heading", { name: title }).isVisible(), title);
    }
    const drawn = await page.locator(".plot canvas").first().evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const pixels = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
      return pixels.some((value: number) => value !== 0);
    });
    assert.ok(drawn, "the first chart is empty");
  });
});

test("the ranking is shown before the browser has read what happened over time", async () => {
  // A report that ends before its data, as if the rest were still on its way.
  const cut = join(mkdtempSync(join(tmpdir(), "capstan-page-")), "cut.html");
  const html = readFileSync(report, "utf8");
  writeFileSync(cut, html.slice(0, html.indexOf('<script type="application/json" id="data">')));
  await chromium.openUnsettled(cut, async (page) => {
    const early = await page.evaluate(() => (window as unknown as { early: number }).early);
    assert.equal(early, 11, "rows of the ranking when the script had run");
  });
  await open(report, "", async (page) => assert.equal(await page.getByText("Reading what happened").count(), 0));
});

test("everything that the text says stands on the page", async () => {
  const result = resultOf(report);
  const broken = result.policies.filter((policy) => policy.remarks?.some((remark) => remark.startsWith("broken invariants: ")));
  assert.ok(broken.length > 0 && (result.why ?? []).length > 0, "the run has something to say");
  await open(report, "", async (page) => {
    const words = await page.locator("main").innerText();
    const achievable = result.clairvoyant?.achievable?.result;
    const rows = [...result.policies, ...(achievable === undefined ? [] : [achievable])];
    assert.ok((achievable?.remarks ?? []).length > 0, "the achievable row has something to say");
    for (const remark of rows.flatMap((policy) => [...(policy.remarks ?? []), ...policy.warnings])) assert.ok(words.includes(remark), remark);
    const [first] = result.policies;
    assert.ok(result.policies.some((policy) => duration(policy.simulated_ns / 1000) !== duration((first?.simulated_ns ?? 0) / 1000)), "policies lasted differently long");
    assert.ok((await page.locator("header p").first().innerText()).startsWith(`${duration((first?.simulated_ns ?? 0) / 1000)} · `), "the text has the duration of the first policy");
    for (const sentence of [...(result.why ?? []), ...(result.notes ?? [])]) assert.ok(words.includes(sentence), sentence);
    for (const text of [/slowest median cold start \d/, /achievable with all requests known/, /lower bound for 99\.0 % met/, /achievable: the plan behind the lower bound/]) assert.match(words, text);
    const outcomes = await page.getByRole("table", { name: "Outcomes" }).innerText();
    const [policy] = result.policies;
    assert.match(outcomes, new RegExp(`${(policy?.requests.arrived ?? 0).toLocaleString("en-US")} arrived .* retries`));
    assert.match(outcomes, /\d+ launched · \d+ refused · \d+ released/);
  });
});

test("a policy is chosen with the mouse and with the keyboard, and the address follows", async () => {
  await open(report, "", async (page) => {
    const rows = page.locator(".ranking tbody tr", { has: page.locator("button") }); // other rows continue the one above
    await rows.nth(3).click();
    await page.waitForURL(/#policy=3$/);
    await page.getByLabel("compare with").selectOption("0");
    await page.waitForURL(/policy=3&against=0$/);
    await settled(page);
    assert.equal(await page.getByText("ready, compared policy").count(), 1);
    await rows.nth(1).locator("button").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/policy=1&against=0$/);
    await page.locator(".point").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.hash.includes("policy="));
  });
});

test("a stretch that is dragged in one chart is shown by all, and Escape shows the whole run", async () => {
  await open(report, "", async (page) => {
    const plot = page.locator(".plot .u-over").first();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=8\d\d&to=17\d\d$/);
    await settled(page);
    const buttons = await page.locator(".log .entry button").allInnerTexts();
    const moments = buttons.filter((text) => /^\d\d:/.test(text)); // the other buttons show a change
    assert.ok(moments.length > 0);
    for (const at of moments) assert.ok(at >= "00:14:00" && at <= "00:30:00", at);
    await page.locator(".plot").nth(1).focus();
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => url.hash === "");
  });
});

test("values are read with the arrow keys, and every chart has a name in words", async () => {
  await open(report, "", async (page) => {
    const plot = page.locator(".plot").first();
    await plot.focus();
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelector(".legend .when")?.textContent === "00:03:00");
    assert.match(await page.locator(".figure:has(.plot) .legend").first().innerText(), /arrived\s+353/);
    const names = await page.locator("[role=img].plot").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? ""));
    assert.equal(names.length, 7);
    for (const name of names) assert.match(name, /is at most .*, at \d\d:\d\d:\d\d/);
    const nameless = await page.locator("button, select, input").evaluateAll(
      (all) => all.filter((one) => !(one.textContent || one.getAttribute("aria-label") || one.closest("label")?.textContent)).length,
    );
    assert.equal(nameless, 0);
  });
});

test("a table stands behind each picture, and both can be saved", async () => {
  await open(report, "", async (page) => {
    const figure = page.locator(".figure:has(.plot)").first();
    await figure.getByRole("button", { name: /^Table/ }).click();
    await settled(page);
    assert.equal(await figure.locator(".data-table tbody tr").count(), 59);
    const saved = async (button: string, of = figure) => {
      const [file] = await Promise.all([page.waitForEvent("download"), of.getByRole("button", { name: button }).click()]);
      return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
    };
    const table = await saved("as CSV");
    assert.equal(table.name, "demand-requests-per-minute.csv");
    assert.match(table.bytes.toString(), /^time,arrived,missed the SLO\r\n00:00:00,191,0\r\n/);
    const picture = await saved("as PNG");
    assert.equal(picture.bytes.subarray(1, 4).toString(), "PNG");
    const frontier = await saved("as PNG", page.locator(".figure:has(.frontier)"));
    assert.equal(frontier.bytes.subarray(1, 4).toString(), "PNG");
    assert.ok(frontier.bytes.length > 5000, "the picture has the points and the texts");
  });
});

test("numbers of cost and latency lead to the moment and to the decision that was in force", async () => {
  await open(report, "", async (page) => {
    const figure = (title: string) => page.locator(".figure", { has: page.getByRole("heading", { name: title }) });
    const follow = async (title: string, row: string) => {
      await figure(title).locator("tr", { has: page.getByRole("rowheader", { name: row }) }).locator(".figure-link").last().click();
      await page.waitForURL(/from=\d+&to=\d+&at=\d+&decision=\d+/);
      await settled(page);
      const [, from, to, at] = (/from=(\d+)&to=(\d+)&at=(\d+)/.exec(page.url()) ?? []).map(Number);
      assert.ok(from !== undefined && to !== undefined && at !== undefined && from <= at && at <= to, page.url());
      const log = page.locator("#decisions");
      await eventually(async () => assert.equal(await log.locator('[aria-pressed="true"]').count(), 1, "the decision is open"));
      await eventually(async () => {
        const box = await log.boundingBox();
        assert.ok(box && box.y >= 0 && box.y < 900, "the list of decisions is in view");
      });
      const words = await log.locator(".decision b").innerText();
      const [, hours, minutes, seconds] = (/^(\d\d):(\d\d):(\d\d)$/.exec(words) ?? []).map(Number);
      assert.ok(3600 * (hours ?? 0) + 60 * (minutes ?? 0) + (seconds ?? 0) <= at, `${words} is after ${at} s`);
      return at;
    };
    const data = resultOf(report);
    const ttft = data.policies[0]?.by_minute?.ttft_p99_us ?? [];
    assert.equal(await follow("How fast were the answers?", "time to first token"), 60 * ttft.indexOf(Math.max(...ttft)));
    const starting = await follow("What is paid for?", "starting");
    const busy = await follow("What is paid for?", "busy");
    assert.notEqual(starting, busy);
    await follow("What is paid for?", "a100: p4de.24xlarge");
    assert.match(await page.locator("#decisions .decision p").first().innerText(), /launch/);
    const shares = await figure("What is paid for?").locator("tr.sum .figure-link").count();
    assert.equal(shares, 0, "a sum has no single moment");
    const signals = figure("Can the inputs be trusted? Signals");
    await signals.locator(".figure-link").first().click();
    await page.waitForURL((url) => !url.hash.includes(`at=${busy}&`));
    assert.match(await signals.locator(".note").last().innerText(), /the oldest reading was \S+ m?s old/);
    await settled(page);
    assert.equal(await page.locator('#decisions [aria-pressed="true"]').count(), 1, "the decision is open");
    await page.locator(".ranking tr.shown .figure-link").last().click();
    const missed = data.policies[0]?.by_minute?.arrived.map((arrived, i) => arrived - (data.policies[0]?.by_minute?.met[i] ?? 0)) ?? [];
    await page.waitForURL(new RegExp(`&at=${60 * missed.indexOf(Math.max(...missed))}&`));
  });
});

test("markup in a name is text", async () => {
  const name = "</script><img src=x onerror=alert(1)><b>bold</b>";
  const file = withData("markup.html", (json) => {
    const result = JSON.parse(json);
    result.title = name;
    const [policy] = result.policies;
    policy.policy = name;
    policy.fleet.domains = policy.fleet.domains.map(() => name);
    policy.fleet.machines[0].instance_type = name;
    for (const reason of policy.fleet.reasons) reason.sentence = name;
    result.services[0].name = name;
    result.queues = [{ name, parent: null, limit_gpus_milli: null }];
    return JSON.stringify(result).replaceAll("<", "\\u003c");
  });
  await open(file, "", async (page) => {
    assert.equal(await page.locator("h1").innerText(), name);
    await page.getByRole("img", { name: /^The fleet at/ }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText(`in ${name}`, { exact: false }).waitFor();
    assert.equal(await page.locator("main img, main b:text('bold')").count(), 0);
  });
});

test("data that is cut off, foreign or of another version gives a notice", async () => {
  const rows: [string, (json: string) => string, RegExp][] = [
    ["cut.html", (json) => json.slice(0, json.length / 2), /cut off/],
    ["foreign.html", () => '{"kind": "List"}', /format version undefined/],
    ["newer.html", (json) => json.replace('"format_version":1', '"format_version":2'), /format version 2/],
  ];
  for (const [name, change, message] of rows) {
    await open(withData(name, change), "", async (page) => {
      assert.match(await page.getByRole("alert").innerText(), message);
    });
  }
});

test("the page looks like the picture in the guide", async () => {
  await open(report, "#theme=light", async (page) => {
    await page.setViewportSize({ width: 1280, height: 1600 });
    await settled(page);
    const picture = await page.screenshot();
    if (process.env.CAPSTAN_WRITE_GOLDEN === "1") writeFileSync(kPicture, picture);
    const most = await difference(page, picture, readFileSync(kPicture));
    assert.ok(most < kDifferenceMost, `a region differs by ${most.toFixed(2)} of 255; CAPSTAN_WRITE_GOLDEN=1 writes a new picture`);

    // A page that lacks one chart, one bar or one row does not look like the picture.
    for (const part of [".plot canvas", ".ranking .state-bar", ".ranking tbody tr"]) {
      const hide = (value: string) => page.locator(part).first().evaluate((element, to) => void ((element as HTMLElement).style.visibility = to), value);
      await hide("hidden");
      const without = await difference(page, await page.screenshot(), picture);
      assert.ok(without > kDifferenceMost, `without ${part} a region differs by ${without.toFixed(2)} only`);
      await hide("");
    }
  });
});

test("figures, tables and controls have names in the accessibility tree", async () => {
  await open(report, "", async (page) => {
    const names = await accessibleNames(page);
    const figures = names.get("figure") ?? [];
    assert.ok(figures.length >= 14, figures.join("; "));
    assert.ok(figures.includes("What is where? The fleet at a moment") && figures.includes("Which policy?"));
    assert.ok((names.get("table") ?? []).includes("Policies"));
    await page.getByRole("button", { name: "Table of Demand" }).click();
    await settled(page);
    assert.ok(((await accessibleNames(page)).get("table") ?? []).includes("Demand: requests per minute"));
  });
});

test("the time per output token is shown by minute, if the result has it", async () => {
  const file = withData("tpot.html", (json) => {
    const result = JSON.parse(json);
    const minutes = result.policies[0].by_minute;
    minutes.tpot_p99_us = minutes.arrived.map((_: number, i: number) => (i === 7 ? 90_000 : 20_000));
    return JSON.stringify(result).replaceAll("<", "\\u003c");
  });
  await open(file, "", async (page) => {
    const name = (await page.getByRole("img", { name: /^Latency: time per output token/ }).getAttribute("aria-label")) ?? "";
    assert.match(name, /TPOT p99 is at most 90\.0 ms, at 00:07:00/);
  });
});

test("a run without cold starts says so and has no empty picture", async () => {
  const file = withData("warm.html", (json) => {
    const result = JSON.parse(json);
    for (const key of Object.keys(result.policies[0].cold_start_phases)) result.policies[0].cold_start_phases[key] = [];
    return JSON.stringify(result).replaceAll("<", "\\u003c");
  });
  await open(file, "", async (page) => {
    const starts = page.locator(".figure", { has: page.getByRole("heading", { name: /cold start go/ }) });
    assert.equal(await starts.locator("p.note").innerText(), "No replica started.");
    assert.equal(await starts.locator("canvas").count(), 0);
  });
});

test("queues have columns for shares, if a queue has any", async () => {
  const file = withData("shares.html", (json) => {
    const result = JSON.parse(json);
    result.queues = [{ name: "all", parent: null, limit_gpus_milli: null, quota_gpus_milli: 4000, weight_milli: 1500 }];
    return JSON.stringify(result).replaceAll("<", "\\u003c");
  });
  await open(file, "", async (page) => {
    const table = page.getByRole("table", { name: "Queues" });
    assert.deepEqual((await table.locator("thead th").allInnerTexts()).slice(1, 6), ["held GPUs", "waiting GPUs", "limit, GPUs", "quota, GPUs", "weight"]);
    assert.deepEqual((await table.locator("tbody td").allInnerTexts()).slice(2, 5), ["none", "4", "1.5"]);
  });
});

test("figures of the whole run say so where the charts show a part of it", async () => {
  const words = /the whole run, not of the stretch/;
  await open(report, "", async (page) => assert.equal(await page.getByText(words).count(), 0));
  await open(report, "#from=600&to=900", async (page) => assert.equal(await page.getByText(words).count(), 3));
});

test("each choice of colours has contrast enough to read", async () => {
  for (const theme of ["light", "dark", "contrast"]) {
    await open(report, `#theme=${theme}`, async (page) => {
      const ratios = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement);
        const light = (name: string) => {
          const hex = style.getPropertyValue(name).trim().slice(1);
          const [r, g, b] = [0, 2, 4]
            .map((i) => Number.parseInt(hex.slice(i, i + 2), 16) / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)) as [number, number, number];
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ratio = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        return ["--text", "--muted", "--accent", "--good", "--bad"].flatMap((name) =>
          ["--page", "--panel"].map((ground) => [`${name} on ${ground}`, ratio(light(name), light(ground))] as const),
        );
      });
      for (const [pair, value] of ratios) assert.ok(value >= 4.5, `${theme}: ${pair} has contrast ${value.toFixed(2)}`);
    });
  }
});

test("without a choice the page follows the colours of the system", async () => {
  await open(report, "", async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    assert.notEqual(await ground(), light);
  });
});
