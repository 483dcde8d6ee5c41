// The run of a recording or of a controller, from the states that the controller saw.
import { count } from "../format";
import { type Fleet, readFleet } from "./fleet";
import { seenLogOf } from "./log";
import { holesOf, withHoles } from "./holes";
import { type Measured, measuredDemand, measuredLatencies, measuredOf, measuredRow } from "./measured";
import { observedStarts } from "./observed";
import { inFlightOf, observedDemand } from "./observed_demand";
import { observedJobs } from "./observed_jobs";
import { observedLatency } from "./observed_latency";
import { measuredOutcomes, observedOutcomes } from "./outcomes";
import { lastBefore, observedServices, peakIn } from "./observed_services";
import type { RecordedHistory } from "./recorded";
import { isCarriedOut, type RecordedService, type Recording, scales, withoutRepeats } from "./recording";
import { kFirstTokenPhases, meanPhases } from "./request_times";
import type { JobRow, LatencyRow, Notes, Outcome, RequestTimes, Run, ServiceRow, Stretch } from "./run";
import { type Series, shortStretches } from "./series";
import { isServiceOrPart } from "./service";
import { spentIn } from "./spent";

type Values = (number | null)[];
type Key = Exclude<keyof RecordedService, "service">;

/// Returns the values of all services together; null where no service has a value. Undefined: no service has any.
function together(services: readonly RecordedService[], key: Key, moments: number, join: (values: number[]) => number): Values | undefined {
  const columns = services.flatMap((one) => (one[key] === undefined ? [] : [one[key]]));
  if (!columns.some((values) => values.some((value) => value !== null))) return undefined;
  return Array.from({ length: moments }, (_, i) => {
    const known = columns.flatMap((values) => (values[i] === null || values[i] === undefined ? [] : [values[i]]));
    return known.length === 0 ? null : join(known);
  });
}

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
const most = (values: number[]) => Math.max(...values);

/// Returns the bound of an SLO; 0: there is none, or the services have different ones.
function boundOf(services: readonly RecordedService[], at: number[], key: "ttft_slo_us" | "tpot_slo_us"): number {
  const bounds = new Set(services.map((one) => lastBefore(at, one[key], Number.POSITIVE_INFINITY) ?? 0));
  return bounds.size === 1 ? ([...bounds][0] ?? 0) : 0;
}

/// Returns the series of one service, or of several together. The share of late requests of several is not known, because
/// engines do not report to how many requests it applies.
/// @param whole  the moments with the holes between them
function seriesOf(services: readonly RecordedService[], at: number[], whole: ReturnType<typeof withHoles>, changes: number[], demand: Series["demand"]): Series | undefined {
  if (services.length === 0) return undefined;
  const { at: moments, fitted } = whole;
  const values = (key: Key, join: (values: number[]) => number) => {
    const all = together(services, key, at.length, join);
    return all === undefined ? undefined : fitted(all);
  };
  const none: Values = moments.map(() => null);
  const [desired, ready] = [values("desired", sum) ?? none, values("ready", sum) ?? none];
  const late = services.length === 1 ? values("late_ppm", sum) : undefined;
  const known = <Name extends keyof Series>(name: Name, value: Series[Name] | undefined) => (value === undefined ? {} : { [name]: value });
  return {
    at: moments,
    desired,
    ready,
    waiting: values("waiting", sum) ?? none,
    ...known("starting", values("starting", sum)),
    ...known("running", values("running", sum)),
    ...known("ttft", values("ttft_p99_us", most)),
    ...known("tpot", values("tpot_p99_us", most)),
    ...known("late", late),
    ...known("lateAllowed", late === undefined ? undefined : values("late_allowed_ppm", sum)),
    ...known("demand", demand),
    ttftSlo: boundOf(services, at, "ttft_slo_us"),
    tpotSlo: boundOf(services, at, "tpot_slo_us"),
    short: shortStretches(moments, desired, ready, 0),
    changes,
    isFromHistograms: true,
  };
}

