// `capstan serve` in Chromium: a scenario that is simulated again with changes.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Locator, Page, Route } from "playwright-core";
import { type StartColumns, startsOf } from "../src/data/history";
import { recordedRun } from "../src/data/recorded_run";
import { readRecording } from "../src/data/recording";
import type { Policy, Result } from "../src/data/result";
import { accessibleNames, difference, eventually, kDifferenceMost, kProgram, kRoot, settled } from "./chromium";
import { complaintsOf, end, figure, inOneLine, isMarked, kPatienceMs, launch, mark, moreStates, startServer, statesOf } from "./served";

const kPicture = join(kRoot, "docs/guides/recording.png");

let browser: Browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser?.close();
});

/// Serves a file and returns the server with its address.
const start = (file: string, further: string[], listen = "127.0.0.1:0") => startServer(["serve", file, "--listen", listen, ...further], /^(http:\S+)\n/);

/// Two replicas at the start are too few for this hour, so replicas wait and decisions have something to say.
const kFewAtFirst = ["--set", "service.replicas.initial=2", "--set", "cluster.existing.0.count=1"];

/// Records the policy "queue · gang · group" of azure-hour in `file`. The recording takes the place of an earlier
/// one.
function record(file: string, further: string[] = []): void {
  execFileSync(kProgram, ["sim", "scenarios/azure-hour.yaml", ...kFewAtFirst, "--policy", "queue · gang · group", "--record", `${file}.new`, ...further], { cwd: kRoot, stdio: "pipe" });
  renameSync(`${file}.new`, file);
}

/// Serves a file, opens its page, runs `use`, and checks that the browser had nothing to complain about and that the
/// server ends cleanly.
async function serve(file: string, further: string[], use: (page: Page, server: ChildProcess) => Promise<void>, expected: RegExp[] = []): Promise<void> {
  const [server, url] = await start(file, further);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(kPatienceMs);
  const complaints = complaintsOf(page, url);
  try {
    await page.goto(url);
    await use(page, server);
    assert.deepEqual(complaints.filter((text) => !expected.some((pattern) => pattern.test(text))), []);
  } finally {
    await page.close();
    assert.equal(await end(server), 0);
  }
}

const kTwoPolicies = ["--policy", "queue · gang · group", "--policy", "capstan · gang · group"];

/// Returns the number of arrived requests that the header names.
async function arrived(page: Page): Promise<number> {
  const words = await page.locator("header p").first().innerText();
  return Number((/([\d,]+) requests/.exec(words)?.[1] ?? "").replaceAll(",", ""));
}

test("a changed scenario is simulated and shown beside the stated one", async () => {
  await serve("scenarios/azure-hour.yaml", kTwoPolicies, async (page) => {
    await settled(page);
    assert.equal(await page.locator(".ranking tbody tr").count(), 2);
    const before = await arrived(page);
    await page.getByRole("spinbutton", { name: "Load ×" }).fill("2");
    await page.getByLabel("Prices ×").fill("0.5");
    await page.getByRole("button", { name: "Simulate" }).click();
    await page.locator(".what-if-table").waitFor();
    await page.getByRole("status").getByText(/^Simulated load × 2, prices × 0.5 in /).waitFor();
    await eventually(async () => assert.ok(Math.abs((await arrived(page)) - 2 * before) < 20, "twice the requests"));
    assert.equal(await page.locator(".what-if-table tbody tr").count(), 2);
    const row = await page.locator(".what-if-table tbody tr").first().locator("td").allInnerTexts();
    assert.equal(row.length, 6);
    assert.notEqual(row[2], row[5]);
    assert.match(await page.locator("footer code").innerText(), /--set load\.scale=2 .*usd_per_hour/);

    // The chosen policy stays when the other result is shown, although the order of policies may differ.
    await page.locator(".ranking tbody tr", { hasText: "queue" }).click();
    await page.getByLabel("show the scenario as stated").check();
    await eventually(async () => assert.equal(await arrived(page), before));
    await page.locator(".ranking tr.shown", { hasText: "queue · gang · group" }).waitFor();
    assert.equal(await page.getByRole("spinbutton", { name: "Load ×" }).inputValue(), "2");
  });
});

