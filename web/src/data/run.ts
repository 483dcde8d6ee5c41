// A run as the views of the page show it. A simulation measures a run; a recording or a controller only saw it, so some
// figures are not known. A view leaves out what is not known.
import type { Table } from "../chart/download";
import type { Fleet } from "./fleet";
import type { LatencyPhases, Queue, Service, Start } from "./history";
import type { LogRow } from "./log";
import type { Percentiles } from "./result";
import type { Series } from "./series";

export type Stretch = readonly [from: number, to: number];

/// A number of a table. `moment` returns the moment that explains it, seconds; undefined: none is known.
export interface Figure {
  value: number;
  moment?: () => number | undefined;
}

/// The figures of one service in a table. An absent figure is not known. Latencies are microseconds, shares ppm.
export interface ServiceRow {
  name: string;
  /// The SLO in words.
  slo?: string;
  /// True if the service holds its SLO.
  isHeld?: boolean;
  arrived?: Figure;
  met?: Figure;
  /// Mean share of late requests that the engines report.
  late?: Figure;
  ttft?: Figure;
  tpot?: Figure;
  unmet?: Figure;
  wanted?: Figure;
  ready?: Figure;
  maxReady?: Figure;
  maxWaiting?: Figure;
  ended?: Figure;
  gpuHours?: Figure;
  usd?: Figure;
}

/// The figures of one class of jobs, or of one kind of workload that Capstan does not scale. Times are nanoseconds.
export interface JobRow {
  name: string;
  arrived: number;
  ended: number;
  /// Jobs that wait for GPUs at the end.
  waiting: number;
  wait_p50_ns: number;
  wait_p99_ns: number;
  gpu_hours: number;
  /// Undefined: no price is known.
  cost_usd: number | undefined;
  /// A controller knows neither restarts nor goals, so its recordings have neither of these two figures.
  restarts?: number;
  goal?: { finish_within_ns: number; asked_ppm: number; due: number; late: number; is_held: boolean };
}

/// The GPU-hours and the cost of one state of the GPUs, of one kind of node, or of one service. An undefined price is not
/// known.
export interface SpentPart {
  name: string;
  gpuHours: number;
  usd: number | undefined;
  moment?: () => number | undefined;
}

/// The cost of a service, with USD for 1,000 requests and for a million answer tokens.
export interface SpentUser extends SpentPart {
  perRequests: number | undefined;
  perTokens: number | undefined;
}

/// The cost of a run.
export interface Spent {
  /// Head of the table of states.
  head: string;
  note: string;
  /// `styleClass`: CSS class with the colour of the state.
  states: (SpentPart & { styleClass: string })[];
  nodes: (SpentPart & { capacity: string; zone: string })[];
  users: SpentUser[];
  /// The same for each team, which is a namespace; empty: the names have no namespaces.
  teams: SpentUser[];
  gpuHours: number;
  usd: number | undefined;
  table: () => Table;
}

/// One latency of the answers; a missing value is not known.
export interface LatencyRow {
  key: "ttft" | "tpot" | "e2e";
  values: Partial<Percentiles>;
  moment?: () => number | undefined;
}

/// A subject, such as "nodes", and what became of it.
export type Outcome = [subject: string, text: string];

/// How far the readings of the replicas can be trusted, over time.
export interface SignalHealth {
  /// Seconds.
  at: number[];
  /// Age of the oldest reading.
  ageMs: (number | null)[];
  /// Ready replicas without a usable reading.
  silent: (number | null)[];
  note: string;
}

/// The phases of requests, for all services and for each of them.
export interface RequestTimes {
  rows: { name: string; phases: LatencyPhases }[];
  /// Begin of the first minute, seconds.
  start: number;
  note: string;
}

/// Sentences above the tables of a run. They say what the figures cover and what is not measured; empty: nothing.
export interface Notes {
  services: string;
  jobs: string;
  latencies: string;
  outcomes: string;
}

export interface Run {
  /// Name of the policy.
  name: string;
  /// Seconds.
  length: number;
  /// True: the run is known only from the states that a controller saw.
  isObserved: boolean;
  /// The services and queues to which the rows of the fleet refer.
  services: Service[];
  queues: Queue[];
  series: Series | undefined;
  log: LogRow[];
  /// Further sentences about the log; empty: none.
  logNote: string;
  signals: SignalHealth | undefined;
  times: RequestTimes | undefined;
  starts: Start[] | undefined;
  /// Reads the history of nodes and replicas; undefined: there is none. It takes long for a large run, so it is read
  /// when a view needs it.
  fleet: (() => Fleet) | undefined;
  serviceRows: (range: Stretch) => ServiceRow[];
  jobRows: (range: Stretch) => JobRow[];
  spent: (range: Stretch) => Spent | undefined;
  latencies: (range: Stretch) => LatencyRow[];
  outcomes: (range: Stretch) => Outcome[];
  /// @param isPart  true: the charts show a part of the run
  notes: (isPart: boolean) => Notes;
  /// True: the rows, the cost, the latencies and the outcomes are those of the whole run, whatever stretch is asked for.
  isOfWhole: boolean;
  /// The moments that cost the most, seconds.
  moments: number[];
}

/// The note of a figure that does not follow the charts.
export const kOfWhole = "Of the whole run, not of the stretch that the charts show.";

/// Returns a function that makes a value when it is first called.
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