function timesOf(fleet: Fleet, service: string | undefined): RequestTimes | undefined {
  const seen = observedLatency(fleet);
  const own = service === undefined ? undefined : seen?.rows.find((row) => row.name === service);
  if (seen === undefined) return undefined;
  return {
    rows: own === undefined ? seen.rows : [own],
    start: seen.start,
    note: "Computed from the sums that the engines report; a phase that an engine does not report is merged with the next one. The time at the gateway is not known.",
  };
}

/// Returns the means that follow from the engines' sums, and the highest 99th percentile of a replica. Other percentiles of
/// all requests together are not known.
function latenciesIn(series: Series | undefined, times: RequestTimes | undefined, range: Stretch): LatencyRow[] {
  const [all] = times?.rows ?? [];
  const means = all === undefined || times === undefined ? [] : meanPhases(all.phases, [range[0] - times.start, range[1] - times.start]);
  // Without a known first token, its mean is not known either.
  const isSplit = all?.phases.prefill_decode_us?.some((us) => us > 0) !== true;
  const [ttft, e2e] = [isSplit ? sum(means.slice(0, kFirstTokenPhases)) : 0, sum(means)];
  const row = (key: LatencyRow["key"], mean: number, values: Values | undefined): LatencyRow => {
    const peak = series === undefined ? undefined : peakIn(series.at, values, range);
    return { key, values: { ...(mean > 0 ? { mean_us: mean } : {}), ...(peak === undefined ? {} : { p99_us: peak.value }) }, ...(peak?.moment === undefined ? {} : { moment: peak.moment }) };
  };
  const rows = [row("ttft", ttft, series?.ttft), row("tpot", 0, series?.tpot), row("e2e", e2e, undefined)];
  return rows.filter(({ values }) => Object.keys(values).length > 0);
}

const kInStretch = "In the stretch that the charts show.";
const kFromEngines = "Late: the mean share over time that the engines report. Latencies are the highest of a replica. Both come from histograms with few bounds, so they may read too high.";
const kUnmeasured = "Not measured, because engines count only the requests that they end: requests that missed the SLO, failed, were rejected or were retried.";

/// Returns what the tables of a recording cover, and what is not measured.
function notesOf(isMeasured: boolean, isPart: boolean): Notes {
  const whole = isMeasured && !isPart;
  const onlyWhole = isMeasured ? " Show the whole recording to see what the simulation measured." : "";
  return {
    services: `${kInStretch} ${kFromEngines} ${isMeasured ? "The simulation counted requests and met ones by minute." : kUnmeasured}`,
    jobs: whole ? "As the simulation measured them." : `${kInStretch} Not measured: goals and restarts.${onlyWhole}`,
    latencies: whole
      ? "Of all requests, as the simulation measured them."
      : `${kInStretch} Means come from the sums that the engines report; p99 is the highest of a replica. Not measured, because engines export no single requests: other percentiles.${onlyWhole}`,
    outcomes: whole ? "Requests and tokens are as the simulation counted them." : `${kInStretch}${onlyWhole}`,
  };
}

/// The tables of a run in a stretch of time.
type Tables = Pick<Run, "serviceRows" | "jobRows" | "latencies" | "outcomes" | "notes">;

/// Returns the tables with the figures that the simulation measured. While the charts show a part, figures that it has
/// only for the whole recording are replaced by the figures of the controller.
/// @param measuredOfService  what was measured of a service
function withMeasured(seen: Tables, measured: Measured | undefined, measuredOfService: (name: string) => Measured | undefined, length: number): Tables {
  const isWhole = ([from, to]: Stretch) => from <= 0 && to >= length;
  const row = (one: ServiceRow, range: Stretch) => {
    const own = measuredOfService(one.name);
    return own === undefined ? one : { ...one, ...measuredRow(own, one.name, range) };
  };
  const jobs = (range: Stretch): readonly JobRow[] => (isWhole(range) ? (measured?.policy.jobs ?? []) : []);
  const exact = <Rows>(range: Stretch, rows: (measured: Measured) => Rows, otherwise: Rows): Rows => (measured !== undefined && isWhole(range) ? rows(measured) : otherwise);
  return {
    serviceRows: (range) => seen.serviceRows(range).map((one) => row(one, range)),
    jobRows: (range) => (jobs(range).length > 0 ? [...jobs(range)] : seen.jobRows(range)),
    latencies: (range) => exact<LatencyRow[]>(range, measuredLatencies, seen.latencies(range)),
    outcomes: (range) => exact<Outcome[]>(range, ({ policy }) => measuredOutcomes(policy, seen.outcomes(range)), seen.outcomes(range)),
    notes: (isPart) => notesOf(measured !== undefined, isPart),
  };
}