test("a change that cannot be simulated gives a notice, and a newer one replaces it", async () => {
  await serve(
    "scenarios/azure-hour.yaml",
    kTwoPolicies,
    async (page) => {
      // The first simulation lasts until it is stopped, however fast the machine is.
      const late = async (route: Route) => {
        await new Promise((resolve) => setTimeout(resolve, 5000));
        await route.continue().catch(() => undefined);
      };
      await page.route("**/api/what-if", late, { times: 1 });
      await page.getByRole("spinbutton", { name: "Load ×" }).fill("10");
      await page.getByRole("button", { name: "Simulate" }).click();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("status").getByText(/^Stopped\.$/).waitFor();
      await page.getByRole("spinbutton", { name: "Load ×" }).fill("1");
      await page.getByLabel("Minimum replicas").fill("16");
      await page.getByRole("button", { name: "Simulate" }).click();
      await page.locator(".what-if-table").waitFor();
      await eventually(async () => assert.ok(await page.getByLabel("show at least 16 replicas").isChecked()));
    },
    [/ERR_ABORTED/],
  );
});

test("a server that goes away gives a notice, and the page stays", async () => {
  await serve(
    "scenarios/azure-hour.yaml",
    kTwoPolicies,
    async (page, server) => {
      assert.equal(await end(server), 0);
      await page.getByRole("button", { name: "Simulate" }).click();
      await page.getByRole("alert").getByText(/server does not answer/).waitFor();
      assert.equal(await page.locator(".ranking tbody tr").count(), 2);
    },
    [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET/],
  );
});

