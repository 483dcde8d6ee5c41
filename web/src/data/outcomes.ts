// The outcomes of a run: the ends of its requests, replicas, nodes and decisions.
import { count, duration, hours, percent } from "../format";
import type { Fleet, GangRow } from "./fleet";
import { quantile, type Start } from "./history";
import type { LogRow } from "./log";
import { usageIn } from "./observed";
import type { Policy } from "./result";
import type { Outcome, Stretch } from "./run";

type Part = [number: number | undefined, word: string];

/// Returns "1,204 late · 3 failed"; a number that the result does not have is left out.
const words = (parts: Part[]) => parts.filter((part): part is [number, string] => part[0] !== undefined).map(([number, word]) => `${count(number)} ${word}`).join(" · ");

/// Returns what became of the requests, replicas, nodes and decisions of a policy: pairs of a subject and a text.
export function outcomesOf(policy: Policy): Outcome[] {
  const { requests, tokens = {}, disruptions, nodes, cold_starts: starts, roles = policy.variants ?? [] } = policy;
  const has = (requests.arrived ?? 0) > 0;
  const useful = policy.useful_gpu_hours;
  const rows: Outcome[] = [
    ["requests", has ? words([[requests.arrived, "arrived"], [requests.met, "met"], [requests.late, "late"], [requests.rejected, "rejected"], [requests.failed, "failed"], [requests.timed_out, "timed out"], [requests.in_flight, "in flight"], [requests.queued, "queued"], [requests.retries, requests.retries === 1 ? "retry" : "retries"]]) : ""],
    ["prompt tokens", has ? words([[tokens.prompt, "completed"], [tokens.prompt_cached, "of them cached"]]) : ""],
    ["answer tokens", has ? words([[tokens.generated, "generated"], [tokens.delivered, "delivered"], [tokens.cut, "cut"], [tokens.abandoned, "abandoned"], [tokens.held, "under way"]]) : ""],
    [
      "replicas",
      has
        ? words([[policy.replicas_peak, "ready at the peak"], [policy.gangs_deferred, policy.gangs_deferred === 1 ? "gang waited for GPUs" : "gangs waited for GPUs"], [starts.count, starts.count === 1 ? "cold start" : "cold starts"]]) +
          (starts.count > 0 ? `, from bound to ready: median ${duration(starts.p50_ns / 1000)}, the longest ${duration(starts.max_ns / 1000)}` : "") +
          ((policy.wakes ?? 0) > 0 ? ` · ${count(policy.wakes ?? 0)} woken` : "") +
          ((policy.conversions ?? 0) > 0 ? ` · ${count(policy.conversions ?? 0)} changes of role` : "")
        : "",
    ],
    ["ready replicas", roles.map((one) => `${one.role ?? one.variant ?? ""} ${count(one.ready_peak)} at the peak, ${(one.ready_mean_milli / 1000).toFixed(1)} on average`).join(" · ")],
    ["nodes", words([[nodes.launched, "launched"], [nodes.refused, "refused"], [nodes.released, "released"]])],
    ["disruptions", has ? words([[disruptions.consolidation, "by consolidation"], [disruptions.scale_down, "by scale-down"], [disruptions.eviction, "by eviction"], [disruptions.spot, "by spot"], [disruptions.requests_cut, "requests cut"], [disruptions.requests_cut_forced, "of them by spot"]]) : ""],
    ["decisions", words([[policy.decisions, policy.decisions === 1 ? "action" : "actions"], [policy.reversals, policy.reversals === 1 ? "reversal" : "reversals"]])],
    ["least needed", useful === undefined || policy.paid_gpu_hours <= 0 ? "" : `${hours(useful)} of ${hours(policy.paid_gpu_hours)} paid GPU-hours, ${percent((1e6 * useful) / policy.paid_gpu_hours)}`],
  ];
  return rows.filter(([, text]) => text !== "");
}

const kCounted = ["requests", "prompt tokens", "answer tokens", "disruptions"];

/// Returns what became of requests as a simulation counted it, and of everything else as a controller saw it.
export function measuredOutcomes(policy: Policy, seen: readonly Outcome[]): Outcome[] {
  const counted = outcomesOf(policy).filter(([subject]) => kCounted.includes(subject));
  return [...counted, ...seen.filter(([subject]) => subject !== kNotMeasured && !counted.some(([own]) => own === subject))];
}

const kNotMeasured = "not measured";

/// Returns true unless the replica existed when the recording began.
function wasCreated({ created, steps }: GangRow): boolean {
  return created > 0 || (created === 0 && steps[0]?.phase !== "ready");
}

/// Returns what a controller saw in a stretch of time.
export function observedOutcomes(fleet: Fleet, starts: readonly Start[], log: readonly LogRow[], range: Stretch): Outcome[] {
  const inside = (at: number) => at >= range[0] && at <= range[1];
  const use = usageIn(fleet, range[0], Math.min(range[1], fleet.end));
  const own = starts.filter((start) => inside(start.decided + start.total)).map((start) => start.total).sort((a, b) => a - b);
  const gangs = fleet.gangs.filter((gang) => gang.service >= 0);
  const waited = gangs.filter((gang) => gang.waits.some((wait) => inside(wait.at))).length;
  const decided = log.filter((row) => row.seen !== undefined && inside(row.at));
  const ended = (word: string) => decided.filter((row) => row.seen?.outcome === word).length;
  const some = (number: number) => (number > 0 ? number : undefined);
  const [created, gone] = [gangs.filter((gang) => inside(gang.created) && wasCreated(gang)).length, gangs.filter((gang) => inside(gang.ended)).length];
  const hasTeams = fleet.services.some((one) => one.name.includes("/"));
  const rows: Outcome[] = [
    ["requests", words([[some(use.requests), "ended"]])],
    ["answer tokens", words([[some(use.tokens), "generated"]])],
    [
      "replicas",
      words([[created, "created"], [gone, "ended"], [waited, waited === 1 ? "gang waited for GPUs" : "gangs waited for GPUs"], [own.length, own.length === 1 ? "cold start" : "cold starts"]]) +
        (own.length > 0 ? `, from the decision to ready: median ${duration(quantile(own, 0.5) * 1e6)}, the longest ${duration((own.at(-1) ?? 0) * 1e6)}` : ""),
    ],
    ["nodes", words([[fleet.nodes.filter((node) => node.launched > 0 && inside(node.launched)).length, "launched"], [fleet.nodes.filter((node) => inside(node.ended)).length, "ended"]])],
    ["decisions", words([[decided.length, decided.length === 1 ? "decision" : "decisions"], [some(ended("applied")), "applied"], [some(ended("Shadow")), "in the mode Shadow"], [some(ended("refused")), "refused"], [some(ended("not sent")), "not sent"], [some(ended("unknown")), "with an unknown outcome"]])],
    [kNotMeasured, `late, failed, rejected and retried requests · percentiles of all requests · lost tokens · interrupted nodes${hasTeams ? "" : " · cost by team"} · goals and restarts of jobs`],
  ];
  return rows.filter(([, text]) => text !== "");
}
