// Stretches of a recording without a state: no controller wrote it, or its clock jumped ahead.
import { hasRealClock } from "../format";
import type { Recording } from "./recording";
import type { Stretch } from "./run";

/// Shortest time without a state that is a hole, seconds; and that in a recording of which the server sends only a part
/// of the states. There the states of a quiet stretch may be missing.
const kLeast = 120;
const kLeastOfPart = 1800;
/// A hole has at least as many times the usual time between two states.
const kTimesUsual = 8;
/// Number of gaps from which the usual one is taken.
const kSample = 200;

/// Returns the median time between two states, seconds.
function usualGap(at: readonly number[]): number {
  const step = Math.max(1, Math.ceil((at.length - 1) / kSample));
  const gaps: number[] = [];
  for (let i = 1; i < at.length; i += step) gaps.push((at[i] ?? 0) - (at[i - 1] ?? 0));
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? 0;
}

/// Returns the holes between ascending moments, seconds. A state is valid for the usual time between two states, so a
/// hole begins only then.
export function holesIn(at: readonly number[], shortest = kLeast): Stretch[] {
  const usual = usualGap(at);
  const least = Math.max(shortest, kTimesUsual * usual);
  return at.flatMap((to, i) => {
    const from = at[i - 1];
    return from !== undefined && to - from >= least ? [[from + usual, to] as const] : [];
  });
}

/// Returns the holes of a recording, seconds since its first state. A simulation of which only a part of the states was
/// sent has none: its readings are always of the same age, so all states of a quiet night may be missing.
export function holesOf({ at_ns, states }: Pick<Recording, "at_ns" | "states">): Stretch[] {
  const start = at_ns[0] ?? 0;
  const isPart = states > at_ns.length;
  if (isPart && !hasRealClock(start)) return [];
  return holesIn(at_ns.map((ns) => (ns - start) / 1e9), isPart ? kLeastOfPart : kLeast);
}

/// Returns the moments with the begin of each hole added, and a function that adds a missing value there to a list with
/// one value for each moment. Without it a chart would show the last value of before for the whole hole.
export function withHoles(at: readonly number[], holes: readonly Stretch[]): { at: number[]; fitted: <Value>(values: readonly Value[]) => (Value | null)[] } {
  // Several states may have the moment at which a hole ends.
  const begins = new Map(holes.map(([from, to]) => [at.indexOf(to), from]));
  const moments = at.flatMap((moment, i) => {
    const begin = begins.get(i);
    return begin === undefined ? [moment] : [begin, moment];
  });
  return { at: moments, fitted: (values) => values.flatMap((value, i) => (begins.has(i) ? [null, value] : [value])) };
}
