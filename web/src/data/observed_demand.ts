// The number of requests that ended in each minute of a recording or a controller, as the engines count them.
import type { Fleet } from "./fleet";
import type { Demand } from "./series";

const kMinute = 60;
const kPrefill = "prefill";

/// Returns the ended requests of a service by minute, or of all services; undefined if no engine reports them. All
/// services together do not count the replicas for prefill, because a request of separate roles ends twice. A minute that
/// is not over yet is left out, because it would look like a fall of the demand.
export function observedDemand(fleet: Fleet, service: string | undefined): Demand | undefined {
  const isOwn = (one: number) => (service === undefined ? fleet.services[one]?.part !== kPrefill : fleet.services[one]?.name === service);
  const own = fleet.use.filter((use) => use.requests > 0 && isOwn(use.service) && use.at + kMinute <= fleet.end);
  if (own.length === 0) return undefined;
  const first = Math.min(...own.map((use) => use.at));
  const length = Math.round((Math.max(...own.map((use) => use.at)) - first) / kMinute) + 1;
  const ended = new Array<number>(length).fill(0);
  for (const use of own) ended[Math.round((use.at - first) / kMinute)]! += use.requests;
  return { at: ended.map((_, i) => first + i * kMinute), ended };
}
