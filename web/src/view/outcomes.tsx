import { Figure } from "../chart/figure";
import type { Policy } from "../data/result";
import { count, duration, hours, percent } from "../format";
import { memo } from "../memo";

type Part = [number: number | undefined, word: string];

/// Returns "1,204 late · 3 failed"; a number that the result does not have is left out.
const words = (parts: Part[]) => parts.filter((part): part is [number, string] => part[0] !== undefined).map(([number, word]) => `${count(number)} ${word}`).join(" · ");

/// Returns what became of the requests, replicas, nodes and decisions of a policy: pairs of a subject and a text.
function outcomesOf(policy: Policy): [string, string][] {
  const { requests, tokens = {}, disruptions, nodes, cold_starts: starts, roles = policy.variants ?? [] } = policy;
  const has = (requests.arrived ?? 0) > 0;
  const useful = policy.useful_gpu_hours;
  const rows: [string, string][] = [
    ["requests", has ? words([[requests.arrived, "arrived"], [requests.met, "met"], [requests.late, "late"], [requests.rejected, "rejected"], [requests.failed, "failed"], [requests.timed_out, "timed out"], [requests.in_flight, "in flight"], [requests.queued, "queued"], [requests.retries, requests.retries === 1 ? "retry" : "retries"]]) : ""],
    ["prompt tokens", has ? words([[tokens.prompt, "completed"], [tokens.prompt_cached, "of them cached"]]) : ""],
    ["answer tokens", has ? words([[tokens.generated, "generated"], [tokens.delivered, "delivered"], [tokens.cut, "cut"], [tokens.abandoned, "abandoned"], [tokens.held, "under way"]]) : ""],
    [
      "replicas",
      has
        ? words([[policy.replicas_peak, "ready at the peak"], [policy.gangs_deferred, policy.gangs_deferred === 1 ? "gang waited for GPUs" : "gangs waited for GPUs"], [starts.count, starts.count === 1 ? "cold start" : "cold starts"]]) +
          (starts.count > 0 ? `, median ${duration(starts.p50_ns / 1000)}, the longest ${duration(starts.max_ns / 1000)}` : "") +
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

/// The figures of a policy, or of two, that no other view has.
export const Outcomes = memo(function Outcomes({ shown, against, isPart }: { shown: Policy; against: Policy | undefined; isPart: boolean }) {
  const policies = against === undefined ? [shown] : [shown, against];
  const texts = policies.map((policy) => new Map(outcomesOf(policy)));
  const subjects = [...new Set(texts.flatMap((text) => [...text.keys()]))];
  return (
    <Figure
      title="What became of requests, replicas and nodes?"
      {...(isPart ? { note: "Of the whole run, not of the stretch that the charts show." } : {})}
      table={() => ({ head: ["", ...policies.map((policy) => policy.policy)], rows: subjects.map((subject) => [subject, ...texts.map((text) => text.get(subject) ?? "")]) })}
    >
      <div class="scroll">
        <table class="outcomes" aria-label="Outcomes">
          {policies.length > 1 && (
            <thead>
              <tr>
                <th scope="col">
                  <span class="hidden">subject</span>
                </th>
                {policies.map((policy) => (
                  <th scope="col" key={policy.policy}>
                    {policy.policy}
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {subjects.map((subject) => (
              <tr key={subject}>
                <th scope="row">{subject}</th>
                {texts.map((text, i) => (
                  <td key={i}>{text.get(subject) ?? ""}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});
