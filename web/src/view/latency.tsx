import { Figure } from "../chart/figure";
import type { Percentiles, Policy } from "../data/result";
import { duration } from "../format";
import { memo } from "../memo";
import { Lead } from "./lead";

const kKinds = [
  ["ttft", "time to first token"],
  ["tpot", "time per output token"],
  ["e2e", "end to end"],
] as const;
const kColumns = ["mean_us", "p50_us", "p90_us", "p95_us", "p99_us"] as const satisfies readonly (keyof Percentiles)[];

interface LatencyProps {
  shown: Policy;
  against: Policy | undefined;
  /// True: the charts show a part of the run.
  isPart: boolean;
  /// Shows the minute in which a latency of the shown policy was the worst: "ttft", "tpot" or "e2e".
  onLatency: (latency: string) => void;
}

/// Shows percentiles of the latencies of completed requests, for one policy or for two.
export const Latency = memo(function Latency({ shown, against, isPart, onLatency }: LatencyProps) {
  const policies = against === undefined ? [shown] : [shown, against];
  const rows = kKinds.flatMap(([key, words]) => policies.map((policy) => ({ key, words, policy })));
  return (
    <Figure
      title="How fast were the answers?"
      {...(isPart ? { note: "Of the whole run, not of the stretch that the charts show." } : {})}
      table={() => ({
        head: ["latency", "policy", ...kColumns],
        rows: rows.map(({ key, words, policy }) => [words, policy.policy, ...kColumns.map((column) => policy[key][column])]),
      })}
    >
      <div class="scroll">
        <table aria-label="Latencies">
          <thead>
            <tr>
              <th scope="col">latency</th>
              {policies.length > 1 && <th scope="col">policy</th>}
              {kColumns.map((column) => (
                <th scope="col" class="number" key={column}>
                  {column.replace("_us", "")}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, words, policy }) => (
              <tr key={key + policy.policy}>
                <th scope="row">{words}</th>
                {policies.length > 1 && <td>{policy.policy}</td>}
                {kColumns.map((column) => (
                  <td class="number" key={column}>
                    <Lead
                      text={duration(policy[key][column])}
                      title={`the minute with the longest ${key === "e2e" ? "whole requests" : words}`}
                      onClick={policy === shown && policy.by_minute !== undefined ? () => onLatency(key) : undefined}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});
