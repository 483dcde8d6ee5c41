// The server of the page: `capstan serve`, or a controller. A page from disk has none.
import type { Policy, Result } from "../data/result";
import { type Choice, choiceHash, parseChoice } from "../state";

/// The settings of the scenario that the page can change: their bounds, and the values in the scenario.
export interface Limits {
  factor_min: number;
  factor_max: number;
  has_spot: boolean;
  spot_interruptions_percent_per_hour: number;
  has_minimum: boolean;
  min_replicas: number;
  max_replicas: number;
}

export interface Server {
  /// Name of the file or of the controller that is shown.
  source: string;
  /// Null: the result cannot be simulated again.
  what_if: Limits | null;
  /// Simulated time for each unit of real time; 0: a recording that may grow, or a controller; null: the data is final.
  live_speed: number | null;
  /// True: the server is a controller that runs.
  is_controller: boolean;
}

/// A change of the scenario; absent fields leave it as it is.
export interface Change {
  load_factor?: number;
  price_factor?: number;
  spot_interruptions_percent_per_hour?: number;
  min_replicas?: number;
}

/// Reads the description that the server wrote into the page; undefined for a page from disk.
export function readServer(text: string): Server | undefined {
  const value: unknown = text === "" ? null : JSON.parse(text);
  return value === null ? undefined : (value as Server);
}

/// Asks for a simulation and returns the JSON of its result. Throws an Error whose message is for people.
export async function simulate(change: Change, signal: AbortSignal): Promise<string> {
  let response: Response;
  try {
    response = await fetch("api/what-if", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(change),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error("The server does not answer. It may have ended: start capstan serve again.");
  }
  const text = await response.text();
  if (response.ok) return text;
  let why = `the server answered with status ${response.status}`;
  try {
    why = (JSON.parse(text) as { error: string }).error;
  } catch {
    // The answer is not from Capstan, but from a proxy for example. Only its status is known.
  }
  throw new Error(why);
}

/// Returns an address that shows the same policies of another result, whose order may differ.
export function hashFor(hash: string, from: Result, to: Result): string {
  const choice: Choice = parseChoice(hash, from.policies.length);
  const position = (at: number) => to.policies.findIndex((policy) => policy.policy === from.policies[at]?.policy);
  const shownPolicy = Math.max(0, position(choice.shownPolicy));
  const comparedPolicy = position(choice.comparedPolicy);
  return choiceHash({ ...choice, shownPolicy, comparedPolicy: comparedPolicy === shownPolicy ? -1 : comparedPolicy });
}

/// Returns the pairs of a policy in both results, in the order of the first.
export function pairs(stated: Result, changed: Result): [Policy, Policy][] {
  return stated.policies.flatMap((policy) => {
    const other = changed.policies.find((one) => one.policy === policy.policy);
    return other === undefined ? [] : [[policy, other] as [Policy, Policy]];
  });
}

/// Says a change in words: "load × 2, prices × 0.5".
export function changeWords(change: Change): string {
  const words = [
    change.load_factor === undefined ? "" : `load × ${change.load_factor}`,
    change.price_factor === undefined ? "" : `prices × ${change.price_factor}`,
    change.spot_interruptions_percent_per_hour === undefined
      ? ""
      : change.spot_interruptions_percent_per_hour === 0
        ? "no spot interruptions"
        : `spot interruptions ${change.spot_interruptions_percent_per_hour} % an hour`,
    change.min_replicas === undefined ? "" : `at least ${change.min_replicas} replicas`,
  ].filter((part) => part !== "");
  return words.length === 0 ? "nothing changed" : words.join(", ");
}
