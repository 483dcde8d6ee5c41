// The phases of requests in a stretch of time.
import type { LatencyPhases } from "./history";

const kMinute = 60;

/// The phases in their order: the key of the mean, and the key of its number of requests.
export const kRequestPhases = [
  ["gateway_us", "first_tokens"],
  ["queue_us", "first_tokens"],
  ["queue_prefill_us", "first_tokens"],
  ["prefill_us", "first_tokens"],
  ["transfer_us", "completed"],
  ["prefill_decode_us", "completed"],
  ["decode_us", "completed"],
] as const satisfies readonly (readonly [keyof LatencyPhases, "first_tokens" | "completed"])[];
/// Number of these phases, from the first on, that lie before the first token.
export const kFirstTokenPhases = 4;

/// Returns the mean of each phase in microseconds, over the requests of a stretch of time.
export function meanPhases(phases: LatencyPhases, range: readonly [number, number]): number[] {
  const first = Math.max(0, Math.floor(range[0] / kMinute));
  const last = Math.min(phases.first_tokens.length, Math.ceil(range[1] / kMinute));
  return kRequestPhases.map(([key, weight]) => {
    const [means, weights] = [phases[key], phases[weight]];
    let [sum, count] = [0, 0];
    for (let minute = first; minute < last; ++minute) {
      const requests = weights[minute] ?? 0;
      sum += (means?.[minute] ?? 0) * requests;
      count += requests;
    }
    return count > 0 ? sum / count : 0;
  });
}
