import { useMemo } from "preact/hooks";
import { Figure } from "../chart/figure";
import type { TimeRange } from "../chart/plot";
import type { Fleet } from "../data/fleet";
import { peakOf } from "../data/leads";
import { costIn } from "../data/observed";
import { type Policy, type Result, type TeamFigures, kGpuStates, unitCosts } from "../data/result";
import { count, hours, percent, usd } from "../format";
import { memo } from "../memo";
import { Lead } from "./lead";

function stateCost(policy: Policy, state: string): number {
  return (policy.cost_by_state_micro_usd[state] ?? 0) / 1e6;
}

/// Shows the requests, jobs, GPU-hours and cost of each team, if the scenario names teams.
export const Teams = memo(function Teams({ policy }: { policy: Policy }) {
  const teams = policy.teams ?? [];
  if (teams.length === 0) return null;
  const name = (team: TeamFigures) => team.name ?? "no team";
  const rest = policy.no_pod;
  return (
    <Figure
      title="What does each team pay for?"
      note={`${policy.policy}. GPUs without pods belong to no team.`}
      table={() => ({
        head: ["team", "requests", "met", "jobs arrived", "jobs ended", "GPU-hours", "USD"],
        rows: [
          ...teams.map((team) => [name(team), team.requests, team.met, team.jobs_arrived, team.jobs_ended, team.gpu_hours, team.cost_usd]),
          ...(rest === undefined ? [] : [["no pod", "", "", "", "", rest.gpu_hours, rest.cost_usd]]),
          ["all", "", "", "", "", policy.paid_gpu_hours, policy.cost_usd],
        ],
      })}
    >
      <div class="scroll">
        <table class="teams" aria-label="Cost by team">
          <thead>
            <tr>
              <th scope="col">team</th>
              <th scope="col" class="number">requests</th>
              <th scope="col" class="number">met</th>
              <th scope="col" class="number">jobs ended</th>
              <th scope="col" class="number">GPU-hours</th>
              <th scope="col" class="number">cost</th>
            </tr>
          </thead>
          <tbody>
            {teams.map((team, i) => (
              <tr key={i}>
                <th scope="row">{name(team)}</th>
                <td class="number">{count(team.requests)}</td>
                <td class="number">{team.requests > 0 ? percent((1e6 * team.met) / team.requests) : "–"}</td>
                <td class="number">{team.jobs_arrived > 0 ? `${count(team.jobs_ended)} of ${count(team.jobs_arrived)}` : "–"}</td>
                <td class="number">{hours(team.gpu_hours)}</td>
                <td class="number">{usd(team.cost_usd)}</td>
              </tr>
            ))}
            {rest !== undefined && (
              <tr>
                <th scope="row">no pod</th>
                <td colSpan={3} />
                <td class="number">{hours(rest.gpu_hours)}</td>
                <td class="number">{usd(rest.cost_usd)}</td>
              </tr>
            )}
            <tr class="sum">
              <th scope="row">all</th>
              <td colSpan={3} />
              <td class="number">{hours(policy.paid_gpu_hours)}</td>
              <td class="number">{usd(policy.cost_usd)}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </Figure>
  );
});

/// Returns the cost of 1,000 requests that met the SLO and of a million answer tokens, in words.
function unitPrices(policy: Policy): string {
  const { perRequest, perTokens, jobsUsd } = unitCosts(policy);
  const words = [perRequest === null ? "" : `${usd(perRequest)} per 1,000 requests that met the SLO`, perTokens === null ? "" : `${usd(perTokens)} per million answer tokens`]
    .filter((part) => part !== "")
    .join("; ");
  return words === "" || jobsUsd <= 0 ? words : `${words}; both without the ${usd(jobsUsd)} of jobs`;
}

/// The GPU-hours and the cost of one state of the GPUs.
export interface StateCost {
  state: string;
  /// CSS class with the state's colour.
  styleClass: string;
  gpuHours: number;
  /// Undefined: no price is known.
  usd: number | undefined;
}

/// The GPU-hours and the cost of one kind of node.
export interface NodeCost {
  name: string;
  capacity: string;
  zone: string;
  gpuHours: number;
  /// Undefined: the price is unknown.
  usd: number | undefined;
}

/// The GPU-hours and the cost of the GPUs that one service held. An undefined price is not known.
export interface ServiceCost {
  name: string;
  gpuHours: number;
  usd: number | undefined;
  /// USD for 1,000 requests, and for a million answer tokens.
  perRequests: number | undefined;
  perTokens: number | undefined;
}

