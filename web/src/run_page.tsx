// The page of a run. A result, a simulation while it runs, a recording and a controller have the same page; a view
// whose data a run lacks is left out.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { TimeRange } from "./chart/plot";
import type { Change } from "./choice";
import type { Run } from "./data/run";
import { longestWait } from "./data/leads";
import { Deferred } from "./deferred";
import { endOf, type Leads } from "./leads";
import { type Choice, kThemes, type Theme } from "./state";
import { memo } from "./memo";
import { Breakdown } from "./view/breakdown";
import { ColdStarts } from "./view/cold_starts";
import { Cost } from "./view/cost";
import { Decisions } from "./view/decisions";
import { FleetViews } from "./view/history";
import { Latency } from "./view/latency";
import { Outcomes } from "./view/outcomes";
import { Jobs, Services } from "./view/services";
import { Signals } from "./view/signals";
import { Timeline } from "./view/timeline";

interface HeaderProps {
  title: string;
  theme: Theme;
  onTheme: (theme: Theme) => void;
  children: ComponentChildren;
}

/// @param children  paragraphs below the title
export function Header({ title, theme, onTheme, children }: HeaderProps) {
  return (
    <header>
      <div>
        <h1>{title}</h1>
        {children}
      </div>
      <label class="theme">
        Colours{" "}
        <select value={theme} onChange={(event) => onTheme(event.currentTarget.value as Theme)}>
          {kThemes.map((name) => (
            <option key={name} value={name}>
              {name === "contrast" ? "high contrast" : name === "auto" ? "as the system" : name}
            </option>
          ))}
        </select>
      </label>
    </header>
  );
}

/// Returns true if the system has dark colours. The view is rendered again when that changes.
function useSystemColours(): boolean {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const note = () => setDark(query.matches);
    query.addEventListener("change", note);
    return () => query.removeEventListener("change", note);
  }, []);
  return dark;
}

/// Returns the moment of the map: the chosen one if it is in the stretch, else the costliest one, else the middle, or the
/// end of a run that may go on.
export function momentOf(run: Run, range: TimeRange, chosen: number | undefined): number {
  const inside = (at: number | undefined): at is number => at !== undefined && at >= range[0] && at <= range[1];
  if (inside(chosen)) return chosen;
  if (run.isObserved) return Math.min(range[1], run.length);
  return run.moments.find(inside) ?? Math.round((range[0] + range[1]) / 2);
}

interface ToolbarProps {
  /// Names of the services that the charts can show alone; fewer than two: none.
  services: string[];
  chosen: string | undefined;
  /// "run" or "recording".
  what: string;
  isAll: boolean;
  leads: Leads;
  children: ComponentChildren;
}

