// A recording as the page uses it, and the reader of what `capstan serve RECORDING` sends: a result with one policy.
import type { FleetColumns } from "./history";
import type { RecordedHistory } from "./recorded";
import { readResult, type Result, Unreadable } from "./result";

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
  /// Mean share of late requests of the ready replicas, and the share that the SLO allows. Absent as above.
  late_ppm?: (number | null)[];
  late_allowed_ppm?: (number | null)[];
  /// Time to the first token of the slowest replica, and the bound of the SLO.
  ttft_p99_us?: (number | null)[];
  ttft_slo_us?: (number | null)[];
  /// Time per output token of the slowest replica, and the bound of the SLO.
  tpot_p99_us?: (number | null)[];
  tpot_slo_us?: (number | null)[];
}

/// The outcome of an action. "shadow": its layer is in the mode Shadow, so it was not carried out. "withheld": the
/// controller did not send it.
export type ActionResult = "applied" | "shadow" | "refused" | "unknown" | "withheld";

export interface RecordedAction {
  /// Position of the state in the recording.
  state: number;
  /// Position among the actions of the state, from 0.
  position: number;
  at_ns: number;
  layer: "scale" | "place" | "provision";
  action: string;
  /// Absent: no outcome has come, or the recording keeps none.
  result?: ActionResult;
  /// The reason why the action was not carried out.
  result_why?: string;
}

/// An action with its repeats. Later states repeat an action that takes time or is not carried out.
export interface RepeatedAction extends RecordedAction {
  /// Number of states that decided the action, at least 1.
  times: number;
  /// The last state that decided the action, and its moment.
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
  /// Number of damaged states of the recording, which are left out. Absent: none.
  states_damaged?: number;
  command: string;
  /// Number of times that the clock went back. The page counts them; the server does not send this.
  jumps?: number;
  /// The result of the simulation that was recorded. Absent: a controller was recorded, which measures no single requests.
  measured?: Result;
  /// The nodes and replicas up to the last state. Absent: the server sends them later.
  history?: RecordedHistory;
}

/// The decisions of one state, in the order of its actions.
export interface RecordedDecisions {
  state: number;
  at_ns: number;
  decisions: { arithmetic: string; command: string }[];
}

/// A new state of a simulation that runs, of a recording that grows, or of a controller.
export interface StateEvent {
  state: number;
  at_ns: number;
  services: Record<string, Partial<Record<(typeof kSeries)[number], number | null>>>;
  actions: RecordedAction[];
  /// The outcomes of earlier actions that have come since the last state. Absent: none.
  outcomes?: Pick<RecordedAction, "state" | "position" | "result" | "result_why">[];
}

const kSeries = ["desired", "ready", "starting", "waiting", "silent", "age_ms", "running", "late_ppm", "late_allowed_ppm", "ttft_p99_us", "ttft_slo_us", "tpot_p99_us", "tpot_slo_us"] as const;
/// A server of an earlier version does not send these.
const kLaterSeries: readonly string[] = ["running", "late_ppm", "late_allowed_ppm", "ttft_p99_us", "ttft_slo_us", "tpot_p99_us", "tpot_slo_us"];
/// Actions of a live run that the page keeps.
const kMaxActions = 10_000;

/// Returns the moments, each raised to the latest one before it and at least to `latest`, and how often they went back.
function withoutBackwardSteps(at_ns: number[], latest: number): { at_ns: number[]; jumps: number } {
  let [last, jumps] = [Number.NEGATIVE_INFINITY, 0];
  const steadied = at_ns.map((at) => {
    jumps += at < last ? 1 : 0;
    last = at;
    return (latest = Math.max(latest, at));
  });
  return { at_ns: steadied, jumps };
}

/// Returns the recording with moments that never go back. While the clock is behind its latest moment, that moment
/// counts, so that the log keeps all decisions and the charts stay in order.
export function withoutJumps(recording: Recording): Recording {
  const moments = withoutBackwardSteps(recording.at_ns, Number.NEGATIVE_INFINITY);
  const actions = withoutBackwardSteps(recording.actions.map((action) => action.at_ns), moments.at_ns[0] ?? Number.NEGATIVE_INFINITY);
  if (moments.jumps === 0 && actions.jumps === 0) return recording;
  return {
    ...recording,
    at_ns: moments.at_ns,
    actions: recording.actions.map((action, i) => ({ ...action, at_ns: actions.at_ns[i] ?? action.at_ns })),
    jumps: (recording.jumps ?? 0) + Math.max(moments.jumps, actions.jumps),
  };
}

/// Adds states with their decisions to a recording. A state that the recording has already is left out: after a lost
/// connection the server may send it again.
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
      if (kLaterSeries.includes(key) && !isSent) continue;
      const earlier = old?.[key] ?? new Array<number | null>(before).fill(null);
      made[key] = [...earlier, ...fresh.map((event) => event.services[service]?.[key] ?? null)];
    }
    return made;
  });
  const outcomes = new Map(fresh.flatMap((event) => event.outcomes ?? []).map((one) => [`${one.state}.${one.position}`, one]));
  const actions = [...recording.actions, ...fresh.flatMap((event) => event.actions)].map((action) => {
    const outcome = outcomes.get(`${action.state}.${action.position}`);
    return outcome === undefined ? action : { ...action, ...outcome };
  });
  const left = Math.max(0, actions.length - kMaxActions);
  // A result does not cover later states.
  const { measured: _, ...rest } = recording;
  return withoutJumps({
    ...rest,
    states: last.state + 1,
    at_ns: [...recording.at_ns, ...fresh.map((event) => event.at_ns)],
    services,
    actions: actions.slice(left),
    actions_left_out: recording.actions_left_out + left,
  });
}

