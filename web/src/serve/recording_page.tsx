import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { flushAddress, showInAddress } from "../address";
import { Figure } from "../chart/figure";
import { type Line, Plot, type TimeRange } from "../chart/plot";
import { type Fleet, readFleet } from "../data/fleet";
import { decisionBefore } from "../data/leads";
import { observedStarts } from "../data/observed";
import { observedDemand } from "../data/observed_demand";
import { observedLatency } from "../data/observed_latency";
import type { RecordedHistory } from "../data/recorded";
import { startText, count, duration, moment, percent, wholeTick } from "../format";
import { Deferred } from "../deferred";
import { useSystemColours } from "../page";
import { type Choice, kThemes, parseChoice, type Theme } from "../state";
import { Arithmetic } from "../view/arithmetic";
import { Breakdown } from "../view/breakdown";
import { ColdStarts } from "../view/cold_starts";
import { RecordedCost } from "../view/cost";
import { FleetViews } from "../view/history";
import { kDecisionsId, scrollToDecisions } from "../view/lead";
import { LogFilter, LogRows } from "../view/log_rows";
import { SignalLeads, signalLines } from "../view/signals";
import { useHistory } from "./history";
import { RecordedServices } from "./recorded_services";
import { chosenActions, outcomeWord, isCarriedOut, type RecordedAction, type RecordedDecisions, type RecordedService, type Recording, isRepeatOf, type RepeatedAction, scales, withoutRepeats } from "./recording";

const whole = (n: number) => count(n);

function replicas(service: RecordedService): Line[] {
  return [
    { name: "wanted replicas", values: service.desired, colour: "--c2", text: whole, stepped: true, dashed: true },
    { name: "ready replicas", values: service.ready, colour: "--c1", text: whole, stepped: true, filled: true },
    { name: "starting replicas", values: service.starting, colour: "--wait", text: whole, stepped: true },
  ];
}

/// Returns the stretches in which fewer replicas were ready than wanted.
function shortStretches(at: number[], service: RecordedService): TimeRange[] {
  const stretches: [number, number][] = [];
  at.forEach((from, i) => {
    const to = at[i + 1] ?? from;
    if ((service.desired[i] ?? 0) <= (service.ready[i] ?? 0) || to <= from) return;
    const last = stretches.at(-1);
    if (last !== undefined && last[1] === from) last[1] = to;
    else stretches.push([from, to]);
  });
  return stretches;
}

/// Loads the arithmetic of one decision from the server and shows it.
/// @param isRepeatable  true: the command repeats the decision from the same inputs
function LoadedArithmetic({ action, at, isRepeatable }: { action: RecordedAction; at: number; isRepeatable: boolean }) {
  const [loaded, setLoaded] = useState<RecordedDecisions | undefined>(undefined);
  const [fault, setFault] = useState("");
  useEffect(() => {
    const controller = new AbortController();
    setLoaded(undefined);
    setFault("");
    const load = async () => {
      const response = await fetch(`api/decision?state=${action.state}`, { signal: controller.signal });
      if (!response.ok) throw new Error();
      setLoaded((await response.json()) as RecordedDecisions);
    };
    load().catch(() => {
      if (!controller.signal.aborted) setFault("The server does not answer, or no longer keeps the arithmetic of this decision.");
    });
    return () => controller.abort();
  }, [action.state]);
  if (fault !== "") return <p role="alert">{fault}</p>;
  if (loaded === undefined || loaded.state !== action.state) return <p role="status">Loads the arithmetic …</p>;
  const decision = loaded.decisions[action.position];
  return (
    <Arithmetic
      at={at}
      why={action.action}
      arithmetic={decision?.arithmetic}
      command={decision?.command}
      {...(isRepeatable ? {} : { does: "This controller keeps no recording. Decide again from the cluster as it is now" })}
    />
  );
}

interface LogProps {
  recording: Recording;
  /// The actions of the recording, without repeats.
  actions: RepeatedAction[];
  range: TimeRange;
  chosen: RecordedAction | undefined;
  onChoose: (action: RecordedAction | undefined) => void;
}

