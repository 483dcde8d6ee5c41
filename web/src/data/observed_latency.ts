// The latency phases of a recording or a controller, computed from the times that the engines report.
import type { Fleet, UsedMinute } from "./fleet";
import type { LatencyPhases } from "./history";

const kMinute = 60;

export interface ObservedLatency {
  /// Start of the first minute, seconds; negative if the recording begins within a minute.
  start: number;
  /// All services together, then each of several services.
  rows: { name: string; phases: LatencyPhases }[];
}

/// Sums of one minute. A request of separate roles ends twice: at the replica that computes its prompt and at the one
/// that answers it.
interface Sums {
  prompts: number;
  answers: number;
  queue: number;
  prefill: number;
  decode: number;
  queuePrefill: number;
  prefillDecode: number;
  transfer: number;
  transfers: number;
}

function addTo(sums: Sums, use: UsedMinute, part: string): void {
  if (part !== "decode") sums.prompts += use.timedRequests;
  if (part !== "prefill") sums.answers += use.timedRequests;
  sums.decode += use.decodeUs;
  sums.queuePrefill += use.queuePrefillUs;
  sums.prefillDecode += use.prefillDecodeUs;
  sums.transfer += use.transferUs;
  sums.transfers += use.transfers;
  // A decode replica of vLLM counts the transfer as time in its queue, so the transfer is subtracted. It computes only
  // the few prompts whose KV cache was lost, so its prefill time does not count.
  const waited = use.transfers > 0 ? Math.min(use.queueUs, (use.transferUs / use.transfers) * use.timedRequests) : 0;
  sums.queue += part === "decode" ? use.queueUs - waited : use.queueUs;
  if (part !== "decode") sums.prefill += use.prefillUs;
}

function phasesOf(minutes: Sums[]): LatencyPhases {
  const mean = (sum: number, count: number) => (count > 0 ? sum / count : 0);
  return {
    first_tokens: minutes.map((one) => one.prompts),
    gateway_us: minutes.map(() => 0),
    queue_us: minutes.map((one) => mean(one.queue, one.prompts)),
    prefill_us: minutes.map((one) => mean(one.prefill, one.prompts)),
    completed: minutes.map((one) => one.answers),
    // Each rank of a replica may count its part of the transfer of a request. The parts happen at the same time, so the
    // time of the request is their mean, not their sum.
    transfer_us: minutes.map((one) => mean(one.transfer, one.transfers) * Math.min(1, mean(one.transfers, one.answers))),
    decode_us: minutes.map((one) => mean(one.decode, one.answers)),
    queue_prefill_us: minutes.map((one) => mean(one.queuePrefill, one.prompts)),
    prefill_decode_us: minutes.map((one) => mean(one.prefillDecode, one.answers)),
  };
}

/// Returns the phases by minute; undefined if no engine reports them.
export function observedLatency(fleet: Fleet): ObservedLatency | undefined {
  const timed = fleet.use.filter((use) => use.timedRequests > 0);
  if (timed.length === 0) return undefined;
  // All minutes begin at the same second of the clock.
  const offset = (((timed[0]?.at ?? 0) % kMinute) + kMinute) % kMinute;
  const start = offset === 0 ? 0 : offset - kMinute;
  const length = Math.max(...timed.map((use) => Math.round((use.at - start) / kMinute))) + 1;
  const empty = (): Sums[] => Array.from({ length }, () => ({ prompts: 0, answers: 0, queue: 0, prefill: 0, decode: 0, queuePrefill: 0, prefillDecode: 0, transfer: 0, transfers: 0 }));
  const all = empty();
  const byService = new Map<string, Sums[]>();
  for (const use of timed) {
    const { name, part } = fleet.services[use.service] ?? { name: "", part: "" };
    const isRole = part === "prefill" || part === "decode";
    // The parts of a service have names such as "chat prefill".
    const own = isRole && name.endsWith(` ${part}`) ? name.slice(0, -part.length - 1) : name;
    const minutes = byService.get(own) ?? empty();
    byService.set(own, minutes);
    const minute = Math.round((use.at - start) / kMinute);
    for (const sums of [all[minute], minutes[minute]]) if (sums !== undefined) addTo(sums, use, part);
  }
  const each = [...byService].map(([name, minutes]) => ({ name, phases: phasesOf(minutes) }));
  return { start, rows: each.length === 1 ? each : [{ name: "all services", phases: phasesOf(all) }, ...each] };
}
