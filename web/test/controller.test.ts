// The page /ui of `capstan run` in Chromium. The program is the one that users run; the API server and the engines are
// in the process of the test.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { ApiServer, type KubeObject } from "./api_server";
import { accessibleNames, eventually, kProgram, kRoot } from "./chromium";
import { complaintsOf, end, figure, inOneLine, isMarked, kPatienceMs, launch, mark, moreStates, startServer } from "./served";

const kNodes = "/api/v1/nodes";
const kPods = "/api/v1/pods";
const kDeployments = "/apis/apps/v1/deployments";
const kFleet = "/apis/capstan.dev/v1alpha1/fleetpolicies";
const kScalers = "/apis/capstan.dev/v1alpha1/inferencescalers";
/// The token of a person that may read /ui, and that of one that may not.
const kReader = "token-of-ann";
const kStranger = "token-of-bob";
/// Requests that wait at each engine. Policy Queue wants more replicas for them.
const kWaiting = 40;

let browser: Browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser?.close();
});

const engine = { name: "engine", resources: { requests: { "nvidia.com/gpu": "1" } } };
const readyNow = () => ({ type: "Ready", status: "True", lastTransitionTime: new Date().toISOString().replace(/\.\d+/, "") });

/// A cluster with one node of 8 GPUs and a service of two replicas, each with more requests than it can compute.
class SmallCluster {
  readonly api = new ApiServer();
  readonly folder = mkdtempSync(join(tmpdir(), "capstan-controller-"));
  readonly recording = join(this.folder, "flight.rec");
  private readonly kubeconfig = join(this.folder, "kubeconfig");

  async open(): Promise<void> {
    await this.api.listen();
    this.api.people.set(kReader, true).set(kStranger, false);
    const cluster = { server: this.api.url };
    const config = { clusters: [{ name: "test", cluster }], users: [{ name: "test", user: { token: "any" } }], contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace: "capstan" } }] };
    writeFileSync(this.kubeconfig, JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "test", ...config }));
    this.api.put(kNodes, "", "node-1", {
      metadata: { labels: { "topology.kubernetes.io/zone": "zone-a", "nvidia.com/gpu.product": "H100" } },
      status: { allocatable: { "nvidia.com/gpu": "8" }, conditions: [readyNow()] },
    });
    for (const number of [1, 2]) this.putReplica(number);
    const labels = { app: "chat" };
    this.api.put(kDeployments, "ns", "chat", { kind: "Deployment", spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [engine] } } } });
    const targetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "chat" };
    this.putScaler({
      model: "llama",
      policy: "Queue",
      slo: { ttft: "2s" },
      signals: { interval: "1s", pods: { port: this.api.enginePort } },
      roles: [{ role: "both", variants: [{ targetRef, minReplicas: 1, maxReplicas: 4 }] }],
    });
    this.api.waiting = kWaiting;
  }
  close(): void {
    this.api.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  putReplica(number: number): void {
    this.api.put(kPods, "ns", `chat-${number}`, {
      metadata: { labels: { app: "chat" } },
      spec: { nodeName: "node-1", containers: [engine] },
      status: { phase: "Running", podIP: "127.0.0.1", conditions: [readyNow()] },
    });
  }
  /// Changes fields of the spec, as a person does.
  putScaler(spec: KubeObject): void {
    const generation = ((this.api.get(kScalers, "ns", "chat")?.metadata.generation as number | undefined) ?? 0) + 1;
    this.api.put(kScalers, "ns", "chat", { metadata: { generation }, spec });
  }

  /// Starts a controller and returns it with the address of its page.
  run(listen: string, further: string[] = []): Promise<[ChildProcess, string]> {
    return startServer(["run", "--kubeconfig", this.kubeconfig, "--listen", "none", "--ui", listen, ...further], /shows its page at (http:[^\s"]+)/, "stderr");
  }
}

/// Opens the page of a controller with the token of a person, which a browser asks for.
async function openPage(url: string, use: (page: Page) => Promise<void>, expected: RegExp[] = []): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, httpCredentials: { username: "any", password: kReader } });
  const page = await context.newPage();
  page.setDefaultTimeout(kPatienceMs);
  const complaints = complaintsOf(page, new URL("/", url).href);
  try {
    await page.goto(url);
    await use(page);
    assert.deepEqual(complaints.filter((text) => !expected.some((pattern) => pattern.test(text))), []);
  } finally {
    await context.close();
  }
}