/// Shows the actions, with the arithmetic of the chosen one.
function Log({ recording, actions, range, chosen, onChoose }: LogProps) {
  const [words, setWords] = useState("");
  const [layer, setLayer] = useState("");
  const first = recording.at_ns[0] ?? 0;
  const shown = useMemo(() => chosenActions({ at_ns: recording.at_ns, actions }, range, layer, words), [recording, actions, range[0], range[1], layer, words]);
  const clock = (ns: number) => moment((ns - first) / 1e9);
  const isChosen = (action: RepeatedAction) => chosen !== undefined && isRepeatOf(action, chosen);
  const repeats = (action: RepeatedAction) => (action.times > 1 ? ` × ${count(action.times)}, until ${clock(action.until_ns)}` : "");
  const left = recording.actions_left_out;
  return (
    <Figure
      id={kDecisionsId}
      title="What did it decide, and why?"
      note={`${count(shown.length)} of ${count(actions.length)} decisions about replicas, pods and nodes. A decision that states in a row repeat is listed once.${left > 0 ? ` ${count(left)} older decisions are left out.` : ""}${actions.some((action) => !isCarriedOut(action)) ? " Struck through: it was not carried out." : ""} Choose a decision to see its arithmetic.`}
      table={() => ({ head: ["time", "layer", "action", "outcome", "times", "until"], rows: shown.map((action) => [clock(action.at_ns), action.layer, action.action, outcomeWord(action), action.times, clock(action.until_ns)]) })}
    >
      <LogFilter words={words} onWords={setWords} layer={layer} onLayer={setLayer} />
      {shown.length === 0 ? (
        <p class="note">Nothing was decided in this stretch.</p>
      ) : (
        <LogRows label="Decisions" rows={shown} isMarked={isChosen} wanted={shown.findIndex(isChosen)}>
          {(action) => (
            <>
              <button type="button" class="link" aria-pressed={isChosen(action)} title="Show the arithmetic of this decision" onClick={() => onChoose(isChosen(action) ? undefined : action)}>
                {clock(action.at_ns)}
              </button>
              <span class="change">
                {action.layer}
                {action.result !== undefined && <i class={`end ${action.result}`} title={action.result_why ?? ""}> {outcomeWord(action)}</i>}
              </span>
              <span class={isCarriedOut(action) ? "why" : "why undone"} title={action.result_why === undefined ? action.action : `${action.action}. Not carried out: ${action.result_why}`}>
                {action.times > 1 && <b>{repeats(action).trim()}: </b>}
                {action.action}
              </span>
            </>
          )}
        </LogRows>
      )}
      {chosen !== undefined && <LoadedArithmetic action={chosen} at={(chosen.at_ns - first) / 1e9} isRepeatable={recording.command !== ""} />}
    </Figure>
  );
}

/// Largest number of actions of a state. The address stores a decision as one number: its state times this, plus its
/// position in the state.
const kActionsOfState = 10_000;

/// Returns the choices of the reader, which the address holds, and a function that changes them.
function useRecordingChoice(): [Choice, (part: Partial<Record<keyof Choice, unknown>>) => void] {
  const [choice, setChoice] = useState<Choice>(() => parseChoice(location.hash, 1));
  useEffect(() => {
    const follow = () => setChoice(parseChoice(location.hash, 1));
    addEventListener("hashchange", follow);
    return () => {
      removeEventListener("hashchange", follow);
      flushAddress();
    };
  }, []);
  // One click may change the choice twice before the next rendering. The second change must see the first.
  const latest = useRef(choice);
  latest.current = choice;
  const change = (part: Partial<Record<keyof Choice, unknown>>) => {
    const next = Object.fromEntries(Object.entries({ ...latest.current, ...part }).filter(([, value]) => value !== undefined)) as unknown as Choice;
    latest.current = next;
    setChoice(next);
    showInAddress(next);
  };
  return [choice, change];
}

const share = (ppm: number) => percent(ppm);
const isSeen = (values: readonly (number | null)[] | undefined): values is (number | null)[] => values?.some((value) => value !== null) === true;
const lastOf = (values: readonly (number | null)[] | undefined): number => [...(values ?? [])].reverse().find((value) => value !== null) ?? 0;