/// The policy of a recording, in the form of a result.
interface RecordedPolicy extends Pick<Recording, "policy" | "actions" | "actions_left_out"> {
  by_state: { at_ns: number[]; services: (Omit<RecordedService, "service"> & { name: string })[] };
  fleet?: FleetColumns;
  /// Present if a simulation was recorded, as are all further keys of a result.
  requests?: Record<string, number>;
}

/// A recording in the form of a result.
type RecordedResult = Pick<Recording, "recording" | "states" | "states_damaged" | "command"> &
  Partial<Pick<RecordedHistory, "services" | "queues">> & { history_place?: string; policies: RecordedPolicy[] };

/// Returns the nodes and replicas that the data of the page contain; none if the server sends them later.
function historyIn({ services, queues, history_place, policies }: Partial<RecordedResult>): Pick<Recording, "history"> {
  const fleet = policies?.[0]?.fleet;
  if (fleet === undefined || services === undefined || queues === undefined) return {};
  return { history: { place: history_place ?? "", services, queues, fleet } };
}

/// Reads a recording from JSON; undefined if it is something else. Throws Unreadable if a part is missing.
export function readRecording(json: unknown, isLive = false): Recording | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const { policies, ...value }: Partial<RecordedResult> = json;
  if (typeof value.recording !== "string") return undefined;
  const policy: Partial<RecordedPolicy> = policies?.[0] ?? {};
  const { by_state: states, actions } = policy;
  if (!Array.isArray(states?.at_ns) || !Array.isArray(states.services)) throw new Unreadable("the states of the recording are no lists");
  if (!Array.isArray(actions)) throw new Unreadable("actions of the recording is no list");
  if (!isLive && states.at_ns.length === 0) throw new Unreadable("the recording is empty");
  return withoutJumps({
    recording: value.recording,
    policy: policy.policy ?? "",
    states: value.states ?? states.at_ns.length,
    at_ns: states.at_ns,
    services: states.services.map(({ name, ...series }) => ({ ...series, service: name })),
    actions,
    actions_left_out: policy.actions_left_out ?? 0,
    command: value.command ?? "",
    ...(value.states_damaged === undefined ? {} : { states_damaged: value.states_damaged }),
    ...(policy.requests === undefined ? {} : { measured: readResult(json) }),
    ...historyIn(json),
  });
}

/// Returns an action without its reason: "scale chat to 3 replicas, draining 5".
function withoutReason(action: RecordedAction): string {
  const end = action.action.indexOf(": ");
  return end < 0 ? action.action : action.action.slice(0, end);
}

/// Returns true if two equal decisions may be shown as one: they ended alike, or one of them has no outcome, because the
/// controller sends an action once and decides it again until it is done.
function haveSameOutcome(one: RecordedAction, other: RecordedAction): boolean {
  return one.result === undefined || other.result === undefined || one.result === other.result;
}

/// Returns true unless it is known that an action was not carried out.
export function isCarriedOut(action: RecordedAction): boolean {
  return action.result === undefined || action.result === "applied" || action.result === "unknown";
}

const kOutcomeWords: Record<ActionResult, string> = { applied: "applied", shadow: "Shadow", refused: "refused", unknown: "unknown", withheld: "not sent" };

/// Returns the outcome of an action in a word or two; empty if it is not known.
export function outcomeWord(action: RecordedAction): string {
  return action.result === undefined ? "" : kOutcomeWords[action.result];
}

/// Returns the actions. An action that consecutive states repeat is one row: while replicas drain, or if the controller
/// is in the mode Shadow, each state decides the same again.
export function withoutRepeats(actions: readonly RecordedAction[]): RepeatedAction[] {
  const latest = new Map<string, RepeatedAction>();
  const rows: RepeatedAction[] = [];
  for (const action of actions) {
    const key = `${action.layer} ${withoutReason(action)}`;
    const known = latest.get(key);
    if (known !== undefined && action.state === known.until_state + 1 && haveSameOutcome(known, action)) {
      ++known.times;
      if (known.result === undefined && action.result !== undefined) Object.assign(known, { result: action.result, ...(action.result_why === undefined ? {} : { result_why: action.result_why }) });
      [known.until_state, known.until_ns] = [action.state, action.at_ns];
      continue;
    }
    const row = { ...action, times: 1, until_state: action.state, until_ns: action.at_ns };
    rows.push(row);
    latest.set(key, row);
  }
  return rows;
}

/// Returns the service, role or variant whose number of replicas an action changes; undefined if it changes none. A
/// conversion counts for the service that gains the replica.
export function scaledService(action: RecordedAction): string | undefined {
  if (action.layer !== "scale") return undefined;
  return (/^scale (.+) to \d/.exec(action.action) ?? /^convert .+ from .+ to (.+)$/.exec(withoutReason(action)))?.[1];
}

/// Returns true if an action scales the service, or converts a replica to it or from it. In a recording, each role and
/// each variant is a service with a name of its own.
export function scales(action: RecordedAction, service: string): boolean {
  return action.layer === "scale" && (action.action.startsWith(`scale ${service} to `) || (action.action.startsWith("convert ") && withoutReason(action).split(/ from | to /).includes(service)));
}
