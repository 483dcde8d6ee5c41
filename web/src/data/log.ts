// The decision log of a policy: changes of the wanted replicas, and what was decided about pods and nodes.
import { decideCommand, explainCommand } from "./explain";
import { type Service, partName } from "./history";
import type { Policy, Result } from "./result";

export const kLayers = ["scale", "place", "provision"] as const;
export type Layer = (typeof kLayers)[number];

/// One row of the decision log.
export interface LogRow {
  /// Seconds since the start.
  at: number;
  layer: Layer;
  /// The service, role or variant of the decision; empty: the only service, or none.
  part: string;
  /// "2 → 5"; for pods and nodes the layer.
  change: string;
  before: number | undefined;
  desired: number | undefined;
  why: string;
  arithmetic: string | undefined;
  /// The command that prints the decision again; undefined: there is none.
  command: string | undefined;
}

function scaleRows(result: Result, policy: Policy): LogRow[] {
  const last = new Map<string, number>();
  const services = result.services ?? [];
  const steps = policy.scale_steps ?? [];
  // A policy that states no arithmetic cannot be explained either.
  const isStated = steps.some((step) => step.arithmetic !== undefined);
  return steps.map((step) => {
    const before = last.get(step.part);
    last.set(step.part, step.desired);
    const service = services.find((one) => one.name === step.part || one.part === step.part) ?? services[0];
    return {
      at: step.at_ns / 1e9,
      layer: "scale",
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
  return rows.sort((a, b) => a.at - b.at || kLayers.indexOf(a.layer) - kLayers.indexOf(b.layer));
}

/// Returns the decisions in a stretch of time, of a layer (empty: all), that contain the words of a filter.
export function chosenRows(rows: readonly LogRow[], range: readonly [number, number], layer: string, words: string): LogRow[] {
  const wanted = words.trim().toLowerCase();
  return rows.filter(
    (row) =>
      row.at >= range[0] &&
      row.at <= range[1] &&
      (layer === "" || row.layer === layer) &&
      (wanted === "" || `${row.part} ${row.why}`.toLowerCase().includes(wanted)),
  );
}

/// Returns the changes of replicas that were in force at a moment: the last one of each part.
export function inForce(rows: readonly LogRow[], at: number | undefined): Set<LogRow> {
  const last = new Map<string, LogRow>();
  for (const row of rows) if (at !== undefined && row.at <= at && row.layer === "scale") last.set(row.part, row);
  return new Set(last.values());
}