/// Returns the lines of the share of late requests and of the share that the SLO allows; undefined if no engine reports
/// the first one.
function lateLines(service: RecordedService): Line[] | undefined {
  if (!isSeen(service.late_ppm)) return undefined;
  const lines: Line[] = [{ name: "late requests", values: service.late_ppm, colour: "--c4", text: share, stepped: true, filled: true }];
  if (isSeen(service.late_allowed_ppm)) lines.push({ name: "allowed by the SLO", values: service.late_allowed_ppm, colour: "--c2", text: share, stepped: true, dashed: true });
  return lines;
}

/// Returns the line of a latency of the slowest replica; undefined if no engine reports the latency.
function slowestLines(name: string, values: (number | null)[] | undefined): Line[] | undefined {
  return isSeen(values) ? [{ name: `${name} p99 of the slowest replica`, values, colour: "--c1", text: duration, stepped: true }] : undefined;
}

/// Returns the charts of the latencies that the engines report, each with the bound of the SLO.
function latencyCharts(service: RecordedService) {
  return [
    { title: "Latency: time to first token", label: "TTFT p99", lines: slowestLines("TTFT", service.ttft_p99_us), slo: lastOf(service.ttft_slo_us) },
    { title: "Latency: time per output token", label: "TPOT p99", lines: slowestLines("TPOT", service.tpot_p99_us), slo: lastOf(service.tpot_slo_us) },
  ];
}

/// Returns the data of the charts of a service.
function viewsOf(recording: Recording, actions: RepeatedAction[], service: RecordedService) {
  const first = recording.at_ns[0] ?? 0;
  const at = recording.at_ns.map((ns) => (ns - first) / 1e9);
  const waiting: Line[] = [{ name: "waiting requests", values: service.waiting, colour: "--c4", text: whole, stepped: true, filled: true }];
  if (service.running?.some((value) => value !== null) === true) waiting.unshift({ name: "running requests", values: service.running, colour: "--c1", text: whole, stepped: true });
  const marks = actions.filter((action) => scales(action, service.service) && isCarriedOut(action)).map((action) => (action.at_ns - first) / 1e9);
  return { at, replicas: replicas(service), waiting, late: lateLines(service), latencies: latencyCharts(service), signals: signalLines(service.age_ms, service.silent), shaded: shortStretches(at, service), marks };
}

const kPurchases = "provision";

/// Returns the last action at or before a moment, of a layer if there is one.
function actionBefore(actions: readonly RecordedAction[], first: number, at: number, layer?: string): RecordedAction | undefined {
  const found = decisionBefore(actions.map((action) => ({ at: (action.at_ns - first) / 1e9, layer: action.layer })), at, layer);
  return found === undefined ? undefined : actions[found];
}

interface RecordedViewsProps {
  history: RecordedHistory;
  fleet: Fleet;
  range: TimeRange;
  onRange: (range: TimeRange | undefined) => void;
  at: number;
  onAt: (at: number) => void;
  onLead: (at: number | undefined, layer?: string) => void;
  theme: string;
}

/// Shows the nodes and replicas, with the same views as a report.
function RecordedViews({ history, fleet, range, onRange, at, onAt, onLead, theme }: RecordedViewsProps) {
  const starts = useMemo(() => observedStarts(fleet), [fleet]);
  const latency = useMemo(() => observedLatency(fleet), [fleet]);
  return (
    <>
      {latency !== undefined && (
        <Deferred>
          <Breakdown
            rows={latency.rows}
            start={latency.start}
            note="Computed from the sums that the engines report; an engine that does not report its queue, prefill and decode is left out, and the time at the gateway is not known."
            range={range}
            onRange={onRange}
            theme={theme}
          />
        </Deferred>
      )}
      <Deferred>
        <ColdStarts starts={starts} services={history.services} range={range} onRange={onRange} onLead={onLead} theme={theme} isObserved />
      </Deferred>
      <FleetViews fleet={fleet} queues={history.queues} range={range} onRange={onRange} at={at} onAt={onAt} onLead={onLead} theme={theme} />
      <Deferred>
        <RecordedCost fleet={fleet} range={range} onLead={onLead} />
      </Deferred>
    </>
  );
}

