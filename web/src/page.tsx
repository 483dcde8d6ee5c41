import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { flushAddress, showInAddress } from "./address";
import type { TimeRange } from "./chart/plot";
import { readFleet } from "./data/fleet";
import { decisionBefore, figureMoment, firstBought, idleMoment, longestWait, peakOf, type RowFigure, worstMinute } from "./data/leads";
import { type LogRow, logOf } from "./data/log";
import type { Policy, Result } from "./data/result";
import { namedServices, policyOf, servicePositions, sloOf } from "./data/service";
import { count, duration, sloWords } from "./format";
import { Deferred } from "./deferred";
import { type Choice, kThemes, parseChoice, type Theme } from "./state";
import { Cost, Teams } from "./view/cost";
import { Decisions } from "./view/decisions";
import { Frontier } from "./view/frontier";
import { History, momentOf } from "./view/history";
import { Latency } from "./view/latency";
import { scrollToDecisions } from "./view/lead";
import { Moments } from "./view/moments";
import { Outcomes } from "./view/outcomes";
import { Ranking } from "./view/ranking";
import { Jobs, Services } from "./view/services";
import { Signals } from "./view/signals";
import { Timeline } from "./view/timeline";

function Header({ result, theme, onTheme }: { result: Result; theme: Theme; onTheme: (theme: Theme) => void }) {
  const longest = Math.max(...result.policies.map((policy) => policy.simulated_ns));
  const first = result.policies[0];
  const jobs = (first?.jobs ?? []).reduce((sum, one) => sum + one.arrived, 0);
  const coldStart = Math.max(0, ...result.policies.map((policy) => policy.cold_starts?.p50_ns ?? 0));
  const arrived = result.slo === null ? `${count(jobs)} jobs` : `${count(first?.requests.arrived ?? 0)} requests`;
  return (
    <header>
      <div>
        <h1>{result.title === "" ? result.scenario : result.title}</h1>
        <p>
          {duration(longest / 1000)} · {arrived} · {result.load} · seed {result.seed}
        </p>
        <p>
          {result.service}
          {result.slo !== null && (first?.services ?? []).length === 0 && ` · SLO ${sloWords(result.slo)}`}
          {coldStart > 0 && ` · ${result.policies.length > 1 ? "slowest median" : "median"} cold start ${duration(coldStart / 1000).replaceAll(" ", "\u00a0")}`}
        </p>
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

/// The sentences below the verdict: how the first policy differs from others, the bound, and notes.
function Sentences({ result }: { result: Result }) {
  const bound = result.clairvoyant?.words?.trim().split("\n") ?? [];
  const all = [
    ...(result.why ?? []),
    // A line of the bound has its subject in a column of its own.
    ...bound.map((line) => line.replace(/ {2,}/, ": ")),
    ...(result.notes ?? []).map((note) => `Note: ${note}`),
  ];
  if (all.length === 0) return null;
  return (
    <ul class="sentences" aria-label="Why, and notes">
      {all.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

function withService({ service: _, decision: __, ...rest }: Choice, name: string | undefined): Choice {
  return name === undefined || name === "" ? rest : { ...rest, service: name };
}

interface ToolbarProps {
  result: Result;
  choice: Choice;
  change: Change;
  onAll: () => void;
}

function Toolbar({ result, choice, change, onAll }: ToolbarProps) {
  const names = result.policies.map((policy) => policy.policy);
  const services = namedServices(result);
  return (
    <nav class="toolbar" aria-label="What is shown">
      <label>
        Show{" "}
        <select
          value={String(choice.shownPolicy)}
          onChange={(event) => {
            const position = Number(event.currentTarget.value);
            change((before) => showPolicy(before, position));
          }}
        >
          {names.map((name, i) => (
            <option key={i} value={String(i)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {services.length > 0 && (
        <label>
          service{" "}
          <select value={choice.service ?? ""} onChange={(event) => {
            const name = event.currentTarget.value;
            change((before) => withService(before, name));
          }}>
            <option value="">all</option>
            {services.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {names.length > 1 && (
        <label>
          compare with{" "}
          <select value={String(choice.comparedPolicy)} onChange={(event) => change({ comparedPolicy: Number(event.currentTarget.value) })}>
            <option value="-1">no other policy</option>
            {names.map(
              (name, i) =>
                i !== choice.shownPolicy && (
                  <option key={i} value={String(i)}>
                    {name}
                  </option>
                ),
            )}
          </select>
        </label>
      )}
      <button type="button" disabled={choice.from === undefined} onClick={onAll}>
        Show the whole run
      </button>
      <span class="note">Drag in a chart to choose a stretch; double-click or Escape shows the whole run.</span>
    </nav>
  );
}

/// Returns true if the system has dark colours. The view is rendered again when that changes.
export function useSystemColours(): boolean {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const note = () => setDark(query.matches);
    query.addEventListener("change", note);
    return () => query.removeEventListener("change", note);
  }, []);
  return dark;
}

type Change = (part: Partial<Choice> | ((choice: Choice) => Choice)) => void;

/// Returns the choices of the reader, which are stored in the address, and a function that changes them. The function
/// is the same object in every rendering.
function useChoice(result: Result): [Choice, Change] {
  const read = () => parseChoice(location.hash, result.policies.length);
  const [choice, setChoice] = useState<Choice>(read);
  const latest = useRef(choice);
  const set = useCallback((next: Choice) => {
    latest.current = next;
    setChoice(next);
  }, []);
  useLayoutEffect(() => {
    const follow = () => set(read());
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [result]);
  useEffect(() => flushAddress, []);
  const change = useCallback<Change>((part) => {
    set(typeof part === "function" ? part(latest.current) : { ...latest.current, ...part });
    showInAddress(latest.current);
  }, []);
  return [choice, change];
}

function showPolicy({ decision: _, ...choice }: Choice, shownPolicy: number): Choice {
  return { ...choice, shownPolicy, comparedPolicy: choice.comparedPolicy === shownPolicy ? -1 : choice.comparedPolicy };
}

/// Returns the functions by which views change the choice. They stay the same, so that a view is rendered again only if
/// what it shows has changed.
/// @param log  returns the decisions of the shown policy
function useActions(change: Change, end: number, log: () => LogRow[]) {
  const latest = useRef(log);
  latest.current = log;
  return useMemo(() => {
    const onRange = (next: TimeRange | undefined) => {
      if (next !== undefined) return change({ from: Math.max(0, Math.floor(next[0])), to: Math.min(Math.ceil(next[1]), Math.ceil(end)) });
      change(({ from: _, to: __, ...rest }) => rest);
    };
    return {
      onRange,
      onAll: () => onRange(undefined),
      onMoment: (at: number) => onRange([Math.max(0, at - 300), at + 300]),
      // Shows ten minutes around a moment, and opens the decision that was in force.
      onLead: (at: number | undefined, layer?: string) => {
        if (at === undefined) return;
        const decision = decisionBefore(latest.current(), at, layer);
        const [from, to] = [Math.max(0, Math.floor(at - 300)), Math.min(Math.ceil(at + 300), Math.ceil(end))];
        change(({ decision: _, ...rest }) => ({ ...rest, from, to, at: Math.round(at), ...(decision === undefined ? {} : { decision }) }));
        scrollToDecisions();
      },
      onAt: (at: number) => change({ at: Math.round(at) }),
      onOpen: (decision: number | undefined) =>
        change(({ decision: _, ...rest }) => (decision === undefined ? rest : { ...rest, decision })),
      onShow: (position: number) => change((choice) => showPolicy(choice, position)),
      onService: (name: string | undefined) => change((choice) => withService(choice, name)),
    };
  }, [change, end]);
}

/// The page before the whole result has been read: the header, the verdict and the ranking.
export function FirstPage({ result }: { result: Result }) {
  const { theme, shownPolicy, comparedPolicy } = parseChoice(location.hash, result.policies.length);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = theme !== "auto" ? theme : dark ? "dark" : "light";
  const ignore = () => undefined;
  return (
    <main data-late="">
      <Header result={result} theme={theme} onTheme={ignore} />
      {result.verdict !== undefined && <p class="verdict">{result.verdict}</p>}
      <Ranking result={result} shownPolicy={shownPolicy} comparedPolicy={comparedPolicy} onShow={ignore} />
      <Sentences result={result} />
      <p class="reads" role="status">
        Reads what happened over time …
      </p>
    </main>
  );
}

/// @param top  content above the ranking
export function Page({ result, top }: { result: Result; top?: ComponentChildren }) {
  const [choice, change] = useChoice(result);
  const dark = useSystemColours();
  const colours = choice.theme !== "auto" ? choice.theme : dark ? "dark" : "light";
  document.documentElement.dataset.theme = colours;
  const policy = result.policies[choice.shownPolicy] ?? (result.policies[0] as Policy);
  const services = namedServices(result);
  const service = services.find((name) => name === choice.service);
  const forService = (one: Policy) => policyOf(one, result.services ?? [], service);
  const shown = useMemo(() => forService(policy), [policy, service]);
  const other = result.policies[choice.comparedPolicy];
  const against = useMemo(() => (other === undefined ? undefined : forService(other)), [other, service]);
  const end = Math.max(60, shown.simulated_ns / 1e9);
  const { from, to } = choice;
  const range = useMemo<TimeRange>(() => (from !== undefined && to !== undefined ? [from, Math.min(to, end)] : [0, end]), [from, to, end]);
  const isPart = range[0] > 0 || range[1] < end;
  const positions = useMemo(() => servicePositions(result, service), [result, service]);
  const at = momentOf(shown, range, choice.at);
  const { onRange, onAll, onMoment, onLead, onAt, onOpen, onShow, onService } = useActions(change, end, () => logOf(result, shown));
  // Reads the fleet when the reader clicks a number, because the views that read it may not have been drawn yet.
  const fleet = () => (policy.fleet === undefined ? undefined : readFleet(policy.fleet, result.services ?? [], policy.simulated_ns / 1e9));
  const onState = useCallback(
    (state: string) => {
      const known = fleet();
      onLead((state === "idle" ? idleMoment(shown) : undefined) ?? (known === undefined ? undefined : peakOf(known, state, [0, end])));
    },
    [policy, shown, onLead],
  );
  const onNodes = useCallback(
    (row: number) => {
      const [known, part] = [fleet(), policy.spending[row]];
      if (known !== undefined && part !== undefined) onLead(firstBought(known, part) ?? 0, "provision");
    },
    [policy, onLead],
  );
  const onFigure = useCallback((figure: RowFigure) => onLead(figureMoment(policy, figure)), [policy, onLead]);
  const onServiceFigure = useCallback((name: string, figure: RowFigure) => onLead(figureMoment(policyOf(policy, result.services ?? [], name), figure)), [policy, onLead]);
  const onWait = useCallback(
    (name: string) => {
      const known = fleet();
      if (known !== undefined) onLead(longestWait(known, name), "place");
    },
    [policy, onLead],
  );
  const onLatency = useCallback((latency: string) => onLead(worstMinute(shown, latency)), [shown, onLead]);
  return (
    <main>
      <Header result={result} theme={choice.theme} onTheme={(theme) => change({ theme })} />
      {result.verdict !== undefined && <p class="verdict">{result.verdict}</p>}
      {top}
      <Ranking result={result} shownPolicy={choice.shownPolicy} comparedPolicy={choice.comparedPolicy} onShow={onShow} onFigure={onFigure} />
      <Sentences result={result} />
      <Services policy={policy} chosen={service} onFigure={onServiceFigure} {...(services.length > 0 ? { onService } : {})} />
      <Jobs policy={policy} {...(policy.fleet === undefined ? {} : { onWait })} />
      <Toolbar result={result} choice={choice} change={change} onAll={onAll} />
      <Deferred>
        <Timeline slo={sloOf(result, policy, service)} shown={shown} services={positions} against={against} range={range} onRange={onRange} at={at} onAt={onAt} theme={colours} />
      </Deferred>
      <Moments policy={shown} onMoment={onMoment} />
      <Deferred>
        <Decisions result={result} policy={shown} range={range} onRange={onRange} at={choice.at} opened={choice.decision} onOpen={onOpen} />
      </Deferred>
      {policy.signals !== undefined && (
        <Deferred>
          <Signals policy={policy} range={range} onRange={onRange} at={at} onAt={onAt} onLead={onLead} theme={colours} />
        </Deferred>
      )}
      <History result={result} shown={shown} against={against} isOfService={service !== undefined} range={range} onRange={onRange} at={at} onAt={onAt} onLead={onLead} theme={colours} />
      <Deferred>
        <div class="columns">
          <Cost result={result} shown={policy} isPart={isPart} onState={onState} onNodes={onNodes} />
          {result.policies.length > 1 && <Frontier result={result} shownPolicy={choice.shownPolicy} onShow={onShow} />}
        </div>
        <Teams policy={policy} />
      </Deferred>
      <Deferred>
        <Latency shown={shown} against={against} isPart={isPart} onLatency={onLatency} />
        <Outcomes shown={policy} against={other} isPart={isPart} />
      </Deferred>
      {(policy.command ?? result.command) !== undefined && (
        <footer>
          <p>
            Run it again: <code>{policy.command ?? result.command}</code>
          </p>
        </footer>
      )}
    </main>
  );
}
