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
  /// Requests that the engines compute. Absent: the server does not send it.
  running?: (number | null)[];
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

/// An action that the states after it may repeat without a change, because it takes time or is not carried out.
export interface RepeatedAction extends RecordedAction {
  /// States that decided it, at least 1.
  times: number;
  /// The last of them, and its moment.
  until_state: number;
  until_ns: number;
}

export interface Recording {
  recording: string;
  policy: string;
  states: number;
  at_ns: number[];
  services: RecordedService[];
  actions: RecordedAction[];
  actions_left_out: number;
  /// Damaged states of the recording, which are left out. Absent: none.
  states_damaged?: number;
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
  services: Record<string, Partial<Record<(typeof kSeries)[number], number | null>>>;
  actions: RecordedAction[];
}

const kSeries = ["desired", "ready", "starting", "waiting", "silent", "age_ms", "running"] as const;
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
      const isSent = old?.[key] !== undefined || fresh.some((event) => event.services[service]?.[key] !== undefined);
      if (key === "running" && !isSent) continue;
      const earlier = old?.[key] ?? new Array<number | null>(before).fill(null);
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

/// Returns an action without its reason: "scale chat to 3 replicas, draining 5".
function withoutReason(action: RecordedAction): string {
  const end = action.action.indexOf(": ");
  return end < 0 ? action.action : action.action.slice(0, end);
}

/// Returns the actions; those that one state after the other repeats are one. While replicas drain, or if the controller
/// is in the mode Shadow, each state decides the same again.
export function withoutRepeats(actions: readonly RecordedAction[]): RepeatedAction[] {
  const latest = new Map<string, RepeatedAction>();
  const rows: RepeatedAction[] = [];
  for (const action of actions) {
    const key = `${action.layer} ${withoutReason(action)}`;
    const known = latest.get(key);
    if (known !== undefined && action.state === known.until_state + 1) {
      ++known.times;
      [known.until_state, known.until_ns] = [action.state, action.at_ns];
      continue;
    }
    const row = { ...action, times: 1, until_state: action.state, until_ns: action.at_ns };
    rows.push(row);
    latest.set(key, row);
  }
  return rows;
}

/// Returns true if a row stands for an action.
export function isRepeatOf(row: RepeatedAction, action: RecordedAction): boolean {
  if (row.state === action.state) return row.position === action.position;
  return row.layer === action.layer && row.state < action.state && action.state <= row.until_state && withoutReason(row) === withoutReason(action);
}

/// Returns true if an action changes the number of replicas of a service, of one of its roles or of a variant of it.
export function scales(action: RecordedAction, service: string): boolean {
  return action.layer === "scale" && (action.action.startsWith(`scale ${service} to `) || (action.action.startsWith("convert ") && withoutReason(action).split(/ from | to /).includes(service)));
}

/// Returns the actions in a stretch of time (seconds since the first state) whose layer is `layer` and whose text
/// contains `words`. An empty filter matches every action. An action that is repeated is in the stretch if one of its
/// states is.
export function chosenActions<Action extends RecordedAction & { until_ns?: number }>(
  recording: { at_ns: readonly number[]; actions: readonly Action[] },
  range: readonly [number, number],
  layer: string,
  words: string,
): Action[] {
  const first = recording.at_ns[0] ?? 0;
  const wanted = words.trim().toLowerCase();
  return recording.actions.filter((action) => {
    const [from, until] = [(action.at_ns - first) / 1e9, ((action.until_ns ?? action.at_ns) - first) / 1e9];
    if (until < range[0] || from > range[1]) return false;
    return (layer === "" || action.layer === layer) && (wanted === "" || action.action.toLowerCase().includes(wanted));
  });
}