/// The page of a recording.
/// @param top       content above the charts
/// @param isPaused  true: the page keeps what it shows
export function RecordingPage({ recording, top, isPaused = false }: { recording: Recording; top?: ComponentChildren; isPaused?: boolean }) {
  const history = useHistory(recording.states, isPaused);
  const [choice, change] = useRecordingChoice();
  const dark = useSystemColours();
  const { theme } = choice;
  const colours = theme !== "auto" ? theme : dark ? "dark" : "light";
  document.documentElement.dataset.theme = colours;
  const service = recording.services.find((one) => one.service === choice.service) ?? recording.services[0];
  const first = recording.at_ns[0] ?? 0;
  const actions = useMemo(() => withoutRepeats(recording.actions), [recording.actions]);
  const views = useMemo(() => (service === undefined ? undefined : viewsOf(recording, actions, service)), [recording, actions, service]);
  const length = ((recording.at_ns.at(-1) ?? first) - first) / 1e9;
  const end = Math.max(60, length);
  const { from, to } = choice;
  const range: TimeRange = from !== undefined && to !== undefined ? [from, to] : [0, end];
  const onRange = (next: TimeRange | undefined) =>
    change(next === undefined ? { from: undefined, to: undefined } : { from: Math.max(0, Math.floor(next[0])), to: Math.ceil(next[1]) });
  const at = choice.at !== undefined && choice.at >= range[0] && choice.at <= range[1] ? choice.at : Math.min(range[1], length);
  const onAt = (next: number) => change({ at: Math.round(next) });
  const numberOf = (action: RecordedAction | undefined) => (action === undefined ? undefined : action.state * kActionsOfState + action.position);
  const onLead = (moment: number | undefined, layer?: string) => {
    if (moment === undefined) return;
    const action = actionBefore(actions, first, moment, layer);
    const shown = layer === kPurchases && action !== undefined ? (action.at_ns - first) / 1e9 : moment;
    change({ from: Math.max(0, Math.floor(shown - 300)), to: Math.ceil(shown + 300), at: Math.round(shown), decision: numberOf(action) });
    scrollToDecisions();
  };
  const start = first / 1e9;
  const fleet = useMemo(() => (history === undefined ? undefined : readFleet(history.fleet, history.services, length, start)), [history, length, start]);
  const demand = useMemo(() => (fleet === undefined || service === undefined ? undefined : observedDemand(fleet, service.service)), [fleet, service?.service]);
  const chosen = recording.actions.find((one) => one.state * kActionsOfState + one.position === choice.decision);
  const common = { range, onRange, now: at, onNow: onAt, theme: colours, leftText: wholeTick };
  return (
    <main>
      <header>
        <div>
          <h1>{recording.recording}</h1>
          <p>
            {count(recording.states)} states in {duration(length * 1e6)}, decided by “{recording.policy}”
          </p>
          {startText(first) !== "" && <p>The times count from {startText(first)}.</p>}
          {(recording.states_damaged ?? 0) > 0 && <p role="status">{count(recording.states_damaged ?? 0)} damaged states of the recording are left out.</p>}
          {(recording.jumps ?? 0) > 0 && (
            <p role="status">
              The clock went back {recording.jumps === 1 ? "once" : `${recording.jumps} times`}. What was decided until it caught up is shown at the latest moment before.
            </p>
          )}
        </div>
        <label class="theme">
          Colours{" "}
          <select value={theme} onChange={(event) => change({ theme: event.currentTarget.value as Theme })}>
            {kThemes.map((name) => (
              <option key={name} value={name}>
                {name === "contrast" ? "high contrast" : name === "auto" ? "as the system" : name}
              </option>
            ))}
          </select>
        </label>
      </header>
      {top}
      {views !== undefined && (
        <RecordedServices services={recording.services} at={views.at} fleet={fleet} range={range} chosen={service?.service} onService={(name) => change({ service: name })} onLead={onLead} />
      )}
      <nav class="toolbar" aria-label="What is shown">
        {recording.services.length > 1 && (
          <label>
            Service{" "}
            <select value={service?.service ?? ""} onChange={(event) => change({ service: event.currentTarget.value })}>
              {recording.services.map((one) => (
                <option key={one.service} value={one.service}>
                  {one.service}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" disabled={from === undefined} onClick={() => onRange(undefined)}>
          Show the whole recording
        </button>
        <span class="note">Drag in a chart to choose a stretch; double-click or Escape shows the whole recording.</span>
      </nav>
      {views !== undefined && (
        <>
          <Plot
            {...common}
            title="Replicas wanted, starting and ready"
            note="Shaded: fewer replicas are ready than wanted. Triangles: the policy decided on another number of replicas, and it was not refused. A decision that states in a row repeat has one triangle."
            at={views.at}
            lines={views.replicas}
            shaded={views.shaded}
            marks={views.marks}
            leftLabel="replicas"
          />
          {demand !== undefined && (
            <Plot
              {...common}
              title="Demand: requests per minute"
              note="A request counts in the minute in which an engine reported its end. The controller does not see a request that no engine took."
              at={demand.at}
              lines={[{ name: "ended", values: demand.requests, colour: "--c1", text: whole, stepped: true, filled: true }]}
              leftLabel="requests per minute"
            />
          )}
          <Plot {...common} title={views.waiting.length > 1 ? "Running and waiting requests" : "Waiting requests"} note="A gap: no engine and no gateway reported a value." at={views.at} lines={views.waiting} leftLabel="requests" />
          {views.late !== undefined && (
            <Plot {...common} title="Is the SLO met? Late requests" note="The mean share of late requests that the ready replicas reported, for the time to the first token, the queue or the time per token, whichever is worst." at={views.at} lines={views.late} leftLabel="late" leftText={share} />
          )}
          {views.latencies.map(
            ({ title, label, lines, slo }) =>
              lines !== undefined && (
                <Plot
                  {...common}
                  key={title}
                  title={title}
                  note="From the engines' histograms: a value lies somewhere between two of their bounds, such as 1 s and 2.5 s, so it may read too high. The share of late requests above is more exact."
                  at={views.at}
                  lines={lines}
                  leftLabel={label}
                  {...(slo > 0 ? { limit: { value: slo, label: `SLO ${duration(slo)}` } } : {})}
                  isDuration
                  leftText={(us) => (us === 0 ? "0" : duration(us))}
                />
              ),
          )}
          <Plot
            {...common}
            title="Can the inputs be trusted? Signals"
            note="The numbers of waiting requests that the replicas reported. A replica without a usable reading never leads to fewer replicas."
            at={views.at}
            lines={views.signals}
            isDuration
            leftLabel="age"
            rightLabel="replicas"
            leftText={(us) => (us === 0 ? "0" : duration(us))}
            rightText={wholeTick}
            below={service !== undefined && <SignalLeads at={views.at} ageMs={service.age_ms} silent={service.silent} range={range} onLead={onLead} />}
          />
        </>
      )}
      <Log
        recording={recording}
        actions={actions}
        range={range}
        chosen={chosen}
        onChoose={(action) => change({ decision: numberOf(action) })}
      />
      {history === undefined || fleet === undefined ? (
        <p class="reads" role="status">
          Reads what happened to nodes and replicas …
        </p>
      ) : (
        <RecordedViews history={history} fleet={fleet} range={range} onRange={onRange} at={at} onAt={onAt} onLead={onLead} theme={colours} />
      )}
      <footer>
        <p>
          {recording.command === "" ? (
            <>
              This controller keeps no recording. Start it with <code>capstan run --record FILE</code>: then this page names the command that repeats each decision from its own inputs, <code>capstan replay FILE --at TIME</code>.
            </>
          ) : (
            <>
              Print all actions: <code>{recording.command}</code>
            </>
          )}
        </p>
      </footer>
    </main>
  );
}
