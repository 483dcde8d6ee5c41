// Long series as few points: of each stretch of points the least and the greatest value of each line, in their order, so
// that no peak is lost. A browser strokes steps and dashes of 100,000 points for half a minute.

export type Values = (number | null)[];

export interface Reduced {
  at: number[];
  values: Values[];
}

/// More points than this are reduced. A day has 1,440 minutes.
export const kPointsMost = 2400;

/// Returns the two values that stand for values[from..to): the least and the greatest, the earlier one first.
function ends(values: Values, from: number, to: number): [number | null, number | null] {
  let [least, most, leastAt, mostAt] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -1];
  for (let i = from; i < to; ++i) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    if (value < least) [least, leastAt] = [value, i];
    if (value > most) [most, mostAt] = [value, i];
  }
  if (leastAt < 0) return [null, null];
  return leastAt < mostAt ? [least, most] : [most, least];
}

/// Returns the points from `from` to `to` seconds, with one more on each side, as at most kPointsMost points. A series
/// that is short enough is returned as it is.
export function reduce(at: number[], lines: Values[], from: number, to: number): Reduced {
  if (at.length <= kPointsMost) return { at, values: lines };
  let first = 0;
  while (first + 1 < at.length && (at[first + 1] ?? 0) <= from) ++first;
  let last = at.length;
  while (last > first + 1 && (at[last - 2] ?? 0) >= to) --last;
  if (last - first <= kPointsMost) return { at: at.slice(first, last), values: lines.map((values) => values.slice(first, last)) };
  const step = Math.ceil((2 * (last - first)) / kPointsMost);
  const times: number[] = [];
  const values: Values[] = lines.map(() => []);
  for (let i = first; i < last; i += step) {
    const end = Math.min(last, i + step);
    times.push(at[i] ?? 0, at[Math.min(end - 1, i + (step >> 1))] ?? 0);
    lines.forEach((line, k) => values[k]?.push(...ends(line, i, end)));
  }
  // Times ascend: a stretch of one point at the end has the same moment twice.
  if ((times.at(-1) ?? 0) <= (times.at(-2) ?? -1)) {
    times.pop();
    for (const line of values) line.pop();
  }
  return { at: times, values };
}
