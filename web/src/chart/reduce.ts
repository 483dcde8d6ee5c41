// Reduces long series to few points. Of each stretch of points it keeps the least and the greatest value of each line,
// in their order, so that no peak is lost. A browser strokes steps and dashes of 100,000 points for half a minute.

export type Values = (number | null)[];

export interface Reduced {
  at: number[];
  values: Values[];
}

/// More points than this are reduced. A day has 1,440 minutes.
export const kMaxPoints = 2400;

/// Returns the first position whose moment is not less than `at`.
function firstFrom(times: number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// Returns the positions [first, last) of the moments in a stretch of time, both ends included.
export function pointsIn(times: number[], range: readonly [number, number]): [first: number, last: number] {
  let last = firstFrom(times, range[1]);
  while (last < times.length && times[last] === range[1]) ++last;
  return [firstFrom(times, range[0]), last];
}

/// Writes the two values that stand for values[from..to): the least and the greatest, the earlier one first.
function writeEnds(values: Values, from: number, to: number, into: Values): void {
  let [least, most, leastAt, mostAt] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -1];
  for (let i = from; i < to; ++i) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    if (value < least) {
      least = value;
      leastAt = i;
    }
    if (value > most) {
      most = value;
      mostAt = i;
    }
  }
  if (leastAt < 0) into.push(null, null);
  else if (leastAt < mostAt) into.push(least, most);
  else into.push(most, least);
}

/// Returns the points from `from` to `to` seconds, with one more on each side, as at most kMaxPoints points. If the
/// whole series has at most kMaxPoints points, returns all of them, whatever the stretch.
export function reduce(at: number[], lines: Values[], from: number, to: number): Reduced {
  if (at.length <= kMaxPoints) return { at, values: lines };
  const [inside, after] = pointsIn(at, [from, to]);
  const first = Math.max(0, at[inside] === from ? inside : inside - 1);
  const last = Math.min(at.length, at[after - 1] === to ? after : after + 1);
  if (last - first <= kMaxPoints) return { at: at.slice(first, last), values: lines.map((values) => values.slice(first, last)) };
  const step = Math.ceil((2 * (last - first)) / kMaxPoints);
  const times: number[] = [];
  const values: Values[] = lines.map(() => []);
  for (let i = first; i < last; i += step) {
    const end = Math.min(last, i + step);
    times.push(at[i] ?? 0, at[Math.min(end - 1, i + (step >> 1))] ?? 0);
    lines.forEach((line, k) => writeEnds(line, i, end, values[k] as Values));
  }
  // A last stretch of one point gives the same moment twice. Times must ascend, so the second one is removed.
  if ((times.at(-1) ?? 0) <= (times.at(-2) ?? -1)) {
    times.pop();
    for (const line of values) line.pop();
  }
  return { at: times, values };
}
