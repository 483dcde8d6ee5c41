// The cost of a run, in one form for a simulation, a recording and a controller.
import { hours, usd } from "../format";
import type { Fleet } from "./fleet";
import { firstBought, idleMoment, peakOf } from "./explaining_moments";
import { costIn, teamsIn, type UserCost } from "./observed";
import { type Policy, type Result, kGpuStates, unitCosts } from "./result";
import type { Spent, Stretch } from "./run";

function stateCost(policy: Policy, state: string): number {
  return (policy.cost_by_state_micro_usd[state] ?? 0) / 1e6;
}

/// Returns the cost of 1,000 requests that met the SLO and of a million answer tokens, in words.
function unitPrices(policy: Policy): string {
  const { perRequest, perTokens, jobsUsd } = unitCosts(policy);
  const words = [perRequest === null ? "" : `${usd(perRequest)} per 1,000 requests that met the SLO`, perTokens === null ? "" : `${usd(perTokens)} per million answer tokens`]
    .filter((part) => part !== "")
    .join("; ");
  return words === "" || jobsUsd <= 0 ? words : `${words}; both without the ${usd(jobsUsd)} of jobs`;
}

/// Returns the cost of a simulated policy. Its table has all policies of the result.
/// @param shown  the policy, or its part of one service
/// @param fleet  undefined: the result has no history of nodes and replicas
export function spentOf(result: Result, policy: Policy, shown: Policy, fleet: (() => Fleet) | undefined): Spent {
  const states = kGpuStates.filter((state) => result.policies.some((one) => stateCost(one, state) > 0));
  const end = Math.max(60, policy.simulated_ns / 1e9);
  return {
    head: policy.policy,
    note: unitPrices(policy),
    states: states.map((state) => ({
      name: state,
      styleClass: state,
      gpuHours: policy.gpu_hours_by_state[state] ?? 0,
      usd: stateCost(policy, state),
      ...(fleet === undefined ? {} : { moment: () => (state === "idle" ? idleMoment(shown) : undefined) ?? peakOf(fleet(), state, [0, end]) }),
    })),
    nodes: policy.spending.map((part) => ({
      name: part.pool === null ? part.instance_type : `${part.pool}: ${part.instance_type}`,
      capacity: part.capacity_type,
      zone: part.zone,
      gpuHours: part.gpu_hours,
      usd: part.cost_usd,
      ...(fleet === undefined ? {} : { moment: () => firstBought(fleet(), part) ?? 0 }),
    })),
    users: [],
    teams: [],
    gpuHours: policy.paid_gpu_hours,
    usd: policy.cost_usd,
    table: () => ({
      head: ["policy", ...states.map((state) => `${state} USD`), "USD", "USD per 1000 met requests", "USD per million answer tokens"],
      rows: result.policies.map((one) => [one.policy, ...states.map((state) => stateCost(one, state)), one.cost_usd, unitCosts(one).perRequest ?? "", unitCosts(one).perTokens ?? ""]),
    }),
  };
}

/// Below this many tokens a price for a million says nothing.
const kTokensLeast = 1000;
/// A share of GPU-hours with a price that is not larger than this is a rounding error.
const kRounding = 1e-6;
/// Below this many requests a price for a thousand says nothing.
const kRequestsLeast = 100;

type Priced = { usd: number; tokens: number; requests: number };

/// These functions return the cost of 1,000 ended requests and of a million answer tokens; undefined: not known.
const perRequests = ({ usd: cost, requests }: Priced) => (requests >= kRequestsLeast && cost > 0 ? (1000 * cost) / requests : undefined);
const perTokens = ({ usd: cost, tokens }: Priced) => (tokens >= kTokensLeast && cost > 0 ? (1e6 * cost) / tokens : undefined);

const kStyleClasses: Record<string, string> = { serving: "busy", free: "unallocated", leaving: "unallocated", stranded: "idle" };

/// Returns what the GPUs of a recording or a controller did in a stretch of time and what they cost there, at the prices
/// of the nodes; undefined if there were none.
export function spentIn(fleet: Fleet, range: Stretch): Spent | undefined {
  const spent = costIn(fleet, range);
  if (spent.gpuHours <= 0) return undefined;
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
  const row = (one: UserCost) => ({ ...one, usd: priced(one.usd), perRequests: isPriced ? perRequests(one) : undefined, perTokens: isPriced ? perTokens(one) : undefined });
  const teams = teamsIn(spent);
  return {
    head: "GPUs",
    note: `In the stretch that the charts show${isPriced ? ", at the prices of the nodes" : ""}.${prices.length > 0 ? ` ${prices.join("; ")}${without}.` : ""}${spent.states.some((one) => one.state === "idle") ? " Idle: ready, without a request at the time of a decision." : ""}${unpriced}`,
    states: spent.states.map(({ state, gpuHours, usd: cost }) => ({ name: state, styleClass: kStyleClasses[state] ?? state, gpuHours, usd: priced(cost), moment: () => peakOf(fleet, state, range) })),
    nodes: spent.nodes.map(({ first, ...node }) => ({ ...node, moment: () => first })),
    users: spent.users.length < 2 ? [] : spent.users.map(row),
    teams: teams.map(row),
    gpuHours: spent.gpuHours,
    usd: priced(spent.usd),
    table: () => ({
      head: ["state", "GPU-hours", "USD"],
      rows: [
        ...spent.states.map(({ state, gpuHours, usd: cost }) => [state, gpuHours, priced(cost) ?? ""]),
        ["all", spent.gpuHours, priced(spent.usd) ?? ""],
        ...spent.users.map((one) => [`held by ${one.name}`, one.gpuHours, priced(one.usd) ?? ""]),
        ...teams.map((one) => [`held by team ${one.name}`, one.gpuHours, priced(one.usd) ?? ""]),
      ],
    }),
  };
}
