// The address of the page follows the choices of the reader.
import { type Choice, choiceHash } from "./state";

/// Shortest time between two changes. Browsers refuse more than about a hundred changes in ten seconds.
const kEveryMs = 250;

let wanted: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let written = Number.NEGATIVE_INFINITY;

/// Writes the latest choice into the address if that has not been done yet.
export function flushAddress(): void {
  clearTimeout(timer);
  timer = undefined;
  if (wanted === undefined) return;
  history.replaceState(null, "", wanted || location.pathname + location.search);
  wanted = undefined;
  written = performance.now();
}

/// Shows a choice in the address, at once or a moment later.
export function showInAddress(choice: Choice): void {
  wanted = choiceHash(choice);
  const wait = written + kEveryMs - performance.now();
  if (wait <= 0) flushAddress();
  else timer ??= setTimeout(flushAddress, wait);
}
