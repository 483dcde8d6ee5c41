import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Stretch } from "./chart/plot";
import type { Result } from "./data/result";
import { count, duration, percent } from "./format";
import { type Choice, choiceHash, kThemes, parseChoice, type Theme } from "./state";
import { Cost } from "./view/cost";
import { Decisions } from "./view/decisions";
import { Frontier } from "./view/frontier";
import { History } from "./view/history";
import { Latency } from "./view/latency";
import { Moments } from "./view/moments";
import { Ranking } from "./view/ranking";
import { Timeline } from "./view/timeline";

function sloWords(result: Result): string {
  const { ttft_ns, tpot_ns, e2e_ns, attainment_ppm } = result.slo;
  const bounds = [
    ["TTFT", ttft_ns],
    ["TPOT", tpot_ns],
    ["end to end", e2e_ns],
  ] as const;
  const words = bounds.filter(([, ns]) => ns > 0).map(([name, ns]) => `${name} ≤ ${duration(ns / 1000)}`);
  return `SLO ${percent(attainment_ppm)}: ${words.join(", ")}`;
}

function Header({ result, theme, onTheme }: { result: Result; theme: Theme; onTheme: (theme: Theme) => void }) {
  const longest = Math.max(...result.policies.map((policy) => policy.simulated_ns));
  const arrived = result.policies[0]?.requests.arrived ?? 0;
  return (
    <header>
      <div>
        <h1>{result.title === "" ? result.scenario : result.title}</h1>
        <p>
          {duration(longest / 1000)} · {count(arrived)} requests · {result.load} · seed {result.seed}
        </p>
        <p>
          {result.service} · {sloWords(result)}
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

interface ToolbarProps {
  result: Result;
  choice: Choice;
  change: (part: Partial<Choice>) => void;
  onAll: () => void;
}

function Toolbar({ result, choice, change, onAll }: ToolbarProps) {
  const names = result.policies.map((policy) => policy.policy);
  return (
    <nav class="toolbar" aria-label="What is shown">
      <label>
        Show{" "}
        <select
          value={String(choice.shown)}
          onChange={(event) => {
            const shown = Number(event.currentTarget.value);
            change({ shown, against: choice.against === shown ? -1 : choice.against });
          }}
        >
          {names.map((name, i) => (
            <option key={i} value={String(i)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {names.length > 1 && (
        <label>
          compare with{" "}
          <select value={String(choice.against)} onChange={(event) => change({ against: Number(event.currentTarget.value) })}>
            <option value="-1">no other policy</option>
            {names.map(
              (name, i) =>
                i !== choice.shown && (
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

/// Asks for the colours again when the system changes between light and dark.
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

/// @param top  stands above the ranking
export function Page({ result, top }: { result: Result; top?: ComponentChildren }) {
  const read = () => parseChoice(location.hash, result.policies.length);
  const [choice, setChoice] = useState<Choice>(read);
  const dark = useSystemColours();
  const colours = choice.theme !== "auto" ? choice.theme : dark ? "dark" : "light";
  document.documentElement.dataset.theme = colours;
  useLayoutEffect(() => {
    const follow = () => setChoice(read());
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [result]);

  const set = (next: Choice) => {
    setChoice(next);
    history.replaceState(null, "", choiceHash(next) || location.pathname + location.search);
  };
  const change = (part: Partial<Choice>) => set({ ...choice, ...part });
  const showAll = () => {
    const { from: _, to: __, ...rest } = choice;
    set(rest);
  };
  const shown = result.policies[choice.shown] ?? (result.policies[0] as Result["policies"][number]);
  const against = result.policies[choice.against];
  const whole: Stretch = [0, Math.max(60, shown.simulated_ns / 1e9)];
  const range: Stretch = choice.from !== undefined && choice.to !== undefined ? [choice.from, Math.min(choice.to, whole[1])] : whole;
  const setRange = (next: Stretch | undefined) =>
    next === undefined ? showAll() : change({ from: Math.max(0, Math.floor(next[0])), to: Math.min(Math.ceil(next[1]), Math.ceil(whole[1])) });
  const show = (position: number) => change({ shown: position, against: choice.against === position ? -1 : choice.against });
  return (
    <main>
      <Header result={result} theme={choice.theme} onTheme={(theme) => change({ theme })} />
      {result.verdict !== undefined && <p class="verdict">{result.verdict}</p>}
      {top}
      <Ranking result={result} shown={choice.shown} against={choice.against} onShow={show} />
      <Toolbar result={result} choice={choice} change={change} onAll={showAll} />
      <Timeline result={result} shown={shown} against={against} range={range} onRange={setRange} theme={colours} />
      <Moments policy={shown} onMoment={(at) => setRange([Math.max(0, at - 300), at + 300])} />
      <Decisions policy={shown} range={range} onRange={setRange} />
      <History
        result={result}
        shown={shown}
        against={against}
        range={range}
        onRange={setRange}
        at={choice.at}
        onAt={(at) => change({ at: Math.round(at) })}
        theme={colours}
      />
      <div class="columns">
        <Cost result={result} shown={shown} />
        {result.policies.length > 1 && <Frontier result={result} shown={choice.shown} onShow={show} />}
      </div>
      <Latency shown={shown} against={against} />
      {result.command !== undefined && (
        <footer>
          <p>
            Run it again: <code>{result.command}</code>
          </p>
        </footer>
      )}
    </main>
  );
}
