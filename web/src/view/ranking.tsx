import { Figure } from "../chart/figure";
import type { Table } from "../chart/download";
import { type Policy, type Result, holdsSlo, kGpuStates, unitCosts } from "../data/result";
import { count, latency, hours, percent, usd } from "../format";
import type { RowFigure } from "../data/explaining_moments";
import { memo } from "../memo";
import { FigureLink } from "./figure_link";

/// Returns the position of the policy that the result marks, or -1.
export function markedPolicy(result: Result): number {
  return result.policies.findIndex((policy) => policy.policy === result.marked);
}

/// Returns what the mark ▶ means and in which order the policies stand; empty: there is one policy.
export function orderWords(result: Result): string {
  if (result.policies.length < 2) return "";
  const marked = markedPolicy(result);
  const isShared = (result.policies[0]?.services ?? []).length > 0;
  const goal = result.slo === null ? "all goals" : isShared ? "every SLO and goal" : "the SLO";
  const isSteady = result.chosen === undefined && (result.seed_checks ?? []).length > 0;
  const held = `${goal}${isSteady ? " with every tried seed" : ""}`;
  const cheapest = result.slo === null ? "first" : "cheapest";
  const mark = result.chosen !== undefined ? "the choice of the plan" : `the ${cheapest} policy that holds ${held}`;
  const said = result.marked === undefined ? "" : marked < 0 ? `No policy holds ${held}. ` : `▶ marks ${mark}. `;
  const isSetFirst = marked === 0 && (isSteady || result.chosen !== undefined);
  const within = result.slo === null ? "" : ", the cheapest first";
  const others = result.slo === null || isShared ? "the one that misses the fewest first" : "the most met requests first";
  return `${said}${isSetFirst ? "Below it" : "Order"}: policies that hold ${goal}${within}; then the others, ${others}. `;
}

export function unmet(policy: Policy): number {
  return policy.requests.unmet ?? 0;
}

function rankingTable(result: Result): Table {
  return {
    head: ["policy", "met %", "TTFT p99 s", "TPOT p99 ms", "GPU-hours", "USD", "USD per million answer tokens", "unmet", "score"],
    rows: result.policies.map((p) => [
      p.policy,
      p.attainment_ppm / 10_000,
      p.ttft.p99_us / 1e6,
      p.tpot.p99_us / 1e3,
      p.paid_gpu_hours,
      p.cost_usd,
      unitCosts(p).perTokens ?? "",
      unmet(p),
      p.score_milli / 1000,
    ]),
  };
}

/// Shows GPU time by state as a bar. The full width is the GPU time of the policy that paid for the most.
export function StateBar({ policy, most }: { policy: Policy; most: number }) {
  const parts = kGpuStates.map((state) => [state, policy.gpu_hours_by_state[state] ?? 0] as const).filter(([, h]) => h > 0);
  const words = parts.map(([state, h]) => `${state} ${hours(h)} GPU-hours`).join(", ");
  return (
    <span class="state-bar" role="img" aria-label={words} title={words}>
      {parts.map(([state, h]) => (
        <span key={state} class={`state ${state}`} style={{ width: `${most > 0 ? (100 * h) / most : 0}%` }} />
      ))}
    </span>
  );
}

export function StateLegend() {
  return (
    <p class="legend">
      GPU time:
      {kGpuStates.map((state) => (
        <span class="key" key={state}>
          <span class={`state ${state} sample`} />
          {state}
        </span>
      ))}
    </p>
  );
}

export const kMissed = "the minute in which the most requests missed the SLO";
export const kSlowest = "the minute with the longest time to first token";
const kDearest = "the minute with the most paid GPUs";

const kColumns = 9;

/// Returns the sentences that stand below a policy: the SLOs that it misses, the invariants that it broke, and its
/// warnings.
function remarksOf(policy: Policy): string[] {
  const broken = Object.values(policy.invariants_broken).reduce((sum, times) => sum + times, 0);
  const unnamed = broken > 0 ? [`broken invariants: ${count(broken)}; simulate again to see which`] : [];
  return [...(policy.remarks ?? unnamed), ...policy.warnings.map((warning) => `warning: ${warning}`)];
}

interface RankingProps {
  result: Result;
  shownPolicy: number;
  comparedPolicy: number;
  onShow: (position: number) => void;
  /// Shows the decision behind a number of the shown policy; absent: it is not known.
  onFigure?: (figure: RowFigure) => void;
}