test("a recording shows its decisions, their arithmetic and the command", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-serve-"));
  const file = join(folder, "hour.rec");
  try {
    record(file);
    await serve(file, [], async (page) => {
      assert.match(await page.locator("header p").innerText(), /^24\d states in 58 min .*, decided by “queue · gang · group”/);
      await page.getByRole("heading", { name: "What is paid for?" }).waitFor();
      await settled(page);
      assert.equal(await page.locator(".plot canvas").count(), 9);
      const all = await page.locator(".log .entry").count();
      assert.ok(all > 3);
      await page.getByLabel("Layer").selectOption("scale");
      await eventually(async () => {
        const layers = await page.locator(".log .change").allInnerTexts();
        assert.ok(layers.length > 3 && layers.every((layer) => /^scale\s+(applied|Shadow|refused|unknown|not sent)?$|^scale$/.test(layer.trim())), layers.join());
      });
      assert.match(await page.locator(".log .why").first().innerText(), /^scale service to \d+ replicas: /);
      await page.locator(".log .entry button").nth(1).click();
      assert.match(await page.locator(".arithmetic").innerText(), /^service: .*replicas requested/);
      assert.doesNotMatch(await page.locator(".arithmetic").innerText(), /Pending replicas lack|gangs? pending/, "only what belongs to the decision");
      await page.waitForURL(/#decision=\d+$/);
      await page.reload();
      await page.locator(".arithmetic").waitFor();
      await page.getByLabel("Layer").selectOption("scale");
      const command = await page.locator("section code").innerText();
      const [, at] = / --at (\S+)$/.exec(command) ?? [];
      const printed = execFileSync(kProgram, ["replay", file, "--at", at as string], { cwd: kRoot }).toString();
      assert.ok(inOneLine(printed).includes(inOneLine(await page.locator(".arithmetic").innerText())), "the command prints the same arithmetic");
      await page.getByLabel("Filter").fill("no such words");
      await page.getByText("Nothing was decided in this stretch.").waitFor();
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a scenario is shown while it is simulated, and a paused page collects its states", async () => {
  // The simulation takes three minutes, so it goes on until the end of the test.
  await serve("scenarios/azure-hour.yaml", [...kTwoPolicies.slice(0, 2), "--live", "--speed", "20"], async (page) => {
    await moreStates(page, 3);
    await page.getByRole("status").getByText(/^Runs at 20 × real time/).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    const paused = await statesOf(page);
    await page.getByText(/Paused: [1-9]\d* states wait/).waitFor();
    assert.equal(await statesOf(page), paused);
    await page.getByRole("button", { name: "Live" }).click();
    await moreStates(page, paused);
  });
});

test("a simulation that ends has its result", async () => {
  await serve("scenarios/azure-hour.yaml", [...kTwoPolicies.slice(0, 2), "--live", "--speed", "120"], async (page) => {
    await page.getByText("The simulation has ended.").waitFor();
    await page.waitForFunction(() => /^24\d states/.test(document.querySelector("header p")?.textContent ?? ""));
    await page.getByLabel("Layer").selectOption("scale");
    await page.getByTitle("Show the arithmetic of this decision").first().click();
    assert.match(await page.locator(".arithmetic").innerText(), /replicas/);
    assert.match(await page.locator("section code").innerText(), /^capstan explain (?:service|'gang \d+') --scenario .* --at \d+s --verbose$/);
    await page.getByRole("button", { name: "Show the result" }).click();
    await page.locator(".ranking").waitFor();
    await settled(page);
    assert.equal(await page.locator(".ranking tbody tr").count(), 1);
  });
});

test("a live page that loses its server says so", async () => {
  await serve(
    "scenarios/azure-hour.yaml",
    [...kTwoPolicies.slice(0, 2), "--live", "--speed", "10"],
    async (page, server) => {
      await moreStates(page, 0);
      assert.equal(await end(server), 0);
      await page.getByRole("alert").getByText(/connection to the server is lost/).waitFor();
    },
    [/ERR_/],
  );
});

test("a recording has the views of nodes and replicas that a report has", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-serve-"));
  const file = join(folder, "queues.rec");
  const queues = ["--set", "queues=[{name: company, gpu_limit: 24}, {name: chat, parent: company, gpu_limit: 16}]", "--set", "service.queue=chat"];
  try {
    record(file, queues);
    const words = ["sim", "scenarios/azure-hour.yaml", ...kFewAtFirst, "--policy", "queue · gang · group", ...queues, "-o", "json", "--details"];
    const simulated = (JSON.parse(execFileSync(kProgram, words, { cwd: kRoot, stdio: "pipe", maxBuffer: 1 << 28 }).toString()) as Result).policies[0] as Policy;
    await serve(file, [], async (page) => {
      await figure(page, /^What is paid for/).waitFor();
      await settled(page);
      const titles = await page.getByRole("heading", { level: 3 }).allInnerTexts();
      for (const title of [/^GPUs over time/, /^What is where/, /^Why did replicas wait/, /Queues$/, /cold start go/, /^Where did the time of a request go/, /^Does each service hold/, /^What became of/]) {
        assert.ok(titles.some((one) => title.test(one)), `${title} is not among ${titles.join(", ")}`);
      }
      const paid = figure(page, /^What is paid for/);
      const [hours = 0, cost = 0] = (await paid.locator("tr.sum td").allInnerTexts()).map((text) => Number(text.replace(/[$,]/g, "")));
      assert.ok(Math.abs(hours - simulated.paid_gpu_hours) < 0.05 * simulated.paid_gpu_hours, `${hours} GPU-hours, simulated ${simulated.paid_gpu_hours}`);
      assert.ok(Math.abs(cost - simulated.cost_usd) < 0.05 * simulated.cost_usd, `$${cost}, simulated $${simulated.cost_usd}`);
      // The engines count only the ends of requests; the simulation counted the arrivals.
      const recorded = readRecording(await (await page.request.get(`${new URL("/", page.url()).href}api/result`)).json());
      assert.ok(recorded?.measured !== undefined && recorded.history !== undefined);
      const { measured, history, ...seenOnly } = recorded;
      // A minute in which a replica did not report its requests has no number.
      const demand = recordedRun(seenOnly, history, undefined).series?.demand;
      const arrivals = (demand?.came ?? []).flatMap((came, i) => (came === null ? [] : [{ came, arrived: simulated.by_minute?.arrived[(demand?.at[i] ?? 0) / 60] ?? 0 }]));
      const [came, arrived] = [arrivals.reduce((sum, one) => sum + one.came, 0), arrivals.reduce((sum, one) => sum + one.arrived, 0)];
      assert.ok(arrivals.length > 40, `${arrivals.length} minutes have a number`);
      assert.ok(Math.abs(came - arrived) < 0.03 * arrived, `${came} requests came in ${arrivals.length} minutes, ${arrived} arrived`);
      const { latency_phases: _, ...inText } = measured.policies[0] as Policy;
      assert.deepEqual([inText.requests, inText.ttft, inText.by_minute?.arrived], [simulated.requests, simulated.ttft, simulated.by_minute?.arrived]);
      const outcomes = figure(page, /^What became of/);
      assert.match(await outcomes.innerText(), new RegExp(`${simulated.requests.arrived?.toLocaleString("en-US")} arrived`));
      assert.match(await figure(page, /^How fast were the answers/).innerText(), /p50\s+p90\s+p95\s+p99/);
      // The engines report the sums of the times; the simulation knows the phases of each request.
      const times = simulated.latency_phases;
      assert.ok(times !== undefined);
      const mean = (means: number[], counts: number[]) => means.reduce((sum, us, i) => sum + us * (counts[i] ?? 0), 0) / counts.reduce((sum, count) => sum + count, 0) / 1e6;
      const time = figure(page, /^Where did the time of a request go/);
      await time.getByRole("button", { name: /^Table of/ }).click();
      await settled(page);
      const cells = (await time.locator(".data-table tbody tr").first().locator("th, td").allInnerTexts()).slice(1).map(Number);
      const expected = [0, mean(times.queue_us, times.first_tokens), mean(times.prefill_us, times.first_tokens), 0, mean(times.decode_us, times.completed)];
      expected.forEach((value, i) => assert.ok(Math.abs((cells[i] ?? -1) - value) <= 0.05 * value + 0.002, `${cells.join(" ")} against ${expected.join(" ")}`));
      const starts = figure(page, /cold start go/);
      assert.match(await starts.locator(".note").first().innerText(), new RegExp(`: ${simulated.cold_starts.count} of ${simulated.cold_starts.count} starts`));
      // Each start lasts as long as in the simulation, give or take the time between two states.
      await starts.getByRole("button", { name: /^Table of/ }).click();
      await settled(page);
      const seen = await starts.locator(".data-table tbody tr").evaluateAll((rows) => rows.map((row) => Number(row.lastElementChild?.textContent)));
      await starts.getByRole("button", { name: /^Table of/ }).click();
      const phases = startsOf(simulated.cold_start_phases as StartColumns).sort((a, b) => a.decided - b.decided);
      assert.equal(seen.length, phases.length);
      phases.forEach(({ total }, i) => assert.ok(Math.abs(total - (seen[i] ?? 0)) < 16, `start ${i} took ${total} s, and the recording says ${seen[i]} s`));
      await figure(page, /Queues$/).getByRole("button", { name: /^Table of/ }).click();
      await settled(page);
      assert.deepEqual(await figure(page, /Queues$/).locator(".data-table tbody td:first-child").allInnerTexts(), ["company", "chat"]);
      const waits = await figure(page, /^Why did replicas wait/).locator("table.waiting tbody tr").allInnerTexts();
      assert.ok(waits.length > 0);

      // The picture of the guide. The toolbar stays at the top of the window, so the page is not scrolled.
      await figure(page, /Queues$/).getByRole("button", { name: /^Table of/ }).click();
      await page.goto(`${new URL("/", page.url()).href}#at=2100&theme=light`);
      await settled(page);
      const edge = (place: Locator, side: "top" | "bottom") => place.evaluate((one, of) => one.getBoundingClientRect()[of] + scrollY, side);
      const [top, bottom] = [await edge(starts, "top"), await edge(paid, "bottom")];
      const clip = { x: 0, y: top - 12, width: 1280, height: bottom - top + 24 };
      await page.evaluate(() => scrollTo(0, 0));
      const picture = await page.screenshot({ fullPage: true, clip });
      if (process.env.CAPSTAN_WRITE_GOLDEN === "1") writeFileSync(kPicture, picture);
      const most = await difference(page, picture, readFileSync(kPicture));
      assert.ok(most < kDifferenceMost, `a region differs by ${most.toFixed(2)} of 255; CAPSTAN_WRITE_GOLDEN=1 writes a new picture`);
      await accessibleNames(page);

      // The number of a cost leads to the purchase that caused it.
      await paid.locator("table.paid").nth(1).locator("tbody .figure-link").first().click();
      await page.waitForURL(/from=\d+&to=\d+&at=\d+&decision=\d+/);
      await page.locator(".arithmetic").getByText(/Nodes for \d+ \w+ GPUs without room/).waitFor();
      await eventually(async () => assert.equal(await page.locator('.log button[aria-pressed="true"]').count(), 1));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the saved data of a recording are a file that shows the same page", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-serve-"));
  const [file, saved] = [join(folder, "hour.rec"), join(folder, "saved.json")];
  const views = async (page: Page) => {
    await figure(page, /^What is where/).waitFor();
    await settled(page);
    return [await page.getByRole("heading", { level: 3 }).allInnerTexts(), await page.locator("table:not(.log table)").allInnerTexts()];
  };
  try {
    record(file, ["--set", "load.duration=20m"]);
    let shown: unknown;
    await serve(file, [], async (page) => {
      writeFileSync(saved, await (await page.request.get(`${new URL("/", page.url()).href}api/result`)).body());
      shown = await views(page);
    });
    await serve(saved, [], async (page) => {
      assert.deepEqual(await views(page), shown);
      assert.equal(await page.getByText("Follows the recording").count(), 0);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a page whose server comes back with a longer recording catches up without being loaded again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-serve-"));
  const file = join(folder, "hour.rec");
  try {
    record(file, ["--set", "load.duration=20m"]);
    const [first, url] = await start(file, []);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(kPatienceMs);
    let server = first;
    try {
      await page.goto(url);
      await page.getByText("Follows the recording").waitFor();
      await figure(page, /^What is where/).waitFor();
      const before = await statesOf(page);
      await page.getByLabel("Filter").fill("scale service");
      await mark(page);
      await end(first);
      await page.getByRole("alert").getByText("connection to the server is lost").waitFor();
      record(file);
      [server] = await start(file, [], new URL(url).host);
      await page.getByText(/Caught up after \d+/).waitFor();
      await moreStates(page, before);
      assert.ok((await statesOf(page)) > 200);
      assert.ok(await isMarked(page), "the page was loaded again");
      assert.equal(await page.getByLabel("Filter").inputValue(), "scale service", "what the reader chose stays");
      await eventually(async () => assert.equal(await page.getByRole("alert").count(), 0));
      await page.waitForFunction(() => Number(document.querySelector<HTMLInputElement>(".moment input")?.max) > 3000);
    } finally {
      await page.close();
      await end(server);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the notice of an unreadable recording goes away when it can be read again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-serve-"));
  const file = join(folder, "hour.rec");
  try {
    record(join(folder, "long.rec"));
    record(file, ["--set", "load.duration=20m"]);
    await serve(file, [], async (page) => {
      await page.getByText("Follows the recording").waitFor();
      const before = await statesOf(page);
      await mark(page);
      writeFileSync(join(folder, "damaged.rec"), readFileSync(file).fill(255, 4096));
      renameSync(join(folder, "damaged.rec"), file);
      await page.getByRole("alert").getByText("The recording cannot be read").waitFor();
      renameSync(join(folder, "long.rec"), file);
      await moreStates(page, before);
      await page.waitForFunction(() => document.querySelector("[role=alert]") === null);
      assert.ok(await isMarked(page), "the page was loaded again");
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a server that hangs is named with the time of its last sign, and the page goes on when it answers again", async () => {
  await serve("scenarios/azure-hour.yaml", [...kTwoPolicies.slice(0, 2), "--live", "--speed", "20"], async (page, server) => {
    await moreStates(page, 1);
    server.kill("SIGSTOP");
    try {
      await page.getByRole("alert").getByText(/The server has not answered since \d\d:\d\d:\d\d/).waitFor();
    } finally {
      server.kill("SIGCONT");
    }
    await page.getByText(/Caught up after \d+/).waitFor();
    const before = await statesOf(page);
    await moreStates(page, before);
    await eventually(async () => assert.equal(await page.getByRole("alert").count(), 0));
  });
});

test("a tab that was asleep says that it catches up, and lacks no decision afterwards", async () => {
  // The simulation takes three minutes, so it still runs when the tab wakes.
  await serve("scenarios/azure-hour.yaml", [...kTwoPolicies.slice(0, 2), "--live", "--speed", "20"], async (page) => {
    await moreStates(page, 3);
    await mark(page);
    // The messages of the page during its sleep and afterwards.
    await page.evaluate(() => {
      const said: string[] = [];
      (window as unknown as { said: string[] }).said = said;
      const look = () => said.push(document.querySelector('[aria-label="Live"]')?.textContent ?? "");
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    // Nothing of the page runs while its process is stopped, as on a machine that sleeps.
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter((one) => one.type === "renderer").map((one) => one.id);
    assert.ok(renderers.length > 0);
    for (const id of renderers) process.kill(id, "SIGSTOP");
    await new Promise((done) => setTimeout(done, 12_000));
    for (const id of renderers) process.kill(id, "SIGCONT");
    await page.getByText(/Caught up after (\d\d\.\d s|\d+ min)/).waitFor();
    const said = await page.evaluate(() => (window as unknown as { said: string[] }).said);
    assert.ok(said.some((words) => /Catches up with what was decided meanwhile/.test(words)), said.slice(0, 5).join("\n"));
    assert.ok(await isMarked(page), "the page was loaded again");
    // A second connection receives all states, beginning with the first. The page has as many until the next arrives.
    await page.evaluate(() => {
      const all = { states: 0 };
      (window as unknown as { all: typeof all }).all = all;
      new EventSource("api/events").addEventListener("state", () => ++all.states);
    });
    await page.waitForFunction(() => {
      const { states } = (window as unknown as { all: { states: number } }).all;
      return states > 3 && Number.parseInt(document.querySelector("header p")?.textContent ?? "") === states;
    });
  });
});

test("the page of a recording shows which actions were not carried out", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-outcomes-"));
  const file = join(folder, "shadow.rec");
  try {
    record(file, ["--set", "load.duration=20m"]);
    const decisions = (page: Page) => figure(page, /^What did it decide/);
    await serve(file, [], async (page) => {
      assert.match(await decisions(page).locator(".entry").first().innerText(), /applied/);
      assert.equal(await decisions(page).locator(".undone").count(), 0);
    });
    // The recording of a controller in the mode Shadow.
    const sql = "UPDATE outcomes SET result = 'shadow', why = 'the mode is Shadow'";
    execFileSync("python3", ["-c", "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); file.execute(sys.argv[2]); file.commit()", file, sql]);
    await serve(file, [], async (page) => {
      assert.match(await decisions(page).locator(".entry").first().innerText(), /Shadow/);
      await settled(page);
      assert.ok((await decisions(page).locator(".undone").count()) > 0);
      assert.match(await decisions(page).locator(".note").first().innerText(), /Struck through: it was not carried out/);
      for (const title of [/^Is the SLO met\? Late requests/, /^Latency: time to first token/]) assert.equal(await figure(page, title).count(), 1);
      assert.match(await figure(page, /^What is paid for/).locator(".note").first().innerText(), /per million answer tokens/);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