const decisions = (page: Page) => figure(page, /^What did it decide/);

/// Waits until the table behind a chart has this largest value in a column.
async function largestIs(page: Page, title: RegExp, column: string, value: string): Promise<void> {
  const chart = figure(page, title);
  await chart.getByRole("button", { name: /^Table of/ }).click();
  const head = chart.getByRole("columnheader", { name: column });
  for (let click = 0; click < 2; ++click) await head.getByRole("button").click();
  const position = await head.evaluate((one) => [...(one.parentElement?.children ?? [])].indexOf(one));
  await chart.locator(".data-table tbody tr").first().locator("td").nth(position).filter({ hasText: new RegExp(`^${value}$`) }).waitFor();
  await chart.getByRole("button", { name: /^Table of/ }).click();
}

/// Checks the page of the recording that a controller wrote and left a while ago.
async function recordingIsShown(recording: string): Promise<void> {
  const [server, url] = await startServer(["serve", recording, "--listen", "127.0.0.1:0"], /(http:[^\s"]+)/);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(kPatienceMs);
    const complaints = complaintsOf(page, new URL("/", url).href);
    // The reader looks at it an hour later.
    await page.clock.install({ time: Date.now() + 3_600_000 });
    await page.goto(url);
    await page.getByRole("status").filter({ hasText: /The last state is 1 h\b/ }).waitFor();
    const header = inOneLine(await page.locator("header").innerText());
    assert.match(header, /From \d{4}-\d\d-\d\d \d\d:\d\d:\d\d to .*\d\d:\d\d:\d\d\. All times are UTC\./);
    await figure(page, /^What is where/).getByText("serving 4").waitFor();
    const first = await decisions(page).locator(".entry button").first().innerText();
    const [hour, minute] = first.slice(-8).split(":").map(Number) as [number, number];
    const now = new Date();
    const late = (60 * (now.getUTCHours() - hour) + now.getUTCMinutes() - minute + 1440) % 1440;
    assert.ok(late < 60, `the first decision was at ${first} in UTC`);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
    await end(server);
  }
}

test("the page of a controller shows its views, and what it decides arrives by itself", async () => {
  const cluster = new SmallCluster();
  await cluster.open();
  const [controller, url] = await cluster.run("127.0.0.1:0", ["--record", cluster.recording]);
  try {
    await openPage(url, async (page) => {
      await page.getByText("Follows the controller: new decisions appear by themselves.").waitFor();
      assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), "The controller in capstan");
      await mark(page);
      await moreStates(page, 2);
      await figure(page, /^What is where/).waitFor();
      // New states arrive all the time, so there is no moment after which the page stays as it is.
      await eventually(async () => {
        const titles = await page.getByRole("heading", { level: 3 }).allInnerTexts();
        for (const title of [/^Capacity/, /^Running and waiting/, /^Is the SLO met/, /^Can the inputs be trusted/, /^What did it decide/, /^Where do the minutes of a cold start go/, /^GPUs over time/, /^What is where/, /^What is paid for/]) {
          assert.ok(titles.some((one) => title.test(one)), `${title} is not among ${titles.join(", ")}`);
        }
      });
      await accessibleNames(page);

      // A controller in the mode Shadow carries nothing out.
      const row = decisions(page).locator(".entry").first();
      await row.getByText("Shadow").waitFor();
      await row.getByText(/scale ns\/chat to 4 replicas/).first().waitFor();
      await eventually(async () => assert.equal(await decisions(page).locator(".undone").count(), 1));

      // The command of a decision prints what the page shows.
      await row.getByTitle("Show the arithmetic of this decision").click();
      const arithmetic = (await page.locator(".arithmetic").innerText()).trim();
      assert.match(arithmetic, /^ns\/chat: /);
      const words = (await page.locator("section code").innerText()).split(" ");
      assert.deepEqual(words.slice(0, 3), ["capstan", "replay", cluster.recording]);
      const printed = execFileSync(kProgram, words.slice(1), { cwd: kRoot }).toString();
      assert.ok(inOneLine(printed).includes(inOneLine(arithmetic)), "the command prints the same arithmetic");

      // The map shows each replica on GPUs of its own.
      await eventually(async () => assert.match(await figure(page, /^What is where/).innerText(), /serving 2\s+free 6/));
      // The price of the node is not known, so the table of costs shows none.
      await eventually(async () => assert.deepEqual(await page.getByRole("table", { name: "Cost by use of the GPUs" }).locator("tbody td:nth-child(3)").allInnerTexts(), ["–", "–", "–"]));
      // A team is a namespace.
      await eventually(async () => assert.deepEqual(await page.getByRole("table", { name: "Cost by team" }).locator("tbody th").allInnerTexts(), ["ns"]));

      // A change of the mode, and the replicas that follow, appear although the page is not loaded again.
      cluster.putScaler({ mode: "Active" });
      cluster.api.put(kFleet, "", "default", { spec: { layers: { replicas: "Active" } } });
      await decisions(page).getByText("applied").first().waitFor();
      assert.equal(cluster.api.get(kDeployments, "ns", "chat")?.spec.replicas, 4);
      for (const number of [3, 4]) cluster.putReplica(number);
      await figure(page, /^What is where/).getByText("serving 4").waitFor();
      await largestIs(page, /^Capacity/, "ready replicas", "4");
      await largestIs(page, /^Running and waiting/, "waiting requests", String(4 * kWaiting));
      assert.ok(await isMarked(page), "the page was loaded again");
      await eventually(async () => assert.equal(await page.getByRole("alert").count(), 0));
    });
    assert.equal(await end(controller), 0);
    assert.ok(existsSync(cluster.recording));
    await recordingIsShown(cluster.recording);
  } finally {
    await end(controller);
    cluster.close();
  }
});

