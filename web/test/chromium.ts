// The browser and the program that the tests of the page share. CAPSTAN_PROGRAM is the program, relative to the root.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";

// Tests run from a temporary folder; the packages are in web/.
const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core") as typeof import("playwright-core");

export const kRoot = resolve("..");
export const kProgram = join(kRoot, process.env.CAPSTAN_PROGRAM ?? "build/dev/capstan");
const kData = 'id="data">';
/// The longest wait for the browser, on a machine that also builds.
const kPatienceMs = 180_000;

/// The frames in which a view that has just been rendered learns its width and draws.
const kFrames = 6;

/// Waits until the page has drawn every view, and all of them as the reader last chose.
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    (most) =>
      new Promise<void>((done) => {
        let still = 0;
        const look = () => {
          still = document.querySelector(".reads, [data-late]") === null ? still + 1 : 0;
          if (still > most) done();
          else requestAnimationFrame(look);
        };
        look();
      }),
    kFrames,
  );
}

/// Returns the mean difference of two pictures of equal shape, 0 to 255, after both are made small: fonts differ a
/// little from machine to machine.
export async function difference(page: Page, a: Buffer, b: Buffer): Promise<number> {
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
    writeFileSync(file, html.slice(0, from) + change(html.slice(from, to)) + html.slice(to));
    return file;
  }

  /// Opens a file whose page may be incomplete. `window.early` is the number of rows of the ranking when its scripts had
  /// run and the document was still being read.
  async openUnsettled(file: string, use: (page: Page) => Promise<void>): Promise<void> {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript(() => {
      addEventListener("readystatechange", () => {
        if (document.readyState === "interactive") (window as unknown as { early: number }).early = document.querySelectorAll(".ranking tbody tr").length;
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
