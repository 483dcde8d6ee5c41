// A recording as `capstan serve RECORDING` sends it.
import { Unreadable } from "../data/result";

export interface RecordedService {
  service: string;
  desired: (number | null)[];
  ready: (number | null)[];
  starting: (number | null)[];
  waiting: (number | null)[];
  /// Ready replicas without a usable reading.
  silent: (number | null)[];
  /// Age of the oldest reading.
  age_ms: (number | null)[];
}

export interface RecordedAction {
  /// Position of the state in the recording.
  state: number;
  /// Number among the actions of the state.
  position: number;
  at_ns: number;
  layer: "scale" | "place" | "provision";
  action: string;
}

export interface Recording {
  recording: string;
  policy: string;
  states: number;
  at_ns: number[];
  services: RecordedService[];
  actions: RecordedAction[];
  actions_left_out: number;
  command: string;
  /// Times that the clock went back; only this page counts them.
  jumps?: number;
}

/// The decisions of one state, in the order of its actions.
export interface RecordedDecisions {
  state: number;
  at_ns: number;
  decisions: { arithmetic: string; command: string }[];
}

/// One decision of a simulation that runs.
export interface StateEvent {
  state: number;
  at_ns: number;
  services: Record<string, Record<(typeof kSeries)[number], number | null>>;
  actions: RecordedAction[];
}

const kSeries = ["desired", "ready", "starting", "waiting", "silent", "age_ms"] as const;
/// Actions of a live run that the page keeps.
const kActionsMost = 10_000;

/// Moments that never go back, and how often they did before.
function steady(at_ns: number[], latest: number): { at_ns: number[]; jumps: number } {
  let [last, jumps] = [Number.NEGATIVE_INFINITY, 0];
  const steadied = at_ns.map((at) => {
    jumps += at < last ? 1 : 0;
    last = at;
    return (latest = Math.max(latest, at));
  });
  return { at_ns: steadied, jumps };
}

/// Shows each moment after the clock went back at the latest moment before, so that no decision is lost from the log and
/// the charts stay in order.
export function withoutJumps(recording: Recording): Recording {
  const moments = steady(recording.at_ns, Number.NEGATIVE_INFINITY);
  const actions = steady(recording.actions.map((action) => action.at_ns), moments.at_ns[0] ?? Number.NEGATIVE_INFINITY);
  if (moments.jumps === 0 && actions.jumps === 0) return recording;
  return {
    ...recording,
    at_ns: moments.at_ns,
    actions: recording.actions.map((action, i) => ({ ...action, at_ns: actions.at_ns[i] ?? action.at_ns })),
    jumps: (recording.jumps ?? 0) + Math.max(moments.jumps, actions.jumps),
  };
}

/// Adds decisions to a recording. A decision that the recording has already is left out: after a lost connection the
/// server may send it again.
export function withStates(recording: Recording, events: StateEvent[]): Recording {
  const fresh = events.filter((event, i) => event.state >= recording.states && (i === 0 || event.state > (events[i - 1]?.state ?? -1)));
  const last = fresh.at(-1);
  if (last === undefined) return recording;
  const names = new Set([...recording.services.map((one) => one.service), ...fresh.flatMap((event) => Object.keys(event.services))]);
  const before = recording.at_ns.length;
  const services = [...names].map((service) => {
    const old = recording.services.find((one) => one.service === service);
    const made: RecordedService = { service, desired: [], ready: [], starting: [], waiting: [], silent: [], age_ms: [] };
    for (const key of kSeries) {
      const earlier = old === undefined ? new Array<number | null>(before).fill(null) : old[key];
      made[key] = [...earlier, ...fresh.map((event) => event.services[service]?.[key] ?? null)];
    }
    return made;
  });
  const actions = [...recording.actions, ...fresh.flatMap((event) => event.actions)];
  const left = Math.max(0, actions.length - kActionsMost);
  return withoutJumps({
    ...recording,
    states: last.state + 1,
    at_ns: [...recording.at_ns, ...fresh.map((event) => event.at_ns)],
    services,
    actions: actions.slice(left),
    actions_left_out: recording.actions_left_out + left,
  });
}

/// Reads a recording from JSON; undefined if it is something else. Throws Unreadable if a part is missing.
export function readRecording(json: unknown, isLive = false): Recording | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const value: Partial<Recording> = json;
  if (typeof value.recording !== "string") return undefined;
  for (const key of ["at_ns", "services", "actions"] as const) {
    if (!Array.isArray(value[key])) throw new Unreadable(`${key} of the recording is no list`);
  }
  if (!isLive && (value.at_ns as number[]).length === 0) throw new Unreadable("the recording is empty");
  return withoutJumps(value as Recording);
}

/// Returns the actions in a stretch of time (seconds since the first state) whose layer is `layer` and whose text
/// contains `words`. An empty filter matches every action.
export function chosenActions(recording: Recording, range: readonly [number, number], layer: string, words: string): RecordedAction[] {
  const first = recording.at_ns[0] ?? 0;
  const wanted = words.trim().toLowerCase();
  return recording.actions.filter((action) => {
    const at = (action.at_ns - first) / 1e9;
    if (at < range[0] || at > range[1]) return false;
    return (layer === "" || action.layer === layer) && (wanted === "" || action.action.toLowerCase().includes(wanted));
  });
}
