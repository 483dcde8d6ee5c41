// Pages that a server shows, for the tests of `capstan serve` and `capstan run --ui`.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { kProgram, kRoot } from "./chromium";

const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core") as typeof import("playwright-core");

/// The longest wait for the browser or a server, on a machine that also builds.
export const kPatienceMs = 180_000;

export async function launch(): Promise<Browser> {
  assert.ok(existsSync(kProgram), `${kProgram} is missing: scripts/build dev capstan`);
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  assert.ok(executablePath, "Chromium is missing: scripts/setup --dev installs it");
  return chromium.launch({ executablePath, timeout: kPatienceMs, args: ["--no-sandbox"] });
}

/// Starts the program and returns it with the address that it prints.
/// @param printed  finds the address in what the program prints, as its first group
/// @param output   "stdout" or "stderr"; the other stream goes where the test's own stream goes
export async function startServer(words: string[], printed: RegExp, output: "stdout" | "stderr" = "stdout"): Promise<[ChildProcess, string]> {
  const server = spawn(kProgram, words, { cwd: kRoot, stdio: ["ignore", output === "stdout" ? "pipe" : "inherit", output === "stderr" ? "pipe" : "inherit"] });
  let text = "";
  const url = await new Promise<string>((done, failed) => {
    server[output]?.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      const line = printed.exec(text);
      if (line !== null) done(line[1] as string);
    });
    server.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${text}`)));
    setTimeout(() => failed(new Error("the server printed no address")), kPatienceMs).unref();
  });
  return [server, url];
}

/// Ends a server and returns its exit code; null if the signal ended it at once.
export async function end(server: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
  if (server.exitCode !== null || server.signalCode !== null) return server.exitCode;
  const code = new Promise<number | null>((done) => server.on("exit", done));
  server.kill(signal);
  return code;
}

/// Returns what the browser complains about from now on, and the requests to other servers.
export function complaintsOf(page: Page, url: string): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) complaints.push(`request: ${request.url()}`);
  });
  return complaints;
}

/// Returns a text in one line. Programs wrap their text, and the page does not.
export const inOneLine = (text: string) => text.trim().replace(/\s+/g, " ");

export const figure = (page: Page, title: RegExp) => page.locator(".figure", { has: page.getByRole("heading", { name: title }) });

/// Marks the page, so that a test sees whether it was loaded again.
export const mark = (page: Page) => page.evaluate(() => void ((window as unknown as { marked: boolean }).marked = true));
export const isMarked = (page: Page) => page.evaluate(() => (window as unknown as { marked?: boolean }).marked === true);

/// Returns the number of states that the header names.
export const statesOf = async (page: Page) => Number(/^([\d,]+) states/.exec(await page.locator("header p").first().innerText())?.[1]?.replaceAll(",", ""));

/// Waits until the header names more states.
export async function moreStates(page: Page, than: number): Promise<void> {
  await page.waitForFunction((least) => Number.parseInt((document.querySelector("header p")?.textContent ?? "").replaceAll(",", "")) > least, than);
}
