// The number of requests that came and that ended in each minute of a recording or a controller. Engines count only
// the ended ones. The number that came is this count plus the growth of the number of requests in flight.
import type { Fleet } from "./fleet";
import type { RecordedService } from "./recording";
import type { Stretch } from "./run";
import type { Demand } from "./series";

const kMinute = 60;
const kPrefill = "prefill";

/// Longest time between the begin of a minute and the state whose requests count for it, seconds.
const kNear = 30;

type Values = (number | null)[];

/// The requests that wait or run in the engines and at the gateway, at the moments of the states. Null: a replica does
/// not report them.
export interface InFlight {
  at: readonly number[];
  requests: Values;
}

/// Returns the waiting and running requests of services together.
export function inFlightOf(services: readonly RecordedService[], at: readonly number[]): InFlight {
  const of = ({ waiting, running, silent }: RecordedService, i: number) => ((silent[i] ?? 0) > 0 ? null : [waiting[i] ?? null, running?.[i] ?? null]);
  const requests = at.map((_, i) => {
    const known = services.flatMap((one) => of(one, i) ?? [null]);
    return known.length === 0 || known.includes(null) ? null : known.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  });
  return { at, requests };
}

/// Returns the requests of the last state up to each of the moments, which ascend; null: they are not known. If that state
/// does not know them, the nearest later state that knows them counts, or else the nearest earlier one, both within kNear.
/// Otherwise the demand would have a gap with every start, because a replica that has just become ready is silent for
/// a state.
function inFlightAt({ at, requests }: InFlight, moments: readonly number[]): Values {
  const isNear = (i: number, moment: number) => at[i] !== undefined && Math.abs(at[i] - moment) <= kNear;
  let next = 0;
  return moments.map((moment) => {
    while (next < at.length && (at[next] ?? 0) <= moment) ++next;
    if (next === 0) return null;
    let found = requests[next - 1] ?? null;
    for (let i = next; found === null && isNear(i, moment); ++i) found = requests[i] ?? null;
    for (let i = next - 2; found === null && isNear(i, moment); --i) found = requests[i] ?? null;
    return found;
  });
}

/// Returns the requests that came in each minute; undefined if no minute has a known number.
/// @param minutes  begins of consecutive minutes
function cameIn(minutes: readonly number[], ended: readonly number[], inFlight: InFlight): Values | undefined {
  const known = inFlightAt(inFlight, [...minutes, (minutes.at(-1) ?? 0) + kMinute]);
  const came = minutes.map((_, i) => {
    const [before, after] = [known[i] ?? null, known[i + 1] ?? null];
    return before === null || after === null ? null : Math.max(0, (ended[i] ?? 0) + after - before);
  });
  return came.some((value) => value !== null) ? came : undefined;
}

/// Returns the ended requests of a service by minute, or of all services; undefined if no engine reports them. All
/// services together do not count the replicas for prefill, because a request of separate roles ends twice. A minute that
/// is not over yet is left out, because it would look like a fall of the demand.
/// @param holes  stretches without a state. What ended in them is counted when they end, so no number of a minute that
///               overlaps one is known.
export function observedDemand(fleet: Fleet, service: string | undefined, inFlight: InFlight, holes: readonly Stretch[] = []): Demand | undefined {
  const isOwn = (one: number) => (service === undefined ? fleet.services[one]?.part !== kPrefill : fleet.services[one]?.name === service);
  const own = fleet.use.filter((use) => use.requests > 0 && isOwn(use.service) && use.at + kMinute <= fleet.end);
  if (own.length === 0) return undefined;
  const first = Math.min(...own.map((use) => use.at));
  const length = Math.round((Math.max(...own.map((use) => use.at)) - first) / kMinute) + 1;
  const ended = new Array<number>(length).fill(0);
  for (const use of own) ended[Math.round((use.at - first) / kMinute)]! += use.requests;
  const at = ended.map((_, i) => first + i * kMinute);
  const isKnown = (minute: number) => !holes.some(([from, to]) => minute < to && minute + kMinute > from);
  const known = (values: Values) => values.map((value, i) => (isKnown(at[i] ?? 0) ? value : null));
  const came = cameIn(at, ended, inFlight);
  return { at, ended: known(ended), ...(came === undefined ? {} : { came: known(came) }) };
}