/// @param children  controls that choose policies
function Toolbar({ services, chosen, what, isAll, leads, children }: ToolbarProps) {
  return (
    <nav class="toolbar" aria-label="What is shown">
      {children}
      {services.length > 0 && (
        <label>
          service{" "}
          <select value={chosen ?? ""} onChange={(event) => leads.onService(event.currentTarget.value)}>
            <option value="">all</option>
            {services.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="button" disabled={isAll} onClick={leads.onAll}>
        Show the whole {what}
      </button>
      <span class="note">Drag in a chart to choose a stretch; double-click or Escape shows the whole {what}.</span>
    </nav>
  );
}

const kOfWhole = "Of the whole run, not of the stretch that the charts show.";
const kInStretch = "In the stretch that the charts show.";
const kSeenServices = `${kInStretch} Late: the mean share over time that the engines report. Latencies are the highest of a replica. Both come from histograms with few bounds, so they may read too high. Requests that arrived, missed the SLO or were rejected are not known, because engines count only what they end.`;
const kSeenLatencies = `${kInStretch} Means come from the sums that the engines report; p99 is the highest of a replica. Engines export no single requests, so other percentiles of all requests are not known.`;
const kSeenOutcomes = `${kInStretch} A controller does not see late, rejected and retried requests, lost tokens, or which node was interrupted.`;

interface FleetProps {
  run: Run;
  range: TimeRange;
  at: number;
  leads: Leads;
  theme: string;
}

/// Reads the fleet of a run when its views are drawn, because that takes long for a large one.
const RunFleet = memo(function RunFleet({ run, range, at, leads, theme }: FleetProps) {
  const fleet = useMemo(() => run.fleet?.(), [run]);
  if (fleet === undefined) return null;
  return <FleetViews fleet={fleet} queues={run.queues} range={range} onRange={leads.onRange} at={at} onAt={leads.onAt} onLead={leads.onLead} theme={theme} />;
});

/// Shows where the time of requests and of cold starts went.
function TimeViews({ run, against, range, leads, theme }: Omit<FleetProps, "at"> & { against: Run | undefined }) {
  const { times, starts } = run;
  const rows = useMemo(() => [...(times?.rows ?? []), ...(against?.times?.rows ?? [])], [times, against]);
  return (
    <>
      {times !== undefined && (
        <Deferred>
          <Breakdown rows={rows} start={times.start} note={times.note} range={range} onRange={leads.onRange} theme={theme} />
        </Deferred>
      )}
      {starts !== undefined && (
        <Deferred>
          <ColdStarts starts={starts} services={run.services} range={range} onRange={leads.onRange} onLead={leads.onLead} theme={theme} isObserved={run.isObserved} />
        </Deferred>
      )}
    </>
  );
}

/// Shows what was paid for.
/// @param beside  content beside it
/// @param below   content below it
function CostView({ run, range, isPart, leads, beside, below }: { run: Run; range: TimeRange; isPart: boolean; leads: Leads; beside: ComponentChildren; below: ComponentChildren }) {
  const spent = useMemo(() => run.spent(range), [run, run.isOfWhole || range[0], run.isOfWhole || range[1]]);
  return (
    <Deferred>
      <div class="columns">
        {spent !== undefined && <Cost spent={spent} isOfMore={run.isOfWhole && isPart} onLead={leads.onLead} />}
        {beside}
      </div>
      {below}
    </Deferred>
  );
}

/// Content that only some runs have.
export interface Slots {
  /// Above the views.
  before: ComponentChildren;
  /// Controls that choose policies.
  controls?: ComponentChildren;
  moments?: ComponentChildren;
  besideCost?: ComponentChildren;
  belowCost?: ComponentChildren;
  /// Words while the history of nodes and replicas is missing.
  reads?: ComponentChildren;
  after?: ComponentChildren;
}

interface RunPageProps extends Slots {
  run: Run;
  /// The run with which it is compared.
  against?: Run | undefined;
  title: string;
  /// Paragraphs below the title.
  head: ComponentChildren;
  what: "run" | "recording";
  /// Names of the services that the charts can show alone; empty: none.
  services: string[];
  service: string | undefined;
  /// True: a command repeats each decision from the same inputs.
  isRepeatable: boolean;
  choice: Choice;
  change: Change;
  leads: Leads;
}

/// Returns the stretch of time that the charts show.
function useRange({ from, to }: Choice, end: number): TimeRange {
  return useMemo(() => (from !== undefined && to !== undefined ? [from, Math.min(to, end)] : [0, end]), [from, to, end]);
}

export function RunPage({ run, against, title, head, what, services, service, isRepeatable, choice, change, leads, ...slots }: RunPageProps) {
  const dark = useSystemColours();
  const theme = choice.theme !== "auto" ? choice.theme : dark ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  const end = endOf(run);
  const range = useRange(choice, end);
  const isPart = range[0] > 0 || range[1] < end;
  const at = momentOf(run, range, choice.at);
  const whole = [run.isOfWhole || range[0], run.isOfWhole || range[1]];
  const rows = useMemo(() => run.serviceRows(range), [run, ...whole]);
  const jobs = useMemo(() => run.jobRows(range), [run, ...whole]);
  const runs = useMemo(() => [run, ...(against === undefined ? [] : [against])].map((one) => ({ name: one.name, latencies: one.latencies(range), outcomes: one.outcomes(range) })), [run, against, ...whole]);
  const onWait = (name: string) => {
    const fleet = run.fleet?.();
    if (fleet !== undefined) leads.onLead(longestWait(fleet, name), "place");
  };
  const common = { range, onRange: leads.onRange, theme };
  return (
    <main>
      <Header title={title} theme={choice.theme} onTheme={(next) => change({ theme: next })}>
        {head}
      </Header>
      {slots.before}
      <Services rows={rows} note={run.isObserved ? kSeenServices : `${run.name}.`} chosen={service} onLead={leads.onLead} {...(services.length > 0 ? { onService: leads.onService } : {})} />
      <Jobs rows={jobs} note={run.isObserved ? kInStretch : run.name} {...(run.fleet === undefined ? {} : { onWait })} />
      <Toolbar services={services} chosen={service} what={what} isAll={choice.from === undefined} leads={leads}>
        {slots.controls}
      </Toolbar>
      <Deferred>
        <Timeline {...common} series={run.series} against={against?.series} at={at} onAt={leads.onAt} />
      </Deferred>
      {slots.moments}
      <Deferred>
        <Decisions name={run.name} rows={run.log} note={run.logNote} range={range} onRange={leads.onRange} at={choice.at} opened={choice.decision} onOpen={leads.onOpen} isRepeatable={isRepeatable} />
      </Deferred>
      {run.signals !== undefined && (
        <Deferred>
          <Signals {...common} signals={run.signals} at={at} onAt={leads.onAt} onLead={leads.onLead} />
        </Deferred>
      )}
      <TimeViews run={run} against={against} range={range} leads={leads} theme={theme} />
      {slots.reads}
      {run.fleet !== undefined && (
        <Deferred>
          <RunFleet run={run} range={range} at={at} leads={leads} theme={theme} />
        </Deferred>
      )}
      <CostView run={run} range={range} isPart={isPart} leads={leads} beside={slots.besideCost} below={slots.belowCost} />
      <Deferred>
        <Latency runs={runs} note={run.isObserved ? kSeenLatencies : isPart ? kOfWhole : ""} onLead={leads.onLead} />
        <Outcomes runs={runs} note={run.isObserved ? kSeenOutcomes : isPart ? kOfWhole : ""} />
      </Deferred>
      {slots.after}
    </main>
  );
}
