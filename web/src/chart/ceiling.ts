// Chooses the top of an axis of latencies, because a single spike would press all other values to the bottom.

/// Share of the values that the chart shows in any case.
const kTypicalShare = 0.98;
/// A peak above this multiple of the typical value is cut off, at `kRoom` times the typical value.
const kSpike = 6;
const kRoom = 2.5;

/// Returns the value at which an axis ends; undefined if it should show all values.
/// @param limit  a value that the axis shows in any case; 0: none
export function ceilingOf(values: readonly (readonly (number | null | undefined)[])[], limit: number): number | undefined {
  const sorted = values.flat().filter((value): value is number => value !== null && value !== undefined && value > 0).sort((a, b) => a - b);
  const peak = sorted.at(-1) ?? 0;
  const typical = Math.max(limit, sorted[Math.floor(kTypicalShare * (sorted.length - 1))] ?? 0);
  return typical > 0 && peak > kSpike * typical ? kRoom * typical : undefined;
}
