// The page of a run. A result, a simulation while it runs, a recording and a controller have the same page; a view
// whose data a run lacks is left out.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { TimeRange } from "./chart/plot";
import type { Change } from "./choice";
import type { Run } from "./data/run";
import { longestWait } from "./data/explaining_moments";
import { Deferred } from "./deferred";
import { endOf, type Navigation } from "./navigation";
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

/// Returns the moment of the map: the chosen one if it is in the stretch. Otherwise it is the end of the stretch if
/// the run was only observed. If the run was simulated, it is the costliest moment in the stretch, or else its middle.
export function momentOf(run: Run, range: TimeRange, chosen: number | undefined): number {
  const inside = (at: number | undefined): at is number => at !== undefined && at >= range[0] && at <= range[1];
  if (inside(chosen)) return chosen;
  if (run.isObserved) return Math.min(range[1], run.length);
  return run.moments.find(inside) ?? Math.round((range[0] + range[1]) / 2);
}

interface ToolbarProps {
  /// Names of the services that the charts can show alone; empty: there is no choice of a service.
  services: string[];
  chosen: string | undefined;
  /// "run" or "recording".
  what: string;
  isAll: boolean;
  navigation: Navigation;
  children: ComponentChildren;
}

/// @param children  controls that choose policies
function Toolbar({ services, chosen, what, isAll, navigation, children }: ToolbarProps) {
  return (
    <nav class="toolbar" aria-label="What is shown">
      {children}
      {services.length > 0 && (
        <label>
          service{" "}
          <select value={chosen ?? ""} onChange={(event) => navigation.onService(event.currentTarget.value)}>
            <option value="">all</option>
            {services.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="button" disabled={isAll} onClick={navigation.onAll}>
        Show the whole {what}
      </button>
      <span class="note">Drag in a chart to choose a stretch; double-click or Escape shows the whole {what}.</span>
    </nav>
  );
}

interface FleetProps {
  run: Run;
  range: TimeRange;
  at: number;
  navigation: Navigation;
  theme: string;
}

/// Reads the fleet of a run when its views are drawn, because that takes long for a large one.
const RunFleet = memo(function RunFleet({ run, range, at, navigation, theme }: FleetProps) {
  const fleet = useMemo(() => run.fleet?.(), [run]);
  if (fleet === undefined) return null;
  return <FleetViews fleet={fleet} queues={run.queues} range={range} onRange={navigation.onRange} at={at} onAt={navigation.onAt} onExplain={navigation.onExplain} theme={theme} />;
});

/// Shows where the time of requests and of cold starts went.
function TimeViews({ run, against, range, navigation, theme }: Omit<FleetProps, "at"> & { against: Run | undefined }) {
  const { times, starts } = run;
  const rows = useMemo(() => [...(times?.rows ?? []), ...(against?.times?.rows ?? [])], [times, against]);
  return (
    <>
      {times !== undefined && (
        <Deferred>
          <Breakdown rows={rows} start={times.start} note={times.note} range={range} onRange={navigation.onRange} theme={theme} />
        </Deferred>
      )}
      {starts !== undefined && (
        <Deferred>
          <ColdStarts starts={starts} services={run.services} range={range} onRange={navigation.onRange} onExplain={navigation.onExplain} theme={theme} isObserved={run.isObserved} />
        </Deferred>
      )}
    </>
  );
}

/// Shows what was paid for.
/// @param beside  content beside it
/// @param below   content below it
function CostView({ run, range, isPart, navigation, beside, below }: { run: Run; range: TimeRange; isPart: boolean; navigation: Navigation; beside: ComponentChildren; below: ComponentChildren }) {
  const spent = useMemo(() => run.spent(range), [run, run.isOfWhole || range[0], run.isOfWhole || range[1]]);
  return (
    <Deferred>
      <div class="columns">
        {spent !== undefined && <Cost spent={spent} isPart={run.isOfWhole && isPart} onExplain={navigation.onExplain} />}
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
  /// A notice that stands in place of the views of nodes and replicas until the browser has read their history.
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
  navigation: Navigation;
}

/// Returns the stretch of time that the charts show.
function useRange({ from, to }: Choice, end: number): TimeRange {
  return useMemo(() => (from !== undefined && to !== undefined ? [from, Math.min(to, end)] : [0, end]), [from, to, end]);
}

export function RunPage({ run, against, title, head, what, services, service, isRepeatable, choice, change, navigation, ...slots }: RunPageProps) {
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
  const notes = run.notes(isPart);
  const onWait = (name: string) => {
    const fleet = run.fleet?.();
    if (fleet !== undefined) navigation.onExplain(longestWait(fleet, name), "place");
  };
  const common = { range, onRange: navigation.onRange, theme };
  return (
    <main>
      <Header title={title} theme={choice.theme} onTheme={(next) => change({ theme: next })}>
        {head}
      </Header>
      {slots.before}
      <Services rows={rows} note={notes.services} chosen={service} isObserved={run.isObserved} onExplain={navigation.onExplain} {...(services.length > 0 ? { onService: navigation.onService } : {})} />
      <Jobs rows={jobs} note={notes.jobs} {...(run.fleet === undefined ? {} : { onWait })} />
      <Toolbar services={services} chosen={service} what={what} isAll={choice.from === undefined} navigation={navigation}>
        {slots.controls}
      </Toolbar>
      <Deferred>
        <Timeline {...common} series={run.series} against={against?.series} at={at} onAt={navigation.onAt} />
      </Deferred>
      {slots.moments}
      <Deferred>
        <Decisions name={run.name} rows={run.log} note={run.logNote} range={range} onRange={navigation.onRange} at={choice.at} opened={choice.decision} onOpen={navigation.onOpen} isRepeatable={isRepeatable} />
      </Deferred>
      {run.signals !== undefined && (
        <Deferred>
          <Signals {...common} signals={run.signals} at={at} onAt={navigation.onAt} onExplain={navigation.onExplain} />
        </Deferred>
      )}
      <TimeViews run={run} against={against} range={range} navigation={navigation} theme={theme} />
      {slots.reads}
      {run.fleet !== undefined && (
        <Deferred>
          <RunFleet run={run} range={range} at={at} navigation={navigation} theme={theme} />
        </Deferred>
      )}
      <CostView run={run} range={range} isPart={isPart} navigation={navigation} beside={slots.besideCost} below={slots.belowCost} />
      <Deferred>
        <Latency runs={runs} note={notes.latencies} onExplain={navigation.onExplain} />
        <Outcomes runs={runs} note={notes.outcomes} />
      </Deferred>
      {slots.after}
    </main>
  );
}