/// @param service  the service that the charts show alone; undefined: all
/// @param history  undefined: the server has not sent it yet
export function recordedRun(recording: Recording, history: RecordedHistory | undefined, service: string | undefined): Run {
  const start = recording.at_ns[0] ?? 0;
  const at = recording.at_ns.map((ns) => (ns - start) / 1e9);
  const length = at.at(-1) ?? 0;
  const holes = holesOf(recording);
  const whole = withHoles(at, holes);
  const none: Values = at.map(() => null);
  const chosen = recording.services.filter((one) => service === undefined || one.service === service);
  const actions = withoutRepeats(recording.actions);
  const log = seenLogOf(actions, start);
  const fleet = history === undefined ? undefined : readFleet(history.fleet, history.services, length, start / 1e9);
  const changes = actions.filter((action) => isCarriedOut(action) && chosen.some((one) => scales(action, one.service))).map((action) => (action.at_ns - start) / 1e9);
  const starts = fleet === undefined ? undefined : observedStarts(fleet).filter((one) => service === undefined || isServiceOrPart(service, fleet.services[one.service]?.name ?? ""));
  const names = recording.services.map((one) => one.service);
  const measured = measuredOf(recording.measured, names, service, start / 1e9);
  const demand = (measured && measuredDemand(measured)) ?? (fleet && observedDemand(fleet, service, inFlightOf(chosen, at), holes));
  const series = seriesOf(chosen, at, whole, changes, demand);
  const times = fleet === undefined ? undefined : timesOf(fleet, service);
  const left = recording.actions_left_out;
  const notes = [
    log.some((row) => (row.seen?.times ?? 1) > 1) ? "A decision that states in a row repeat is listed once." : "",
    left > 0 ? `${count(left)} older decisions are left out.` : "",
    recording.actions.some((action) => !isCarriedOut(action)) ? "Struck through: it was not carried out." : "",
  ];
  const tables: Tables = {
    serviceRows: (range) => observedServices(recording.services, at, fleet, range),
    jobRows: (range) => (fleet === undefined ? [] : observedJobs(fleet, range)),
    latencies: (range) => latenciesIn(series, times, range),
    outcomes: (range) => (fleet === undefined ? [] : observedOutcomes(fleet, starts ?? [], log, range)),
    notes: () => notesOf(false, true),
  };
  return {
    name: recording.policy,
    length,
    isObserved: true,
    services: history?.services ?? [],
    queues: history?.queues ?? [],
    series,
    log,
    logNote: notes.filter((note) => note !== "").join(" "),
    signals:
      chosen.length === 0
        ? undefined
        : {
            at: whole.at,
            ageMs: whole.fitted(together(chosen, "age_ms", at.length, most) ?? none),
            silent: whole.fitted(together(chosen, "silent", at.length, sum) ?? none),
            note: "The numbers of waiting requests that the replicas reported.",
          },
    times,
    starts,
    fleet: fleet === undefined ? undefined : () => fleet,
    spent: (range) => (fleet === undefined ? undefined : spentIn(fleet, range)),
    ...withMeasured(tables, measured, (name) => measuredOf(recording.measured, names, name, start / 1e9), length),
    isOfWhole: false,
    moments: [],
  };
}
