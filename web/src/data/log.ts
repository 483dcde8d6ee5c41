// The decision log of a run: changes of the wanted replicas, and what was decided about pods and nodes.
import { type ActionResult, isCarriedOut, outcomeWord, type RepeatedAction, scaledService } from "./recording";
import { decideCommand, explainCommand } from "./explain";
import { type Service, partName } from "./history";
import type { Policy, Result } from "./result";

export const kLayers = ["scale", "place", "provision"] as const;
export type Layer = (typeof kLayers)[number];

/// The further columns of a decision in a recording or of a controller.
export interface SeenDecision {
  /// The state that decided it first, and its position among the decisions of that state.
  state: number;
  position: number;
  /// Absent: no outcome has come.
  result?: ActionResult;
  /// The outcome in a word or two; empty: it is not known.
  outcome: string;
  /// The reason why it was not carried out.
  resultWhy?: string;
  isCarriedOut: boolean;
  /// Number of states in a row that decided it, and the last of them with its moment in seconds.
  times: number;
  untilState: number;
  until: number;
}

/// One row of the decision log.
export interface LogRow {
  /// Number of the decision in the address.
  id: number;
  /// Seconds since the start.
  at: number;
  layer: Layer;
  /// The service, role or variant of the decision; empty: the only service, or none. Always empty if `seen` is present.
  part: string;
  /// Change of the replicas, such as "2 → 5", or "scale" if `seen` is present; "pods" or "nodes" for the other layers.
  change: string;
  before: number | undefined;
  desired: number | undefined;
  why: string;
  arithmetic: string | undefined;
  /// The command that prints the decision again; undefined: there is none.
  command: string | undefined;
  /// The service, role or variant whose replicas the decision changes; a later decision about it replaces this one.
  subject: string;
  /// Absent: the decision is from the result of a simulation. Otherwise a server has its arithmetic and its command.
  seen?: SeenDecision;
}

function scaleRows(result: Result, policy: Policy): LogRow[] {
  const last = new Map<string, number>();
  const services = result.services ?? [];
  const steps = policy.scale_steps ?? [];
  // `capstan explain` cannot explain a decision of a policy that states no arithmetic, so there is no command then.
  const isStated = steps.some((step) => step.arithmetic !== undefined);
  return steps.map((step) => {
    const before = last.get(step.part);
    last.set(step.part, step.desired);
    const service = services.find((one) => one.name === step.part || one.part === step.part) ?? services[0];
    return {
      id: 0,
      at: step.at_ns / 1e9,
      layer: "scale",
      subject: step.part,
      part: step.part,
      change: before === undefined ? `starts at ${step.desired}` : `${before} → ${step.desired}`,
      before,
      desired: step.desired,
      why: step.why,
      arithmetic: step.arithmetic,
      command: isStated && service !== undefined ? explainCommand(result, policy, step.at_ns, service.name) : undefined,
    };
  });
}

function lowerRows(result: Result, policy: Policy, services: Service[]): LogRow[] {
  return (policy.actions ?? []).map((action) => ({
    id: 0,
    subject: "",
    at: action.at_ns / 1e9,
    layer: action.layer,
    part: action.service === null ? "" : partName(services, action.service),
    change: action.layer === "place" ? "pods" : "nodes",
    before: undefined,
    desired: undefined,
    why: action.action,
    arithmetic: action.arithmetic,
    command: action.object === "" ? decideCommand(result, policy, action.at_ns, action.layer) : explainCommand(result, policy, action.at_ns, action.object),
  }));
}

/// Returns all decisions in the order of time. Decisions of one moment are in the order of the layers.
export function logOf(result: Result, policy: Policy): LogRow[] {
  const rows = [...scaleRows(result, policy), ...lowerRows(result, policy, result.services ?? [])];
  rows.sort((a, b) => a.at - b.at || kLayers.indexOf(a.layer) - kLayers.indexOf(b.layer));
  return rows.map((row, id) => ({ ...row, id }));
}

/// Largest number of decisions of a state. The number of a decision is its state times this, plus its position.
const kDecisionsOfState = 10_000;

const kChanges: Record<Layer, string> = { scale: "scale", place: "pods", provision: "nodes" };

/// Returns the decisions that a controller made.
/// @param start  moment of the first state of the recording, nanoseconds
export function seenLogOf(actions: readonly RepeatedAction[], start: number): LogRow[] {
  return actions.map((action) => ({
    id: action.state * kDecisionsOfState + action.position,
    at: (action.at_ns - start) / 1e9,
    layer: action.layer,
    part: "",
    change: kChanges[action.layer],
    before: undefined,
    desired: undefined,
    why: action.action,
    arithmetic: undefined,
    command: undefined,
    subject: scaledService(action) ?? "",
    seen: {
      state: action.state,
      position: action.position,
      ...(action.result === undefined ? {} : { result: action.result }),
      outcome: outcomeWord(action),
      ...(action.result_why === undefined ? {} : { resultWhy: action.result_why }),
      isCarriedOut: isCarriedOut(action),
      times: action.times,
      untilState: action.until_state,
      until: (action.until_ns - start) / 1e9,
    },
  }));
}

/// Returns the row of a decision; undefined if the log does not have it. A later state that repeats a decision has no
/// row of its own, so the row of the first state is returned.
export function rowOf(rows: readonly LogRow[], id: number | undefined): LogRow | undefined {
  if (id === undefined) return undefined;
  const exact = rows.find((row) => row.id === id);
  if (exact !== undefined) return exact;
  const state = Math.floor(id / kDecisionsOfState);
  return rows.find((row) => row.seen !== undefined && row.seen.times > 1 && row.seen.state < state && state <= row.seen.untilState);
}

/// Returns the decisions in a stretch of time, of a layer (empty: all), that contain the words of a filter.
export function chosenRows(rows: readonly LogRow[], range: readonly [number, number], layer: string, words: string): LogRow[] {
  const wanted = words.trim().toLowerCase();
  return rows.filter(
    (row) =>
      (row.seen?.until ?? row.at) >= range[0] &&
      row.at <= range[1] &&
      (layer === "" || row.layer === layer) &&
      (wanted === "" || `${row.part} ${row.why}`.toLowerCase().includes(wanted)),
  );
}

/// Returns the changes of replicas that were in force at a moment: the last one of each part.
export function inForce(rows: readonly LogRow[], at: number | undefined): Set<LogRow> {
  const last = new Map<string, LogRow>();
  for (const row of rows) if (at !== undefined && row.at <= at && row.layer === "scale") last.set(row.subject, row);
  return new Set(last.values());
}
