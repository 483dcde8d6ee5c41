// The page in Chromium, with the result of a real simulation. CAPSTAN_PROGRAM is the program, relative to the root.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { createRequire } from "node:module";

// Tests run from a temporary folder; the packages are in web/.
const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core") as typeof import("playwright-core");

const kRoot = resolve("..");
const kProgram = join(kRoot, process.env.CAPSTAN_PROGRAM ?? "build/dev/capstan");
const kPicture = join(kRoot, "docs/guides/report.png");
const kData = 'id="data">';
/// The longest wait for the browser, on a machine that also builds.
const kPatienceMs = 180_000;

let folder = "";
let report = "";
let browser: Browser;

function chromiumPath(): string {
  const found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  assert.ok(found, "Chromium is missing: scripts/setup --dev installs it");
  return found;
}

before(async () => {
  assert.ok(existsSync(kProgram), `${kProgram} is missing: scripts/build dev capstan`);
  folder = mkdtempSync(join(tmpdir(), "capstan-page-"));
  report = join(folder, "report.html");
  execFileSync(kProgram, ["compare", "scenarios/azure-hour.yaml", "--bound", "--report", report], { cwd: kRoot, stdio: "pipe" });
  browser = await chromium.launch({ executablePath: chromiumPath(), timeout: kPatienceMs, args: ["--no-sandbox", "--force-color-profile=srgb"] });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/// Opens a file, runs `use`, and checks that the page neither complained nor asked for anything from elsewhere.
async function open(file: string, hash: string, use: (page: Page) => Promise<void>): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
  page.setDefaultTimeout(kPatienceMs);
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("file:") && !url.startsWith("data:") && !url.startsWith("blob:")) complaints.push(`request: ${url}`);
  });
  try {
    await page.goto(pathToFileURL(file).href + hash);
    await use(page);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
  }
}

/// Returns a copy of the report with other data.
function withData(name: string, change: (json: string) => string): string {
  const html = readFileSync(report, "utf8");
  const from = html.indexOf(kData) + kData.length;
  const to = html.indexOf("</script>", from);
  const file = join(folder, name);
  writeFileSync(file, html.slice(0, from) + change(html.slice(from, to)) + html.slice(to));
  return file;
}

test("every view shows the run", async () => {
  await open(report, "", async (page) => {
    assert.match(await page.title(), /^Azure LLM 2023, conversation · Capstan$/);
    assert.match(await page.locator(".verdict").innerText(), /is the cheapest policy that holds the SLO/);
    assert.equal(await page.locator(".ranking tbody tr").count(), 9);
    assert.equal(await page.locator(".ranking tr:has(.mark:text('▶'))").count(), 1);
    assert.equal(await page.locator(".plot canvas").count(), 3);
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

test("a policy is chosen with the mouse and with the keyboard, and the address follows", async () => {
  await open(report, "", async (page) => {
    await page.locator(".ranking tbody tr").nth(3).click();
    assert.match(page.url(), /#policy=3$/);
    await page.getByLabel("compare with").selectOption("0");
    assert.match(page.url(), /policy=3&against=0$/);
    assert.equal(await page.getByText("ready, compared policy").count(), 1);
    await page.locator(".ranking tbody tr").nth(1).locator("button").focus();
    await page.keyboard.press("Enter");
    assert.match(page.url(), /policy=1&against=0$/);
    await page.locator(".point").first().focus();
    await page.keyboard.press("Enter");
    assert.doesNotMatch(page.url(), /policy=/);
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
    const moments = await page.locator(".log .entry button").allInnerTexts();
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
    assert.equal(names.length, 3);
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
    assert.equal(await figure.locator(".data-table tbody tr").count(), 59);
    const saved = async (button: string) => {
      const [file] = await Promise.all([page.waitForEvent("download"), figure.getByRole("button", { name: button }).click()]);
      return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
    };
    const table = await saved("as CSV");
    assert.equal(table.name, "demand-requests-per-minute.csv");
    assert.match(table.bytes.toString(), /^time,arrived,missed the SLO\r\n00:00:00,191,0\r\n/);
    const picture = await saved("as PNG");
    assert.equal(picture.bytes.subarray(1, 4).toString(), "PNG");
  });
});

test("markup in a name is text", async () => {
  const name = "</script><img src=x onerror=alert(1)><b>bold</b>";
  const file = withData("markup.html", (json) => {
    const result = JSON.parse(json);
    result.title = name;
    result.policies[0].policy = name;
    return JSON.stringify(result).replaceAll("<", "\\u003c");
  });
  await open(file, "", async (page) => {
    assert.equal(await page.locator("h1").innerText(), name);
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

/// Returns the mean difference of two pictures of equal shape, 0 to 255, after both are made small: fonts differ a
/// little from machine to machine.
async function difference(page: Page, a: Buffer, b: Buffer): Promise<number> {
  const url = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`;
  return page.evaluate(async ([first, second]) => {
    const small = async (source: string) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [160, 200];
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      return context.getImageData(0, 0, canvas.width, canvas.height).data;
    };
    const [x, y] = [await small(first as string), await small(second as string)];
    let sum = 0;
    for (let i = 0; i < x.length; ++i) sum += Math.abs((x[i] ?? 0) - (y[i] ?? 0));
    return sum / x.length;
  }, [url(a), url(b)]);
}

test("the page looks like the picture in the guide", async () => {
  await open(report, "#theme=light", async (page) => {
    await page.setViewportSize({ width: 1280, height: 1600 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const picture = await page.screenshot();
    if (process.env.CAPSTAN_WRITE_GOLDEN === "1") writeFileSync(kPicture, picture);
    const mean = await difference(page, picture, readFileSync(kPicture));
    assert.ok(mean < 4, `the mean difference is ${mean.toFixed(2)} of 255; CAPSTAN_WRITE_GOLDEN=1 writes a new picture`);
  });
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
