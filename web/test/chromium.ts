// The browser and the program that the tests of the page share. CAPSTAN_PROGRAM is the program, relative to the root.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";

// Tests run from a temporary folder; the packages are in web/.
const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core") as typeof import("playwright-core");

export const kRoot = resolve("..");
export const kProgram = join(kRoot, process.env.CAPSTAN_PROGRAM ?? "build/dev/capstan");
const kData = 'id="data">';
/// The longest wait for the browser, on a machine that also builds.
const kPatienceMs = 180_000;

/// Number of frames within which a newly rendered view measures its width and draws.
const kFrames = 6;

/// Waits until the page has drawn every view with the latest choices of the reader, or a notice.
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    (most) =>
      new Promise<void>((done) => {
        let still = 0;
        const look = () => {
          const isShown = document.querySelector("main h1") !== null;
          still = isShown && document.querySelector(".reads, [data-late]") === null ? still + 1 : 0;
          if (still > most) done();
          else requestAnimationFrame(look);
        };
        look();
      }),
    kFrames,
  );
}

/// Repeats a check until it holds; fails with its last error after kPatienceMs. A click or a key is followed by work of
/// the page, so what it shows is not read only once.
export async function eventually(check: () => Promise<void>): Promise<void> {
  for (const end = Date.now() + kPatienceMs; ; await new Promise((done) => setTimeout(done, 50))) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/// The regions of `difference` are squares of this size, pixels of the pictures.
const kRegion = 64;
/// Two pictures with a larger difference do not show the same. The test of the picture hides a chart, a bar and a row
/// of a table, one at a time, and checks that each of them makes a larger difference than this.
export const kDifferenceMost = 6;

/// Returns the mean difference of that region in which two pictures differ most, 0 to 255. Each pixel counts as the mean
/// of its surroundings, because fonts differ a little from machine to machine. Pictures of other sizes differ by 255.
export async function difference(page: Page, a: Buffer, b: Buffer): Promise<number> {
  const url = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`;
  return page.evaluate(async ([first, second, region]) => {
    const scale = 8;
    const small = async (source: string) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [Math.ceil(image.width / scale), Math.ceil(image.height / scale)];
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, image.width / scale, image.height / scale);
      return context.getImageData(0, 0, canvas.width, canvas.height);
    };
    const [x, y] = [await small(first as string), await small(second as string)];
    if (x.width !== y.width || x.height !== y.height) return 255;
    const size = (region as number) / scale;
    let most = 0;
    for (let top = 0; top < x.height; top += size) {
      for (let left = 0; left < x.width; left += size) {
        let [sum, values] = [0, 0];
        for (let row = top; row < Math.min(top + size, x.height); ++row) {
          for (let i = 4 * (row * x.width + left); i < 4 * (row * x.width + Math.min(left + size, x.width)); ++i) {
            // The fourth value of each pixel is its opacity.
            if (i % 4 === 3) continue;
            sum += Math.abs((x.data[i] ?? 0) - (y.data[i] ?? 0));
            ++values;
          }
        }
        most = Math.max(most, sum / values);
      }
    }
    return most;
  }, [url(a), url(b), kRegion] as const);
}

/// Checks that every figure, table, picture and control of the page has a name in the accessibility tree, that a slider
/// has a value, and that no two figures have the same name. Returns the names by role.
export async function accessibleNames(page: Page): Promise<Map<string, string[]>> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as { nodes: AccessibleNode[] };
  await session.detach();
  const names = new Map<string, string[]>();
  for (const node of nodes) {
    const role = node.role?.value ?? "";
    if (node.ignored || !kNamedRoles.has(role)) continue;
    const name = node.name?.value ?? "";
    assert.notEqual(name.trim(), "", `a ${role} without a name: ${JSON.stringify(node).slice(0, 300)}`);
    if (role === "slider") assert.notEqual(node.value?.value ?? "", "", `the slider ${name} has no value`);
    names.set(role, [...(names.get(role) ?? []), name]);
  }
  const figures = names.get("figure") ?? [];
  assert.equal(new Set(figures).size, figures.length, figures.join("; "));
  return names;
}

const kNamedRoles = new Set(["figure", "table", "image", "img", "button", "slider", "searchbox", "textbox", "spinbutton", "combobox", "checkbox", "link", "list", "region", "navigation"]);

interface AccessibleNode {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  value?: { value: string | number };
}

export class Chromium {
  private constructor(
    private readonly browser: Browser,
    private readonly folder: string,
  ) {}

  static async launch(): Promise<Chromium> {
    assert.ok(existsSync(kProgram), `${kProgram} is missing: scripts/build dev capstan`);
    const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
    assert.ok(path, "Chromium is missing: scripts/setup --dev installs it");
    const browser = await chromium.launch({ executablePath: path, timeout: kPatienceMs, args: ["--no-sandbox", "--force-color-profile=srgb"] });
    return new Chromium(browser, mkdtempSync(join(tmpdir(), "capstan-page-")));
  }

  async close(): Promise<void> {
    await this.browser.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /// Runs the program with these words and --report, and returns the report.
  simulate(name: string, words: string[]): string {
    const file = join(this.folder, name);
    execFileSync(kProgram, [...words, "--report", file], { cwd: kRoot, stdio: "pipe" });
    return file;
  }

  /// Returns a copy of a report with other data.
  withData(report: string, name: string, change: (json: string) => string): string {
    const html = readFileSync(report, "utf8");
    const from = html.indexOf(kData) + kData.length;
    const to = html.indexOf("</script>", from);
    const file = join(this.folder, name);
    const text = html.slice(from, to);
    // The program packs long data; the page also reads plain ones.
    const plain = text.startsWith('"') ? gunzipSync(Buffer.from(JSON.parse(text) as string, "base64")).toString() : text;
    writeFileSync(file, html.slice(0, from) + change(plain.replaceAll("<", "\\u003c")) + html.slice(to));
    return file;
  }

  /// Opens a file whose page may be incomplete. `window.early` is the number of rows of the ranking when the scripts
  /// had run and the document was parsed, but the page had not read its data yet.
  async openUnsettled(file: string, use: (page: Page) => Promise<void>): Promise<void> {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript(() => {
      addEventListener("readystatechange", () => {
        if (document.readyState === "interactive") (window as unknown as { early: number }).early = document.querySelectorAll(".ranking tbody tr:not(.remarks)").length;
      }, true);
    });
    try {
      await page.goto(pathToFileURL(file).href);
      await use(page);
    } finally {
      await page.close();
    }
  }

  /// Opens a file, runs `use`, and checks that the page neither complained nor asked for anything from elsewhere.
  async open(file: string, hash: string, use: (page: Page) => Promise<void>): Promise<void> {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
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
      await settled(page);
      await use(page);
      assert.deepEqual(complaints, []);
    } finally {
      await page.close();
    }
  }
}
