// The page of a scenario with two services, in Chromium, with the result of a real simulation.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import type { Result } from "../src/data/result";
import { accessibleNames, Chromium, settled } from "./chromium";
import { resultOf } from "./report_data";

let chromium: Chromium;
let report = "";
let result: Result;

before(async () => {
  chromium = await Chromium.launch();
  report = chromium.simulate("services.html", ["sim", "scenarios/noisy-neighbour.yaml", "--policy", "capstan", "--set", "cluster.provider.spot_interruptions_per_hour=0%"]);
  result = resultOf(report);
});

after(() => chromium?.close());

const figure = (page: Page, title: RegExp) => page.locator(".figure", { has: page.getByRole("heading", { name: title }) });

test("each service has its SLO and its figures, and its replicas have its name", async () => {
  await chromium.open(report, "", async (page) => {
    const rows = await figure(page, /^Does each service/).locator("tbody tr").allInnerTexts();
    assert.equal(rows.length, 2);
    assert.match(rows[0] ?? "", /^chat\s+99\.0 %: TTFT ≤ 1 s, TPOT ≤ 50 ms\s/);
    assert.match(rows[1] ?? "", /^reports\s+95\.0 %: TTFT ≤ 10 min\s/);
    assert.match(await figure(page, /^Why did replicas wait/).locator("tbody th").first().innerText(), /^reports replica \d+$/);
    assert.match((await figure(page, /cold start go/).locator(".drawn").getAttribute("aria-label")) ?? "", /typical of \d+ chat: .*typical of \d+ reports: /);
    assert.doesNotMatch(await page.locator("header").innerText(), /SLO/);
  });
});

test("jobs and teams have their rows", async () => {
  const shared = chromium.simulate("jobs.html", ["sim", "scenarios/training-beside-inference.yaml", "--set", "services.chat.team=serving", "--set", "jobs.training.team=research"]);
  await chromium.open(shared, "", async (page) => {
    const jobs = await figure(page, /^Does each class of jobs/).locator("tbody tr").allInnerTexts();
    assert.match(jobs[0] ?? "", /^training\s+90\.0 % end within 12 h\s+23\s/);
    assert.match(jobs[1] ?? "", /^nightly\s+100\.0 % end within 4 h\s+24\s/);
    const teams = await figure(page, /^What does each team/).locator("tbody th").allInnerTexts();
    assert.deepEqual(teams, ["serving", "research", "no team", "no pod", "all"]);
    const costs = (await figure(page, /^What does each team/).locator("tbody tr td:last-child").allInnerTexts()).map((text) => Number(text.replace(/[$,]/g, "")));
    const sum = costs.slice(0, -1).reduce((all, cost) => all + cost, 0);
    assert.ok(Math.abs(sum - (costs.at(-1) ?? 0)) < 0.005 * sum, `${costs.join(" + ")} do not add up`);
    assert.match(await figure(page, /^What is paid for/).innerText(), /\$[\d.]+ per 1,000 requests that met the SLO; \$[\d.]+ per million answer tokens; both without the \$[\d,.]+ of jobs/);
    assert.match(await figure(page, /^What is where/).innerText(), /Labels: a: chat\b/);
    assert.match((await accessibleNames(page)).get("table")?.join(", ") ?? "", /Services, Jobs, /);
    assert.match(await figure(page, /^Why did replicas wait/).locator("tbody th").first().innerText(), /^training job \d+$/);
  });
});

test("a service is chosen by its name, and the charts and decisions are then its own", async () => {
  await chromium.open(report, "", async (page) => {
    const most = (values: number[] | undefined) => `arrived is at most ${Math.max(...(values ?? [])).toLocaleString("en-US")},`;
    const demand = async () => (await figure(page, /^Demand/).locator(".plot").getAttribute("aria-label")) ?? "";
    const [policy] = result.policies;
    assert.ok((await demand()).includes(most(policy?.by_minute?.arrived)));
    await page.getByRole("button", { name: "reports", exact: true }).click();
    await page.waitForURL(/service=reports$/);
    await settled(page);
    assert.ok((await demand()).includes(most(policy?.services?.[1]?.by_minute?.arrived)), await demand());
    const parts = await page.locator(".log .entry .change i").allInnerTexts();
    assert.ok(parts.length > 1 && parts.every((part) => part.trim() === "reports"), parts.join());
    const starts = (await figure(page, /cold start go/).locator(".drawn").getAttribute("aria-label")) ?? "";
    assert.doesNotMatch(starts, /chat/);
    await page.getByRole("button", { name: "reports", exact: true }).click();
    await page.waitForURL((url) => !url.hash.includes("service"));
    await settled(page);
    assert.ok((await demand()).includes(most(policy?.by_minute?.arrived)));
  });
});

test("the time of a request has a bar for all, and one for each service", async () => {
  await chromium.open(report, "", async (page) => {
    const label = async () => (await figure(page, /^Where did the time/).locator(".drawn").getAttribute("aria-label")) ?? "";
    assert.match(await label(), /capstan: gateway .* capstan: chat: gateway .* capstan: reports: gateway /);
    await page.getByRole("button", { name: "reports", exact: true }).click();
    await settled(page);
    assert.doesNotMatch(await label(), /capstan: (chat|reports): /, "the bar of the policy is that of the service");
  });
});

test("a narrow window shows every verdict and a long command without scrolling sideways", async () => {
  await chromium.open(report, "", async (page) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(page);
    const widest = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(widest <= 390, `the page is ${widest} pixels wide`);
    const verdict = await figure(page, /^Why did replicas wait/).locator("tbody tr").first().locator("td").last().boundingBox();
    assert.ok(verdict !== null && verdict.x >= 0 && verdict.x + verdict.width <= 390, JSON.stringify(verdict));
  });
});
