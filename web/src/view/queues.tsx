import { Figure } from "../chart/figure";
import { type Fleet, queuesAt } from "../data/fleet";
import type { Queue } from "../data/history";
import { moment } from "../format";
import { memo } from "../memo";
import { FigureLink } from "./figure_link";

const gpus = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1));

const kExplanation = "the moment of the map";

/// Shows the tree of queues at a moment: the GPUs that each queue holds, the GPUs that its pods wait for, its limit.
export const Queues = memo(function Queues({ fleet, queues, at, onExplain }: { fleet: Fleet; queues: Queue[]; at: number; onExplain: (at: number | undefined, layer?: string) => void }) {
  if (queues.length === 0) return null;
  const rows = queuesAt(fleet, queues, at).map((row) => ({ ...row, limit: row.queue.limit_gpus_milli === null ? undefined : row.queue.limit_gpus_milli / 1000, quota: (row.queue.quota_gpus_milli ?? 0) / 1000, weight: (row.queue.weight_milli ?? 0) / 1000 }));
  // The column of quotas or weights is left out if no queue has one.
  const hasQuota = rows.some((row) => row.quota > 0);
  const hasWeight = rows.some((row) => row.weight > 0);
  const most = Math.max(1, ...rows.map((row) => Math.max(row.held + row.waiting, row.limit ?? 0, row.quota)));
  const share = (value: number) => `${(100 * value) / most}%`;
  return (
    <Figure
      title="Who holds the GPUs, and who waits? Queues"
      note={`At ${moment(at)}, the moment of the map. A queue counts what the queues below it hold. The line is its limit.${hasQuota ? " The dashed line is its quota." : ""}`}
      table={() => ({
        head: ["queue", "parent", "held GPUs", "waiting GPUs", "limit GPUs", ...(hasQuota ? ["quota GPUs"] : []), ...(hasWeight ? ["weight"] : [])],
        rows: rows.map((row) => [row.queue.name, row.queue.parent === null ? "" : (queues[row.queue.parent]?.name ?? ""), row.held, row.waiting, row.limit ?? "", ...(hasQuota ? [row.quota] : []), ...(hasWeight ? [row.weight] : [])]),
      })}
    >
      <div class="scroll">
        <table class="queues" aria-label="Queues">
          <thead>
            <tr>
              <th scope="col">queue</th>
              <th scope="col" class="number">
                held GPUs
              </th>
              <th scope="col" class="number">
                waiting GPUs
              </th>
              <th scope="col" class="number">
                limit, GPUs
              </th>
              {hasQuota && <th scope="col" class="number">quota, GPUs</th>}
              {hasWeight && <th scope="col" class="number">weight</th>}
              <th scope="col" class="wide">
                <span class="hidden">held and waiting GPUs as bars</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={i}>
                <th scope="row" style={{ paddingLeft: `${10 + 20 * row.depth}px` }}>
                  {row.queue.name}
                </th>
                <td class="number"><FigureLink text={gpus(row.held)} title={kExplanation} onClick={() => onExplain(at, "place")} /></td>
                <td class={row.waiting > 0 ? "number bad" : "number"}><FigureLink text={gpus(row.waiting)} title={kExplanation} onClick={() => onExplain(at, "place")} /></td>
                <td class="number">{row.limit === undefined ? "none" : gpus(row.limit)}</td>
                {hasQuota && <td class="number">{row.quota > 0 ? gpus(row.quota) : "none"}</td>}
                {hasWeight && <td class="number">{row.weight > 0 ? gpus(row.weight) : "none"}</td>}
                <td class="wide">
                  <span class="queue-bar" aria-hidden="true">
                    <span class="state busy" style={{ width: share(row.held) }} />
                    <span class="state held" style={{ width: share(row.waiting) }} />
                    {row.limit !== undefined && <span class="limit" style={{ left: share(row.limit) }} />}
                    {row.quota > 0 && <span class="limit quota" style={{ left: share(row.quota) }} />}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="legend">
        <span class="key">
          <span class="state busy sample" /> held
        </span>
        <span class="key">
          <span class="state held sample" /> waiting
        </span>
      </p>
    </Figure>
  );
});
