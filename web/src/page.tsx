// The page of a result: the ranking of the policies, and the run of the chosen one.
import type { ComponentChildren } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { useChoice } from "./choice";
import { figureMoment, type RowFigure } from "./data/explaining_moments";
import type { Policy, Result } from "./data/result";
import { runOf } from "./data/result_run";
import { namedServices, policyOf } from "./data/service";
import { count, duration, sloWords } from "./format";
import { useNavigation } from "./navigation";
import { Header, RunPage } from "./run_page";
import { type Choice, parseChoice } from "./state";
import { Teams } from "./view/cost";
import { Frontier } from "./view/frontier";
import { Moments } from "./view/moments";
import { Ranking } from "./view/ranking";

/// Returns what was simulated, as paragraphs below the title. The duration and the requests are those of the first
/// policy, as in the text that the program prints.
function Head({ result }: { result: Result }) {
  const first = result.policies[0];
  const jobs = (first?.jobs ?? []).reduce((sum, one) => sum + one.arrived, 0);
  const coldStart = Math.max(0, ...result.policies.map((policy) => policy.cold_starts?.p50_ns ?? 0));
  const arrived = result.slo === null ? `${count(jobs)} jobs` : `${count(first?.requests.arrived ?? 0)} requests`;
  return (
    <>
      <p>
        {duration((first?.simulated_ns ?? 0) / 1000)} · {arrived} · {result.load} · seed {result.seed}
      </p>
      <p>
        {result.service}
        {result.slo !== null && (first?.services ?? []).length === 0 && ` · SLO ${sloWords(result.slo)}`}
        {coldStart > 0 && ` · ${result.policies.length > 1 ? "slowest median" : "median"} cold start ${duration(coldStart / 1000).replaceAll(" ", "\u00a0")}`}
      </p>
    </>
  );
}

const titleOf = (result: Result) => (result.title === "" ? result.scenario : result.title);

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

interface PoliciesProps {
  names: string[];
  choice: Choice;
  onShow: (position: number) => void;
  onCompare: (position: number) => void;
}

/// Shows which policy is shown, and with which one it is compared.
function Policies({ names, choice, onShow, onCompare }: PoliciesProps) {
  return (
    <>
      <label>
        Show{" "}
        <select value={String(choice.shownPolicy)} onChange={(event) => onShow(Number(event.currentTarget.value))}>
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
          <select value={String(choice.comparedPolicy)} onChange={(event) => onCompare(Number(event.currentTarget.value))}>
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
    </>
  );
}

function showPolicy({ decision: _, ...choice }: Choice, shownPolicy: number): Choice {
  return { ...choice, shownPolicy, comparedPolicy: choice.comparedPolicy === shownPolicy ? -1 : choice.comparedPolicy };
}

/// The page before the whole result has been read: the header, the verdict and the ranking.
export function FirstPage({ result }: { result: Result }) {
  const { theme, shownPolicy, comparedPolicy } = parseChoice(location.hash, result.policies.length);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = theme !== "auto" ? theme : dark ? "dark" : "light";
  const ignore = () => undefined;
  return (
    <main data-late="">
      <Header title={titleOf(result)} theme={theme} onTheme={ignore}>
        <Head result={result} />
      </Header>
      {result.verdict !== undefined && <p class="verdict">{result.verdict}</p>}
      <Ranking result={result} shownPolicy={shownPolicy} comparedPolicy={comparedPolicy} onShow={ignore} />
      <Sentences result={result} />
      <p class="reads" role="status">
        Reading what happened over time …
      </p>
    </main>
  );
}

/// @param top  content above the ranking
export function Page({ result, top }: { result: Result; top?: ComponentChildren }) {
  const [choice, change] = useChoice(result.policies.length, result);
  const policy = result.policies[choice.shownPolicy] ?? (result.policies[0] as Policy);
  const other = result.policies[choice.comparedPolicy];
  const services = useMemo(() => namedServices(result), [result]);
  const service = services.find((name) => name === choice.service);
  const run = useMemo(() => runOf(result, policy, service), [result, policy, service]);
  const against = useMemo(() => (other === undefined ? undefined : runOf(result, other, service)), [result, other, service]);
  const shown = useMemo(() => policyOf(policy, result.services ?? [], service), [policy, service]);
  const navigation = useNavigation(change, run);
  const onShow = useCallback((position: number) => change((before) => showPolicy(before, position)), [change]);
  const onFigure = useCallback((figure: RowFigure) => navigation.onExplain(figureMoment(policy, figure)), [policy, navigation]);
  const command = policy.command ?? result.command;
  return (
    <RunPage
      run={run}
      against={against}
      title={titleOf(result)}
      head={<Head result={result} />}
      what="run"
      services={services}
      service={service}
      isRepeatable
      choice={choice}
      change={change}
      navigation={navigation}
      before={
        <>
          {result.verdict !== undefined && <p class="verdict">{result.verdict}</p>}
          {top}
          <Ranking result={result} shownPolicy={choice.shownPolicy} comparedPolicy={choice.comparedPolicy} onShow={onShow} onFigure={onFigure} />
          <Sentences result={result} />
        </>
      }
      controls={<Policies names={result.policies.map((one) => one.policy)} choice={choice} onShow={onShow} onCompare={(comparedPolicy) => change({ comparedPolicy })} />}
      moments={<Moments policy={shown} onMoment={navigation.onMoment} />}
      besideCost={result.policies.length > 1 && <Frontier result={result} shownPolicy={choice.shownPolicy} onShow={onShow} />}
      belowCost={<Teams policy={policy} isPart={choice.from !== undefined} />}
      after={
        command !== undefined && (
          <footer>
            <p>
              Run it again: <code>{command}</code>
            </p>
          </footer>
        )
      }
    />
  );
}
