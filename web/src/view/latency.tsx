import { Figure } from "../chart/figure";
import type { Percentiles } from "../data/result";
import type { LatencyRow } from "../data/run";
import { latency, tokenTime } from "../format";
import { memo } from "../memo";
import { FigureLink } from "./figure_link";

const kWords: Record<LatencyRow["key"], string> = { ttft: "time to first token", tpot: "time per output token", e2e: "end to end" };
const kColumns = ["mean_us", "p50_us", "p90_us", "p95_us", "p99_us"] as const satisfies readonly (keyof Percentiles)[];

interface LatencyProps {
  /// One run, or two that are compared.
  runs: { name: string; latencies: LatencyRow[] }[];
  note: string;
  /// Shows the minute in which a latency was the worst.
  onExplain: (at: number | undefined) => void;
}

/// Shows percentiles of the latencies of completed requests. A column that is not known is left out.
export const Latency = memo(function Latency({ runs, note, onExplain }: LatencyProps) {
  const rows = (runs[0]?.latencies ?? []).flatMap(({ key }) => runs.flatMap(({ name, latencies }) => latencies.filter((one) => one.key === key).map((one) => ({ ...one, name }))));
  if (rows.length === 0) return null;
  const columns = kColumns.filter((column) => rows.some(({ values }) => values[column] !== undefined));
  return (
    <Figure
      title="How fast were the answers?"
      {...(note === "" ? {} : { note })}
      table={() => ({
        head: ["latency", "policy", ...columns],
        rows: rows.map(({ key, name, values }) => [kWords[key], name, ...columns.map((column) => values[column] ?? "")]),
      })}
    >
      <div class="scroll">
        <table aria-label="Latencies">
          <thead>
            <tr>
              <th scope="col">latency</th>
              {runs.length > 1 && <th scope="col">policy</th>}
              {columns.map((column) => (
                <th scope="col" class="number" key={column}>
                  {column.replace("_us", "")}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, name, values, moment }) => (
              <tr key={key + name}>
                <th scope="row">{kWords[key]}</th>
                {runs.length > 1 && <td>{name}</td>}
                {columns.map((column) => (
                  <td class="number" key={column}>
                    {values[column] === undefined ? (
                      "–"
                    ) : (
                      <FigureLink
                        text={(key === "tpot" ? tokenTime : latency)(values[column])}
                        title={`the minute with the longest ${key === "e2e" ? "whole requests" : kWords[key]}`}
                        onClick={moment === undefined || name !== runs[0]?.name ? undefined : () => onExplain(moment())}
                      />
                    )}
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