test("the page of a controller needs a token that may read it", async () => {
  const cluster = new SmallCluster();
  await cluster.open();
  const [controller, url] = await cluster.run("127.0.0.1:0");
  try {
    for (const [password, code] of [["an unknown token", 401], [kStranger, 403]] as const) {
      const login = `Basic ${Buffer.from(`any:${password}`).toString("base64")}`;
      for (const path of ["", "/api/result", "/api/events", "/api/history"]) {
        assert.equal((await fetch(url + path, { headers: { Authorization: login } })).status, code, path);
      }
    }
    const context = await browser.newContext({ httpCredentials: { username: "any", password: kStranger } });
    const page = await context.newPage();
    assert.equal((await page.goto(url))?.status(), 403);
    assert.match(await page.locator("body").innerText(), /the user token-of-bob has no permission to get the path \/ui/);
    await context.close();
  } finally {
    assert.equal(await end(controller), 0);
    cluster.close();
  }
});

test("a controller that goes away gives a notice, and the page goes on with the one that takes over", async () => {
  const cluster = new SmallCluster();
  await cluster.open();
  const [first, url] = await cluster.run("127.0.0.1:0");
  let controller = first;
  try {
    await openPage(
      url,
      async (page) => {
        await moreStates(page, 2);
        await page.getByLabel("Filter").fill("scale");
        await mark(page);
        // A controller that is killed does not release its lease, so the next one is a standby until the lease ends.
        await end(first, "SIGKILL");
        await page.getByRole("alert").getByText(/^The connection to the server is lost/).waitFor();
        [controller] = await cluster.run(new URL(url).host);
        await page.getByRole("alert").getByText("No new decisions: this controller is a standby, and another one decides.").waitFor();
        await page.getByText(/Caught up after \d+/).waitFor();
        await page.waitForFunction(() => document.querySelector("[role=alert]") === null);
        await moreStates(page, 2);
        await decisions(page).getByText(/scale ns\/chat to 4 replicas/).first().waitFor();
        assert.ok(await isMarked(page), "the page was loaded again");
        assert.equal(await page.getByLabel("Filter").inputValue(), "scale", "what the reader chose stays");
      },
      [/ERR_/],
    );
  } finally {
    await end(controller);
    cluster.close();
  }
});