interface CostTablesProps {
  /// Head of the first table.
  head: string;
  states: StateCost[];
  gpuHours: number;
  /// Undefined: no price is known.
  usd: number | undefined;
  nodes: NodeCost[];
  /// Absent or empty: there is no table by service.
  users?: ServiceCost[];
  /// Shows the decision behind the GPUs of a state; absent: it is not known.
  onState?: (state: string) => void;
  /// Shows the decision behind the nodes of a row; absent: it is not known.
  onNodes?: (row: number) => void;
}

const costWords = (cost: number | undefined) => (cost === undefined ? "–" : usd(cost));

const kServiceCosts = [
  ["usd", "cost"],
  ["perRequests", "per 1,000 requests"],
  ["perTokens", "per M tokens"],
] as const;

/// Shows the cost of each service. A price that is known for no service has no column.
function ServiceCosts({ users }: { users: ServiceCost[] }) {
  const columns = kServiceCosts.filter(([key]) => key === "usd" || users.some((one) => one[key] !== undefined));
  return (
    <table class="paid" aria-label="Cost by service">
      <thead>
        <tr>
          <th scope="col">held by pods of</th>
          {["GPU-hours", ...columns.map(([, name]) => name)].map((name) => (
            <th scope="col" class="number" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {users.map((one) => (
          <tr key={one.name}>
            <th scope="row">{one.name}</th>
            <td class="number">{hours(one.gpuHours)}</td>
            {columns.map(([key]) => (
              <td class="number" key={key}>{costWords(one[key])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/// Shows tables: the cost by state of the GPUs, by service if there are rows of services, and by kind of node.
export function CostTables({ head, states, gpuHours, usd: all, nodes, users = [], onState, onNodes }: CostTablesProps) {
  return (
    <div class="scroll">
      <table class="paid" aria-label="Cost by use of the GPUs">
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <th scope="col" class="number">GPU-hours</th>
            <th scope="col" class="number">cost</th>
            <th scope="col" class="number">share</th>
          </tr>
        </thead>
        <tbody>
          {states.map(({ state, styleClass, gpuHours: hoursOf, usd: cost }) => {
            const lead = onState && (() => onState(state));
            const title = `the moment with the most ${state} GPUs`;
            return (
              <tr key={state}>
                <th scope="row">
                  <span class={`state ${styleClass} sample`} /> {state}
                </th>
                <td class="number">
                  <Lead text={hours(hoursOf)} title={title} onClick={lead} />
                </td>
                <td class="number">
                  <Lead text={costWords(cost)} title={title} onClick={cost === undefined ? undefined : lead} />
                </td>
                <td class="number">{cost !== undefined && all !== undefined && all > 0 ? percent((1e6 * cost) / all) : "–"}</td>
              </tr>
            );
          })}
          <tr class="sum">
            <th scope="row">all</th>
            <td class="number">{hours(gpuHours)}</td>
            <td class="number">{costWords(all)}</td>
            <td />
          </tr>
        </tbody>
      </table>
      {users.length > 0 && <ServiceCosts users={users} />}
      <table class="paid" aria-label="Cost by nodes">
        <thead>
          <tr>
            <th scope="col">nodes</th>
            <th scope="col">capacity</th>
            <th scope="col">zone</th>
            <th scope="col" class="number">GPU-hours</th>
            <th scope="col" class="number">cost</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((part, i) => {
            const lead = onNodes && (() => onNodes(i));
            const title = "the first purchase of these nodes";
            return (
              <tr key={i}>
                <th scope="row">{part.name}</th>
                <td>{part.capacity}</td>
                <td>{part.zone}</td>
                <td class="number">
                  <Lead text={hours(part.gpuHours)} title={title} onClick={lead} />
                </td>
                <td class="number">
                  <Lead text={costWords(part.usd)} title={title} onClick={part.usd === undefined ? undefined : lead} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface CostProps {
  result: Result;
  shown: Policy;
  /// True: the charts show a part of the run.
  isPart: boolean;
  onState: (state: string) => void;
  onNodes: (row: number) => void;
}

/// Shows the cost of the shown policy by state of its GPUs and by kind of node. The data table has all policies.
export const Cost = memo(function Cost({ result, shown, isPart, onState, onNodes }: CostProps) {
  const states = kGpuStates.filter((state) => result.policies.some((policy) => stateCost(policy, state) > 0));
  return (
    <Figure
      title="What is paid for?"
      note={[unitPrices(shown), isPart ? "Of the whole run, not of the stretch that the charts show" : ""].filter((part) => part !== "").join(". ")}
      table={() => ({
        head: ["policy", ...states.map((state) => `${state} USD`), "USD", "USD per 1000 met requests", "USD per million answer tokens"],
        rows: result.policies.map((policy) => [
          policy.policy,
          ...states.map((state) => stateCost(policy, state)),
          policy.cost_usd,
          unitCosts(policy).perRequest ?? "",
          unitCosts(policy).perTokens ?? "",
        ]),
      })}
    >
      <CostTables
        head={shown.policy}
        states={states.map((state) => ({ state, styleClass: state, gpuHours: shown.gpu_hours_by_state[state] ?? 0, usd: stateCost(shown, state) }))}
        gpuHours={shown.paid_gpu_hours}
        usd={shown.cost_usd}
        nodes={shown.spending.map((part) => ({
          name: part.pool === null ? part.instance_type : `${part.pool}: ${part.instance_type}`,
          capacity: part.capacity_type,
          zone: part.zone,
          gpuHours: part.gpu_hours,
          usd: part.cost_usd,
        }))}
        {...(shown.fleet === undefined ? {} : { onState, onNodes })}
      />
    </Figure>
  );
});

/// Below this many tokens a price for a million says nothing.
const kTokensLeast = 1000;
/// Smallest share of the GPU-hours that counts as having a price.
const kRounding = 1e-6;

/// Below this many requests a price for a thousand says nothing.
const kRequestsLeast = 100;

type Spent = { usd: number; tokens: number; requests: number };

/// These functions return the cost of 1,000 ended requests and of a million answer tokens; undefined: not known.
const perRequests = ({ usd: cost, requests }: Spent) => (requests >= kRequestsLeast && cost > 0 ? (1000 * cost) / requests : undefined);
const perTokens = ({ usd: cost, tokens }: Spent) => (tokens >= kTokensLeast && cost > 0 ? (1e6 * cost) / tokens : undefined);

const kStyleClasses: Record<string, string> = { serving: "busy", free: "unallocated", leaving: "unallocated", stranded: "idle" };

interface RecordedCostProps {
  fleet: Fleet;
  range: TimeRange;
  /// Shows a moment and the decision in force.
  onLead: (at: number | undefined, layer?: string) => void;
}

/// Shows the cost of the nodes of a recording or of a controller in a stretch of time.
export const RecordedCost = memo(function RecordedCost({ fleet, range, onLead }: RecordedCostProps) {
  const spent = useMemo(() => costIn(fleet, range), [fleet, range[0], range[1]]);
  if (spent.gpuHours <= 0) return null;
  // Hours are sums of many parts, so equal ones may differ by a rounding.
  const isPriced = spent.gpuHours - spent.unpricedHours > kRounding * spent.gpuHours;
  const priced = (cost: number) => (isPriced ? cost : undefined);
  // Other workloads, such as batch jobs, answer no requests. A report leaves the jobs out, too.
  const own = { ...spent, usd: spent.usd - spent.othersUsd };
  const prices = [
    perRequests(own) === undefined ? "" : `${usd(perRequests(own) ?? 0)} per 1,000 requests`,
    perTokens(own) === undefined ? "" : `${usd(perTokens(own) ?? 0)} per million answer tokens`,
  ].filter((part) => part !== "");
  const without = prices.length > 0 && spent.othersUsd > 0 ? `, without the ${usd(spent.othersUsd)} of other workloads` : "";
  const unpriced = !isPriced ? " The price of no node is known." : spent.unpricedHours > 0 ? ` ${hours(spent.unpricedHours)} GPU-hours are of nodes whose price is not known, and cost nothing here.` : "";
  return (
    <Figure
      title="What is paid for?"
      note={`In the stretch that the charts show${isPriced ? ", at the prices of the nodes" : ""}.${prices.length > 0 ? ` ${prices.join("; ")}${without}.` : ""}${spent.states.some((one) => one.state === "idle") ? " Idle: ready, without a request at the time of a decision." : ""}${unpriced}`}
      table={() => ({
        head: ["state", "GPU-hours", "USD"],
        rows: [
          ...spent.states.map(({ state, gpuHours, usd: cost }) => [state, gpuHours, priced(cost) ?? ""]),
          ["all", spent.gpuHours, priced(spent.usd) ?? ""],
          ...spent.users.map((one) => [`held by ${one.name}`, one.gpuHours, priced(one.usd) ?? ""]),
        ],
      })}
    >
      <CostTables
        head="GPUs"
        states={spent.states.map((one) => ({ ...one, usd: priced(one.usd), styleClass: kStyleClasses[one.state] ?? one.state }))}
        gpuHours={spent.gpuHours}
        usd={priced(spent.usd)}
        nodes={spent.nodes}
        users={spent.users.length > 1 ? spent.users.map((one) => ({ ...one, usd: priced(one.usd), perRequests: isPriced ? perRequests(one) : undefined, perTokens: isPriced ? perTokens(one) : undefined })) : []}
        onState={(state) => onLead(peakOf(fleet, state, range))}
        onNodes={(row) => onLead(spent.nodes[row]?.first, "provision")}
      />
    </Figure>
  );
});