export const Ranking = memo(function Ranking({ result, shownPolicy, comparedPolicy, onShow, onFigure }: RankingProps) {
  const marked = markedPolicy(result);
  const achievable = result.clairvoyant?.achievable?.result;
  const hindsight = [...(result.constant_fleet === undefined ? [] : [result.constant_fleet.result]), ...(achievable === undefined ? [] : [{ ...achievable, policy: "achievable with all requests known" }])];
  const all = [...result.policies, ...hindsight];
  const most = Math.max(...all.map((policy) => policy.paid_gpu_hours));
  const row = (policy: Policy, position: number) => {
    const isPolicy = position < result.policies.length;
    const { perTokens } = unitCosts(policy);
    const explain = (figure: RowFigure) => (position === shownPolicy && onFigure !== undefined && policy.by_minute !== undefined ? () => onFigure(figure) : undefined);
    const remarks = remarksOf(policy);
    return [
      <tr
        key={position}
        class={[position === shownPolicy ? "shown" : "", position === comparedPolicy ? "against" : "", isPolicy ? "" : "hindsight"].join(" ")}
        onClick={(event) => isPolicy && (event.target as Element).closest("button") === null && onShow(position)}
      >
        <th scope="row">
          <span class="mark" aria-hidden="true">
            {position === marked ? "▶" : ""}
          </span>
          {isPolicy ? (
            <button type="button" class="link" aria-pressed={position === shownPolicy} onClick={() => onShow(position)}>
              {policy.policy}
            </button>
          ) : (
            policy.policy
          )}
          {position === marked && <span class="hidden"> {result.chosen === undefined ? "(the cheapest that holds the SLO)" : "(the plan chooses it)"}</span>}
        </th>
        <td class={holdsSlo(result, policy) ? "number good" : "number bad"}><FigureLink text={percent(policy.attainment_ppm)} title={kMissed} onClick={explain("unmet")} /></td>
        <td class="number"><FigureLink text={latency(policy.ttft.p99_us)} title={kSlowest} onClick={explain("ttft")} /></td>
        <td class="number"><FigureLink text={hours(policy.paid_gpu_hours)} title={kDearest} onClick={explain("paid")} /></td>
        <td class="wide">
          <StateBar policy={policy} most={most} />
        </td>
        <td class="number strong"><FigureLink text={usd(policy.cost_usd)} title={kDearest} onClick={explain("paid")} /></td>
        <td class="number">{perTokens === null ? "–" : usd(perTokens)}</td>
        <td class="number"><FigureLink text={count(unmet(policy))} title={kMissed} onClick={explain("unmet")} /></td>
        <td class="number">{(policy.score_milli / 1000).toFixed(1)}</td>
      </tr>,
      remarks.length > 0 && (
        <tr key={`remarks ${position}`} class="remarks">
          <td colSpan={kColumns}>
            {remarks.map((remark) => (
              <span class="warning" key={remark}>
                ⚠ {remark}
              </span>
            ))}
          </td>
        </tr>
      ),
    ];
  };
  const bound = result.clairvoyant?.lower_bound;
  return (
    <Figure
      title="Which policy?"
      note={`${orderWords(result)}Choose a policy to see it below.`}
      table={() => rankingTable(result)}
    >
      <div class="scroll">
        <table class="ranking" aria-label="Policies">
          <thead>
            <tr>
              <th scope="col">policy</th>
              <th scope="col" class="number">met</th>
              <th scope="col" class="number">TTFT p99</th>
              <th scope="col" class="number">GPU-h</th>
              <th scope="col">GPU time</th>
              <th scope="col" class="number">cost</th>
              <th scope="col" class="number" title="USD per million answer tokens, without the cost of jobs">per M tokens</th>
              <th scope="col" class="number">unmet</th>
              <th scope="col" class="number">score</th>
            </tr>
          </thead>
          <tbody>
            {all.map(row)}
            {bound?.paid_gpu_time_ns !== undefined && (
              <tr class="hindsight">
                <th scope="row">
                  <span class="mark" aria-hidden="true" />
                  lower bound for {percent(bound.attainment_ppm ?? 0)} met
                </th>
                <td />
                <td />
                <td class="number">{hours(bound.paid_gpu_time_ns / 3.6e12)}</td>
                <td class="wide" />
                <td class="number">{usd(bound.cost_micro_usd / 1e6)}</td>
                <td colSpan={3} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
      <StateLegend />
    </Figure>
  );
});
