// The run of a recording or of a controller, from the states that the controller saw.
import { count } from "../format";
import { type Fleet, readFleet } from "./fleet";
import { seenLogOf } from "./log";
import { observedStarts } from "./observed";
import { observedDemand } from "./observed_demand";
import { observedJobs } from "./observed_jobs";
import { observedLatency } from "./observed_latency";
import { observedOutcomes } from "./outcomes";
import { lastBefore, observedServices, peakIn } from "./observed_services";
import type { RecordedHistory } from "./recorded";
import { isCarriedOut, type RecordedService, type Recording, scales, withoutRepeats } from "./recording";
import { kFirstTokenPhases, meanPhases } from "./request_times";
import type { LatencyRow, RequestTimes, Run, Stretch } from "./run";
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
function seriesOf(services: readonly RecordedService[], at: number[], changes: number[], demand: Series["demand"]): Series | undefined {
  if (services.length === 0) return undefined;
  const values = (key: Key, join: (values: number[]) => number) => together(services, key, at.length, join);
  const none: Values = at.map(() => null);
  const [desired, ready] = [values("desired", sum) ?? none, values("ready", sum) ?? none];
  const late = services.length === 1 ? values("late_ppm", sum) : undefined;
  const known = <Name extends keyof Series>(name: Name, value: Series[Name] | undefined) => (value === undefined ? {} : { [name]: value });
  return {
    at,
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
    short: shortStretches(at, desired, ready, 0),
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
    return { key, values: { ...(mean > 0 ? { mean_us: mean } : {}), ...(peak === undefined ? {} : { p99_us: peak.value }) }, ...(peak?.lead === undefined ? {} : { lead: peak.lead }) };
  };
  const rows = [row("ttft", ttft, series?.ttft), row("tpot", 0, series?.tpot), row("e2e", e2e, undefined)];
  return rows.filter(({ values }) => Object.keys(values).length > 0);
}

/// @param service  the service that the charts show alone; undefined: all
/// @param history  undefined: the server has not sent it yet
export function recordedRun(recording: Recording, history: RecordedHistory | undefined, service: string | undefined): Run {
  const start = recording.at_ns[0] ?? 0;
  const at = recording.at_ns.map((ns) => (ns - start) / 1e9);
  const length = at.at(-1) ?? 0;
  const chosen = recording.services.filter((one) => service === undefined || one.service === service);
  const actions = withoutRepeats(recording.actions);
  const log = seenLogOf(actions, start);
  const fleet = history === undefined ? undefined : readFleet(history.fleet, history.services, length, start / 1e9);
  const changes = actions.filter((action) => isCarriedOut(action) && chosen.some((one) => scales(action, one.service))).map((action) => (action.at_ns - start) / 1e9);
  const starts = fleet === undefined ? undefined : observedStarts(fleet).filter((one) => service === undefined || isServiceOrPart(service, fleet.services[one.service]?.name ?? ""));
  const series = seriesOf(chosen, at, changes, fleet === undefined ? undefined : observedDemand(fleet, service));
  const times = fleet === undefined ? undefined : timesOf(fleet, service);
  const left = recording.actions_left_out;
  const notes = [
    log.some((row) => (row.seen?.times ?? 1) > 1) ? "A decision that states in a row repeat is listed once." : "",
    left > 0 ? `${count(left)} older decisions are left out.` : "",
    recording.actions.some((action) => !isCarriedOut(action)) ? "Struck through: it was not carried out." : "",
  ];
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
            at,
            ageMs: together(chosen, "age_ms", at.length, most) ?? at.map(() => null),
            silent: together(chosen, "silent", at.length, sum) ?? at.map(() => null),
            note: "The numbers of waiting requests that the replicas reported.",
          },
    times,
    starts,
    fleet: fleet === undefined ? undefined : () => fleet,
    serviceRows: (range) => observedServices(recording.services, at, fleet, range),
    jobRows: (range) => (fleet === undefined ? [] : observedJobs(fleet, range)),
    spent: (range) => (fleet === undefined ? undefined : spentIn(fleet, range)),
    latencies: (range) => latenciesIn(series, times, range),
    outcomes: (range) => (fleet === undefined ? [] : observedOutcomes(fleet, starts ?? [], log, range)),
    isOfWhole: false,
    moments: [],
  };
}
