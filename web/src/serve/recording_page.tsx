import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Figure } from "../chart/figure";
import { type Line, Plot, type Stretch } from "../chart/plot";
import { count, duration, moment } from "../format";
import { useSystemColours } from "../page";
import { choiceHash, kThemes, parseChoice, type Theme } from "../state";
import { chosenActions, type RecordedAction, type RecordedDecision, type RecordedService, type Recording } from "./recording";

const kRowHeight = 48;
const kViewHeight = 384;
const kOverscan = 4;

const whole = (n: number) => count(n);

function replicas(service: RecordedService): Line[] {
  return [
    { name: "wanted replicas", values: service.desired, colour: "--c2", text: whole, stepped: true, dashed: true },
    { name: "ready replicas", values: service.ready, colour: "--c1", text: whole, stepped: true, filled: true },
    { name: "starting replicas", values: service.starting, colour: "--c3", text: whole, stepped: true },
  ];
}

/// Stretches in which fewer replicas were ready than wanted.
function shortStretches(at: number[], service: RecordedService): Stretch[] {
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

/// The arithmetic of one decision, from the server.
function Arithmetic({ action }: { action: RecordedAction }) {
  const [decision, setDecision] = useState<RecordedDecision | undefined>(undefined);
  const [fault, setFault] = useState("");
  useEffect(() => {
    const controller = new AbortController();
    setDecision(undefined);
    setFault("");
    const load = async () => {
      const response = await fetch(`api/decision?state=${action.state}`, { signal: controller.signal });
      if (!response.ok) throw new Error();
      setDecision((await response.json()) as RecordedDecision);
    };
    load().catch(() => {
      if (!controller.signal.aborted) setFault("The server does not answer, or no longer keeps the arithmetic of this decision.");
    });
    return () => controller.abort();
  }, [action]);
  if (fault !== "") return <p role="alert">{fault}</p>;
  if (decision === undefined) return <p role="status">Loads the arithmetic …</p>;
  return (
    <>
      <pre class="arithmetic">{decision.arithmetic}</pre>
      {decision.command !== "" && (
        <p>
          Print it again: <code>{decision.command}</code>
        </p>
      )}
    </>
  );
}

interface LogProps {
  recording: Recording;
  range: Stretch;
  chosen: RecordedAction | undefined;
  onChoose: (action: RecordedAction) => void;
}

/// The actions. Only the rows in view are in the document.
function Log({ recording, range, chosen, onChoose }: LogProps) {
  const [top, setTop] = useState(0);
  const [words, setWords] = useState("");
  const [layer, setLayer] = useState("");
  const first = recording.at_ns[0] ?? 0;
  const shown = useMemo(() => chosenActions(recording, range, layer, words), [recording, range[0], range[1], layer, words]);
  const from = Math.max(0, Math.floor(top / kRowHeight) - kOverscan);
  const to = Math.min(shown.length, Math.ceil((top + kViewHeight) / kRowHeight) + kOverscan);
  const clock = (action: RecordedAction) => moment((action.at_ns - first) / 1e9);
  const left = recording.actions_left_out;
  return (
    <Figure
      title="What did it do, and why?"
      note={`${count(shown.length)} of ${count(recording.actions.length)} actions.${left > 0 ? ` ${count(left)} older actions are left out.` : ""} Choose one to see its arithmetic.`}
      table={() => ({ head: ["time", "layer", "action"], rows: shown.map((action) => [clock(action), action.layer, action.action]) })}
    >
      <p class="filter controls">
        <label>
          Filter <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} placeholder="words of a reason" />
        </label>
        <label>
          Layer{" "}
          <select value={layer} onChange={(event) => setLayer(event.currentTarget.value)}>
            <option value="">all</option>
            {["scale", "place", "provision"].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </p>
      {shown.length === 0 ? (
        <p class="note">Nothing was done in this stretch.</p>
      ) : (
        <div
          class="log"
          style={{ height: `${Math.min(kViewHeight, shown.length * kRowHeight)}px` }}
          tabIndex={0}
          role="list"
          aria-label="Actions"
          onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        >
          <div style={{ height: `${shown.length * kRowHeight}px`, position: "relative" }}>
            {shown.slice(from, to).map((action, i) => (
              <div
                class="entry"
                role="listitem"
                key={from + i}
                style={{ top: `${(from + i) * kRowHeight}px`, height: `${kRowHeight}px` }}
              >
                <button type="button" class="link" aria-pressed={action === chosen} title="Show the arithmetic" onClick={() => onChoose(action)}>
                  {clock(action)}
                </button>
                <span class="change">{action.layer}</span>
                <span class="why" title={action.action}>
                  {action.action}
                </span>
              </div>
            ))}
          </div>
        </div>
      )}
    </Figure>
  );
}

/// The page of a recording.
/// @param top  stands above the charts
export function RecordingPage({ recording, top }: { recording: Recording; top?: ComponentChildren }) {
  const [theme, setTheme] = useState<Theme>(parseChoice(location.hash, 1).theme);
  const [position, setPosition] = useState(0);
  const [stretch, setStretch] = useState<Stretch | undefined>(undefined);
  const [chosen, setChosen] = useState<RecordedAction | undefined>(undefined);
  const dark = useSystemColours();
  const colours = theme !== "auto" ? theme : dark ? "dark" : "light";
  document.documentElement.dataset.theme = colours;
  const service = recording.services[position];
  const first = recording.at_ns[0] ?? 0;
  const views = useMemo(() => {
    if (service === undefined) return undefined;
    const at = recording.at_ns.map((ns) => (ns - first) / 1e9);
    const waiting: Line[] = [{ name: "waiting requests", values: service.waiting, colour: "--c4", text: whole, stepped: true, filled: true }];
    const marks = recording.actions.filter((action) => action.layer === "scale").map((action) => (action.at_ns - first) / 1e9);
    return { at, replicas: replicas(service), waiting, shaded: shortStretches(at, service), marks };
  }, [recording, service]);
  const length = ((recording.at_ns.at(-1) ?? first) - first) / 1e9;
  const range: Stretch = stretch ?? [0, Math.max(60, length)];
  const choose = (next: Theme) => {
    setTheme(next);
    history.replaceState(null, "", choiceHash({ shown: 0, against: -1, theme: next }) || location.pathname + location.search);
  };
  const common = { range, onRange: setStretch, theme: colours, leftText: (n: number) => (Number.isInteger(n) ? count(n) : "") };
  return (
    <main>
      <header>
        <div>
          <h1>{recording.recording}</h1>
          <p>
            {count(recording.states)} decisions of “{recording.policy}” in {duration(length * 1e6)}
          </p>
        </div>
        <label class="theme">
          Colours{" "}
          <select value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
            {kThemes.map((name) => (
              <option key={name} value={name}>
                {name === "contrast" ? "high contrast" : name === "auto" ? "as the system" : name}
              </option>
            ))}
          </select>
        </label>
      </header>
      {top}
      <nav class="toolbar" aria-label="What is shown">
        {recording.services.length > 1 && (
          <label>
            Service{" "}
            <select value={String(position)} onChange={(event) => setPosition(Number(event.currentTarget.value))}>
              {recording.services.map((one, i) => (
                <option key={one.service} value={String(i)}>
                  {one.service}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" disabled={stretch === undefined} onClick={() => setStretch(undefined)}>
          Show the whole recording
        </button>
        <span class="note">Drag in a chart to choose a stretch; double-click or Escape shows the whole recording.</span>
      </nav>
      {views !== undefined && (
        <>
          <Plot
            {...common}
            title="Replicas wanted, starting and ready"
            note="Shaded: fewer replicas are ready than wanted. Triangles: the controller changed the number of replicas."
            at={views.at}
            lines={views.replicas}
            shaded={views.shaded}
            marks={views.marks}
          />
          <Plot {...common} title="Waiting requests" note="A gap: no engine and no gateway reported a value." at={views.at} lines={views.waiting} />
        </>
      )}
      <Log recording={recording} range={range} chosen={chosen} onChoose={setChosen} />
      {chosen !== undefined && (
        <section class="figure" aria-labelledby="arithmetic">
          <h3 id="arithmetic">The decisions at {moment((chosen.at_ns - first) / 1e9)}</h3>
          <Arithmetic action={chosen} />
        </section>
      )}
      <footer>
        <p>
          {recording.command === "" ? (
            <>
              A controller that runs with <code>--record FILE</code> keeps its decisions, and this page names the command that prints them again.
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
