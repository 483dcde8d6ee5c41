// The requests that ended by minute in a recording or a controller, as the engines count them.
import type { Fleet } from "./fleet";

const kMinute = 60;

export interface ObservedDemand {
  /// Begins of the minutes, seconds.
  at: number[];
  requests: number[];
}

/// Returns the ended requests of a service by minute; undefined if no engine reports them.
export function observedDemand(fleet: Fleet, service: string): ObservedDemand | undefined {
  const own = fleet.use.filter((use) => use.requests > 0 && fleet.services[use.service]?.name === service);
  if (own.length === 0) return undefined;
  const first = Math.min(...own.map((use) => use.at));
  const length = Math.round((Math.max(...own.map((use) => use.at)) - first) / kMinute) + 1;
  const requests = new Array<number>(length).fill(0);
  for (const use of own) requests[Math.round((use.at - first) / kMinute)]! += use.requests;
  return { at: requests.map((_, i) => first + i * kMinute), requests };
}
